/**
 * Addresses and methods of R4 that this server does not support: operations, the history of all types, compartments, deleting.
 * The answer says so and names an alternative. It is not the answer to an unknown id, because an id never begins with `_` or
 * `$` (FHIR R4 datatypes, id).
 */
import { Fault } from '../../shared/fault.ts';
import { isResourceType, RESOURCE_TYPES } from '../../shared/resource-type.ts';

/** The pattern of a segment that can be an id, for the router. */
export const ID_SEGMENT = '[^_$/][^/]*';

/** Names that a message may repeat, such as `$everything` or `_history`. */
const NAME = /^[_$][\w-]{1,64}$/;

/**
 * `Patient/[id]/Observation` (FHIR R4 compartmentdefinition), with any type.
 *
 * @param segments the segments of the path
 * @returns undefined for another address
 */
export function unsupportedCompartment(segments: readonly string[]): Fault | undefined {
  const [of, id, type] = segments.slice(-3);
  if (segments.length < 3 || id === undefined || of !== 'Patient' || !isResourceType(type)) return undefined;
  const message = `compartments are not supported: search ${type}?patient=[id]`;
  return new Fault('not-found', message, { code: 'not-supported' });
}

/** Hints for names that are supported at another address. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  _history: 'use the history of one type or of one resource',
  $everything: 'it applies to one patient',
};

/** @param path the path below the base, as it was requested */
export function unsupportedAddress(path: string): Fault {
  if (/\/Group\/[^/]+\/\$export$/.test(path)) {
    const message = 'Groups are not supported: export all patients at Patient/$export, or everything at $export';
    return new Fault('not-found', message, { code: 'not-supported' });
  }
  const segments = path.split('/');
  const segment = segments.at(-1) ?? '';
  const compartment = unsupportedCompartment(segments);
  if (compartment !== undefined) return compartment;
  if (!/^[_$]/.test(segment)) {
    const message = `this address does not exist; resource types: ${RESOURCE_TYPES.join(', ')}`;
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
  if (/^[_$]/.test(segment)) throw unsupportedAddress(segment);
}
