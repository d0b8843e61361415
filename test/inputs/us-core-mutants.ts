/** Changes of the resources of `us-core-resources.ts`, one each, that a profile of US Core may reject and R4 does not. */
import { isJsonObject, type Json, type JsonObject } from '../../shared/json.ts';
import { validate } from '../../edge/fhir/validate/validate.ts';
import { US_CORE_RESOURCES } from './us-core-resources.ts';

export interface Mutant {
  /** The resource's number, its profile, the place and the kind of the change. */
  readonly label: string;
  readonly resource: JsonObject;
}

type Place = readonly (string | number)[];

/** Every member and item below a value, deepest last. */
function placesOf(value: Json, at: Place = []): Place[] {
  if (!Array.isArray(value) && !isJsonObject(value)) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => {
    const place = [...at, key];
    const below = Array.isArray(value) ? value[Number(key)] : value[String(key)];
    return [place, ...placesOf(below ?? null, place)];
  });
}

/** The value with another at a place; undefined removes it. A list or object that becomes empty is removed too. */
function replaced(value: Json, [key, ...rest]: Place, next: (old: Json) => Json | undefined): Json | undefined {
  if (key === undefined) return next(value);
  if (Array.isArray(value)) {
    const items = value.flatMap((item, n) => (n === key ? (replaced(item, rest, next) ?? []) : [item]));
    return items.length === 0 ? undefined : items;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).flatMap(([name, item]): [string, Json][] => {
    const changed = name === key ? replaced(item ?? null, rest, next) : item;
    return changed === undefined ? [] : [[name, changed]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const KINDS: Readonly<Record<string, (old: Json, name: string | number | undefined) => Json | undefined>> = {
  removed: () => undefined,
  other: (old, name) => {
    if (name === 'code') return '0000-0';
    if (name === 'system' || name === 'url') return 'urn:example:other';
    if (name === 'valueCode') return 'X';
    if (name === 'effectiveDateTime') return '2024';
    return old;
  },
  twice: (old) => (Array.isArray(old) ? [...old, old[0] ?? null] : old),
};

/** A value, or the time, as another type of the choice. */
const CHOICES: Readonly<Record<string, readonly [member: string, value: Json]>> = {
  valueQuantity: ['valueString', 'x'],
  valueCodeableConcept: ['valueString', 'x'],
  effectiveDateTime: ['effectiveInstant', '2024-05-17T10:00:00Z'],
  effectivePeriod: ['effectiveDateTime', '2024-05-17'],
};

function retyped(value: Json, [key, ...rest]: Place): Json {
  if (Array.isArray(value)) return value.map((item, n) => (n === key ? retyped(item, rest) : item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      if (name !== key) return [name, item];
      return rest.length > 0 ? [name, retyped(item ?? null, rest)] : (CHOICES[name] ?? [name, item]);
    }),
  );
}

/** Only the rules of the profile are judged, so a mutant is valid in R4 and keeps its claim. */
const isJudged = (before: JsonObject, after: Json | undefined): after is JsonObject =>
  isJsonObject(after) &&
  after['meta'] !== undefined &&
  JSON.stringify(after) !== JSON.stringify(before) &&
  validate(after).length === 0;

/** The mutants, the same in each run. */
export function usCoreMutants(): Mutant[] {
  return US_CORE_RESOURCES.flatMap((before, n) => {
    const profile = JSON.stringify(before['meta'])
      .split('/')
      .at(-1)
      ?.replaceAll(/[^\w-]/g, '');
    const places = placesOf(before).filter(([first]) => first !== 'meta' && first !== 'resourceType');
    const made = places.flatMap((place) => [
      ...Object.entries(KINDS).map(([kind, change]) => ({
        kind,
        place,
        after: replaced(before, place, (old) => change(old, place.at(-1))),
      })),
      { kind: 'retyped', place, after: retyped(before, place) },
    ]);
    return made.flatMap(({ kind, place, after }) =>
      isJudged(before, after) ? [{ label: `${n} ${profile} ${place.join('.')} ${kind}`, resource: after }] : [],
    );
  });
}
