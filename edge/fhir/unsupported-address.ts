/**
 * Addresses and methods that R4 has and this server has not: operations, the history of all types, compartments, deleting.
 * They are told as such, with what there is instead, not as an id that nobody has: an id never begins with `_` or `$` (FHIR R4
 * datatypes, id).
 */
import { Fault } from '../../shared/fault.ts';
import { isResourceType, RESOURCE_TYPES } from '../../shared/resource-type.ts';

/** The pattern of a segment that can be an id, for the router. */
export const ID_SEGMENT = '[^_$/][^/]*';

/** `$everything`, `_history`: fit to be repeated. */
const NAME = /^[_$][\w-]{1,64}$/;

/**
 * `Patient/[id]/Observation` (FHIR R4 compartmentdefinition), whose type is a type of ours or another's.
 *
 * @param segments of the path
 * @returns undefined where they are no compartment of ours
 */
export function unsupportedCompartment(segments: readonly string[]): Fault | undefined {
  const [of, id, type] = segments.slice(-3);
  if (segments.length < 3 || id === undefined || of !== 'Patient' || !isResourceType(type)) return undefined;
  const message = `a compartment is not an address here: search ${type}?patient=[id]`;
  return new Fault('not-found', message, { code: 'not-supported' });
}

/** What is meant by a name that is supported elsewhere. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  _history: 'a history is of one type, or of one resource',
  $everything: 'it is of one patient',
};

/** @param path below the base, as it was asked for */
export function unsupportedAddress(path: string): Fault {
  if (/\/Group\/[^/]+\/\$export$/.test(path)) {
    const message = 'there are no Groups here: export all patients at Patient/$export, or everything at $export';
    return new Fault('not-found', message, { code: 'not-supported' });
  }
  const segments = path.split('/');
  const segment = segments.at(-1) ?? '';
  const compartment = unsupportedCompartment(segments);
  if (compartment !== undefined) return compartment;
  if (!/^[_$]/.test(segment)) {
    const message = `nothing is served at this address; resource types: ${RESOURCE_TYPES.join(', ')}`;
    return new Fault('not-found', message);
  }
  const what = NAME.test(segment) ? segment : 'what begins with _ or $';
  const instead = Object.hasOwn(ELSEWHERE, segment) ? `${ELSEWHERE[segment]}; ` : '';
  const message = `${what} is not supported at this address: ${instead}what this server can do is in /fhir/metadata`;
  return new Fault('not-found', message, { code: 'not-supported' });
}

/** A method of R4 is repeated; any other could be a message. */
const METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$/;
const INSTEAD_OF_DELETE =
  '; what is stored is kept: what does not hold is updated, to the status entered-in-error or a Patient to active false';

/**
 * @param allow what there is instead, as in `Allow`
 * @param hint what the address is for, where that helps
 */
export function unsupportedMethod(method: string, allow: string, hint = ''): Fault {
  const what = METHOD.test(method) ? method : 'this method';
  const message = `${what} is not supported here, but ${allow}${method === 'DELETE' ? INSTEAD_OF_DELETE : hint}`;
  return new Fault('method-not-allowed', message, { headers: { Allow: allow } });
}

/** @throws Fault where an id would stand, and none can be meant */
export function requireIdSegment(segment: string): void {
  if (/^[_$]/.test(segment)) throw unsupportedAddress(segment);
}
