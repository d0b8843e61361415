/** The parameters for the form of an answer, not for its content (FHIR R4 search, 3.1.1.5; http, 3.1.0.1.8). */
import { Fault } from '../../../shared/fault.ts';
import type { SearchSet } from '../../config.ts';
import { quoteAll } from '../../../shared/quote.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { isBounded } from '../../store/search/page-ids.ts';
import type { Sort, SortKey } from '../../store/search/page-selection.ts';
import { parameterOf, sortsOf } from '../../store/search/parameters.ts';
import { instantInterval } from '../prefixed-date.ts';
import { elementNames, type Part, PARTIAL_SUMMARIES } from '../subset.ts';
import { badParameter, collect, type Pair, unsupported } from './faults.ts';

export const DEFAULT_COUNT = 50;
export const MAX_COUNT = 500;
/** The parameter of the gateway's page links. */
export const CURSOR = '_cursor';
/** The controls of every answer. */
export const FORM_CONTROLS: readonly string[] = ['_format', '_pretty'];
const LISTED_CONTROLS = ['_count', '_sort', '_total', '_summary', '_elements', CURSOR, ...FORM_CONTROLS];
/** By set of search parameters. */
export const SEARCH_CONTROLS: Readonly<Record<SearchSet, readonly string[]>> = {
  listed: LISTED_CONTROLS,
  // fhirpy counts with it.
  'us-core': [...LISTED_CONTROLS, '_totalMethod'],
};
/** For read and vread. */
export const READ_CONTROLS: readonly string[] = ['_summary', '_elements', ...FORM_CONTROLS];
/** For the CapabilityStatement (FHIR R4 http, 3.1.0.7). */
export const METADATA_CONTROLS: readonly string[] = ['mode', ...FORM_CONTROLS];
export const HISTORY_CONTROLS: readonly string[] = ['_count', '_since', CURSOR, ...FORM_CONTROLS];
/** Without `start` and `end` (FHIR R4 patient-operation-everything), because dates of care are not indexed. */
export const EVERYTHING_CONTROLS: readonly string[] = ['_type', '_since', '_count', CURSOR, ...FORM_CONTROLS];

/** An estimate may be exact, and here it is (FHIR R4 search, 3.1.1.5.5). */
export const TOTALS = ['none', 'estimate', 'accurate'] as const;
export const SUMMARIES = [...PARTIAL_SUMMARIES, 'count', 'false'] as const;
/** Without `count`, because a read has no total. */
export const READ_SUMMARIES = SUMMARIES.filter((one) => one !== 'count');
const PRETTY = ['true', 'false'] as const;

/** Up to the greatest `unsignedInt`, with which some clients ask for all. */
function countOf(value: string): number {
  if (!/^\d{1,10}$/.test(value)) throw badParameter('_count', '_count must be a whole number of 0 or more');
  return Math.min(Number(value), MAX_COUNT);
}

/** The size of a page of a history or of $everything, which has at least one entry. */
export function pageCountOf(value: string | undefined): number {
  if (value === undefined) return DEFAULT_COUNT;
  if (!/^[1-9]\d{0,9}$/.test(value)) throw badParameter('_count', '_count must be a whole number of 1 or more');
  return Math.min(Number(value), MAX_COUNT);
}

/**
 * `_since` (FHIR R4 http, 3.1.0.9) as an ISO instant, from which on; null: not given.
 *
 * @param now milliseconds since the epoch
 */
export function sinceOf(controls: ReadonlyMap<string, string>, now: number): string | null {
  const since = controls.get('_since');
  if (since === undefined) return null;
  const interval = instantInterval(`ge${since}`, now);
  if (interval === undefined) throw badParameter('_since', '_since must be an instant');
  return interval.from;
}

function sortOf(type: ResourceType, set: SearchSet, value: string): Sort {
  const names = sortsOf(type, set);
  const asked = value.split(',').map((key) => ({ name: key.replace(/^-/, ''), descending: key.startsWith('-') }));
  const [first, ...ties] = asked.flatMap(({ name, descending }): SortKey[] => {
    const parameter = names.includes(name) ? parameterOf(type, name, set) : undefined;
    if (parameter === undefined) return [];
    const { kind } = parameter;
    if (kind === 'date') return [{ by: kind, param: name, descending }];
    return [{ by: kind === 'birth-range' ? 'birthdate' : kind, descending }];
  });
  const isDistinct = new Set(asked.map(({ name }) => name)).size === 1 + ties.length;
  if (first !== undefined && isDistinct && asked.length === 1 + ties.length) {
    const sort = { ...first, ties };
    if (isBounded(sort)) return sort;
    const message = [first, ...ties].some(({ param }) => param !== undefined)
      ? '_sort by a date must be the only key, or only _id in the same direction may follow: send one key'
      : '_sort cannot have _lastUpdated after birthdate: put it first, or put name between, in the direction of birthdate';
    throw badParameter('_sort', message);
  }
  const message = `_sort must list ${names.join(', ')}, each at most once, separated by commas, with - for descending`;
  throw badParameter('_sort', message);
}

/** @throws Fault `malformed` for what is no top-level element of the type */
function elementsOf(type: ResourceType, value: string): string[] {
  // `resourceType` is in every answer; fhirpy asks for it as if it were an element.
  const names = value.split(',').flatMap((name) => (name.trim() === 'resourceType' ? [] : [name.trim()]));
  const known = elementNames(type);
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length === 0) return names;
  const message = `_elements must be names of top-level elements of ${type}, separated by commas; a choice has no type: value, not valueQuantity; unknown: ${quoteAll(unknown)}`;
  throw badParameter('_elements', message);
}

function oneOf<const T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value);
  if (found !== undefined) return found;
  throw badParameter(name, `${name} must be one of ${allowed.join(', ')}`);
}

/**
 * `_elements` or `_summary`; null: all.
 *
 * @param given the controls of a search or a read, each once, by name
 * @throws Fault `malformed` for an invalid value, and for both at once, because R4 does not define their combination
 */
export function partOf(
  type: ResourceType,
  given: ReadonlyMap<string, string>,
  summaries: readonly string[],
): Part | null {
  const [elements, summary] = [given.get('_elements'), given.get('_summary')];
  if (summary !== undefined) oneOf('_summary', summary, summaries);
  const partial = PARTIAL_SUMMARIES.find((one) => one === summary) ?? null;
  if (elements === undefined) return partial;
  if (partial !== null) throw badParameter('_elements', '_elements and _summary cannot be used together');
  return elementsOf(type, elements);
}

/** The controls of a search. */
export interface SearchControls {
  readonly sort: Sort;
  readonly count: number;
  readonly total: (typeof TOTALS)[number];
  /** Only the total. */
  readonly countOnly: boolean;
  readonly part: Part | null;
  readonly cursor: string | null;
}

type Chosen = { -readonly [Control in 'sort' | 'count' | 'total' | 'part']: SearchControls[Control] };

/**
 * @param given the controls of a search, each once, by name
 * @throws Fault `malformed` locating each that cannot be used
 */
export function searchControls(type: ResourceType, set: SearchSet, given: ReadonlyMap<string, string>): SearchControls {
  const chosen: Chosen = { sort: { by: 'id', descending: false }, count: DEFAULT_COUNT, total: 'none', part: null };
  collect([...given], ([name, value]) => {
    if (name === '_sort') chosen.sort = sortOf(type, set, value);
    else if (name === '_count') chosen.count = countOf(value);
    // HAPI's client spells R4's `estimate` so.
    else if (name === '_total') chosen.total = oneOf(name, value === 'estimated' ? 'estimate' : value, TOTALS);
    else if (name === '_totalMethod') {
      oneOf(name, value, ['count']);
      if (!given.has('_total')) chosen.total = 'accurate';
    } else if (name === '_elements' || (name === '_summary' && !given.has('_elements')))
      chosen.part = partOf(type, given, SUMMARIES);
  });
  // R4 search, 3.1.1.5.4: a _count of 0 asks for the same as _summary=count.
  const countOnly = given.get('_summary') === 'count' || chosen.count === 0;
  return { ...chosen, countOnly, cursor: given.get(CURSOR) ?? null };
}

/** Adds a control. @throws Fault `malformed` for a second one of its name, or an invalid `_pretty` */
export function addControl(controls: Map<string, string>, [name, value]: Pair): void {
  if (controls.has(name)) throw badParameter(name, `${name} can be given only once`);
  if (name === '_pretty') oneOf(name, value, PRETTY);
  controls.set(name, value);
}

/**
 * The controls by name, where the interaction is not a search. Others are rejected, also with `handling=lenient`, because the
 * answer has no entry that could report what was left out.
 */
export function readControls(pairs: readonly Pair[], allowed: readonly string[]): Map<string, string> {
  const controls = new Map<string, string>();
  const supported = allowed.filter((name) => name !== CURSOR);
  collect(pairs, ([name, value]) => {
    if (allowed.includes(name)) {
      addControl(controls, [name, value]);
      return;
    }
    // Histories never have summaries.
    if (name === '_summary' && value === 'false') return;
    const issue = unsupported(name, supported);
    throw new Fault('malformed', issue.message, { issues: [issue] });
  });
  return controls;
}
