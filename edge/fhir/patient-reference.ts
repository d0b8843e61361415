/**
 * References to resources of this server (edge/docs/behaviour.md, FHIR). An absolute reference to the server becomes relative.
 * A referenced patient must belong to the site: the database checks that in the call that writes, this file the form.
 */
import { Fault, type Issue } from '../../shared/fault.ts';
import { isJsonObject, type JsonObject } from '../../shared/json.ts';
import { isUuid } from '../../shared/uuid.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { objectsAt, text } from '../store/search/at-path.ts';
import { patientIdOf } from '../store/search/kinds/patient.ts';
import { patientElementOf } from '../store/search/parameters.ts';
import { requireListOfPatients } from './group.ts';
import { hasString, mapStrings } from './strings.ts';

/** References to `{root}/…` without the root. */
export function relativeReferences(resource: JsonObject, root: string): JsonObject {
  return mapStrings(resource, (member, text) =>
    member === 'reference' && text.startsWith(`${root}/`) ? text.slice(root.length + 1) : text,
  );
}

/** References that only a transaction resolves (FHIR R4 http, 3.1.0.11.2). Stored as they are, they lead nowhere. */
const UNRESOLVED = [
  [/^[A-Za-z]+\?/, 'a conditional reference, [type]?[parameters], can only be in a transaction: send one'],
  [/^urn:uuid:/i, 'a urn:uuid: reference must be the fullUrl of an entry of the same transaction: send that entry too'],
] as const;

/** @throws Fault `invalid` (422) for a reference that only a transaction resolves */
export function requireResolved(type: ResourceType, resource: JsonObject): void {
  for (const [form, fault] of UNRESOLVED) {
    if (!hasString(resource, (member, value) => member === 'reference' && form.test(value))) continue;
    const message = `${fault}, or refer to [type]/[id]`;
    throw new Fault('invalid', message, { issues: [{ code: 'not-supported', message, at: type }] });
  }
}

/** The element that names the patient or the patients, as FHIRPath. */
export function patientPath(type: ResourceType): string {
  if (type === 'Group') return 'Group.member.entity';
  return `${type}.${patientElementOf(type) ?? 'id'}`;
}

/** One issue for a patient that does not exist, is malformed or belongs to another site. */
export function unknownPatient(at: string): Issue {
  return {
    code: 'not-found',
    message: 'this site has no such Patient: create the Patient first, and refer to Patient/[id] with its new id',
    at,
  };
}

const RELATIVE = /^[A-Za-z]+\/[A-Za-z0-9.-]{1,64}(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;
/** An absolute RESTful URL of a resource of another type than Patient. */
const ELSEWHERE =
  /^https?:\/\/.*\/(?!Patient\/)[A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64}(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;

/** A second one would be stored and never followed: the column `resource.replaced_by` has the first. */
function requireOneReplacement(patient: JsonObject): void {
  const replacements = objectsAt(patient, 'link').flatMap(({ type, other }, n) =>
    type === 'replaced-by' && isJsonObject(other) ? [{ id: patientIdOf(text(other['reference'])), n }] : [],
  );
  const second = replacements.find(({ id }) => id !== undefined && id !== replacements[0]?.id);
  if (second === undefined) return;
  const message = 'a Patient is replaced by one Patient: leave out every other link of the type replaced-by';
  const at = `Patient.link[${second.n}]`;
  throw new Fault('invalid', message, { issues: [{ code: 'business-rule', message, at }] });
}

/**
 * @param resource validated, references relative
 * @throws Fault `invalid` (422) for a reference that cannot be to a patient of this server
 */
export function requirePatientReference(type: ResourceType, resource: JsonObject): void {
  if (type === 'Group') return requireListOfPatients(resource);
  if (type === 'Patient') return requireOneReplacement(resource);
  const name = patientElementOf(type);
  const element = name === undefined ? undefined : resource[name];
  const reference = isJsonObject(element) ? element['reference'] : undefined;
  // R4 allows references to a contained resource and elements without a literal reference.
  if (typeof reference !== 'string' || reference.startsWith('#')) return;
  const patient = patientIdOf(reference);
  const acceptable = patient === undefined ? RELATIVE.test(reference) || ELSEWHERE.test(reference) : isUuid(patient);
  if (acceptable) return;
  const issue = unknownPatient(`${patientPath(type)}.reference`);
  throw new Fault('invalid', issue.message, { issues: [issue] });
}
