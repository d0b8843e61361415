/**
 * A search as it was asked for: parameters into criteria and controls (FHIR R4 search, 3.1.1). Strict: what is not
 * understood is refused by name, because a filter that is silently dropped answers another question. With `Prefer:
 * handling=lenient` it is left out and reported instead.
 */
import type { Issue } from '../../../shared/fault.ts';
import { Fault } from '../../../shared/fault.ts';
import type { Criterion } from '../../store/criterion.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Sort, SortKey } from '../../store/search.ts';
import { elementNames } from '../elements.ts';
import type { Prefer } from '../prefer.ts';
import { SERVED_TYPES, type SortName } from '../resource-types.ts';
import { badParameter, type CriterionContext, criterionOf } from './criterion-of.ts';

export const DEFAULT_COUNT = 50;
export const MAX_COUNT = 500;
/** The parameter of our own page links. */
export const CURSOR = '_cursor';

export type Pair = readonly [name: string, value: string];

export interface SearchRequest {
  readonly type: ResourceType;
  readonly criteria: readonly Criterion[];
  readonly sort: Sort;
  readonly count: number;
  readonly total: 'none' | 'accurate';
  /** `_summary=count`: only the total. */
  readonly countOnly: boolean;
  readonly elements: readonly string[] | null;
  readonly cursor: string | null;
  /** What was applied, in the order given: the query of `self`. */
  readonly applied: readonly Pair[];
  /** What was left out with `handling=lenient`. */
  readonly ignored: readonly Issue[];
}

/** Controls that also a read takes; they say how the answer looks, not what is in it. */
export const FORM_CONTROLS: readonly string[] = ['_format', '_pretty'];
const CONTROLS: readonly string[] = ['_count', '_sort', '_total', '_summary', '_elements', CURSOR, ...FORM_CONTROLS];

const SORTS: Readonly<Record<SortName, SortKey>> = {
  _lastUpdated: 'last-updated',
  name: 'name',
  birthdate: 'birthdate',
};

/** The name of a parameter that could not be used, without what would make a second URL of a message. */
const shown = (name: string): string => (/^[\w:.-]{1,64}$/.test(name) ? name : 'a parameter');

/** What cannot be used at all: refused or, with `handling=lenient`, left out. */
export function unsupported(name: string, supported: readonly string[]): Issue {
  const [base = ''] = name.split(':');
  const what =
    base !== name && supported.includes(base)
      ? `the modifier of ${shown(name)} is not supported`
      : `${shown(name)} is not a parameter that can be used here`;
  return { code: 'not-supported', message: `${what}; supported: ${supported.join(', ')}`, at: `http.${shown(name)}` };
}

/** All faults of all parameters at once. */
export function collect<T>(items: readonly T[], use: (item: T) => void): void {
  const issues: Issue[] = [];
  for (const item of items) {
    try {
      use(item);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      issues.push(...error.issues);
    }
  }
  if (issues.length > 0) throw new Fault('malformed', 'the parameters cannot be used', { issues });
}

function countOf(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw badParameter('_count', '_count must be a whole number of 0 or more');
  return Math.min(Number(value), MAX_COUNT);
}

function sortOf(value: string, names: readonly SortName[]): Sort {
  const name = names.find((one) => one === value.replace(/^-/, ''));
  if (name !== undefined) return { by: SORTS[name], descending: value.startsWith('-') };
  const several = value.includes(',') ? 'only one sort key can be used; ' : '';
  throw badParameter('_sort', `${several}_sort must be one of ${names.join(', ')}, each with - for descending`);
}

/** @throws Fault `malformed` for what is no top-level element of the type */
export function elementsOf(type: ResourceType, value: string): string[] {
  const names = value.split(',').map((name) => name.trim());
  const known = elementNames(type);
  if (names.every((name) => known.has(name))) return names;
  throw badParameter('_elements', `_elements must be names of top-level elements of ${type}, separated by commas`);
}

function oneOf<const T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value);
  if (found !== undefined) return found;
  throw badParameter(name, `${name} must be one of ${allowed.join(', ')}`);
}

/**
 * Criteria without controls: `If-None-Exist`, `PUT [type]?…`, `[type]?…` as a reference.
 *
 * @throws Fault `malformed` locating each parameter that cannot be used, or when there is none
 */
export function criteriaOf(type: ResourceType, query: string, context: CriterionContext): Criterion[] {
  const { searchParameters } = SERVED_TYPES[type];
  const criteria: Criterion[] = [];
  const pairs = [...new URLSearchParams(query)];
  collect(pairs, ([name, value]) => {
    const parameter = Object.hasOwn(searchParameters, name) ? searchParameters[name] : undefined;
    if (parameter === undefined) {
      throw new Fault('malformed', '', { issues: [unsupported(name, Object.keys(searchParameters))] });
    }
    criteria.push(criterionOf(name, parameter, value, context));
  });
  if (criteria.length > 0) return criteria;
  throw new Fault('malformed', `a condition needs search parameters: ${Object.keys(searchParameters).join(', ')}`);
}

type Chosen = { -readonly [Control in 'sort' | 'count' | 'total' | 'elements']: SearchRequest[Control] };

/** @throws Fault `malformed` locating each parameter that cannot be used */
export function searchRequest(
  type: ResourceType,
  pairs: readonly Pair[],
  prefer: Prefer,
  context: CriterionContext,
): SearchRequest {
  const { searchParameters, sorts } = SERVED_TYPES[type];
  const supported = [...Object.keys(searchParameters), ...CONTROLS.filter((name) => name !== CURSOR)];
  const criteria: Criterion[] = [];
  const controls = new Map<string, string>();
  const applied: Pair[] = [];
  const ignored: Issue[] = [];

  collect(pairs, ([name, value]) => {
    const parameter = Object.hasOwn(searchParameters, name) ? searchParameters[name] : undefined;
    if (parameter !== undefined) {
      criteria.push(criterionOf(name, parameter, value, context));
    } else if (CONTROLS.includes(name)) {
      if (controls.has(name)) throw badParameter(name, `${name} can be given only once`);
      controls.set(name, value);
    } else {
      const issue = unsupported(name, supported);
      if (prefer.handling === 'strict') throw new Fault('malformed', issue.message, { issues: [issue] });
      ignored.push(issue);
      return;
    }
    if (name !== CURSOR) applied.push([name, value]);
  });

  const chosen: Chosen = { sort: { by: 'id', descending: false }, count: DEFAULT_COUNT, total: 'none', elements: null };
  collect([...controls], ([name, value]) => {
    if (name === '_sort') chosen.sort = sortOf(value, sorts);
    else if (name === '_count') chosen.count = countOf(value);
    else if (name === '_total') chosen.total = oneOf(name, value, ['none', 'accurate']);
    else if (name === '_summary') oneOf(name, value, ['count', 'false']);
    else if (name === '_elements') chosen.elements = elementsOf(type, value);
    else if (name === '_pretty') oneOf(name, value, ['true', 'false']);
  });

  return {
    type,
    criteria,
    ...chosen,
    // R4 search, 3.1.1.5.4: a _count of 0 asks for the same.
    countOnly: controls.get('_summary') === 'count' || chosen.count === 0,
    cursor: controls.get(CURSOR) ?? null,
    applied: applied.map(([name, value]) => [name, name === '_count' ? String(chosen.count) : value]),
    ignored,
  };
}
