/** `_elements`: the asked-for top-level elements and what no reader may miss (FHIR R4 search, 3.1.1.5.9). */
import { isJsonObject, type Json, type JsonObject } from '../../shared/json.ts';
import type { ResourceType } from '../store/resource-type.ts';
import { SERVED_TYPES } from './resource-types.ts';

/** Tells a client that it must not write this back (R4 resource, 2.26.3.3). */
const SUBSETTED = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue',
  code: 'SUBSETTED',
  display: 'subsetted',
};
const OF_EVERY_RESOURCE = ['resourceType', 'id', 'meta', 'implicitRules', 'modifierExtension'];

export function subset(type: ResourceType, resource: JsonObject, elements: readonly string[]): JsonObject {
  const { alwaysIncluded, choices } = SERVED_TYPES[type];
  const wanted = new Set([...OF_EVERY_RESOURCE, ...alwaysIncluded, ...elements]);
  const wantedChoices = choices.filter((choice) => wanted.has(choice));
  const isWanted = (member: string): boolean => {
    // The extensions of a primitive belong to it: `_birthDate`.
    const name = member.replace(/^_/, '');
    return wanted.has(name) || wantedChoices.some((choice) => new RegExp(`^${choice}[A-Z]`).test(name));
  };
  const kept = Object.fromEntries(Object.entries(resource).filter(([member]) => isWanted(member)));
  const meta = isJsonObject(resource['meta']) ? resource['meta'] : {};
  const tags: Json[] = Array.isArray(meta['tag']) ? meta['tag'] : [];
  return { ...kept, meta: { ...meta, tag: [...tags, SUBSETTED] } };
}
