/** Reading and changing strings anywhere within a resource, without touching what has none: numbers keep their digits. */
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

/** Checks for a string that passes a test, without a copy. @param test as `change` of `mapStrings` */
export function hasString(value: JsonObject, test: (member: string, text: string) => boolean): boolean {
  const isIn = (member: string, item: Json): boolean => {
    if (typeof item === 'string') return test(member, item);
    if (Array.isArray(item)) return item.some((one) => isIn(member, one));
    return isJsonObject(item) && hasString(item, test);
  };
  return Object.entries(value).some(([member, item]) => isIn(member, item));
}
