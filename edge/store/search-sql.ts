/**
 * Criteria as SQL. One criterion drives: its index yields the ids of a site in page order, so that a page reads little
 * more than it shows; the others are probes by primary key. Which one drives is decided by what it selects as a rule,
 * not by statistics, which know nothing of a site of ten among a thousand.
 */
import type { Param } from '../deps.ts';
import type { Criterion, Interval, Token } from './criterion.ts';
import type { ResourceType } from '../../shared/resource-type.ts';

/** Adds a parameter and returns its placeholder. */
export type Bind = (value: Param) => string;

/** What every fragment of one statement shares. */
export interface SearchScope {
  readonly bind: Bind;
  /** SQL of the site, a parameter given once. */
  readonly site: string;
  readonly type: ResourceType;
}

export type Source = 'resource' | 'identifier' | 'token' | 'patient' | 'report' | 'study';

interface SourceSql {
  /** `from` item with the alias given. */
  readonly from: (alias: string) => string;
  readonly id: (alias: string) => string;
  /** Whether one resource can have several rows. */
  readonly repeats: boolean;
  readonly within: (scope: SearchScope, alias: string) => string;
}

/** The type is one of seven words, no input: as a literal it needs no parameter where a source has no column for it. */
const ofType = (scope: SearchScope, a: string): string =>
  `${a}.site_id = ${scope.site} and ${a}.type = '${scope.type}'`;

const SOURCES: Readonly<Record<Source, SourceSql>> = {
  resource: { from: (a) => `resource ${a}`, id: (a) => `${a}.id`, repeats: false, within: ofType },
  identifier: { from: (a) => `resource_identifier ${a}`, id: (a) => `${a}.id`, repeats: true, within: ofType },
  token: { from: (a) => `resource_token ${a}`, id: (a) => `${a}.id`, repeats: true, within: ofType },
  patient: {
    from: (a) => `patient_search ${a}`,
    id: (a) => `${a}.id`,
    repeats: false,
    within: (scope, a) => `${a}.site_id = ${scope.site}`,
  },
  report: {
    from: (a) => `report ${a}`,
    id: (a) => `${a}.report_id`,
    repeats: false,
    within: (scope, a) => `${a}.site_id = ${scope.site}`,
  },
  study: {
    // A report belongs to a study, a study to a patient (spec.md, DiagnosticReport search). The offset keeps it a
    // look-up for each study.
    from: (a) => `study ${a}_study cross join lateral (
      select o.report_id from report o
       where o.site_id = ${a}_study.site_id and o.study_id = ${a}_study.study_id offset 0) ${a}`,
    id: (a) => `${a}.report_id`,
    repeats: false,
    within: (scope, a) => `${a}_study.site_id = ${scope.site}`,
  },
};

/** The lower, the fewer resources a criterion selects as a rule. */
const RANKS: Readonly<Record<Criterion['kind'], number>> = {
  id: 0,
  identifier: 1,
  patient: 2,
  birthdate: 3,
  name: 4,
  token: 5,
  'report-state': 6,
  gender: 7,
  'last-updated': 8,
};
/** The one token that most resources share: nearly every Condition on record is active. */
const COMMON_TOKEN = 'clinical-status';

function rankOf(criterion: Criterion): number {
  const isCommon = criterion.kind === 'token' && criterion.param === COMMON_TOKEN;
  return isCommon ? RANKS.gender : RANKS[criterion.kind];
}

function sourceOf(criterion: Criterion, type: ResourceType): Source {
  switch (criterion.kind) {
    case 'id':
    case 'last-updated':
      return 'resource';
    case 'patient':
      return type === 'DiagnosticReport' ? 'study' : 'resource';
    case 'identifier':
      return 'identifier';
    case 'token':
      return 'token';
    case 'name':
    case 'birthdate':
    case 'gender':
      return 'patient';
    case 'report-state':
      return 'report';
  }
}

/** `=` for one value, so that the index also gives the order; `any` for several. */
function oneOf(column: string, values: readonly string[], cast: string, bind: Bind): string {
  const [only] = values;
  if (only === undefined) return 'false';
  return values.length === 1
    ? `${column} = ${bind(only)}::${cast}`
    : `${column} = any (${bind([...new Set(values)])}::${cast}[])`;
}

/** UTF-16 units up to which a value is its own key whatever its characters (search_key in 0001: 600 bytes). */
const SHORT_KEY_LENGTH = 200;

function keyOf(value: string, bind: Bind): string {
  return value.length <= SHORT_KEY_LENGTH ? bind(value) : `search_key(${bind(value)})`;
}

function tokenSql(column: string, alias: string, any: readonly Token[], bind: Bind): string {
  const alternatives = any.map(({ system, value }) => {
    const parts = [
      ...(value === null ? [] : [`${alias}.${column} = ${keyOf(value, bind)}`]),
      ...(system === null ? [] : [`${alias}.system = ${keyOf(system, bind)}`]),
    ];
    return parts.join(' and ');
  });
  return alternatives.length === 1 ? alternatives.join('') : `(${alternatives.map((one) => `(${one})`).join(' or ')})`;
}

function intervalSql(column: string, { from, before, outside }: Interval, bind: Bind): string {
  const lower = from === null ? [] : [`${column} ${outside ? '<' : '>='} ${bind(from)}::timestamptz`];
  const upper = before === null ? [] : [`${column} ${outside ? '>=' : '<'} ${bind(before)}::timestamptz`];
  return `(${[...lower, ...upper].join(outside ? ' or ' : ' and ')})`;
}

function likePattern(fragment: string): string {
  return `%${fragment.replace(/[\\%_]/g, '\\$&')}%`;
}

/** The condition on a row of the criterion's source. */
function conditionSql(criterion: Criterion, alias: string, type: ResourceType, bind: Bind): string {
  switch (criterion.kind) {
    case 'id':
      return oneOf(`${alias}.id`, criterion.ids, 'uuid', bind);
    case 'patient':
      return oneOf(
        type === 'DiagnosticReport' ? `${alias}_study.patient_id` : `${alias}.patient_id`,
        criterion.ids,
        'uuid',
        bind,
      );
    case 'identifier':
      return tokenSql('value', alias, criterion.any, bind);
    case 'token':
      return `${alias}.param = ${bind(criterion.param)} and ${tokenSql('code', alias, criterion.any, bind)}`;
    case 'name':
      return `(${criterion.fragments.map((fragment) => `${alias}.names like ${bind(likePattern(fragment))}`).join(' or ')})`;
    case 'birthdate':
      return oneOf(`${alias}.birth_date`, criterion.dates, 'text', bind);
    case 'gender':
      return oneOf(`${alias}.gender`, criterion.codes, 'text', bind);
    case 'report-state':
      return oneOf(`${alias}.state`, criterion.states, 'text', bind);
    case 'last-updated':
      return `(${criterion.any.map((interval) => intervalSql(`${alias}.last_updated`, interval, bind)).join(' or ')})`;
  }
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

const DRIVER = 'd';

/**
 * Who decides in which order the criteria are looked at. `fixed`: the most selective one drives and the others are
 * probes, row by row, whatever the statistics say or do not know yet. `free`: the planner. A table: it is walked, for
 * its order, unless the planner finds something better.
 */
export type Plan = 'fixed' | 'free' | Source;

export function selectionSql(scope: SearchScope, criteria: readonly Criterion[], plan: Plan): Selection {
  const { type } = scope;
  const ranked = criteria.toSorted((a, b) => rankOf(a) - rankOf(b));
  const first = ranked[0];
  const walked = plan === 'fixed' || plan === 'free' ? undefined : plan;
  const source = walked ?? (first === undefined ? 'resource' : sourceOf(first, type));
  // An offset keeps PostgreSQL from turning the probe into a join.
  const barrier = plan === 'fixed' ? ' offset 0' : '';
  const { from, id, repeats, within } = SOURCES[source];
  // Conditions on a row: every one of a table with one row for a resource; of the others the first only, because two
  // codes that must both be there are in two rows.
  const onDriver = ranked.filter(
    (criterion) => sourceOf(criterion, type) === source && (!repeats || criterion === first),
  );
  const probes = ranked.filter((criterion) => !onDriver.includes(criterion));
  const where = [
    within(scope, DRIVER),
    ...onDriver.map((criterion) => conditionSql(criterion, DRIVER, type, scope.bind)),
    ...probes.map((criterion, index) => {
      const alias = `p${index}`;
      const probe = SOURCES[sourceOf(criterion, type)];
      return `exists (select from ${probe.from(alias)} where ${probe.within(scope, alias)} and ${probe.id(alias)} = ${id(DRIVER)}
        and ${conditionSql(criterion, alias, type, scope.bind)}${barrier})`;
    }),
  ];
  return { from: from(DRIVER), where: where.join('\n   and '), id: id(DRIVER), repeats };
}
