/** `/admin/audit`: the search and the download. */
import { isUuid } from '../../../shared/uuid.ts';
import { pagedStream } from '../../http/paged-stream.ts';
import type { Surface } from '../../http/surface.ts';
import type { AuditRow } from '../../store/admin-audit.ts';
import type { Console } from '../web/console.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, respond, SEARCH_PATH } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { readInstant } from '../web/wall-clock.ts';
import { toAuditEvent } from './event.ts';
import { AUDIT_VIEWS, auditFilter, auditQuery, exportAudit, findAuditPage } from './listing.ts';
import type { AuditLinks } from './links.tsx';
import { AuditSearch } from './list.tsx';

const { path: PLACE } = PLACES.audit;

/** The filter of the form, with its times as instants. */
const asked = (query: Record<string, string>, timeZone: string) => ({
  ...query,
  from: readInstant(query['from'], timeZone),
  to: readInstant(query['to'], timeZone),
});

/** The filter that is not in an address, unless it is an id. */
const PATIENT_DATA = ['patient'];
const isIdentifier = (text = ''): boolean => text !== '' && !isUuid(text.replace(/^Patient\//, '').toLowerCase());

const linesOf = (site: string, rows: readonly AuditRow[]): string =>
  rows.map((row) => `${JSON.stringify(toAuditEvent(site, row))}\n`).join('');

/** The pages of the download. */
async function* fileOf(
  site: string,
  pages: AsyncGenerator<readonly AuditRow[], undefined>,
): AsyncGenerator<string, undefined> {
  for await (const rows of pages) yield linesOf(site, rows);
  return undefined;
}

export function addAuditPages(app: Surface, { deps, access, queries }: Console): void {
  const { config } = deps;
  const path = linkTo(config, PLACE);
  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.audit.read');
    const address = c.req.query();
    if (isIdentifier(address['patient'])) {
      return c.redirect(await queries.addressOf(session.actor, path, address, PATIENT_DATA), 303);
    }
    const query = await queries.open(session.actor, address);
    const view = AUDIT_VIEWS.find((each) => each === query['view']) ?? 'rows';
    const { site, permissions } = session.actor;
    const mayName = permissions.has('site.messages.read');
    const given = readQuery(auditQuery, asked(query, session.timeZone));
    const found = await findAuditPage(session.database, site, view, given, mayName);
    const to = (place: keyof typeof PLACES): string | undefined =>
      permissions.has(PLACES[place].permission) ? linkTo(config, PLACES[place].path) : undefined;
    const links: AuditLinks = {
      audit: path,
      messages: to('messages'),
      keys: to('keys'),
      alerts: to('alerts'),
      subscriptions: to('subscriptions'),
      settings: to('settings'),
      people: to('people'),
      search: mayName || permissions.has('site.api_keys.read') ? linkTo(config, SEARCH_PATH) : undefined,
    };
    return respond(
      { title: 'Audit', config, session, place: PLACE },
      <AuditSearch {...{ found, view, query, address, links }} />,
    );
  });

  app.post(PLACE, async (c) => {
    const { actor } = await access.page(c, 'site.audit.read');
    const typed = Object.fromEntries(await readForm(c));
    const secret = isIdentifier(typed['patient']) ? PATIENT_DATA : [];
    return c.redirect(await queries.addressOf(actor, path, typed, secret), 303);
  });

  app.get(`${PLACE}/events.ndjson`, async (c) => {
    const { actor, database, timeZone } = await access.page(c, 'site.audit.read');
    const filter = readQuery(auditFilter, asked(await queries.open(actor, c.req.query()), timeZone));
    const pages = fileOf(actor.site, exportAudit(database, actor.site, filter));
    // Before the first byte of the body: a fault can still be answered, and the reading is recorded.
    const { value: first = '' } = await pages.next();
    return new Response(pagedStream(deps, first, pages), {
      headers: {
        'Content-Type': 'application/fhir+ndjson',
        'Content-Disposition': 'attachment; filename="audit.ndjson"',
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
      },
    });
  });
}
