/**
 * A date, dateTime, instant, Period or Timing as a range of instants, compared with the requested range (FHIR R4 search,
 * 3.1.1.4.5 prefixes, 3.1.1.4.8 date). Stored and requested dates without a zone are in the time zone of the site
 * (edge/docs/behaviour.md, FHIR).
 */
import { isJsonObject, type Json, type JsonObject } from '../../../../shared/json.ts';
import type { Bind } from '../../sql.ts';
import { jsonAt, text } from '../at-path.ts';
import { dateRange, isoOf, msOf } from '../date-range.ts';
import type { DateRange, Kind } from '../kind.ts';
import type { DateRow } from '../rows.ts';
import { ofSite, type SearchScope, type Source } from '../source.ts';

interface ComparedDate {
  readonly prefix: string;
  readonly range: DateRange;
}

interface DateCriterion {
  readonly kind: 'date';
  readonly param: string;
  readonly any: readonly ComparedDate[];
}

/** The time of the care that a document is about: the `period` of a DocumentReference or, without one, its `date`. */
export const CARE_TIME = 'care-time';

/** The condition on a row in SQL. @param keyOf makes the SQL of the key of a parameter (migrations/functions/date_key.sql) */
type IsOf = (alias: string, keyOf: (param: string) => string) => string;

const ofParam =
  (param: string): IsOf =>
  (a, keyOf) =>
    `${a}.date_key = ${keyOf(param)}`;

/** The care time of a document. */
const ofCare: IsOf = (
  a,
  keyOf,
) => `(${a}.date_key = ${keyOf('period')} or ${a}.date_key = ${keyOf('date')} and not exists (
          select from resource_date o
           where o.site_id = ${a}.site_id and o.id = ${a}.id and o.date_key = ${keyOf('period')}))`;

/** Each parameter of this kind counts as a separate table, in which a resource has one row. */
const SOURCES: Readonly<Record<string, Source>> = Object.fromEntries(
  [
    ...['date', 'period', 'onset-date', 'recorded-date'].map((param) => [param, ofParam(param)] as const),
    [CARE_TIME, ofCare] as const,
  ].map(([param, isOf]): [string, Source] => [
    param,
    {
      from: (a) => `resource_date ${a}`,
      id: (a) => `${a}.id`,
      repeats: false,
      within: (scope, a) => `${ofSite(scope, a)} and ${isOf(a, (name) => `date_key('${scope.type}', '${name}')`)}`,
    },
  ]),
);

/** The dates of a parameter. */
export function dateSource(param: string): Source {
  const source = SOURCES[param];
  if (source === undefined) throw new TypeError(`${param} is not a date parameter`);
  return source;
}

interface Bound {
  readonly ms: number;
  readonly isLocal: boolean;
}
/** Null: unbounded. */
interface Bounds {
  readonly from: Bound | null;
  readonly before: Bound | null;
}

function boundsOf(value: Json): Bounds | undefined {
  const range = dateRange(text(value));
  if (range === undefined) return undefined;
  const { from, before, isLocal } = range;
  return { from: { ms: from, isLocal }, before: { ms: before, isLocal } };
}

function periodOf(period: JsonObject): Bounds | undefined {
  const [start, end] = [boundsOf(period['start'] ?? null), boundsOf(period['end'] ?? null)];
  return start === undefined && end === undefined
    ? undefined
    : { from: start?.from ?? null, before: end?.before ?? null };
}

/** The outer limits of a Timing: repetitions in between do not count (FHIR R4 search, 3.1.1.4.8). */
function timingOf(timing: JsonObject): Bounds | undefined {
  const period = jsonAt(timing, 'repeat.boundsPeriod').filter(isJsonObject).map(periodOf);
  const events = jsonAt(timing, 'event').map(boundsOf);
  const all = [...period, ...events].filter((one) => one !== undefined);
  const [first] = all;
  return (
    first &&
    all.reduce(
      (outer, one) => ({ from: outermost(outer.from, one.from, -1), before: outermost(outer.before, one.before, 1) }),
      first,
    )
  );
}

function outermost(a: Bound | null, b: Bound | null, direction: 1 | -1): Bound | null {
  if (a === null || b === null) return null;
  return (b.ms - a.ms) * direction > 0 ? b : a;
}

function valueOf(value: Json): Bounds | undefined {
  if (!isJsonObject(value)) return boundsOf(value);
  return value['event'] === undefined && value['repeat'] === undefined ? periodOf(value) : timingOf(value);
}

const rowOf = (param: string, { from, before }: Bounds): DateRow => [
  param,
  from === null ? '-infinity' : isoOf(from.ms),
  before === null ? 'infinity' : isoOf(before.ms),
  from?.isLocal ?? false,
  before?.isLocal ?? false,
];

/**
 * The greatest difference of two time zones, also before standard time. The first comparison uses the index and allows this
 * difference, so it selects every match in any zone.
 */
const ZONES_APART_MS = 36 * 3_600_000;

/** SQL: the instant of a stored bound. */
const storedInstant = (alias: string, bound: 'from' | 'before', zone: string): string =>
  `case when ${alias}.${bound}_is_local then (${alias}.${bound}_at at time zone 'UTC') at time zone ${zone} else ${alias}.${bound}_at end`;

/** SQL: the stored range ends after an instant. */
type EndsAfter = (alias: string, instant: string) => string;

/** R4's table of prefixes, 3.1.1.4.5, for the stored range [a, b) and the requested range [s, e). */
function comparedSql(
  { prefix, range }: ComparedDate,
  alias: string,
  zone: string,
  bind: Bind,
  endsAfter: EndsAfter,
): string {
  const requested = (ms: number): string =>
    range.isLocal
      ? `${bind(isoOf(ms).replace('Z', ''))}::timestamp at time zone ${zone}`
      : `${bind(isoOf(ms))}::timestamptz`;
  const near = (column: 'from_at' | 'before_at', operator: '<' | '>', ms: number): string => {
    const instant = `${bind(isoOf(ms + (operator === '<' ? 1 : -1) * ZONES_APART_MS))}::timestamptz`;
    const isEnd = column === 'before_at' && operator === '>';
    return isEnd ? endsAfter(alias, instant) : `${alias}.${column} ${operator} ${instant}`;
  };
  const a = storedInstant(alias, 'from', zone);
  const b = storedInstant(alias, 'before', zone);
  const [s, e] = [range.from, range.before];
  const contained = (): string =>
    `${near('from_at', '>', s)} and ${near('from_at', '<', e)} and ${near('before_at', '>', s)} and ${near('before_at', '<', e)}
     and ${a} >= ${requested(s)} and ${b} <= ${requested(e)}`;
  switch (prefix) {
    case 'ne':
      return `(${a} < ${requested(s)} or ${b} > ${requested(e)})`;
    case 'gt':
      return `${near('before_at', '>', e)} and ${b} > ${requested(e)}`;
    case 'ge':
      return `${near('before_at', '>', s)} and (${b} > ${requested(e)} or (${contained()}))`;
    case 'lt':
      return `${near('from_at', '<', s)} and ${a} < ${requested(s)}`;
    case 'le':
      return `${near('from_at', '<', e)} and (${a} < ${requested(s)} or (${contained()}))`;
    case 'sa':
      return `${near('from_at', '>', e)} and ${near('before_at', '>', e)} and ${a} >= ${requested(e)}`;
    case 'eb':
      return `${near('before_at', '<', s)} and ${near('from_at', '<', s)} and ${b} <= ${requested(s)}`;
    case 'ap':
      return `${near('before_at', '>', s)} and ${near('from_at', '<', e)} and ${a} < ${requested(e)} and ${b} > ${requested(s)}`;
    default:
      return contained();
  }
}

/** The same table for instants. */
function isCompared(prefix: string, [a, b]: readonly [number, number], [s, e]: readonly [number, number]): boolean {
  const isContained = a >= s && b <= e;
  switch (prefix) {
    case 'ne':
      return !isContained;
    case 'gt':
      return b > e;
    case 'ge':
      return b > e || isContained;
    case 'lt':
      return a < s;
    case 'le':
      return a < s || isContained;
    case 'sa':
      return a >= e;
    case 'eb':
      return b <= s;
    case 'ap':
      return a < e && b > s;
    default:
      return isContained;
  }
}

function dateSql({ any }: DateCriterion, alias: string, scope: SearchScope, endsAfter: EndsAfter): string {
  // A subselect, so that PostgreSQL looks up the site's zone once.
  const zone = `(select search_zone(${scope.site}))`;
  return `(${any.map((one) => comparedSql(one, alias, zone, scope.bind, endsAfter)).join(' or ')})`;
}

const endsAfterOfPatient: EndsAfter = (alias, instant) =>
  `(${alias}.before_at, ${alias}.from_at) >= (${instant}, '-infinity')`;

/** The prefixes that limit the end of a stored range from below. */
const LIMITS_END: ReadonlySet<string> = new Set(['eq', 'gt', 'ge', 'sa', 'ap']);

/**
 * SQL: the conditions on a row that is found by its patient. The index has the end before the beginning. For a condition on the
 * beginning, PostgreSQL 18 expects to search the index once for each end, and reads all dates of the site instead. It expects one
 * search for the comparison of a row.
 */
export function datesOfPatientSql(criteria: readonly DateCriterion[], alias: string, scope: SearchScope): string[] {
  const limitsEnd = criteria.some(({ any }) => any.length === 1 && any.every(({ prefix }) => LIMITS_END.has(prefix)));
  return [
    ...(limitsEnd ? [] : [endsAfterOfPatient(alias, `'-infinity'::timestamptz`)]),
    ...criteria.map((one) => dateSql(one, alias, scope, endsAfterOfPatient)),
  ];
}

/** The columns that a range without an end limits. */
const OPEN_ENDED: Readonly<Record<string, 'before_at' | 'from_at'>> = {
  gt: 'before_at',
  ge: 'before_at',
  sa: 'from_at',
};

/**
 * SQL: the order of an index for a list of all dates since a time; otherwise ''. Ids grow with time, so PostgreSQL would pass nearly
 * all other dates if it took them by id.
 */
export function newestFirstSql([criterion, ...others]: readonly DateCriterion[], alias: string): string {
  const [value, ...more] = criterion?.any ?? [];
  const column = value === undefined || others.length + more.length > 0 ? undefined : OPEN_ENDED[value.prefix];
  return column === undefined ? '' : ` order by ${alias}.${column} desc`;
}

/**
 * SQL: rows that match in any time zone and come before all other matches in the order of their beginning. Undefined: the order does
 * not begin with these.
 */
export function firstMatchesSql(
  [criterion, ...others]: readonly DateCriterion[],
  descending: boolean,
  alias: string,
  bind: Bind,
): string | undefined {
  const [value, ...more] = criterion?.any ?? [];
  if (value === undefined || others.length + more.length > 0) return undefined;
  const { prefix, range } = value;
  const instant = (ms: number): string => `${bind(isoOf(ms))}::timestamptz`;
  if (descending)
    return ['gt', 'ge', 'sa'].includes(prefix)
      ? `${alias}.from_at > ${instant(range.before + ZONES_APART_MS)}`
      : undefined;
  return ['lt', 'le'].includes(prefix) ? `${alias}.from_at < ${instant(range.from - ZONES_APART_MS)}` : undefined;
}

export const date = {
  type: 'date',
  read: ({ dates }, param) => {
    const given = dates();
    const any = given.flatMap(({ prefix, range }) => (range === undefined ? [] : [{ prefix: prefix ?? 'eq', range }]));
    if (any.length === given.length) return { kind: 'date', param, any };
    return { problem: 'must be a date or dateTime such as ge2026-01-31 or 2026-01-31T12:00:00Z' };
  },
  rows: (resource, param, { elements }) => {
    const found = elements.flatMap((path) => jsonAt(resource, path)).map(valueOf);
    const bounds = found.find((one) => one !== undefined);
    return bounds === undefined ? {} : { dates: [rowOf(param, bounds)] };
  },
  meets: ({ dates, instantOf = (ms) => ms }, { param, any }) =>
    dates.some(([name, from, before, fromIsLocal, beforeIsLocal]) => {
      const at = (ms: number, isLocal: boolean): number => (isLocal && Number.isFinite(ms) ? instantOf(ms) : ms);
      const [a, b] = [at(msOf(from), fromIsLocal), at(msOf(before), beforeIsLocal)];
      return (
        name === param &&
        any.some(({ prefix, range: { from: start, before: end, isLocal } }) =>
          isCompared(prefix, [a, b], [at(start, isLocal), at(end, isLocal)]),
        )
      );
    }),
  rank: 7,
  planAnew: true,
  source: (_, { param }) => dateSource(param),
  sql: (criterion, alias, scope: SearchScope) =>
    dateSql(criterion, alias, scope, (row, instant) => `${row}.before_at > ${instant}`),
  since: () => 2,
} as const satisfies Kind<DateCriterion>;
