/**
 * The versions of all resources of a type, the newest first. A version keeps its time, id and number when a newer version
 * replaces it. So the pages have each version once, even if resources change between two pages.
 */
import type { Query } from '../deps.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { type PageRow, withinBudget } from './page.ts';
import { binder, siteOf } from './sql.ts';

const COLUMNS = 'type, id, version, last_updated, meta, body, patient_id';

/** A version; a page begins after it. */
export interface VersionPosition {
  /** An ISO instant. */
  readonly lastUpdated: string;
  readonly id: string;
  readonly version: number;
}

export interface TypeHistorySelection {
  readonly site: string;
  readonly type: ResourceType;
  /** Null: the first page. */
  readonly after: VersionPosition | null;
  /** An ISO instant: versions from then on; null: all. */
  readonly since: string | null;
  readonly limit: number;
}

/** One page and the row after it, if it exists. @see toPage */
export function typeHistoryPage({ site, type, after, since, limit }: TypeHistorySelection): Query<PageRow> {
  const { params, bind } = binder();
  const [at, id, version] = after === null ? [] : [bind(after.lastUpdated), bind(after.id), bind(after.version)];
  const where = [
    `site_id = ${siteOf(bind, site)} and type = ${bind(type)}`,
    ...(since === null ? [] : [`last_updated >= ${bind(since)}::timestamptz`]),
    // The index of the current versions has one row for each id, without the version.
    ...(after === null
      ? []
      : [
          `(last_updated, id) <= (${at}::timestamptz, ${id}::uuid)`,
          `(last_updated, id, version) < (${at}::timestamptz, ${id}::uuid, ${version}::integer)`,
        ]),
  ].join(' and ');
  const rest = `limit ${bind(limit + 1)}::integer`;
  const rows = `select ${COLUMNS}, null::text as sort_key from (
      (select ${COLUMNS} from resource where ${where} order by last_updated desc, id desc ${rest})
      union all
      (select ${COLUMNS} from resource_history where ${where} order by last_updated desc, id desc, version desc ${rest})
    ) v order by last_updated desc, id desc, version desc ${rest}`;
  const order = 'p.last_updated desc, p.id desc, p.version desc';
  return { text: withinBudget(rows, order, { action: 'history', limit }), params, reads: true };
}
