/**
 * The filters of subscriptions, read once and by type and patient, so that a change is compared with few of them. A process keeps those
 * of the subscriptions that compare together, with the version that the database gives them (`change_position.members`).
 */
import type { ResourceType } from '../../../shared/resource-type.ts';
import { Fault } from '../../../shared/fault.ts';
import { createBounded } from '../../http/bounded.ts';
import { type Criterion, matchesWrite } from '../../store/search/kinds.ts';
import type { Searchable } from '../../store/search/rows.ts';
import type { ChangeRow, ComparedRow } from '../../store/subscription.ts';
import { readCriteria } from '../search/request.ts';
import type { ValueContext } from '../search/values.ts';

/** Subscriptions with the same type and filter. */
interface Filter {
  readonly criteria: readonly Criterion[];
  readonly subscriptions: ComparedRow[];
}

interface FiltersOfType {
  /** All of the type. */
  readonly subscriptions: ComparedRow[];
  readonly withoutFilter: ComparedRow[];
  /** By the ids of the patients or resources that a filter names. */
  readonly byId: Map<string, Filter[]>;
  readonly others: Filter[];
}

export interface Filters {
  readonly byType: ReadonlyMap<ResourceType, FiltersOfType>;
  /** Subscriptions with a filter that cannot be used any more, as the search parameters of the deployment have changed. */
  readonly failed: readonly string[];
  /** An upper bound of the memory. */
  readonly bytes: number;
}

/** The ids one of which a matching resource, or its patient, must have; undefined: the filter names none. */
const idsOf = (criteria: readonly Criterion[]): readonly string[] | undefined =>
  criteria.flatMap((one) => (one.kind === 'patient' || one.kind === 'id' ? [one.ids] : []))[0];

const BYTES_OF_SUBSCRIPTION = 600;
/** A criterion has as many for each character of its JSON. */
const BYTES_OF_CHARACTER = 4;

export function readFilters(subscriptions: readonly ComparedRow[], context: ValueContext): Filters {
  const byType = new Map<ResourceType, FiltersOfType>();
  const read = new Map<string, Filter | undefined>();
  const failed: string[] = [];
  let bytes = 0;
  const ofType = (type: ResourceType): FiltersOfType => {
    const known = byType.get(type) ?? { subscriptions: [], withoutFilter: [], byId: new Map(), others: [] };
    byType.set(type, known);
    return known;
  };
  const readOnce = (type: ResourceType, filter: string): Filter | undefined => {
    const name = `${type}?${filter}`;
    if (read.has(name)) return read.get(name);
    let added: Filter | undefined;
    try {
      const criteria = readCriteria(type, filter, context);
      const ids = idsOf(criteria);
      added = { criteria, subscriptions: [] };
      bytes += BYTES_OF_CHARACTER * JSON.stringify(criteria).length;
      const { byId, others } = ofType(type);
      if (ids === undefined) others.push(added);
      for (const id of new Set(ids)) byId.set(id, [...(byId.get(id) ?? []), added]);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
    read.set(name, added);
    return added;
  };
  for (const subscription of subscriptions) {
    const { id, type, filter } = subscription;
    const same = filter === '' ? ofType(type).withoutFilter : readOnce(type, filter)?.subscriptions;
    if (same === undefined) {
      failed.push(id);
      continue;
    }
    same.push(subscription);
    ofType(type).subscriptions.push(subscription);
    bytes += BYTES_OF_SUBSCRIPTION + 2 * filter.length;
  }
  return { byType, failed, bytes };
}

/** The types with a filter, whose content is needed. */
export const filteredTypes = ({ byType }: Filters): ResourceType[] =>
  [...byType].flatMap(([type, { byId, others }]) => (byId.size + others.length > 0 ? [type] : []));

function matching({ byId, others }: FiltersOfType, facts: readonly Searchable[]): ReadonlySet<Filter> {
  const found = new Set<Filter>();
  for (const one of facts) {
    const named = [one.id, ...(one.patient === null ? [] : [one.patient])].flatMap((id) => byId.get(id) ?? []);
    for (const filter of [...named, ...others]) {
      if (!found.has(filter) && matchesWrite(one, filter.criteria)) found.add(filter);
    }
  }
  return found;
}

/**
 * The subscriptions that a change is an event of. The version or the version before matches, so that a resource that leaves a
 * filter is an event too. An erasure is an event of each subscription of its type.
 *
 * @param factsOf the facts of both versions
 */
export function concerned(
  { byType }: Filters,
  change: ChangeRow,
  factsOf: (change: ChangeRow) => readonly Searchable[],
): readonly ComparedRow[] {
  const { type, version, last_updated: lastUpdated } = change;
  const ofType = byType.get(type);
  if (ofType === undefined) return [];
  if (version === null) return ofType.subscriptions;
  // The version was erased.
  if (lastUpdated === null) return [];
  const hasFilters = ofType.byId.size + ofType.others.length > 0;
  const filters = hasFilters ? matching(ofType, factsOf(change)) : [];
  const all = [...ofType.withoutFilter, ...[...filters].flatMap(({ subscriptions }) => subscriptions)];
  return all.filter(({ since }) => since === null || Date.parse(lastUpdated) > Date.parse(since));
}

interface Kept {
  readonly members: string;
  readonly filters: Filters;
}

const MiB = 1024 * 1024;
/** Some thousands of subscriptions with usual filters. Those of a site with more are read for each page of changes. */
const kept = createBounded<Kept>({ maxBytes: 8 * MiB, maxOwnerBytes: 4 * MiB, maxAgeMs: 10 * 60_000 });
const keyOf = ({ root, searches }: ValueContext): string => `${searches} ${root}`;

/** The filters of a site that this process read last, for ten minutes: one with the prefix `ap` depends on the time. */
export const keptFilters = (site: string, context: ValueContext): Kept | undefined =>
  kept.get(site, keyOf(context), context.now);

export function keepFilters(site: string, context: ValueContext, one: Kept): void {
  kept.sweep(context.now);
  kept.keep(site, keyOf(context), one, one.filters.bytes, context.now);
}
