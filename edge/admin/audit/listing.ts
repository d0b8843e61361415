/** Reads the audit of a site for the JSON API, the page and the download, and records each reading in it. */
import * as z from 'zod';

import { isUuid } from '../../../shared/uuid.ts';
import { AUDIT_ACTION_NAMES } from '../../audit-actions.ts';
import type { Database, Query } from '../../deps.ts';
import { noteAudit } from '../../store/audit.ts';
import {
  type ActorSumRow,
  type AuditFilter,
  type AuditRow,
  listAudit,
  listAuditNamed,
  type NamedAuditRow,
  type PatientSumRow,
  patientsIdentified,
  sumAuditByActor,
  sumAuditByPatient,
} from '../../store/admin-audit.ts';
import { inSite } from '../../store/in-site.ts';
import { fromCursor, INSTANT_PART, type List, toList, UUID_PART } from '../api/cursor.ts';
import { instant, requireForward } from '../api/instant.ts';
import { paging } from '../api/operation.ts';
import { ACTION_GROUP_NAMES, actionsOf } from './actions.ts';

/** The longest identifier. */
const MAX_IDENTIFIER = 200;

export const auditFilter = z.strictObject({
  patient: z
    .string()
    .max(MAX_IDENTIFIER)
    .trim()
    .default('')
    .meta({
      description:
        'The patient: an id, `Patient/…`, or an identifier value as it is stored. ' +
        'Exports are found too, because they can hold each patient.',
    }),
  clientId: z
    .string()
    .max(40)
    .default('')
    .meta({ description: 'The API key of the request, or the API key that was created or changed.' }),
  actor: z.string().max(200).default('').meta({
    description: 'The actor: a Client ID, the `sub` of a person, or the name of a sidecar or of an operator’s account.',
  }),
  action: z
    .enum(['', ...ACTION_GROUP_NAMES, ...AUDIT_ACTION_NAMES])
    .default('')
    .meta({
      description:
        'The action; bundles with such an entry are found too. `seen` and `changed` are all actions that show or ' +
        'change clinical data.',
    }),
  from: instant,
  to: instant,
});

export const auditQuery = auditFilter.extend(paging);

/** The filter of the statements. */
function filterOf({ patient, action, ...others }: z.infer<typeof auditFilter>): AuditFilter {
  requireForward(others);
  const id = patient.replace(/^Patient\//, '').toLowerCase();
  const isId = isUuid(id);
  return { ...others, actions: actionsOf(action), patient: isId ? id : '', patientIdentifier: isId ? '' : patient };
}

/** Records the reading in the audit. */
const noteOf = (site: string, { patient }: AuditFilter): Query[] => [
  noteAudit('audit-viewed', 'Site', site),
  ...(patient === '' ? [] : [noteAudit('audit-viewed', 'Patient', patient)]),
];

/** The patients with the identifier of the filter. */
const identifiedBy = (site: string, { patientIdentifier }: AuditFilter) => patientsIdentified(site, patientIdentifier);

/**
 * A page, the newest first, and the ids of the patients with the identifier of the filter.
 *
 * @param database writes an audit row for each batch (`audited`)
 * @throws Fault `malformed` for an invalid cursor
 */
export async function findAudit(
  database: Database,
  site: string,
  { limit, cursor, ...given }: z.infer<typeof auditQuery>,
): Promise<List<AuditRow> & { readonly identified: readonly string[] }> {
  const filter = filterOf(given);
  const after = fromCursor(cursor, INSTANT_PART, UUID_PART);
  const query = listAudit(site, filter, 'newest', after, limit + 1);
  const [rows, identified] = await inSite(database, site).batch([
    query,
    identifiedBy(site, filter),
    ...noteOf(site, filter),
  ] as const);
  return { ...toList(rows, limit, (row) => [row.at, row.audit_id]), identified: identified.map(({ id }) => id) };
}

export const AUDIT_VIEWS = ['rows', 'actors', 'patients'] as const;
export type AuditView = (typeof AUDIT_VIEWS)[number];

export interface AuditPage {
  readonly identified: readonly string[];
  readonly list?: List<NamedAuditRow>;
  readonly actors?: readonly ActorSumRow[];
  readonly patients?: readonly PatientSumRow[];
}

/**
 * Finds the rows of the page, or adds up the rows that match by actor or by patient.
 *
 * @param isNamed with the names of patients and messages, which the audit then notes
 */
export async function findAuditPage(
  database: Database,
  site: string,
  view: AuditView,
  { limit, cursor, ...given }: z.infer<typeof auditQuery>,
  isNamed: boolean,
): Promise<AuditPage> {
  const filter = filterOf(given);
  const others = [identifiedBy(site, filter), ...noteOf(site, filter)] as const;
  const ids = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id);
  if (view === 'actors') {
    const [actors, found] = await inSite(database, site).batch([sumAuditByActor(site, filter), ...others] as const);
    return { actors, identified: ids(found) };
  }
  if (view === 'patients') {
    const query = sumAuditByPatient(site, filter, isNamed);
    const [patients, found] = await inSite(database, site).batch([query, ...others] as const);
    return { patients, identified: ids(found) };
  }
  const after = fromCursor(cursor, INSTANT_PART, UUID_PART);
  const query = isNamed
    ? listAuditNamed(site, filter, after, limit)
    : { ...listAudit(site, filter, 'newest', after, limit + 1) };
  const [rows, found] = await inSite(database, site).batch([query, ...others] as const);
  const list = toList(rows, limit, (row) => [row.at, row.audit_id]);
  return {
    list: { ...list, items: list.items.map((row) => ({ names: null, messages: null, ...row })) },
    identified: ids(found),
  };
}

const EXPORT_ROWS = 500;

/** All rows, the oldest first, page by page; the first page records the reading. */
export async function* exportAudit(
  database: Database,
  site: string,
  given: z.infer<typeof auditFilter>,
): AsyncGenerator<readonly AuditRow[], undefined> {
  const filter = filterOf(given);
  let after: readonly string[] | null = null;
  for (;;) {
    const noted: readonly Query[] = after === null ? [identifiedBy(site, filter), ...noteOf(site, filter)] : [];
    const query = listAudit(site, filter, 'oldest', after, EXPORT_ROWS);
    const [rows]: readonly [AuditRow[], ...unknown[]] = await inSite(database, site).batch([query, ...noted] as const);
    yield rows;
    const last: AuditRow | undefined = rows.at(-1);
    if (last === undefined || rows.length < EXPORT_ROWS) return undefined;
    after = [last.at, last.audit_id];
  }
}
