/**
 * Addresses that R4 has and this server has not: operations, the history of a type, compartments. They are told as such,
 * not as an id that nobody has: an id never begins with `_` or `$` (FHIR R4 datatypes, id).
 */
import { Fault } from '../../shared/fault.ts';
import { RESOURCE_TYPES } from '../../shared/resource-type.ts';

/** The pattern of a segment that can be an id, for the router. */
export const ID_SEGMENT = '[^_$/][^/]*';

/** `$everything`, `_history`: fit to be repeated. */
const NAME = /^[_$][\w-]{1,64}$/;

/** @param path below the base, as it was asked for */
export function unsupportedAddress(path: string): Fault {
  const segment = path.split('/').at(-1) ?? '';
  if (!/^[_$]/.test(segment)) {
    const message = `nothing is served at this address; resource types: ${RESOURCE_TYPES.join(', ')}`;
    return new Fault('not-found', message);
  }
  const what = NAME.test(segment) ? segment : 'what begins with _ or $';
  const message = `${what} is not supported at this address: what this server can do is in /fhir/metadata`;
  return new Fault('not-found', message, { code: 'not-supported' });
}

/** @throws Fault where an id would stand, and none can be meant */
export function requireIdSegment(segment: string): void {
  if (/^[_$]/.test(segment)) throw unsupportedAddress(segment);
}
