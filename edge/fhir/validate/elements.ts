/**
 * Functions for the invariants, in the terms of FHIRPath N1: existence, codings, equality and order of elements. They accept any
 * JSON, because the walker checks the shape.
 */
import {
  isJsonObject,
  JsonNumber,
  MAX_JSON_DEPTH,
  objectsOf,
  type Json,
  type JsonObject,
} from '../../../shared/json.ts';

export const UCUM = 'http://unitsofmeasure.org';
const TERMINOLOGY = 'http://terminology.hl7.org/CodeSystem/';
/** A value that was not read by `parseJson` may be deeper than the stack. */
const MAX_DEPTH = 2 * MAX_JSON_DEPTH;
const CHOICE = /^[A-Z]/;

/** An element exists when it has a value or, if it is primitive, an extension. */
export function has(element: JsonObject, name: string): boolean {
  return element[name] !== undefined || element[`_${name}`] !== undefined;
}

export function hasChoice(element: JsonObject, name: string): boolean {
  for (const member in element) {
    const start = member.startsWith('_') ? 1 : 0;
    if (member.startsWith(name, start) && CHOICE.test(member.slice(start + name.length))) return true;
  }
  return false;
}

export function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return value instanceof JsonNumber ? value.valueOf() : undefined;
}

export function codings(element: JsonObject, name: string): JsonObject[] {
  const concept = element[name];
  return isJsonObject(concept) ? objectsOf(concept['coding']) : [];
}

export function isCoded(element: JsonObject, name: string, system: string, codes: readonly Json[]): boolean {
  const named = (coding: JsonObject): boolean =>
    coding['system'] === TERMINOLOGY + system && codes.includes(coding['code'] ?? null);
  return codings(element, name).some(named);
}

export function isInError(element: JsonObject, system: string): boolean {
  return isCoded(element, 'verificationStatus', system, ['entered-in-error']);
}

/**
 * A text that is equal for values that are equal in FHIRPath (N1, Equals), down to a bounded depth. With it the time to compare
 * lists grows with their length, not with its square.
 */
export function equalityKey(value: Json | undefined, depth = MAX_DEPTH): string {
  if (depth === 0) return '';
  if (Array.isArray(value)) return `[${value.map((item) => equalityKey(item, depth - 1)).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(numberOf(value) ?? value ?? null);
  const members = Object.keys(value).toSorted();
  return `{${members.map((name) => `${JSON.stringify(name)}:${equalityKey(value[name], depth - 1)}`).join(',')}}`;
}

/** True where one quantity is certainly above the other; only equal units can be compared. */
export function isAbove(first: Json | undefined, second: Json | undefined): boolean {
  if (!isJsonObject(first) || !isJsonObject(second)) return false;
  const comparable = ['system', 'code', 'unit'].every(
    (name) => first[name] === second[name] || (name === 'unit' && first['code'] !== undefined),
  );
  const low = numberOf(first['value']);
  const high = numberOf(second['value']);
  return comparable && low !== undefined && high !== undefined && low > high;
}

/** The places of the contained resources that a predicate selects. */
export function containedWhere(
  element: JsonObject,
  suffix: string,
  wrong: (resource: JsonObject) => boolean,
): string[] {
  const contained = element['contained'];
  if (!Array.isArray(contained)) return [];
  return contained.flatMap((item, i) => (isJsonObject(item) && wrong(item) ? [`contained[${i}]${suffix}`] : []));
}

export function hasMeta(resource: JsonObject, ...names: string[]): boolean {
  const meta = resource['meta'];
  return isJsonObject(meta) && names.some((name) => has(meta, name));
}

/** True where the value has a reference to the container, `#`, down to a bounded depth. */
export function refersToContainer(value: Json | undefined, depth = MAX_DEPTH): boolean {
  if (depth === 0) return false;
  const below = (item: Json): boolean => refersToContainer(item, depth - 1);
  if (Array.isArray(value)) return value.some(below);
  return isJsonObject(value) && (value['reference'] === '#' || Object.values(value).some(below));
}

/** The places in a list where the `use` is home. */
export function homes(element: JsonObject, name: string): string[] {
  const list = element[name];
  if (!Array.isArray(list)) return [];
  return list.flatMap((item, i) => (isJsonObject(item) && item['use'] === 'home' ? [`${name}[${i}]`] : []));
}

export function isUcum(element: JsonObject): boolean {
  return !has(element, 'system') || element['system'] === UCUM;
}

export function implies(condition: boolean, consequence: boolean): boolean {
  return !condition || consequence;
}

export function notNegative(value: Json | undefined): boolean {
  return (numberOf(value) ?? 0) >= 0;
}

export function startsWith(value: Json | undefined, start: string): boolean {
  return typeof value === 'string' && value.startsWith(start);
}
