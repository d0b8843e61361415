/** `/admin/audit`: who saw or changed what, searched and downloaded. */
import type { Surface } from '../../http/surface.ts';
import type { AuditRow } from '../../store/admin-audit.ts';
import type { Console } from '../web/console.ts';
import { instantOfLocal, readQuery } from '../web/form.ts';
import { linkTo, Page, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { toAuditEvent } from './event.ts';
import { auditFilter, auditQuery, exportAudit, findAudit } from './listing.ts';
import { AuditList } from './list.tsx';

const { path: PLACE } = PLACES.audit;

/** What a form of the page says, with its times as instants. */
const asked = (query: Record<string, string>) => ({
  ...query,
  from: instantOfLocal(query['from']),
  to: instantOfLocal(query['to']),
});

/**
 * A line for each row, made as it is read: a slow reader holds one page of rows.
 *
 * @param first the page that left the row of the audit
 */
function linesOf(
  site: string,
  first: readonly AuditRow[],
  pages: AsyncGenerator<readonly AuditRow[], undefined>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const bytesOf = (rows: readonly AuditRow[]): Uint8Array =>
    encoder.encode(rows.map((row) => `${JSON.stringify(toAuditEvent(site, row))}\n`).join(''));
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytesOf(first));
    },
    async pull(controller) {
      const { value: rows, done } = await pages.next();
      if (done === true) {
        controller.close();
        return;
      }
      controller.enqueue(bytesOf(rows));
    },
    async cancel() {
      await pages.return(undefined);
    },
  });
}

export function addAuditPages(app: Surface, { deps: { config }, access }: Console): void {
  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.audit.read');
    const query = c.req.query();
    const list = await findAudit(session.database, session.actor.site, readQuery(auditQuery, asked(query)));
    const page = (
      <Page title="Audit" config={config} session={session} place={PLACE}>
        <AuditList {...{ list, query }} path={linkTo(config, PLACE)} />
      </Page>
    );
    return respond(config, page);
  });

  app.get(`${PLACE}/events.ndjson`, async (c) => {
    const { actor, database } = await access.page(c, 'site.audit.read');
    const filter = readQuery(auditFilter, asked(c.req.query()));
    const pages = exportAudit(database, actor.site, filter);
    // Whatever is wrong is answered, and who asked is on record, before anything is sent.
    const { value: first = [] } = await pages.next();
    return new Response(linesOf(actor.site, first, pages), {
      headers: {
        'Content-Type': 'application/fhir+ndjson',
        'Content-Disposition': 'attachment; filename="audit.ndjson"',
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
      },
    });
  });
}
