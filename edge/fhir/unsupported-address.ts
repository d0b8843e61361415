/**
 * Addresses and methods of R4 that this server does not support: operations, the history of all types, compartments, deleting.
 * The answer says so and names an alternative. It is not the answer to an unknown id, because an id never begins with `_` or
 * `$` (FHIR R4 datatypes, id).
 */
import { Fault } from '../../shared/fault.ts';
import { isResourceType, type ResourceType, unsupportedType } from '../../shared/resource-type.ts';
import { patientElementOf } from '../store/search/parameters.ts';

/** The pattern of a segment that can be an id, for the router. */
export const ID_SEGMENT = '[^_$/][^/]*';

/** Names that a message may repeat, such as `$everything` or `_history`. */
const NAME = /^[_$][\w-]{1,64}$/;

/**
 * `Patient/[id]/Observation` (FHIR R4 compartmentdefinition), with any type that refers to a patient.
 *
 * @param segments the segments of the path
 * @returns undefined for another address
 */
export function unsupportedCompartment(segments: readonly string[]): Fault | undefined {
  const [of, id, type] = segments.slice(-3);
  if (segments.length < 3 || id === undefined || of !== 'Patient') return undefined;
  if (!isResourceType(type) || patientElementOf(type) === undefined) return undefined;
  const message = `compartments are not supported: search ${type}?patient=[id]`;
  return new Fault('not-found', message, { code: 'not-supported' });
}

/** Hints for names that are supported at another address. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  _history: 'use the history of one type or of one resource',
  $everything: 'it applies to one patient',
  $docref: 'it applies to DocumentReference where the operator sets FHIR_SEARCH=us-core',
};

/** The first segments below `/fhir`. */
const TYPE = /\/fhir\/([A-Za-z]{1,64})(?=\/|$)/;

/**
 * @param path the path below the base, as it was requested
 * @param types the types of the deployment
 */
export function unsupportedAddress(path: string, types: readonly ResourceType[]): Fault {
  const segments = path.split('/');
  const type = TYPE.exec(path)?.[1];
  if (type !== undefined && isResourceType(type) && !types.includes(type)) {
    return new Fault('not-found', unsupportedType(type, types), { code: 'not-supported' });
  }
  const segment = segments.at(-1) ?? '';
  const compartment = unsupportedCompartment(segments);
  if (compartment !== undefined) return compartment;
  if (!/^[_$]/.test(segment)) {
    const message = `this address does not exist; resource types: ${types.join(', ')}`;
    return new Fault('not-found', message);
  }
  const what = NAME.test(segment) ? segment : 'a name with _ or $ at its beginning';
  const instead = Object.hasOwn(ELSEWHERE, segment) ? `${ELSEWHERE[segment]}; ` : '';
  const message = `${what} is not supported at this address: ${instead}/fhir/metadata lists what this server supports`;
  return new Fault('not-found', message, { code: 'not-supported' });
}

/** Methods that a message may repeat. */
const METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$/;
const INSTEAD_OF_DELETE =
  '; instead of deleting, update the resource to the status entered-in-error, or a Patient to active false';

/**
 * @param allow the supported methods, as in `Allow`
 * @param hint added to the message
 */
export function unsupportedMethod(method: string, allow: string, hint = ''): Fault {
  const what = METHOD.test(method) ? method : 'this method';
  const message = `${what} is not supported at this address; use ${allow}${method === 'DELETE' ? INSTEAD_OF_DELETE : hint}`;
  return new Fault('method-not-allowed', message, { headers: { Allow: allow } });
}

/** @throws Fault for a segment that cannot be an id */
export function requireIdSegment(segment: string): void {
  if (/^[_$]/.test(segment)) throw unsupportedAddress(segment, []);
}
