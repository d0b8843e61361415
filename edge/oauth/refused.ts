/**
 * A refused token request: what the caller is told, and apart from it the exact reason for the administrator. Which of
 * both a caller learns is said by one table (edge/refusals.ts).
 */
import { Fault, type FaultKind } from '../../shared/fault.ts';
import { AFTER_THE_WINDOW } from '../http/fault-status.ts';
import { type Reason, tokenRefusal } from '../refusals.ts';
import { challenge } from './challenge.ts';

/** A sentence as RFC 6749 §5.2 allows it in `error_description`: printable ASCII without `"` and `\`. */
export function toDescription(message: string): string {
  return message
    .replaceAll('"', "'")
    .replaceAll('\\', '/')
    .replace(/[^\x20-\x7e]/g, '?');
}

export class Refused extends Error {
  override readonly name = 'Refused';
  /** What the caller is told. */
  readonly fault: Fault;
  /** What the administrator is told. */
  readonly refusal: Reason;
  /** Whom the request claims to come from, where it was read that far. Not verified. */
  readonly clientId: string | undefined;

  constructor(fault: Fault, refusal: Reason, clientId?: string) {
    super(refusal.code);
    this.fault = fault;
    this.refusal = refusal;
    this.clientId = clientId;
  }
}

/** The one answer to a client of which nothing is known yet. */
const CONSTANT_ANSWER = 'client authentication failed';

function headersOf(kind: FaultKind, error: string, told: string | undefined): Readonly<Record<string, string>> {
  if (kind === 'throttled') return AFTER_THE_WINDOW;
  if (kind !== 'unauthenticated') return {};
  // For a client that used the Authorization header (edge/oauth/oauth-error.ts). Some libraries show of a 401 only its
  // challenge: what may be told stands there too.
  return challenge(told === undefined ? { error } : { error, error_description: toDescription(told) });
}

/** @param kind where a part that the request went through knows better than the table: 413, 415 */
export function refuse(refusal: Reason, kind?: FaultKind): Refused {
  const { code, reason, isMissing } = refusal;
  const wire = tokenRefusal(code);
  const error = isMissing === true ? (wire.errorIfMissing ?? wire.error) : wire.error;
  const told = wire.told === 'reason' ? reason : undefined;
  const headers = headersOf(wire.kind, error, told);
  return new Refused(new Fault(kind ?? wire.kind, told ?? CONSTANT_ANSWER, { code: error, headers }), refusal);
}

/** What was thrown as a refusal that is kept for its key; undefined for what is none. */
export function asRefused(error: unknown): Refused | undefined {
  if (error instanceof Refused) return error;
  if (!(error instanceof Fault) || error.kind !== 'unavailable') return undefined;
  return new Refused(error, { code: 'unavailable', reason: error.message });
}

/**
 * Does the work of a request that claims to come from a client.
 *
 * @throws what the work throws; a refusal that names no client yet names this one
 */
export async function inNameOf<T>(clientId: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const refused = asRefused(error);
    if (refused === undefined || refused.clientId !== undefined) throw error;
    throw new Refused(refused.fault, refused.refusal, clientId);
  }
}
