/**
 * The ids of a page in the order of a date. The order is that of the beginning of the stored range, then of the ids. Resources
 * without the date follow in both directions, by id.
 */
import { conditionSql, type Criterion, type PlainCriterion, sourceOf } from './kinds.ts';
import { dateSource, datesOfPatientSql, firstMatchesSql, newestFirstSql } from './kinds/date.ts';
import { listOrWalk } from './list-or-walk.ts';
import { directionOf, type PageIds, type PageOrder } from './page-selection.ts';
import { GENERATION } from './parameters.ts';
import { MISSING } from './rows.ts';
import { DRIVER, rankIn, type Selection, selectionSql } from './selection.ts';
import { RESOURCE, type SearchScope, type Source } from './source.ts';

const isDate = (one: Criterion, param: string): one is PlainCriterion<'date'> =>
  one.kind === 'date' && one.param === param;

/** True for `[param]:missing=true`. */
const isMissing = (one: Criterion, param: string): boolean =>
  one.kind === 'token' && one.param === MISSING && one.any.every(({ value }) => value === param);

/** SQL: the ids that a criterion selects. */
function listOf(scope: SearchScope, criterion: PlainCriterion): string {
  const source = sourceOf(criterion, scope.type);
  return `select ${source.id('n')} as id from ${source.from('n')} where ${source.within(scope, 'n')}
     and ${conditionSql(criterion, 'n', scope)}`;
}

/** The criteria that usually select the fewest resources. */
function leadsOf(scope: SearchScope, criteria: readonly Criterion[]): PlainCriterion[] {
  const plain = criteria.filter((one): one is PlainCriterion => one.kind !== 'not');
  const ranks = plain.map((one) => rankIn(scope.type, one));
  return plain.filter((_, n) => ranks[n] === Math.min(...ranks));
}

interface Order {
  readonly source: Source;
  readonly direction: 'asc' | 'desc';
  /** SQL: after the page before. @param alias of a row of the source */
  readonly behind: (alias: string) => string;
  /** SQL: the rows of a page and one. */
  readonly count: string;
}

/** SQL: id and `at` of the resources with the date. */
function datedSql(scope: SearchScope, criteria: readonly Criterion[], param: string, order: Order): string {
  const { source, direction, behind, count } = order;
  const own = criteria.filter((one) => isDate(one, param));
  const conditions = (alias: string): string =>
    own.map((one) => ` and ${conditionSql(one, alias, scope)}`).join('') + behind(alias);
  const sorted = (alias: string): string => `order by ${alias}.from_at ${direction}, ${alias}.id ${direction}`;
  const last = `${sorted(DRIVER)} limit ${count}`;
  const patient = criteria.find((one): one is PlainCriterion<'patient'> => one.kind === 'patient');
  // An index has the dates of a patient (migrations/0003_resource.sql). A report belongs to a study, not directly to a patient.
  if (patient !== undefined && scope.type !== 'DiagnosticReport') {
    const others = criteria.filter((one) => one !== patient && !isDate(one, param));
    const { where } = selectionSql(scope, others, { walked: source });
    // The offset keeps PostgreSQL from a walk of all dates, and lets it probe only the rows that the page needs.
    const ofPatient = [
      source.within(scope, 'x'),
      conditionSql(patient, 'x', scope),
      ...datesOfPatientSql(own, 'x', scope),
    ];
    return `select ${DRIVER}.id, ${DRIVER}.from_at as at
      from (select x.* from ${source.from('x')} where ${ofPatient.join(' and ')}${behind('x')} ${sorted('x')} offset 0) ${DRIVER}
     where ${where} ${last}`;
  }
  const rest = leadsOf(
    scope,
    criteria.filter((one) => !isDate(one, param)),
  );
  const lists = [
    ...(own.length === 0
      ? []
      : [
          `select n.id from ${source.from('n')} where ${source.within(scope, 'n')}${conditions('n')}${newestFirstSql(own, 'n')}`,
        ]),
    ...rest.map((one) => listOf(scope, one)),
  ];
  const { from, where } = selectionSql(scope, criteria, { walked: source });
  const ways = listOrWalk(scope, lists.length === 0 ? undefined : { source, lists }, from);
  const columns = `${DRIVER}.id, ${DRIVER}.from_at as at`;
  const all = `${ways.ctes}${ways.union(
    (item, condition) => `select ${columns} from ${item} where ${where}${condition}${behind(DRIVER)} ${last}`,
  )}`;
  const first =
    own.length === criteria.length ? firstMatchesSql(own, direction === 'desc', DRIVER, scope.bind) : undefined;
  if (first === undefined) return all;
  // These fill the page, or the page needs all matches. The offset keeps PostgreSQL from listing these before it knows.
  return `with first as materialized (
       select ${columns} from ${source.from(DRIVER)} where ${source.within(scope, DRIVER)} and ${first}${behind(DRIVER)} ${last}),
     enough as materialized (select count(*) = ${count} as yes from first)
     select * from first where (select yes from enough)
     union all
     select x.* from (${all} offset 0) x where not (select yes from enough)`;
}

/** SQL: the resources without the date. @param condition a SQL condition that depends on no row */
function undatedSql(
  scope: SearchScope,
  criteria: readonly Criterion[],
  param: string,
  { direction, behind, count }: Omit<Order, 'source'>,
  condition: string,
): string {
  const missing: PlainCriterion = { kind: 'token', param: MISSING, any: [{ system: null, value: param }] };
  const all = [missing, ...criteria];
  const walked = selectionSql(scope, all, 'fixed');
  const select = ({ where, id }: Selection, from: string, more = ''): string =>
    `select ${walked.repeats ? 'distinct ' : ''}${id} as id from ${from} where ${where}${more}${behind(DRIVER)} and ${condition}
      order by ${id} ${direction} limit ${count}`;
  const others = leadsOf(scope, criteria).filter((one) => !isMissing(one, param));
  if (others.length === 0 || !leadsOf(scope, all).includes(missing)) return select(walked, walked.from);
  // Either the resources without the date are few, or those of another criterion.
  const lists = [missing, ...others].map((one) => listOf(scope, one));
  const ways = listOrWalk(scope, { source: RESOURCE, lists }, walked.from);
  const found = selectionSql(scope, all, { walked: RESOURCE });
  return `${ways.ctes}${ways.union((from, more) => select(from === walked.from ? walked : found, from, more))}`;
}

/** @param param a date parameter of the type */
export function datedIds(scope: SearchScope, { criteria, after, limit, sort }: PageOrder, param: string): PageIds {
  const { bind } = scope;
  const direction = directionOf(sort);
  const beyond = sort.descending ? '<' : '>';
  const count = `${bind(limit + 1)}::integer`;
  const place = after === null ? '' : `${bind(after.id)}::uuid`;
  const isUndated = after !== null && after.key === null;
  const hasUndated = !criteria.some((one) => isDate(one, param) || (one.kind === 'not' && isMissing(one.of, param)));
  const hasDated = !isUndated && !criteria.some((one) => isMissing(one, param));
  const from = after === null || isUndated ? '' : `${bind(after.key ?? '')}::timestamptz`;
  // Only SQL that is sent binds parameters.
  const dated = hasDated
    ? datedSql(scope, criteria, param, {
        source: dateSource(param),
        direction,
        count,
        behind: (a) => (from === '' ? '' : `\n   and (${a}.from_at, ${a}.id) ${beyond} (${from}, ${place})`),
      })
    : 'select null::uuid as id, null::timestamptz as at where false';
  const behind = (a: string): string => (isUndated ? `\n   and ${a}.id ${beyond} ${place}` : '');
  const few = `(select count(*) from dated) < ${count}`;
  const undated = hasUndated
    ? ` union all
     select id, null from (${undatedSql(scope, criteria, param, { direction, count, behind }, few)}) u`
    : '';
  const text = `with dated as materialized (select * from (${dated}) c order by at ${direction}, id ${direction} limit ${count})
   select id, at::text as sort_key from (
     select id, at from dated${undated}) c
    where search_require(${scope.site}, ${GENERATION}) order by at ${direction} nulls last, id ${direction} limit ${count}`;
  return { text, order: `p.sort_key::timestamptz ${direction} nulls last, p.id ${direction}` };
}
