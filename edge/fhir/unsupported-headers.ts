/**
 * Unsupported headers that change the meaning of a request: to ignore them would do something else than the client requested.
 * Other unknown headers are ignored (edge/docs/behaviour.md, FHIR).
 */
import { badParameter } from './controls/faults.ts';

const UNSUPPORTED: Readonly<Record<string, string>> = {
  // The body would be a part of a resource (RFC 9110 §14.5).
  'Content-Range': 'send the complete resource, or a JSON Patch',
  // FHIR R4 provenance, 6.3.4.5.
  'X-Provenance': 'the server makes Provenance itself: leave it out',
};
/** From clients that cannot send every method; they are ignored where they name the method of the request. */
const OVERRIDES = ['X-HTTP-Method', 'X-HTTP-Method-Override', 'X-Method-Override'];

/** @throws Fault `malformed` for the first unsupported header */
export function refuseUnsupportedHeaders({ headers, method }: Pick<Request, 'headers' | 'method'>): void {
  for (const [name, instead] of Object.entries(UNSUPPORTED)) {
    if (headers.has(name)) throw badParameter(name, `${name} is not supported; ${instead}`, 'not-supported');
  }
  for (const name of OVERRIDES) {
    const other = headers.get(name);
    if (other === null || other.trim().toUpperCase() === method) continue;
    throw badParameter(name, `${name} is not supported: send the method itself`, 'not-supported');
  }
}
