/** Where the items of messages stand in a list of a patient, among those that FHIR clients put there. */
import { sortedJson, type Json } from '../../../shared/json.ts';

/**
 * The list anew: others as they stand, ours together in the place of the first that was ours or has gone.
 *
 * @param others that stay
 * @param isArranged a FHIR client has put the list into an order: one with the same items stays as it is
 */
export function placed(
  stored: readonly Json[],
  others: readonly Json[],
  ours: readonly Json[],
  isArranged: boolean,
): Json[] {
  if (isArranged && isSameSet(stored, [...others, ...ours])) return [...stored];
  const staying = new Set(others);
  const first = stored.findIndex((item) => !staying.has(item));
  const place = first < 0 ? others.length : stored.slice(0, first).filter((item) => staying.has(item)).length;
  return [...others.slice(0, place), ...ours, ...others.slice(place)];
}

function isSameSet(a: readonly Json[], b: readonly Json[]): boolean {
  const [left, right] = [a, b].map((items) => items.map(sortedJson).sort().join());
  return left === right;
}
