/**
 * Disabling a key, which stops a feed at once and requires its name, and enabling it again. Both are pages, so that they work
 * without a script.
 */
import type { Context } from 'hono';

import { Fault } from '../../../shared/fault.ts';
import { versionOf } from '../record/form.tsx';
import { requirePermission } from '../staff/actor.ts';
import type { Visitor } from '../staff/access.ts';
import type { Console } from '../web/console.ts';
import { Text } from '../web/fields.tsx';
import { readForm } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Fact, KeyStatus, Notice, When } from '../web/ui.tsx';
import { changeKey, requireKey } from './keys.ts';
import type { KeyRow } from './statements.ts';
import { usageToday } from './usage-today.ts';

const { path: PLACE } = PLACES.keys;

/**
 * Normalizes a typed name: case, repeated spaces and the two encodings of an umlaut make no difference.
 */
const normalized = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim().toLowerCase();

/** More than the 200 characters of a name need when decomposed. `normalize` takes quadratic time for unordered marks. */
const MAX_TYPED = 1000;

/** True if a text is the name or the Client ID of the key. */
export const namesKey = (text: string, key: Pick<KeyRow, 'name' | 'client_id'>): boolean =>
  text.length <= MAX_TYPED &&
  normalized(text) !== '' &&
  [key.name, key.client_id].some((name) => normalized(name) === normalized(text));

interface StatusState {
  readonly row: KeyRow;
  readonly path: string;
  /** The typed name, and the reason why nothing changed. */
  readonly typed?: string;
  readonly problem?: string;
}

const STOPS: Readonly<Record<string, string>> = {
  fhir: 'The FHIR API answers 401, also to current tokens.',
  hl7: 'HL7 over HTTP answers 401 and stores nothing.',
  'hl7-mllp': 'HL7 over MLLP answers AR 207, stores nothing and closes the connection.',
};

const DisableForm = ({ state: { row, path, typed = '', problem } }: { state: StatusState }) => (
  <>
    <p class="lead">
      This takes effect at once: the key gets no tokens, and its sender gets errors until the key is enabled again.
    </p>
    <ul>
      {row.protocols.map((protocol) => (
        <li>{STOPS[protocol] ?? protocol}</li>
      ))}
    </ul>
    <form class="record" method="post" action={`${path}/status`} novalidate>
      <input type="hidden" name="version" value={String(row.version)} />
      <Text
        name="name"
        label={`Type the name of the key, ${row.name}`}
        hint={`Or its Client ID, ${row.client_id}.`}
        errors={new Map(problem === undefined ? [] : [['name', [problem]]])}
        value={typed}
        attributes={{ autocomplete: 'off' }}
      />
      <p class="actions">
        <button class="danger" name="status" value="disabled">
          Disable
        </button>
        <a href={path}>Cancel</a>
      </p>
    </form>
  </>
);

const EnableForm = ({ row, path }: { row: KeyRow; path: string }) => (
  <>
    <p class="lead">This takes effect at once, with the current public keys, scopes and addresses.</p>
    <form class="actions" method="post" action={`${path}/status`}>
      <input type="hidden" name="version" value={String(row.version)} />
      <button name="status" value="active">
        Enable
      </button>
      <a href={path}>Cancel</a>
    </form>
  </>
);

function page({ deps: { config } }: Console, session: Visitor, state: StatusState, status = 200): Promise<Response> {
  const { row: key } = state;
  const isActive = key.status === 'active';
  return respond(
    {
      title: `${isActive ? 'Disable' : 'Enable'} ${key.name}`,
      config,
      session,
      place: PLACE,
      trail: [PLACES.keys, { title: key.name, path: `${PLACE}/${key.client_id}` }],
      status,
    },
    state.problem === undefined ? null : <Notice tone="bad">{`Nothing was changed: ${state.problem}.`}</Notice>,
    <dl class="facts">
      <Fact name="Client ID">
        <code>{key.client_id}</code>
      </Fact>
      <Fact name="Status">
        <KeyStatus status={key.status} />
      </Fact>
      <Fact name="Protocols">{key.protocols.join(', ')}</Fact>
      <Fact name="Last used">{key.last_used === null ? 'never' : <When at={key.last_used} relative />}</Fact>
      <Fact name="Today">{usageToday(key)}</Fact>
    </dl>,
    isActive ? <DisableForm state={state} /> : <EnableForm row={key} path={state.path} />,
  );
}

export async function statusForm(console: Console, c: Context, clientId: string): Promise<Response> {
  const session = await console.access.page(c, 'site.api_keys.read');
  const key = await requireKey(session.database, session.actor.site, clientId);
  requirePermission(session.actor, key.status === 'active' ? 'site.api_keys.disable' : 'site.api_keys.update');
  return page(console, session, { row: key, path: `${linkTo(console.deps.config, PLACE)}/${clientId}` });
}

export async function switchStatus(console: Console, c: Context, clientId: string): Promise<Response> {
  const { deps, access } = console;
  const session = await access.page(c, 'site.api_keys.read');
  const form = await readForm(c);
  const [status, typed, version] = [form.get('status') ?? '', form.get('name') ?? '', versionOf(form)];
  const path = `${linkTo(deps.config, PLACE)}/${clientId}`;
  const key = await requireKey(session.database, session.actor.site, clientId);
  const again = (now: KeyRow, problem: string, answer: number) =>
    page(console, session, { row: now, path, typed, problem }, answer);
  if (status === 'disabled') {
    requirePermission(session.actor, 'site.api_keys.disable');
    if (!namesKey(typed, key)) return again(key, 'that is not the name of this key', 422);
  }
  try {
    await changeKey({ ...deps, database: session.database }, session.actor, clientId, [version], { status });
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'precondition-failed') throw error;
    // Another administrator has changed the key: the page shows the current version.
    return again(await requireKey(session.database, session.actor.site, clientId), error.message, 409);
  }
  return c.redirect(`${path}?saved=${status}`, 303);
}
