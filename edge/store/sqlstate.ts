/** What the database's own errors mean to a caller, whichever driver brought them. */
import { Fault, type FaultKind } from '../../shared/fault.ts';

interface Meaning {
  readonly kind: FaultKind;
  readonly message: string;
  readonly code?: string;
}

/** Class GW is raised by our own functions (migrations/functions); some name the rows that they refuse in DETAIL. */
const OWN = {
  GW401: { kind: 'unauthenticated', message: 'the token is no longer valid', code: 'invalid_token' },
  GW404: { kind: 'not-found', message: 'no such resource' },
  GW409: { kind: 'conflict', message: 'the request conflicts with another' },
  GW410: { kind: 'conflict', message: 'another has taken the job over', code: 'lease-lost' },
  GW412: { kind: 'precondition-failed', message: 'the resource has another version' },
  GW423: { kind: 'invalid', message: 'the addresses are not those of the site', code: 'foreign-address' },
  GW422: { kind: 'invalid', message: 'a referenced resource is not in the site', code: 'not-found' },
  GW440: { kind: 'unauthenticated', message: 'your session has ended: sign in again', code: 'session_ended' },
  GW503: { kind: 'unavailable', message: 'the database took too long' },
} as const satisfies Readonly<Record<string, Meaning>>;

export type OwnState = keyof typeof OWN;
export const OWN_STATES = Object.keys(OWN);

/** States of PostgreSQL (appendix A) that say something about the request. */
const POSTGRES: Readonly<Record<string, Meaning>> = {
  '40001': { kind: 'unavailable', message: 'busy, try again' },
  '40P01': { kind: 'unavailable', message: 'busy, try again' },
  '55P03': { kind: 'unavailable', message: 'busy, try again' },
  '57014': { kind: 'unavailable', message: 'the database took too long' },
};

const isOwn = (state: string): state is OwnState => Object.hasOwn(OWN, state);

/** The DETAIL of our own states: a JSON array of positions. */
function rowsOf(detail: string): number[] | undefined {
  const parsed: unknown = JSON.parse(detail);
  return Array.isArray(parsed) ? parsed.map(Number) : undefined;
}

/** The Fault of one of our own states. @param rows positions of the rows that it is about, if it is about rows */
export function faultOfOwnState(state: OwnState, rows: readonly number[] | undefined, cause?: unknown): Fault {
  const { kind, message, code }: Meaning = OWN[state];
  return new Fault(kind, message, { code, rows, cause });
}

/** The Fault of an SQLSTATE; undefined for one that says nothing to a caller. */
export function faultOfState(state: string, detail: string | undefined, cause: unknown): Fault | undefined {
  if (isOwn(state)) return faultOfOwnState(state, detail ? rowsOf(detail) : undefined, cause);
  const known = POSTGRES[state];
  return known && new Fault(known.kind, known.message, { cause });
}
