/**
 * Selects the names of a Patient for uses with a limited number, such as an index. The resource itself keeps all of
 * them.
 */
import { isJsonObject, type JsonObject } from '../../shared/json.ts';
import { objectsAt } from './search/at-path.ts';

const OLD = 2;
/** By use (FHIR R4, NameUse). Other uses have rank 1. */
const RANK_OF_USE: Readonly<Record<string, number>> = { official: 0, usual: 0, old: OLD };

function rankOf({ use, period }: JsonObject): number {
  if (isJsonObject(period) && period['end'] !== undefined) return OLD;
  return (typeof use === 'string' ? RANK_OF_USE[use] : undefined) ?? 1;
}

/** Every HumanName of a Patient: official and usual names first, old and ended names last. */
export const namesByUse = (patient: JsonObject): JsonObject[] =>
  objectsAt(patient, 'name').toSorted((a, b) => rankOf(a) - rankOf(b));

/** The first items whose costs sum up to at most `most`. */
export function affordable<T>(items: Iterable<T>, costOf: (item: T) => number, most: number): T[] {
  const found: T[] = [];
  let left = most;
  for (const item of items) {
    left -= costOf(item);
    if (left < 0) break;
    found.push(item);
  }
  return found;
}
