/** `/admin/settings`: shows and changes the settings of the site, with their history. */
import type { Context } from 'hono';

import type { Fault } from '../../../shared/fault.ts';
import type { Surface } from '../../http/surface.ts';
import { inSite } from '../../store/in-site.ts';
import { sidecarsSeen } from '../../store/sidecar.ts';
import { changesOfSite } from '../../store/site.ts';
import { endpointsOf } from '../endpoints/endpoints.ts';
import { Endpoints, Sidecars } from '../endpoints/list.tsx';
import { RecordFacts } from '../record/fields.tsx';
import { isOfForm, RecordForm, statusOfForm, titleOfForm, versionOf } from '../record/form.tsx';
import { History } from '../record/history.tsx';
import { type FieldTexts, textsOfForm, textsOfRecord, toBody } from '../../members/texts.ts';
import type { Session } from '../staff/session.ts';
import type { Console } from '../web/console.ts';
import { readForm } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Fact, Notice, When } from '../web/ui.tsx';
import { SITE_MEMBERS, SITE_SECTIONS } from './record.ts';
import { saveSettings } from './save.ts';
import { nameAndZoneOf, noSuchSite, readSettings, requireSite, viewSite } from './site.ts';

const { path: PLACE } = PLACES.settings;
const RECENT_CHANGES = 50;

export function addSettingsPages(app: Surface, console: Console): void {
  app.get(PLACE, (c) => show(console, c));
  app.post(PLACE, (c) => change(console, c));
  app.get(`${PLACE}/edit`, (c) => changeForm(console, c));
}

async function show({ deps: { config }, access }: Console, c: Context): Promise<Response> {
  const session = await access.page(c, 'site.settings.read');
  const { site, permissions } = session.actor;
  const [[row], changes, sidecars] = await inSite(session.database, site).batch([
    readSettings(site),
    changesOfSite(site, null, RECENT_CHANGES),
    sidecarsSeen(),
  ]);
  if (row === undefined) throw noSuchSite();
  return respond(
    { title: 'Settings', config, session, place: PLACE },
    c.req.query('saved') === undefined ? null : (
      <Notice tone="good">The settings are saved. They apply from the next message on.</Notice>
    ),
    <p class="lead">
      These settings apply to every sender of the site. An API key can override the time zone, the character set and the
      processing ids.
    </p>,
    <div class="actions">
      {permissions.has('site.settings.update') ? (
        <a class="button" href={`${linkTo(config, PLACE)}/edit`}>
          Edit
        </a>
      ) : null}
      {permissions.has('site.api_keys.read') ? (
        <a class="button secondary" href={`${linkTo(config, PLACE)}/file`}>
          Site as a file
        </a>
      ) : null}
    </div>,
    <dl class="facts">
      <RecordFacts members={SITE_MEMBERS} sections={SITE_SECTIONS} record={viewSite(row)} />
      <Fact name="Changed">
        <When at={row.updated_at} /> (version {row.version})
      </Fact>
    </dl>,
    permissions.has('site.endpoints.read') ? (
      <>
        <Endpoints endpoints={endpointsOf(config)} />
        <Sidecars sidecars={sidecars} />
      </>
    ) : null,
    <History members={SITE_MEMBERS} changes={changes} />,
  );
}

interface FormState {
  readonly texts: FieldTexts;
  readonly version: number;
  readonly fault?: Fault;
}

function formPage(
  { deps: { config } }: Console,
  session: Session,
  { texts, version, fault }: FormState,
): Promise<Response> {
  const path = linkTo(config, PLACE);
  return respond(
    {
      title: titleOfForm('Edit settings', fault),
      config,
      session,
      place: PLACE,
      trail: [PLACES.settings],
      status: statusOfForm(fault),
    },
    <RecordForm
      members={SITE_MEMBERS}
      sections={SITE_SECTIONS}
      {...{ texts, fault, version }}
      button="Save"
      action={path}
      cancel={path}
      again={`${path}/edit`}
    />,
  );
}

async function changeForm(console: Console, c: Context): Promise<Response> {
  const session = await console.access.page(c, 'site.settings.update');
  const row = await requireSite(session.database, session.actor.site);
  return formPage(console, session, { texts: textsOfRecord(SITE_MEMBERS, viewSite(row)), version: row.version });
}

async function change(console: Console, c: Context): Promise<Response> {
  const { access, deps } = console;
  const { config } = deps;
  const session = await access.page(c, 'site.settings.update');
  const form = await readForm(c);
  const texts = textsOfForm(SITE_MEMBERS, form);
  const version = versionOf(form);
  try {
    const deps = { ...console.deps, database: session.database };
    const row = await saveSettings(deps, session.actor, [version], toBody(SITE_MEMBERS, texts));
    // The next page has the new name and time zone.
    const { name: siteName, timeZone } = nameAndZoneOf(row);
    await access.keep(c, { ...session, siteName, timeZone: timeZone ?? 'UTC' });
    return c.redirect(`${linkTo(config, PLACE)}?saved=1`, 303);
  } catch (error) {
    if (!isOfForm(error)) throw error;
    // The version stays, so that saving again cannot overwrite a change that the administrator has not seen.
    return formPage(console, session, { texts, version, fault: error });
  }
}
