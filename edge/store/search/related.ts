/**
 * Searches by the parameters of other resources, in one step (FHIR R4 search, 3.1.1.4.7, 3.1.1.4.8). The other resources are
 * found first, at most as many as edge/limits.ts allows. A chain then searches the resources of each patient that it found.
 */
import { type LimitName, LIMITS } from '../../limits.ts';
import type { Criterion, PlainCriterion } from './kinds.ts';
import { pageIds } from './page-ids.ts';
import type { Related } from './page-selection.ts';
import { matchesSql } from './selection.ts';
import type { SearchScope } from './source.ts';

const LIMIT: Readonly<Record<Related['kind'], LimitName>> = { chained: 'chained-patients', has: 'has-matches' };

/** A search with related resources as criteria. */
export interface Found {
  /** SQL: `with` items that the criteria refer to. */
  readonly ctes: readonly string[];
  /** SQL that yields the name of each limit that is exceeded. Then the criteria match nothing. */
  readonly over: readonly string[];
  readonly criteria: readonly Criterion[];
  /** SQL of a `from` item with the patients that a chain finds, whose rows the criteria refer to; undefined without a chain. */
  readonly patients: string | undefined;
}

/** SQL of a row with the ids as an array; null beyond the limit. */
function idsSql(scope: SearchScope, { kind, type, criteria }: Related): string {
  const { most } = LIMITS[LIMIT[kind]];
  const of = { ...scope, type };
  const matches =
    kind === 'chained'
      ? pageIds(of, { criteria, sort: { by: 'id', descending: false }, after: null, limit: most }).text
      : matchesSql(of, criteria, most + 1);
  // The lateral with a limit is a look-up for each.
  const patients = `array(select distinct x.patient_id from unnest(a.ids) m (id)
        cross join lateral (
          select r.patient_id from resource r
           where r.site_id = ${scope.site} and r.type = '${type}' and r.id = m.id limit 1) x
        where x.patient_id is not null)`;
  // The offset keeps PostgreSQL from finding them twice.
  return `select case when cardinality(a.ids) <= ${most} then ${kind === 'chained' ? 'a.ids' : patients} end as ids
      from (select array(select m.id from (${matches}) m) as ids offset 0) a`;
}

/** @param related at most one is `chained`, because a resource has one patient */
export function relatedSql(
  scope: SearchScope,
  { criteria, related = [] }: { readonly criteria: readonly Criterion[]; readonly related?: readonly Related[] },
): Found {
  const ctes = related.map((one, n) => `related${n} as materialized (${idsSql(scope, one)})`);
  const found = related.map(({ kind }, n): PlainCriterion =>
    kind === 'chained'
      ? { kind: 'patient', ids: [], found: 'chained.patient_id' }
      : { kind: 'id', ids: [], found: foundBy(n) },
  );
  const chain = related.findIndex(({ kind }) => kind === 'chained');
  return {
    ctes,
    over: related.map(({ kind }, n) => `select '${LIMIT[kind]}' as name from related${n} where ids is null`),
    criteria: [...criteria, ...found],
    patients: chain < 0 ? undefined : `unnest(${foundBy(chain)}) chained (patient_id)`,
  };
}

const foundBy = (n: number): string => `(select ids from related${n})::uuid[]`;
