/**
 * Codings that the site's code tables added to a concept (edge/docs/behaviour.md, HL7 v2, Code tables). They take no part in any
 * comparison: a message says the same before and after a change of a table.
 */
import { isJsonObject, sortedJson, type Json, type JsonObject } from '../../../shared/json.ts';

/** No message and no other map sets `userSelected`. */
const MARK = { userSelected: false };

export const addedCoding = (system: string, code: string, display: string): JsonObject => ({
  system,
  code,
  ...(display === '' ? {} : { display }),
  ...MARK,
});

export const isAdded = (coding: Json): boolean => isJsonObject(coding) && coding['userSelected'] === MARK.userSelected;

/** A text that is equal for values that the sender said. */
export function saidText(value: Json): string {
  const text = sortedJson(value);
  return text.includes('"userSelected":false') ? sortedJson(withoutAdded(value)) : text;
}

function withoutAdded(value: Json): Json {
  if (Array.isArray(value)) return value.filter((item) => !isAdded(item)).map(withoutAdded);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutAdded(member)]));
}
