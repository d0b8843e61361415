/**
 * The lookup of the resources that a patch starts from. The answer depends on them even where the patch changes nothing, so
 * the audit records them as read, or as found by a condition.
 */
import type { ResourceType } from '../../shared/resource-type.ts';
import type { Query } from '../deps.ts';
import { bytesOf, contentIf, PAGE_BYTES } from './page.ts';
import type { Criterion } from './search/kinds.ts';
import { matchesSql } from './search/selection.ts';
import type { SearchScope } from './search/source.ts';
import { binder, instantOf, siteOf } from './sql.ts';

/** A resource by its id, or the resources that a condition finds. */
export type LookupTarget =
  | { readonly type: ResourceType; readonly id: string }
  | { readonly type: ResourceType; readonly criteria: readonly Criterion[] };

export interface LookupRow {
  /** The 0-based position of the target. */
  readonly n: number;
  readonly id: string;
  readonly version: number;
  readonly last_updated: string;
  /** Without content beyond the budget of bytes (page.ts). */
  readonly meta: string | null;
  readonly body: string | null;
}

/** A patient and a patient that was merged into it count as the survivor, as in fhir_conditional_write.sql. */
function foundSql(scope: SearchScope, criteria: readonly Criterion[]): string {
  const matches = matchesSql(scope, criteria);
  if (scope.type !== 'Patient') return matches;
  return `with m as materialized (${matches})
    select distinct case when (select count(*) from m) > 1 then patient_survivor(${scope.site}, m.id) else m.id end as id from m`;
}

/** The rows of each target: one, none without a resource, or two where a condition finds several. */
export function lookUpResources(siteId: string, targets: readonly LookupTarget[]): Query<LookupRow> {
  const { params, bind } = binder();
  const site = siteOf(bind, siteId);
  const each = targets.map((one, n) => {
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
       ${contentIf('q.fits', 'q')}
  from q cross join noted where noted.done order by q.n, q.id`,
    params,
    reads: true,
  };
}
