/** The form of an API key: new, changed, or shown again after an error. */
import type { Context } from 'hono';

import type { Fault } from '../../../shared/fault.ts';
import type { Fold } from '../record/fields.tsx';
import { isOfForm, RecordForm, statusOfForm, titleOfForm, versionOf } from '../record/form.tsx';
import { type FieldTexts, initialTexts, textsOfForm, textsOfRecord, toBody } from '../../members/texts.ts';
import { requirePermission } from '../staff/actor.ts';
import type { Session } from '../staff/session.ts';
import { readForm } from '../web/form.ts';
import type { Console } from '../web/console.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { API_PATH } from '../api/operation.ts';
import { changeKey, createKey, requireKey } from './keys.ts';
import { CheckUri, MakeKey } from './make-key.tsx';
import { Presets } from './preset-choice.tsx';
import { presetNamed, textsOfPreset } from './presets.ts';
import { ALL_RESOURCE_TYPES, type ResourceType, typesOn } from '../../../shared/resource-type.ts';
import { KEY_MEMBERS, KEY_SECTIONS } from '../../members/api-key.ts';
import { redactTexts } from '../../members/redact.ts';
import { viewKey } from './view.ts';

const { path: PLACE } = PLACES.keys;

interface FormState {
  readonly texts: FieldTexts;
  readonly fault?: Fault;
  /** Undefined for a new key. */
  readonly key?: { readonly clientId: string; readonly name: string; readonly version: number };
  /** The chosen preset; '' for none, undefined if the form offers none. */
  readonly preset?: string;
}

/**
 * The open sections of the form: those that a chosen protocol requires; for a changed key also those that apply to its
 * protocols.
 */
function foldsOf(texts: FieldTexts, isNew: boolean): ReadonlyMap<string, Fold> {
  const chosen = texts['protocols'] ?? [];
  const fold = (opensFor: readonly string[], mayOpen: boolean): Fold => ({
    isOpen: mayOpen && opensFor.some((protocol) => chosen.includes(protocol)),
    opensFor: mayOpen ? opensFor : [],
  });
  const hl7 = fold(['hl7', 'hl7-mllp'], !isNew);
  return new Map([
    ['mllp', fold(['hl7-mllp'], true)],
    ['hl7', hl7],
    ['judged', hl7],
    ['silence', hl7],
  ]);
}

function formPage(
  { deps: { config } }: Console,
  session: Session,
  { texts, fault, key, preset }: FormState,
): Promise<Response> {
  const keys = linkTo(config, PLACE);
  const path = key === undefined ? keys : `${keys}/${key.clientId}`;
  const on = typesOn(config);
  // Saving keeps the scopes of a type that is off.
  const isShown = (type: ResourceType): boolean =>
    on.includes(type) || texts['allowedScopes']?.some((scope) => scope.startsWith(`system/${type}.`)) === true;
  return respond(
    {
      title: titleOfForm(key === undefined ? 'New API key' : `Edit ${key.name}`, fault),
      config,
      session,
      place: PLACE,
      trail: key === undefined ? [PLACES.keys] : [PLACES.keys, { title: key.name, path: `${PLACE}/${key.clientId}` }],
      scripts: ['keys.js'],
      status: statusOfForm(fault),
    },
    preset === undefined ? null : <Presets path={`${keys}/new`} chosen={preset} />,
    <RecordForm
      members={KEY_MEMBERS}
      sections={KEY_SECTIONS}
      {...{ texts, fault }}
      version={key?.version}
      types={ALL_RESOURCE_TYPES.filter(isShown)}
      folds={foldsOf(texts, key === undefined)}
      below={{
        jwks: <MakeKey />,
        jwksUri: <CheckUri path={linkTo(config, `${API_PATH}/api-keys/check-jwks-uri`)} />,
      }}
      button={key === undefined ? 'Create API key' : 'Save'}
      action={path}
      cancel={path}
      again={`${path}/edit`}
    />,
  );
}

/** The form for a new key: empty, filled in by a preset, or copied from another key without its public keys (`from`). */
export async function newForm(console: Console, c: Context): Promise<Response> {
  const session = await console.access.page(c, 'site.api_keys.create');
  const { preset: name, from } = c.req.query();
  if (from !== undefined) {
    requirePermission(session.actor, 'site.api_keys.read');
    const row = await requireKey(session.database, session.actor.site, from);
    const texts = textsOfRecord(KEY_MEMBERS, viewKey(row));
    // A public key belongs to one client, and two keys of one name would be confused.
    return formPage(console, session, { texts: { ...texts, name: [`Copy of ${row.name}`], jwks: [], jwksUri: [] } });
  }
  const preset = presetNamed(name);
  const texts = { ...initialTexts(KEY_MEMBERS), ...(preset === undefined ? {} : textsOfPreset(preset)) };
  return formPage(console, session, { texts, preset: preset?.name ?? '' });
}

export async function create(console: Console, c: Context): Promise<Response> {
  const { deps, access } = console;
  const session = await access.page(c, 'site.api_keys.create');
  const texts = textsOfForm(KEY_MEMBERS, await readForm(c));
  try {
    const { key } = await createKey({ ...deps, database: session.database }, session.actor, toBody(KEY_MEMBERS, texts));
    return c.redirect(`${linkTo(deps.config, PLACE)}/${key.client_id}?saved=created&check=1`, 303);
  } catch (error) {
    if (!isOfForm(error)) throw error;
    return formPage(console, session, { texts: redactTexts(texts), fault: error });
  }
}

export async function changeForm(console: Console, c: Context, clientId: string): Promise<Response> {
  const session = await console.access.page(c, 'site.api_keys.update');
  const row = await requireKey(session.database, session.actor.site, clientId);
  const key = { clientId, name: row.name, version: row.version };
  return formPage(console, session, { texts: textsOfRecord(KEY_MEMBERS, viewKey(row)), key });
}

export async function change(console: Console, c: Context, clientId: string): Promise<Response> {
  const { deps, access } = console;
  const session = await access.page(c, 'site.api_keys.update');
  const form = await readForm(c);
  const texts = textsOfForm(KEY_MEMBERS, form);
  const version = versionOf(form);
  try {
    const body = toBody(KEY_MEMBERS, texts);
    await changeKey({ ...deps, database: session.database }, session.actor, clientId, [version], body);
    return c.redirect(`${linkTo(deps.config, PLACE)}/${clientId}?saved=changed&check=1`, 303);
  } catch (error) {
    if (!isOfForm(error)) throw error;
    const { name } = await requireKey(session.database, session.actor.site, clientId);
    // The version stays, so that saving again cannot overwrite a change that the administrator has not seen.
    return formPage(console, session, { texts: redactTexts(texts), fault: error, key: { clientId, name, version } });
  }
}
