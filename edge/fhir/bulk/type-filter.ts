/**
 * `_typeFilter` of an export (FHIR Bulk Data Access 2.0.0): searches that each resource of a type must match one of. The gateway
 * evaluates them for the versions of the export's moment, which no index has.
 */
import { isResourceType, type ResourceType } from '../../../shared/resource-type.ts';
import { isTimeZone, offsetsInZone } from '../../../shared/hl7/zone.ts';
import { searchRows } from '../../store/search/extract.ts';
import { matchesWrite } from '../../store/search/kinds.ts';
import type { Searchable } from '../../store/search/rows.ts';
import { parseStored, type StoredResource } from '../../store/resource.ts';
import { readCriteria } from '../search/request.ts';
import type { ValueContext } from '../search/values.ts';

export interface TypeFilter {
  readonly type: ResourceType;
  readonly query: string;
}

/** @returns undefined for anything but `[type]?[parameters]` of a supported type */
export function typeFilterOf(text: string): TypeFilter | undefined {
  const at = text.indexOf('?');
  const type = text.slice(0, Math.max(at, 0));
  return isResourceType(type) ? { type, query: text.slice(at + 1) } : undefined;
}

export const filterText = ({ type, query }: TypeFilter): string => `${type}?${query}`;

/** Days in a year of results, with both ends of each. */
const MAX_KNOWN = 1000;

/** As PostgreSQL reads a time without a zone: the second of two equal times, and the offset before a skipped time. */
function instantIn(timeZone: string): (localMs: number) => number {
  const known = new Map<number, number>();
  if (!isTimeZone(timeZone)) return (ms) => ms;
  return (localMs) => {
    const before = known.get(localMs);
    if (before !== undefined) return before;
    const local = new Date(localMs);
    const offset = offsetsInZone(
      {
        year: local.getUTCFullYear(),
        month: local.getUTCMonth() + 1,
        day: local.getUTCDate(),
        hour: local.getUTCHours(),
        minute: local.getUTCMinutes(),
        second: local.getUTCSeconds(),
      },
      timeZone,
    ).at(-1);
    const [, sign, hours = 0, minutes = 0] = /^([+-])(\d\d):(\d\d)$/.exec(offset ?? '') ?? [];
    const ms = localMs - (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(localMs, ms);
    return ms;
  };
}

/** @param zone the time zone of the site @returns a function for the facts of a stored version, which criteria are compared with */
export function factsIn(zone: string): (type: ResourceType, stored: StoredResource) => Searchable {
  const instantOf = instantIn(zone);
  return (type, stored) => {
    const rows = searchRows(type, parseStored(stored));
    return { ...rows, id: stored.id, lastUpdated: stored.last_updated, instantOf };
  };
}

/**
 * @param filters all `_typeFilter`s
 * @param zone the time zone of the site
 * @returns true for a resource that matches a filter of its type; undefined: the type has no filter
 */
export function filterOf(
  type: ResourceType,
  filters: readonly string[],
  zone: string,
  context: ValueContext,
): ((stored: StoredResource) => boolean) | undefined {
  const any = filters
    .flatMap((text) => typeFilterOf(text) ?? [])
    .filter((filter) => filter.type === type)
    .map(({ query }) => readCriteria(type, query, context));
  const factsOf = factsIn(zone);
  if (any.length === 0) return undefined;
  return (stored) => {
    const facts = factsOf(type, stored);
    return any.some((criteria) => matchesWrite(facts, criteria));
  };
}
