/**
 * Criteria as SQL. One criterion drives: its index yields the ids of a site in page order. So a page reads few rows that it does
 * not show. The other criteria are probes by primary key. A fixed rank chooses the driver, because the statistics have
 * no data about a small site among a thousand.
 */
import type { ResourceType } from '../../../shared/resource-type.ts';
import {
  conditionSql,
  type Criterion,
  eachOf,
  fragmentsOf,
  kindSince,
  rankOf,
  type PlainCriterion,
  sourceOf,
} from './kinds.ts';
import { isIndexed } from './kinds/name-fragments.ts';
import { FIRST_GENERATION, indexedOf } from './parameters.ts';
import { RESOURCE, type SearchScope, type Source } from './source.ts';

/** A token that most resources share selects no more than a gender does. */
const COMMON_RANK = rankOf('gender');

/** A lower rank usually selects fewer resources of the type. */
export function rankIn(type: ResourceType, criterion: PlainCriterion): number {
  const isCommon = criterion.kind === 'token' && indexedOf(type, criterion.param)?.common === true;
  return isCommon || isOfSystem(criterion) ? COMMON_RANK : rankOf(criterion.kind);
}

/** Every patient of a site may have an identifier of one system. */
const isOfSystem = (criterion: PlainCriterion): boolean =>
  criterion.kind === 'identifier' && criterion.any.some(({ value }) => value === null);

const plainOf = (criterion: Criterion): PlainCriterion => (criterion.kind === 'not' ? criterion.of : criterion);

/** The index generation that an answer needs. */
function generationOf(type: ResourceType, criteria: readonly Criterion[]): number {
  const each = criteria.map(plainOf).map((criterion) => {
    const param = criterion.kind === 'token' ? indexedOf(type, criterion.param)?.since : undefined;
    return param ?? kindSince(criterion);
  });
  return Math.max(FIRST_GENERATION, ...each);
}

const plainsOf = (criteria: readonly Criterion[]): PlainCriterion[] =>
  criteria.filter((criterion): criterion is PlainCriterion => criterion.kind !== 'not');

const rankedOf = (type: ResourceType, criteria: readonly PlainCriterion[]): PlainCriterion[] =>
  criteria.toSorted((a, b) => rankIn(type, a) - rankIn(type, b));

export interface Selection {
  /** `from` and `where` of the ids that match. */
  readonly from: string;
  readonly where: string;
  /** The id's column. */
  readonly id: string;
  /** Ids may repeat and need a `distinct`. */
  readonly repeats: boolean;
}

/** The alias of the driver. */
export const DRIVER = 'd';

/**
 * The order of the criteria. `fixed`: the most selective criterion drives and the others are probes of each row, independent of
 * statistics. `free`: the planner decides. A table: the query walks it in its order, unless the planner finds a better plan.
 * `walked`: the query walks the table in any case, and the criteria of other tables are probes.
 */
export type Plan = 'fixed' | 'free' | Source | { readonly walked: Source };

/** @param held criteria that all rows of the driver have */
export function selectionSql(
  scope: SearchScope,
  criteria: readonly Criterion[],
  plan: Plan,
  held: readonly Criterion[] = [],
): Selection {
  const { type } = scope;
  const plain = plainsOf(criteria);
  const excluded = criteria.flatMap((criterion) => (criterion.kind === 'not' ? [criterion.of] : []));
  const ranked = rankedOf(type, plain);
  const first = ranked[0];
  const table = plan === 'fixed' || plan === 'free' ? undefined : plan;
  const walked = table !== undefined && 'walked' in table ? table.walked : table;
  const source = walked ?? (first === undefined ? RESOURCE : sourceOf(first, type));
  // An offset keeps PostgreSQL from turning the probe into a join.
  const barrier = plan === 'free' || plan === walked ? '' : ' offset 0';
  const { from, id, repeats, within } = source;
  // Conditions on the driver's row: all criteria of its table if a resource has one row in it. Otherwise only the first one,
  // because two required codes are in two rows. Ids need no probe, because each walked table has them.
  const onDriver = ranked.filter(
    (criterion) =>
      criterion.kind === 'id' || (sourceOf(criterion, type) === source && (!repeats || criterion === first)),
  );
  const probes = ranked.filter((criterion) => !onDriver.includes(criterion) && !held.includes(criterion));
  const probed = (criterion: PlainCriterion, alias: string): string => {
    const probe = sourceOf(criterion, type);
    return `exists (select from ${probe.from(alias)} where ${probe.within(scope, alias)} and ${probe.id(alias)} = ${id(DRIVER)}
        and ${conditionSql(criterion, alias, scope)}${barrier})`;
  };
  const generation = generationOf(type, criteria);
  const where = [
    within(scope, DRIVER),
    ...onDriver.map((criterion) => conditionSql(criterion, DRIVER, scope)),
    ...probes.map((criterion, index) => probed(criterion, `p${index}`)),
    ...excluded.map((criterion, index) => `not ${probed(criterion, `n${index}`)}`),
    // It depends on no row, so PostgreSQL evaluates it once, before the first row.
    ...(generation === FIRST_GENERATION ? [] : [`search_require(${scope.site}, ${generation})`]),
  ];
  return { from: from(DRIVER), where: where.join('\n   and '), id: id(DRIVER), repeats };
}

/** True where the trigram index of names serves a criterion with at least so many fragments of names. */
export const isByNames = (criteria: readonly Criterion[], least = 1): boolean =>
  criteria.some((one) => {
    const fragments = one.kind === 'not' ? [] : fragmentsOf(one);
    return fragments.length >= least && fragments.every(isIndexed);
  });

/** For so many fragments of names, the planner's estimate is far too high (allIds). */
export const MANY_NAMES = 5;

/**
 * SQL of the ids that match. The planner expects each fragment of a name in at least 1/10,000 of a site. With a limit it
 * therefore walks the site, which finds nothing if no patient has them. A materialized query is planned without the outer
 * limit, so it uses the index. PostgreSQL still reads only the rows that the outer query needs.
 */
export function allIds(scope: SearchScope, criteria: readonly Criterion[]): string {
  const { from, where, id, repeats } = selectionSql(scope, criteria, 'fixed');
  return `with t as materialized (select ${repeats ? 'distinct ' : ''}${id} as id from ${from} where ${where}) select t.id from t`;
}

/**
 * SQL of the ids that each alternative of the driver finds. A list of values has no order in an index, so PostgreSQL would read
 * the resources of all values, or walk the site. Undefined: the driver has no alternatives to be looked up one by one.
 *
 * @param last SQL of the order and the limit of each look-up, with a condition before it
 */
export function eachIds(
  scope: SearchScope,
  criteria: readonly Criterion[],
  last: (id: string) => string,
): string | undefined {
  const [driver] = rankedOf(scope.type, plainsOf(criteria));
  const each = driver && eachOf(driver, scope);
  return each
    ?.map(({ rows, one }) => {
      const apart = criteria.map((criterion) => (criterion === driver ? one : criterion));
      const { from, where, id } = selectionSql(scope, apart, 'fixed');
      return `select e.id from ${rows} cross join lateral (select distinct ${id} as id from ${from} where ${where}${last(id)}) e`;
    })
    .join('\n     union all\n     ');
}

/** SQL: some of the matching ids, in no order. Two are all that a condition needs (R4 http, conditional create). */
export function matchesSql(scope: SearchScope, criteria: readonly Criterion[], limit = 2): string {
  if (isByNames(criteria)) return `${allIds(scope, criteria)} limit ${limit}`;
  const each = eachIds(scope, criteria, () => ` limit ${limit}`);
  if (each !== undefined) return `select distinct e.id from (${each}) e limit ${limit}`;
  const { from, where, id, repeats } = selectionSql(scope, criteria, 'fixed');
  return `select ${repeats ? 'distinct ' : ''}${id} as id from ${from} where ${where} limit ${limit}`;
}
