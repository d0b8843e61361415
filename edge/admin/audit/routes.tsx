/** `/admin/audit`: the search and the download. */
import { pagedStream } from '../../http/paged-stream.ts';
import type { Surface } from '../../http/surface.ts';
import type { AuditRow } from '../../store/admin-audit.ts';
import type { Console } from '../web/console.ts';
import { readQuery } from '../web/form.ts';
import { linkTo, Page, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { readInstant } from '../web/wall-clock.ts';
import { toAuditEvent } from './event.ts';
import { auditFilter, auditQuery, exportAudit, findAudit } from './listing.ts';
import { AuditList } from './list.tsx';

const { path: PLACE } = PLACES.audit;

/** The filter of the form, with its times as instants. */
const asked = (query: Record<string, string>, timeZone: string) => ({
  ...query,
  from: readInstant(query['from'], timeZone),
  to: readInstant(query['to'], timeZone),
});

const encoder = new TextEncoder();

const linesOf = (site: string, rows: readonly AuditRow[]): Uint8Array =>
  encoder.encode(rows.map((row) => `${JSON.stringify(toAuditEvent(site, row))}\n`).join(''));

/** The pages of the download as bytes. */
async function* bytesOf(
  site: string,
  pages: AsyncGenerator<readonly AuditRow[], undefined>,
): AsyncGenerator<Uint8Array, undefined> {
  for await (const rows of pages) yield linesOf(site, rows);
  return undefined;
}

export function addAuditPages(app: Surface, { deps: { config }, access }: Console): void {
  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.audit.read');
    const query = c.req.query();
    const list = await findAudit(
      session.database,
      session.actor.site,
      readQuery(auditQuery, asked(query, session.timeZone)),
    );
    const page = (
      <Page title="Audit" config={config} session={session} place={PLACE}>
        <AuditList
          {...{ list, query }}
          path={linkTo(config, PLACE)}
          keysPath={session.actor.permissions.has('site.api_keys.read') ? linkTo(config, PLACES.keys.path) : undefined}
        />
      </Page>
    );
    return respond(config, page);
  });

  app.get(`${PLACE}/events.ndjson`, async (c) => {
    const { actor, database, timeZone } = await access.page(c, 'site.audit.read');
    const filter = readQuery(auditFilter, asked(c.req.query(), timeZone));
    const pages = bytesOf(actor.site, exportAudit(database, actor.site, filter));
    // Before the first byte of the body: a fault can still be answered, and the reading is recorded.
    const { value: first = new Uint8Array() } = await pages.next();
    return new Response(pagedStream(first, pages), {
      headers: {
        'Content-Type': 'application/fhir+ndjson',
        'Content-Disposition': 'attachment; filename="audit.ndjson"',
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
      },
    });
  });
}
