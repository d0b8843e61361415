/** What the database's own errors mean to a caller, whichever driver brought them. */
import { Fault, type FaultKind } from '../../shared/fault.ts';

/** SQLSTATEs that say something about the request; those of class GW are raised by our own functions (migrations). */
const FAULTS: Readonly<Record<string, { kind: FaultKind; message: string; code?: string }>> = {
  GW401: { kind: 'unauthenticated', message: 'the token is no longer valid', code: 'invalid_token' },
  GW404: { kind: 'not-found', message: 'no such resource' },
  GW409: { kind: 'conflict', message: 'the request conflicts with another' },
  GW410: { kind: 'conflict', message: 'another has taken the job over', code: 'lease-lost' },
  GW412: { kind: 'precondition-failed', message: 'the resource has another version' },
  GW422: { kind: 'invalid', message: 'a referenced resource is not in the site', code: 'not-found' },
  '40001': { kind: 'unavailable', message: 'busy, try again' },
  '40P01': { kind: 'unavailable', message: 'busy, try again' },
  '55P03': { kind: 'unavailable', message: 'busy, try again' },
  '57014': { kind: 'unavailable', message: 'the database took too long' },
};

/** The detail of our own SQLSTATEs is a JSON array of positions: safe to show. */
function positions(state: string, detail: string | undefined): string[] {
  const parsed: unknown = state.startsWith('GW') && detail ? JSON.parse(detail) : [];
  return Array.isArray(parsed) ? parsed.map(String) : [];
}

/** The Fault of an SQLSTATE; undefined for one that says nothing to a caller. */
export function faultOfState(state: string, detail: string | undefined, cause: unknown): Fault | undefined {
  const known = FAULTS[state];
  if (known === undefined) return undefined;
  return new Fault(known.kind, known.message, {
    ...(known.code === undefined ? {} : { code: known.code }),
    issues: positions(state, detail).map((at) => ({ code: state, message: known.message, at })),
    cause,
  });
}
