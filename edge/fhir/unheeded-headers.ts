/**
 * Headers that change what a request means, and that nothing here obeys: to leave them out would do something else than was
 * asked for. Whatever else is no header of HTTP's or R4's changes nothing (edge/docs/behaviour.md, FHIR).
 */
import { Fault } from '../../shared/fault.ts';

const UNHEEDED: Readonly<Record<string, string>> = {
  // A part of a resource, which would replace the whole (RFC 9110 §14.5).
  'Content-Range': 'a resource is put as a whole: send all of it, or a JSON Patch',
  // FHIR R4 provenance, 6.3.4.5.
  'X-Provenance': 'there is no Provenance here that could be kept: leave it out',
};
/** Of clients that cannot send every method; with the method itself they say nothing. */
const OVERRIDES = ['X-HTTP-Method', 'X-HTTP-Method-Override', 'X-Method-Override'];

/** @throws Fault `malformed` for the first of them */
export function refuseUnheeded({ headers, method }: Pick<Request, 'headers' | 'method'>): void {
  const refuse = (name: string, message: string): Fault =>
    new Fault('malformed', message, { issues: [{ code: 'not-supported', message, at: `http.${name}` }] });
  for (const [name, instead] of Object.entries(UNHEEDED)) {
    if (headers.has(name)) throw refuse(name, `${name} is not supported; ${instead}`);
  }
  for (const name of OVERRIDES) {
    const other = headers.get(name);
    if (other === null || other.trim().toUpperCase() === method) continue;
    throw refuse(name, `${name} is not supported: send the method itself`);
  }
}
