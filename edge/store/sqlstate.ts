/** The meaning of the database's errors for a caller, for all drivers. */
import { Fault, type FaultKind } from '../../shared/fault.ts';

interface Meaning {
  readonly kind: FaultKind;
  readonly message: string;
  readonly code?: string;
}

/** Class GW is raised by our own functions (migrations/functions); some name the rows that they refuse in DETAIL. */
const OWN = {
  GW401: { kind: 'unauthenticated', message: 'the token is no longer valid', code: 'invalid_token' },
  GW402: {
    kind: 'unauthenticated',
    message: 'the link has expired, was revoked, or its API key is not active',
    code: 'invalid_token',
  },
  GW403: {
    kind: 'forbidden',
    message: 'the API key no longer allows every scope of the access token',
    code: 'insufficient_scope',
  },
  GW404: { kind: 'not-found', message: 'no such resource' },
  GW407: {
    kind: 'forbidden',
    message:
      'this API key may not use Patient/$match: search Patient, or ask an administrator of the site to switch patientMatch on',
  },
  GW408: {
    kind: 'forbidden',
    message: 'the export of a Group needs an API key that allows the scope system/Group.read',
    code: 'insufficient_scope',
  },
  GW409: { kind: 'conflict', message: 'the request conflicts with another' },
  GW410: { kind: 'conflict', message: 'another process has taken over the job', code: 'lease-lost' },
  GW412: { kind: 'precondition-failed', message: 'the resource has another version' },
  GW413: {
    kind: 'invalid',
    message:
      'the GET entries of the transaction read more resources than one answer may contain, so nothing was written. ' +
      'Send them in separate requests',
    code: 'too-costly',
  },
  GW423: { kind: 'invalid', message: 'the addresses are not assigned to the site', code: 'foreign-address' },
  GW422: { kind: 'invalid', message: 'a referenced resource is not in the site', code: 'not-found' },
  GW429: { kind: 'throttled', message: 'too many of these are in progress: wait until one of them ends' },
  GW440: { kind: 'unauthenticated', message: 'your session has ended: sign in again', code: 'session_ended' },
  GW501: {
    kind: 'malformed',
    message:
      'not all resources of the site are indexed for this search yet. An operator must run npm run reindex first',
    code: 'not-supported',
  },
  GW503: { kind: 'unavailable', message: 'the database took too long' },
} as const satisfies Readonly<Record<string, Meaning>>;

export type OwnState = keyof typeof OWN;
export const OWN_STATES = Object.keys(OWN);

const AWAY: Meaning = { kind: 'unavailable', message: 'the database cannot be reached' };
const BUSY: Meaning = { kind: 'unavailable', message: 'busy, try again' };
const LATE: Meaning = { kind: 'unavailable', message: 'the database took too long' };
const FULL: Meaning = { kind: 'unavailable', message: 'the database has no room at this time' };
const READ_ONLY: Meaning = { kind: 'unavailable', message: 'the database takes no writes at this time' };

/**
 * States of PostgreSQL, and classes of them (appendix A), that are temporary: the same request succeeds later, once the
 * database or its operator has recovered. Every other state is a gateway error, and keeps its original error. Examples
 * are a missing privilege (42501), an existing key although locks should exclude it (23505), and an internal error
 * (XX000). A retry would fail again, and a message that its sender must retry would delay all messages after it.
 */
const PASSING: Readonly<Record<string, Meaning>> = {
  // Connection; a login that is rejected, for example after a change of password; a database that does not exist.
  '08': AWAY,
  '28': AWAY,
  '3D': AWAY,
  // A fail-over to a replica, or a limit of storage that was reached.
  '25006': READ_ONLY,
  '25P03': LATE,
  '25P04': LATE,
  '40001': BUSY,
  '40P01': BUSY,
  // Disk, memory (also that of the lock table) and connections.
  '53': FULL,
  '55P03': BUSY,
  // Operator intervention, system error.
  '57': AWAY,
  '57014': LATE,
  '58': AWAY,
};

const isOwn = (state: string): state is OwnState => Object.hasOwn(OWN, state);

/** The DETAIL of the gateway's states: a JSON array of positions. */
function rowsOf(detail: string): number[] | undefined {
  const parsed: unknown = JSON.parse(detail);
  return Array.isArray(parsed) ? parsed.map(Number) : undefined;
}

/**
 * The Fault of one of the gateway's states. @param rows positions of the rows that it is about, if it is about rows
 */
export function faultOfOwnState(state: OwnState, rows: readonly number[] | undefined, cause?: unknown): Fault {
  const { kind, message, code }: Meaning = OWN[state];
  return new Fault(kind, message, { code, rows, cause });
}

/** The Fault of an SQLSTATE; undefined for a gateway error. */
export function faultOfState(state: string, detail: string | undefined, cause: unknown): Fault | undefined {
  if (isOwn(state)) return faultOfOwnState(state, detail ? rowsOf(detail) : undefined, cause);
  const known = PASSING[state] ?? PASSING[state.slice(0, 2)];
  return known && new Fault(known.kind, known.message, { cause });
}
