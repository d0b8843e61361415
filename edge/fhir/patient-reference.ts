/**
 * References to what this server has (edge/docs/behaviour.md, FHIR): those to our own base become relative, and a patient must be
 * one of the site. Whether it is, the database decides in the same call; here only what can be seen without it.
 */
import { Fault, type Issue } from '../../shared/fault.ts';
import { isJsonObject, type JsonObject } from '../../shared/json.ts';
import { isUuid } from '../../shared/uuid.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { patientIdOf } from '../store/search/kinds/patient.ts';
import { patientElementOf } from '../store/search/parameters.ts';
import { mapStrings } from './strings.ts';

/** References to `{root}/…` without the root. */
export function relativeReferences(resource: JsonObject, root: string): JsonObject {
  return mapStrings(resource, (member, text) =>
    member === 'reference' && text.startsWith(`${root}/`) ? text.slice(root.length + 1) : text,
  );
}

/** The element that names the patient, as FHIRPath. */
export function patientPath(type: ResourceType): string {
  return `${type}.${patientElementOf(type) ?? 'id'}`;
}

/** What is said of a patient that is missing, malformed or another site's: the same words. */
export function unknownPatient(at: string): Issue {
  return {
    code: 'not-found',
    message: 'this site has no such Patient: create it first, and refer to it as Patient/[id] with the id it was given',
    at,
  };
}

const RELATIVE = /^[A-Za-z]+\/[A-Za-z0-9.-]{1,64}(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;
/** An absolute RESTful URL of a resource that is no Patient. */
const ELSEWHERE =
  /^https?:\/\/.*\/(?!Patient\/)[A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64}(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;

/**
 * @param resource validated, references relative
 * @throws Fault `invalid` (422) for a patient that cannot be one of ours
 */
export function requirePatientReference(type: ResourceType, resource: JsonObject): void {
  const name = patientElementOf(type);
  const element = name === undefined ? undefined : resource[name];
  const reference = isJsonObject(element) ? element['reference'] : undefined;
  // Without a literal reference, or to a contained resource: what R4 allows, but no patient of ours.
  if (typeof reference !== 'string' || reference.startsWith('#')) return;
  const patient = patientIdOf(reference);
  const acceptable = patient === undefined ? RELATIVE.test(reference) || ELSEWHERE.test(reference) : isUuid(patient);
  if (acceptable) return;
  const issue = unknownPatient(`${patientPath(type)}.reference`);
  throw new Fault('invalid', issue.message, { issues: [issue] });
}
