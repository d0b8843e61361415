/** Searches of a site: pages by keyset, counts, and the matches of conditions. */
import { isStored, type ResourceType } from '../../../shared/resource-type.ts';
import type { Query } from '../../deps.ts';
import { LIMITS } from '../../limits.ts';
import { fhirFunction } from '../fhir-call.ts';
import {
  ANSWER_BYTES,
  bytesOf,
  NO_RESOURCES,
  PAGE_BYTES,
  type PageRow,
  ROW_BYTES,
  withinBudget,
  withinBudgetWith,
} from '../page.ts';
import { factsOf } from '../provenance.ts';
import { binder, siteOf } from '../sql.ts';
import { type Criterion, plansAnew } from './kinds.ts';
import { pageIds } from './page-ids.ts';
import type { PageSelection, Related } from './page-selection.ts';
import { keySearchOf } from './key-search.ts';
import { relatedSql } from './related.ts';
import { allIds, isByNames, MANY_NAMES, selectionSql } from './selection.ts';
import type { SearchScope } from './source.ts';

/**
 * A rare name needs its index; for a common name a walk of the site finds a page sooner. One plan serves every range of dates of a
 * patient, which an index has in one place.
 */
function planOf(criteria: readonly Criterion[], related: readonly Related[] = []): Pick<Query, 'planAnew'> {
  const isOfPatient = criteria.some(({ kind }) => kind === 'patient');
  const own = criteria.filter(({ kind }) => !(isOfPatient && kind === 'date'));
  const ofRelated = related.flatMap((one) => one.criteria);
  return [...own, ...ofRelated].some(plansAnew) ? { planAnew: true } : {};
}

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
  const scope = { bind, site: siteOf(bind, selection.site), type: selection.type };
  const { ctes, over, criteria, patients } = relatedSql(scope, selection);
  const { text: page, order } = pageIds(scope, { ...selection, criteria });
  // A page of each patient has the page of all of them.
  const ids =
    patients === undefined
      ? page
      : `select p.* from ${patients} cross join lateral (${page}) p order by ${order} limit ${selection.limit + 1}`;
  // The lateral with a limit is a look-up for each row, which no estimate turns into a scan.
  const rows = `select r.type, r.id, r.version, r.last_updated, r.meta, r.body, r.patient_id, k.sort_key
    from (${ids}) k
   cross join lateral (
     select x.* from resource x where x.site_id = ${scope.site} and x.type = '${scope.type}' and x.id = k.id limit 1) r`;
  const reader = { action: 'search', limit: selection.limit } as const;
  const { included = [] } = selection;
  const text =
    included.length + ctes.length === 0
      ? withinBudget(rows, order, reader)
      : withinBudgetWith(
          {
            ctes: ctes.map((one) => `${one},\n`).join(''),
            rows: includedBy(scope, included.filter(isStored)),
            facts: included.includes('Provenance') ? factsOf(scope.site, 'q') : 'null::text',
            over: [...over, OVER_PAGE],
          },
          withIncludedBytes(rows, order, scope, included.filter(isStored)),
          order,
          reader,
        );
  // The best plan of an order by date depends on the values, unless a patient is named.
  const isAnew = selection.sort.param !== undefined && !criteria.some(({ kind }) => kind === 'patient');
  const planned = planOf(selection.criteria, selection.related);
  return { text, params, reads: true, ...planned, ...(isAnew ? { planAnew: true } : {}) };
}

/** A patient with more than a page of resources. */
const OVER_PAGE = `select 'reverse-included' from f where f.place = 1 and f.included_bytes > ${PAGE_BYTES}`;

/** The types are literals, not input. */
const listOf = (types: readonly ResourceType[]): string => types.map((type) => `'${type}'`).join(', ');

/** SQL: the resources that a page includes: all about its patients, or the patients of its resources, each once. */
function includedBy({ site, type }: SearchScope, included: readonly ResourceType[]): string {
  if (included.length === 0) return NO_RESOURCES;
  return type === 'Patient'
    ? `select x.* from q
   cross join lateral (
     select x.* from resource x
      where x.site_id = ${site} and x.patient_id = q.id and x.type in (${listOf(included)}) offset 0) x
   where q.is_shown`
    : `select x.* from (select distinct q.patient_id as id from q where q.is_shown) n
   cross join lateral (
     select x.* from resource x where x.site_id = ${site} and x.type = 'Patient' and x.id = n.id limit 1) x`;
}

/** Each counts so many bytes at least, so a page includes at most as many as the limit. */
const REFERRING_BYTES = Math.floor(PAGE_BYTES / LIMITS['reverse-included'].most);

/**
 * SQL: the rows with the bytes of the resources that each includes. A patient counts for its first resource on the page. One
 * resource about patients more than the limit exceeds the budget, so those after it do not matter and are not read.
 */
function withIncludedBytes(
  rows: string,
  order: string,
  { site, type }: SearchScope,
  included: readonly ResourceType[],
): string {
  if (included.length === 0) return `select p.*, 0 as included_bytes from (${rows}) p`;
  if (type !== 'Patient')
    return `select p.*, case when row_number() over (partition by p.patient_id order by ${order}) = 1
          then coalesce((select ${bytesOf('x')} from resource x
                          where x.site_id = ${site} and x.type = 'Patient' and x.id = p.patient_id limit 1), 0)
          else 0 end as included_bytes
     from (${rows}) p`;
  return `with c as materialized (${rows}),
     s as materialized (
       select x.of, sum(greatest(${bytesOf('x')}, ${REFERRING_BYTES})) as bytes
         from (select p.id as of, x.meta, x.body
                 from (select p.id from c p order by ${order}) p
                cross join lateral (
                  select x.meta, x.body from resource x
                   where x.site_id = ${site} and x.patient_id = p.id and x.type in (${listOf(included)}) offset 0) x
                limit ${LIMITS['reverse-included'].most + 1}) x
        group by x.of)
   select p.*, coalesce(s.bytes, 0) as included_bytes from c p left join s on s.of = p.id`;
}

export function searchCount(
  site: string,
  type: ResourceType,
  criteria: readonly Criterion[],
  related: readonly Related[] = [],
): Query<Pick<PageRow, 'over_limit'> & { total: number }> {
  const { params, bind } = binder();
  const scope = { bind, site: siteOf(bind, site), type };
  const { ctes, over, criteria: all, patients } = relatedSql(scope, { criteria, related });
  const count = countSql(scope, all, ctes.length === 0 ? 'free' : 'fixed');
  const summed =
    patients === undefined
      ? count
      : `select coalesce(sum(n.total), 0)::integer as total from ${patients} cross join lateral (${count}) n`;
  const text =
    ctes.length === 0
      ? count
      : `with ${ctes.join(', ')}
   select n.total, (select o.name from (${over.join(' union all ')}) o limit 1) as over_limit from (${summed}) n`;
  return { text, params, reads: true, ...planOf(criteria, related) };
}

function countSql(scope: SearchScope, criteria: readonly Criterion[], plan: 'free' | 'fixed'): string {
  if (isByNames(criteria, MANY_NAMES)) return `select count(*)::integer as total from (${allIds(scope, criteria)}) n`;
  const { from, where, id, repeats } = selectionSql(scope, criteria, plan);
  return `select count(${repeats ? 'distinct ' : ''}${id})::integer as total from ${from} where ${where}`;
}
