/** The position of messages' items in a list of a patient, among the additions of FHIR clients. */
import { sortedJson, type Json } from '../../../shared/json.ts';

/**
 * Puts the items of messages together at the position of the first item of a message or was deleted. The others keep their
 * order.
 *
 * @param others items of FHIR clients
 * @param ours items of messages
 * @param isArranged a FHIR client has ordered the list: a list with equal items stays as it is
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
