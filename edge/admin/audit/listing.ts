/** The audit of a site, for the JSON API, the page and the download alike. Whoever reads it is in it. */
import * as z from 'zod';

import { isUuid } from '../../../shared/uuid.ts';
import { AUDIT_ACTION_NAMES } from '../../audit-actions.ts';
import type { Database, Query } from '../../deps.ts';
import { noteAudit } from '../../store/audit.ts';
import { type AuditFilter, type AuditRow, listAudit, patientsNumbered } from '../../store/admin-audit.ts';
import { inSite } from '../../store/in-site.ts';
import { fromCursor, INSTANT_PART, type List, toList, UUID_PART } from '../api/cursor.ts';
import { instant } from '../api/instant.ts';
import { paging } from '../api/operation.ts';
import { ACTION_GROUP_NAMES, actionsOf } from './actions.ts';

/** As long as an identifier may be. */
const MAX_NUMBER = 200;

export const auditFilter = z.strictObject({
  patient: z
    .string()
    .max(MAX_NUMBER)
    .trim()
    .default('')
    .meta({
      description:
        'Whom it concerned: the id of a Patient, `Patient/…`, or a number that patients are known by, as it is stored. ' +
        'Exports are found too: they may be of anybody.',
    }),
  clientId: z
    .string()
    .max(40)
    .default('')
    .meta({ description: 'The API key that asked, or that was made or changed.' }),
  actor: z.string().max(200).default('').meta({
    description: 'Who: a Client ID, the `sub` of a person, the name of a sidecar or of an operator’s account.',
  }),
  action: z
    .enum(['', ...ACTION_GROUP_NAMES, ...AUDIT_ACTION_NAMES])
    .default('')
    .meta({
      description:
        'What was done; bundles of which a part did it are found too. `seen` and `changed` are all actions that show or ' +
        'change clinical data.',
    }),
  from: instant,
  to: instant,
});

export const auditQuery = auditFilter.extend(paging);

/** What the page is about. */
function filterOf({ patient, action, ...others }: z.infer<typeof auditFilter>): AuditFilter {
  const id = patient.replace(/^Patient\//, '').toLowerCase();
  const isId = isUuid(id);
  return { ...others, actions: actionsOf(action), patient: isId ? id : '', patientNumber: isId ? '' : patient };
}

/** That the audit is read, and whose. */
const noteOf = (site: string, { patient }: AuditFilter): Query[] => [
  noteAudit('audit-viewed', 'Site', site),
  ...(patient === '' ? [] : [noteAudit('audit-viewed', 'Patient', patient)]),
];

/** Whose it is, where a number was asked for. */
const numberedOf = (site: string, { patientNumber }: AuditFilter) => patientsNumbered(site, patientNumber);

/**
 * A page, the newest first; and of a number the ids of the patients that are known by it.
 *
 * @param database that leaves a row of the audit for what is noted
 * @throws Fault `malformed` for a cursor that is not ours
 */
export async function findAudit(
  database: Database,
  site: string,
  { limit, cursor, ...given }: z.infer<typeof auditQuery>,
): Promise<List<AuditRow> & { readonly numbered: readonly string[] }> {
  const filter = filterOf(given);
  const after = fromCursor(cursor, INSTANT_PART, UUID_PART);
  const query = listAudit(site, filter, 'newest', after, limit + 1);
  const [rows, numbered] = await inSite(database, site).batch([
    query,
    numberedOf(site, filter),
    ...noteOf(site, filter),
  ] as const);
  return { ...toList(rows, limit, (row) => [row.at, row.audit_id]), numbered: numbered.map(({ id }) => id) };
}

const EXPORT_ROWS = 500;

/** All of it, the oldest first, a page at a time; the first leaves the row that says that it was read. */
export async function* exportAudit(
  database: Database,
  site: string,
  given: z.infer<typeof auditFilter>,
): AsyncGenerator<readonly AuditRow[], undefined> {
  const filter = filterOf(given);
  let after: readonly string[] | null = null;
  for (;;) {
    const noted: readonly Query[] = after === null ? [numberedOf(site, filter), ...noteOf(site, filter)] : [];
    const query = listAudit(site, filter, 'oldest', after, EXPORT_ROWS);
    const [rows]: readonly [AuditRow[], ...unknown[]] = await inSite(database, site).batch([query, ...noted] as const);
    yield rows;
    const last: AuditRow | undefined = rows.at(-1);
    if (last === undefined || rows.length < EXPORT_ROWS) return undefined;
    after = [last.at, last.audit_id];
  }
}
