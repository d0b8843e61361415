/**
 * The names of a Patient, as far as they are indexed and compared. The content keeps every name as it was sent; an index has
 * room for those of any person, and a patient with a thousand long names costs no more than one with thirty.
 */
import { isJsonObject, type JsonObject } from '../../shared/json.ts';
import { objectsAt } from './search/at-path.ts';

/** `old`, and what is over, go last; what else stands before them in the order in which it was sent. */
const RANK_OF_USE: Readonly<Record<string, number>> = { official: 0, usual: 0, old: 2 };

function rankOf({ use, period }: JsonObject): number {
  if (isJsonObject(period) && period['end'] !== undefined) return 2;
  return (typeof use === 'string' ? RANK_OF_USE[use] : undefined) ?? 1;
}

/** Every HumanName of a Patient: official and usual ones first, old ones last. */
export const namesByUse = (patient: JsonObject): JsonObject[] =>
  objectsAt(patient, 'name').toSorted((a, b) => rankOf(a) - rankOf(b));

/** The first of some items, as many as together cost no more than this. */
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
