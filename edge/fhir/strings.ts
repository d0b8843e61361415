/** Changing strings anywhere within a resource, without touching what has none: numbers keep their digits. */
import { isJsonObject, type Json, type JsonObject } from '../../shared/json.ts';

/** @param change gets the name of the nearest member and the string */
export function mapStrings(value: JsonObject, change: (member: string, text: string) => string): JsonObject {
  const mapValue = (member: string, item: Json): Json => {
    if (typeof item === 'string') return change(member, item);
    if (Array.isArray(item)) return item.map((one) => mapValue(member, one));
    return isJsonObject(item) ? mapObject(item) : item;
  };
  const mapObject = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([member, item]) => [member, mapValue(member, item)]));
  return mapObject(value);
}
