/**
 * Criteria as SQL. One criterion drives: its index yields the ids of a site in page order, so that a page reads little
 * more than it shows; the others are probes by primary key. Which one drives is decided by what it selects as a rule,
 * not by statistics, which know nothing of a site of ten among a thousand.
 */
import type { ResourceType } from '../../../shared/resource-type.ts';
import { conditionSql, type Criterion, fragmentsOf, kindSince, rankOf, type Sought, sourceOf } from './kinds.ts';
import { isIndexed } from './kinds/name-fragments.ts';
import { FIRST_GENERATION, indexedOf } from './parameters.ts';
import { RESOURCE, type SearchScope, type Source } from './source.ts';

/** A token that most resources share selects no more than a gender does. */
const COMMON_RANK = rankOf('gender');

/** The lower, the fewer resources of the type a criterion selects as a rule. */
export function rankIn(type: ResourceType, criterion: Sought): number {
  const isCommon = criterion.kind === 'token' && indexedOf(type, criterion.param)?.common === true;
  return isCommon || isOfSystem(criterion) ? COMMON_RANK : rankOf(criterion.kind);
}

/** Every patient of a site may have an identifier of one system. */
const isOfSystem = (criterion: Sought): boolean =>
  criterion.kind === 'identifier' && criterion.any.some(({ value }) => value === null);

const soughtBy = (criterion: Criterion): Sought => (criterion.kind === 'not' ? criterion.of : criterion);

/** The generation of what is indexed that an answer needs. */
function generationOf(type: ResourceType, criteria: readonly Criterion[]): number {
  const each = criteria.map(soughtBy).map((criterion) => {
    const param = criterion.kind === 'token' ? indexedOf(type, criterion.param)?.since : undefined;
    return param ?? kindSince(criterion);
  });
  return Math.max(FIRST_GENERATION, ...each);
}

export interface Selection {
  /** `from` and `where` of the ids that match. */
  readonly from: string;
  readonly where: string;
  /** The id's column. */
  readonly id: string;
  /** Whether ids must be made distinct. */
  readonly repeats: boolean;
}

/** The alias of what drives. */
export const DRIVER = 'd';

/**
 * Who decides in which order the criteria are looked at. `fixed`: the most selective one drives and the others are
 * probes, row by row, whatever the statistics say or do not know yet. `free`: the planner. A table: it is walked, for
 * its order, unless the planner finds something better.
 */
export type Plan = 'fixed' | 'free' | Source;

export function selectionSql(scope: SearchScope, criteria: readonly Criterion[], plan: Plan): Selection {
  const { type } = scope;
  const sought = criteria.flatMap((criterion) => (criterion.kind === 'not' ? [] : [criterion]));
  const excluded = criteria.flatMap((criterion) => (criterion.kind === 'not' ? [criterion.of] : []));
  const ranked = sought.toSorted((a, b) => rankIn(type, a) - rankIn(type, b));
  const first = ranked[0];
  const walked = plan === 'fixed' || plan === 'free' ? undefined : plan;
  const source = walked ?? (first === undefined ? RESOURCE : sourceOf(first, type));
  // An offset keeps PostgreSQL from turning the probe into a join.
  const barrier = plan === 'fixed' ? ' offset 0' : '';
  const { from, id, repeats, within } = source;
  // Conditions on a row: every one of a table with one row for a resource; of the others the first only, because two
  // codes that must both be there are in two rows.
  const onDriver = ranked.filter(
    (criterion) => sourceOf(criterion, type) === source && (!repeats || criterion === first),
  );
  const probes = ranked.filter((criterion) => !onDriver.includes(criterion));
  const probed = (criterion: Sought, alias: string): string => {
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
    // Of no row, so it is asked once, and before any is read.
    ...(generation === FIRST_GENERATION ? [] : [`search_require(${scope.site}, ${generation})`]),
  ];
  return { from: from(DRIVER), where: where.join('\n   and '), id: id(DRIVER), repeats };
}

/** Whether the trigram index of names serves a criterion with at least so many parts of names. */
export const isByNames = (criteria: readonly Criterion[], least = 1): boolean =>
  criteria.some((one) => {
    const fragments = one.kind === 'not' ? [] : fragmentsOf(one);
    return fragments.length >= least && fragments.every(isIndexed);
  });

/** From so many parts of names on, the planner's estimate is far too high (allIds). */
export const MANY_NAMES = 5;

/**
 * SQL of the ids that match. The planner expects each part of a name in at least 1/10,000 of a site. With a limit on several
 * parts it therefore walks the site, in vain if no patient has them. A materialized query is planned without the outer limit,
 * so it uses the index, and PostgreSQL still reads only as many rows as the outer query takes.
 */
export function allIds(scope: SearchScope, criteria: readonly Criterion[]): string {
  const { from, where, id, repeats } = selectionSql(scope, criteria, 'fixed');
  return `with t as materialized (select ${repeats ? 'distinct ' : ''}${id} as id from ${from} where ${where}) select t.id from t`;
}
