/** `_elements` and `_summary`: a part of a resource, with its mandatory and modifier elements (FHIR R4 search, 3.1.1.5.8, 3.1.1.5.9). */
import { isJsonObject, type Json, type JsonObject } from '../../shared/json.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { type Element, resourceType, type Type } from './validate/definitions.ts';

/** Marks a part, which a client must not write back (R4 resource, 2.26.3.3). */
const SUBSETTED = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue',
  code: 'SUBSETTED',
  display: 'subsetted',
};
const OF_EVERY_RESOURCE = ['resourceType', 'id', 'meta'];

/** The values of `_summary` that leave out elements of a resource. */
export const PARTIAL_SUMMARIES = ['true', 'text', 'data'] as const;

/** A requested part of a resource: elements by their name in FHIRPath (`value` is every `value[x]`), or a summary. */
export type Part = readonly string[] | (typeof PARTIAL_SUMMARIES)[number];

/** True for elements that are kept, completely or as a summary. */
type Keeps = (element: Element) => boolean;

/** A summary also leaves out elements inside a datatype, as the data of an attachment, but no extension of a kept element. */
function summaryOf(value: Json, type: Type): Json {
  if (Array.isArray(value)) return value.map((item) => summaryOf(item, type));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).flatMap(([member, inner]): [string, Json][] => {
    const element = type.members.get(member);
    if (element === undefined || member === 'id' || member.endsWith('xtension')) return [[member, inner]];
    const kept = element.isSummary || type.required.some(({ name }) => name === element.name);
    return kept ? [[member, summaryOf(inner, element.type)]] : [];
  });
  return Object.fromEntries(members);
}

function keepsOf({ required }: Type, part: Part): Keeps {
  if (part === 'true') return ({ isSummary }) => isSummary;
  if (part === 'data') return ({ name }) => name !== 'text';
  const wanted = new Set([...required.map(({ name }) => name), ...(part === 'text' ? ['text'] : part)]);
  return ({ name }) => wanted.has(name);
}

/** The part of a resource, marked as one; elements that change the meaning of others, and mandatory ones, are never left out. */
export function subset(type: ResourceType, resource: JsonObject, part: Part): JsonObject {
  const definition = resourceType(type);
  const keeps = keepsOf(definition, part);
  const kept = Object.entries(resource).flatMap(([member, value]): [string, Json][] => {
    if (OF_EVERY_RESOURCE.includes(member)) return [[member, value]];
    // The extensions of a primitive belong to it: `_birthDate` is a member of the element `birthDate`.
    const element = definition.members.get(member);
    if (element === undefined || !(element.isModifier || keeps(element))) return [];
    return [[member, part === 'true' && !member.startsWith('_') ? summaryOf(value, element.type) : value]];
  });
  const meta = isJsonObject(resource['meta']) ? resource['meta'] : {};
  const tags: Json[] = Array.isArray(meta['tag']) ? meta['tag'] : [];
  return { ...Object.fromEntries(kept), meta: { ...meta, tag: [...tags, SUBSETTED] } };
}

/** The top-level elements of a type, by name. */
export function elementNames(type: ResourceType): ReadonlySet<string> {
  return new Set([...resourceType(type).members.values()].map(({ name }) => name));
}

/** The system of SUBSETTED in R4, in STU3, and where a client lost it: a code of another system means something else. */
const SUBSETTED_SYSTEMS: readonly unknown[] = [SUBSETTED.system, 'http://hl7.org/fhir/v3/ObservationValue', undefined];

/** The FHIRPath of the SUBSETTED tag; undefined: the resource is complete. */
export function subsettedAt(type: ResourceType, { meta }: JsonObject): string | undefined {
  const tags = isJsonObject(meta) && Array.isArray(meta['tag']) ? meta['tag'] : [];
  const at = tags.findIndex(
    (tag) => isJsonObject(tag) && tag['code'] === SUBSETTED.code && SUBSETTED_SYSTEMS.includes(tag['system']),
  );
  return at < 0 ? undefined : `${type}.meta.tag[${at}]`;
}
