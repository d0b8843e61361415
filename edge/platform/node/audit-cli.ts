/** `npm run audit`: exports a site's audit as FHIR AuditEvent, one per line, the oldest first, for an archive. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { userInfo } from 'node:os';
import process from 'node:process';

import { isInstant } from '../../admin/api/instant.ts';
import { toAuditEvent } from '../../admin/audit/event.ts';
import { auditFilter, exportAudit } from '../../admin/audit/listing.ts';
import { audited } from '../../store/audit.ts';
import { withDatabase } from './database.ts';
import { parseOptions, postgresUrl, runProgram, UsageError } from './program.ts';
import { chooseSites } from './site-jobs.ts';

const USAGE = `usage: npm run -s audit -- --from INSTANT --to INSTANT [--site ID]     with DATABASE_URL in the environment

From (inclusive) and to (exclusive) are dates or instants: 2026-01-01, 2026-01-01T06:00:00Z; dates are UTC. Without --site
the export contains all sites. It is NDJSON on standard output. The audit records the export.
`;

/** @throws UsageError */
function instantOf(name: string, given = ''): string {
  const instant = given.includes('T') ? given : `${given}T00:00:00Z`;
  if (!isInstant(instant))
    throw new UsageError(`--${name} must be a date or an instant, such as 2026-01-31 or 2026-01-31T08:00:00Z`);
  return instant;
}

async function main(): Promise<void> {
  const option = { type: 'string' } as const;
  const { values } = parseOptions({ options: { from: option, to: option, site: option } });
  const [from, to] = [instantOf('from', values.from), instantOf('to', values.to)];
  if (Date.parse(from) >= Date.parse(to)) throw new UsageError('--from must be before --to');
  const filter = auditFilter.parse({ from, to });
  await withDatabase(postgresUrl('DATABASE_URL'), async (database) => {
    for (const { site_id: site } of await chooseSites(database, values.site)) {
      const operator = {
        kind: 'operator',
        name: userInfo().username,
        clientId: null,
        address: null,
        requestId: randomUUID(),
      } as const;
      for await (const rows of exportAudit(audited(database, site, operator), site, filter)) {
        const text = rows.map((row) => `${JSON.stringify(toAuditEvent(site, row))}\n`).join('');
        if (!process.stdout.write(text)) await once(process.stdout, 'drain');
      }
    }
  });
}

await runProgram(USAGE, main);
