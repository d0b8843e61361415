/**
 * Resources as they are before a patch changes them. The answer to a patch depends on them, even if it changes nothing.
 * The audit therefore records them as read, or found by a condition.
 */
import type { ResourceType } from '../../shared/resource-type.ts';
import type { Query } from '../deps.ts';
import { bytesOf, PAGE_BYTES } from './page.ts';
import type { Criterion } from './search/kinds.ts';
import { matchesSql } from './search/search.ts';
import type { SearchScope } from './search/source.ts';
import { binder, instantOf } from './sql.ts';

/** A resource by its id, or what a condition finds. */
export type Sought =
  | { readonly type: ResourceType; readonly id: string }
  | { readonly type: ResourceType; readonly criteria: readonly Criterion[] };

export interface SeenRow {
  /** The 0-based position of the query. */
  readonly n: number;
  readonly id: string;
  readonly version: number;
  readonly last_updated: string;
  /** Without content beyond the budget of bytes (page.ts). */
  readonly meta: string | null;
  readonly body: string | null;
}

/**
 * A patient and a patient that was merged into it both count as the survivor, as in a write
 * (fhir_conditional_write.sql).
 */
function foundSql(scope: SearchScope, criteria: readonly Criterion[]): string {
  const matches = matchesSql(scope, criteria);
  if (scope.type !== 'Patient') return matches;
  return `with m as materialized (${matches})
    select distinct case when (select count(*) from m) > 1 then patient_survivor(${scope.site}, m.id) else m.id end as id from m`;
}

/** For each a row, none where nothing is there, two where a condition finds several. */
export function seeResources(siteId: string, sought: readonly Sought[]): Query<SeenRow> {
  const { params, bind } = binder();
  const site = `${bind(siteId)}::uuid`;
  const each = sought.map((one, n) => {
    const { type } = one;
    if ('id' in one) return `select ${n} as n, '${type}' as type, 'read' as how, ${bind(one.id)}::uuid as id`;
    return `(select ${n} as n, '${type}' as type, 'search' as how, f.id from (${foundSql({ bind, site, type }, one.criteria)}) f)`;
  });
  // The lateral with a limit is a look-up for each: no estimate can make a scan of it.
  const rows = `select k.n, k.how, r.type, r.id, r.patient_id, r.version, r.last_updated, r.meta, r.body,
       row_number() over w = 1 or sum(${bytesOf('r')}) over w <= ${PAGE_BYTES} as fits
  from (${each.join(' union all ')}) k
 cross join lateral (
   select x.* from resource x where x.site_id = ${site} and x.type = k.type and x.id = k.id limit 1) r
window w as (order by k.n, r.id)`;
  return {
    text: `with q as materialized (${rows}), noted as materialized (
  select audit_note(array_agg(row(s.how, s.type, s.id, s.patient_id)::audit_item)) as done from q s)
select q.n, q.id, q.version, ${instantOf('q.last_updated')} as last_updated,
       case when q.fits then q.meta end as meta, case when q.fits then q.body end as body
  from q cross join noted where noted.done order by q.n, q.id`,
    params,
    reads: true,
  };
}
