/** Reads by id: the current version, one version, the history. An id of another site does not exist. */
import type { Query } from '../deps.ts';
import { type FhirCall, fhirFunction } from './fhir-call.ts';
import { ANSWER_BYTES, type PageRow, type ReadRow, ROW_BYTES, withinBudget } from './page.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { binder, siteOf } from './sql.ts';

const COLUMNS = 'type, id, version, last_updated, meta, body, patient_id';

/** The conditions under which the caller sees the resource (RFC 9110 §13.1.1, §13.1.4); null: no condition. */
export interface ShownIf {
  readonly versions: readonly number[] | null;
  /** An ISO instant after which it may not have changed. */
  readonly unmodifiedSince: string | null;
}

const ALWAYS: ShownIf = { versions: null, unmodifiedSince: null };

const READ = fhirFunction<ReadRow>('fhir_read', 8, 'reads');

/**
 * No row when the site has no such resource or version. The audit records the resource only where the conditions hold; the row
 * has its content in any case.
 *
 * @param version null: the current one
 */
export const readResource = (
  site: string,
  type: ResourceType,
  id: string,
  version: number | null = null,
  shownIf = ALWAYS,
): FhirCall<ReadRow> =>
  READ(
    site,
    type,
    id,
    version,
    shownIf.versions?.map(String) ?? null,
    shownIf.unmodifiedSince,
    ANSWER_BYTES,
    ROW_BYTES,
  );

export interface HistorySelection {
  readonly site: string;
  readonly type: ResourceType;
  readonly id: string;
  /** Versions below this one; null: from the newest. */
  readonly below: number | null;
  /** An ISO instant: versions from then on; null: all. */
  readonly since: string | null;
  readonly limit: number;
}

/** Newest first, one row more than a page; none when the site has no such resource. @see toPage */
export function historyPage({ site, type, id, below, since, limit }: HistorySelection): Query<PageRow> {
  const { params, bind } = binder();
  const where = [
    `site_id = ${siteOf(bind, site)} and type = ${bind(type)} and id = ${bind(id)}::uuid`,
    ...(below === null ? [] : [`version < ${bind(below)}::integer`]),
    ...(since === null ? [] : [`last_updated >= ${bind(since)}::timestamptz`]),
  ].join(' and ');
  const rows = `select ${COLUMNS}, null::text as sort_key from (
      select ${COLUMNS} from resource where ${where}
      union all (select ${COLUMNS} from resource_history where ${where} order by version desc limit ${bind(limit + 1)}::integer)
    ) v order by version desc limit ${bind(limit + 1)}::integer`;
  return { text: withinBudget(rows, 'p.version desc', { action: 'history', limit }), params, reads: true };
}

/** The newest version's number; no row when the site has no such resource. */
export function currentVersion(site: string, type: ResourceType, id: string): Query<{ version: number }> {
  return {
    text: 'select version from resource where site_id = $1::uuid and type = $2 and id = $3::uuid',
    params: [site, type, id],
    reads: true,
  };
}
