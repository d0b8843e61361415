/** `_elements`: the asked-for top-level elements and what no reader may miss (FHIR R4 search, 3.1.1.5.9). */
import { isJsonObject, type Json, type JsonObject } from '../../shared/json.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { resourceType } from './validate/definitions.ts';

/** Tells a client that it must not write this back (R4 resource, 2.26.3.3). */
const SUBSETTED = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue',
  code: 'SUBSETTED',
  display: 'subsetted',
};
/** `isModifier` in R4. */
const MODIFIERS: Readonly<Record<ResourceType, readonly string[]>> = {
  Patient: ['active', 'deceased', 'link'],
  Condition: ['clinicalStatus', 'verificationStatus'],
  AllergyIntolerance: ['clinicalStatus', 'verificationStatus'],
  Observation: ['status'],
  Procedure: ['status'],
  DiagnosticReport: ['status'],
  DocumentReference: ['status'],
};
const OF_EVERY_RESOURCE = ['resourceType', 'id', 'meta', 'implicitRules', 'modifierExtension'];

/** @param elements names as FHIRPath has them: `value` is every `value[x]` */
export function subset(type: ResourceType, resource: JsonObject, elements: readonly string[]): JsonObject {
  const { members, required } = resourceType(type);
  const mandatory = required.map(({ name }) => name);
  const wanted = new Set([...OF_EVERY_RESOURCE, ...mandatory, ...MODIFIERS[type], ...elements]);
  // The extensions of a primitive belong to it: `_birthDate` is a member of the element `birthDate`.
  const kept = Object.entries(resource).filter(([member]) => wanted.has(members.get(member)?.name ?? member));
  const meta = isJsonObject(resource['meta']) ? resource['meta'] : {};
  const tags: Json[] = Array.isArray(meta['tag']) ? meta['tag'] : [];
  return { ...Object.fromEntries(kept), meta: { ...meta, tag: [...tags, SUBSETTED] } };
}

/** The top-level elements of a type, by name. */
export function elementNames(type: ResourceType): ReadonlySet<string> {
  return new Set([...resourceType(type).members.values()].map(({ name }) => name));
}
