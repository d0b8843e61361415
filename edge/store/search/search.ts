/** Searches of a site: pages by keyset, counts, and the matches of conditions. */
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Query } from '../../deps.ts';
import { fhirFunction } from '../fhir-call.ts';
import {
  ANSWER_BYTES,
  bytesOf,
  type Included,
  PAGE_BYTES,
  type PageRow,
  ROW_BYTES,
  withinBudget,
  withinBudgetWith,
} from '../page.ts';
import { binder } from '../sql.ts';
import { type Criterion, plansAnew } from './kinds.ts';
import { pageIds } from './page-ids.ts';
import type { PageSelection } from './page-selection.ts';
import { keySearchOf } from './key-search.ts';
import { allIds, isByNames, MANY_NAMES, selectionSql } from './selection.ts';
import type { SearchScope } from './source.ts';

/** A rare name needs its index; for a common name a walk of the site finds a page sooner. */
const planOf = (criteria: readonly Criterion[]): Pick<Query, 'planAnew'> =>
  criteria.some(plansAnew) ? { planAnew: true } : {};

const FIND = fhirFunction<PageRow>('fhir_find', 11, 'reads');

/** One page and the row after it, if it exists. A search by key is a function call. @see toPage */
export function searchPage(selection: PageSelection): Query<PageRow> {
  const key = keySearchOf(selection);
  if (key !== undefined) {
    const { site, type, after, limit } = selection;
    const { patient, param, value, system } = key;
    const budget = [PAGE_BYTES, ANSWER_BYTES, ROW_BYTES] as const;
    return FIND(site, type, patient, param, value, system, after?.id ?? null, limit, ...budget);
  }
  const { params, bind } = binder();
  const scope = { bind, site: `${bind(selection.site)}::uuid`, type: selection.type };
  const ids = pageIds(scope, selection);
  // The lateral with a limit is a look-up for each row, which no estimate turns into a scan.
  const rows = `select r.type, r.id, r.version, r.last_updated, r.meta, r.body, r.patient_id, k.sort_key${ids.columns}
    from (${ids.text}) k
   cross join lateral (
     select x.* from resource x where x.site_id = ${scope.site} and x.type = '${scope.type}' and x.id = k.id limit 1) r`;
  const reader = { action: 'search', limit: selection.limit } as const;
  const text =
    selection.withPatients === true
      ? withinBudgetWith(patientsOf(scope), withPatientBytes(rows, ids.order, scope), ids.order, reader)
      : withinBudget(rows, ids.order, reader);
  // The best plan of an order by date depends on the values, unless a patient is named.
  const isAnew = selection.sort.param !== undefined && !selection.criteria.some(({ kind }) => kind === 'patient');
  return { text, params, reads: true, ...planOf(selection.criteria), ...(isAnew ? { planAnew: true } : {}) };
}

/** The patients of a page, each once, by look-ups as those of the page itself. */
const patientsOf = ({ site }: SearchScope): Included => ({
  bytes: 'p.patient_bytes',
  rows: `select x.* from (select distinct q.patient_id as id from q where q.is_shown) n
   cross join lateral (
     select x.* from resource x where x.site_id = ${site} and x.type = 'Patient' and x.id = n.id limit 1) x`,
});

/** The bytes of a patient count for its first resource on the page. */
const withPatientBytes = (rows: string, order: string, { site }: SearchScope): string =>
  `select p.*, case when row_number() over (partition by p.patient_id order by ${order}) = 1
          then coalesce((select ${bytesOf('x')} from resource x
                          where x.site_id = ${site} and x.type = 'Patient' and x.id = p.patient_id limit 1), 0)
          else 0 end as patient_bytes
     from (${rows}) p`;

export function searchCount(
  site: string,
  type: ResourceType,
  criteria: readonly Criterion[],
): Query<{ total: number }> {
  const { params, bind } = binder();
  const scope = { bind, site: `${bind(site)}::uuid`, type };
  return { text: countSql(scope, criteria), params, reads: true, ...planOf(criteria) };
}

function countSql(scope: SearchScope, criteria: readonly Criterion[]): string {
  if (isByNames(criteria, MANY_NAMES)) return `select count(*)::integer as total from (${allIds(scope, criteria)}) n`;
  const { from, where, id, repeats } = selectionSql(scope, criteria, 'free');
  return `select count(${repeats ? 'distinct ' : ''}${id})::integer as total from ${from} where ${where}`;
}

/** SQL: at most two matching ids, which is all that a condition needs (R4 http, conditional create). */
export function matchesSql(scope: SearchScope, criteria: readonly Criterion[]): string {
  if (isByNames(criteria)) return `${allIds(scope, criteria)} limit 2`;
  const { from, where, id, repeats } = selectionSql(scope, criteria, 'fixed');
  return `select ${repeats ? 'distinct ' : ''}${id} as id from ${from} where ${where} limit 2`;
}
