/**
 * A refused token request: the public answer, and separately the exact reason for the administrator. One table decides
 * which of the two a caller gets (edge/refusals.ts).
 */
import { Fault, type FaultKind } from '../../shared/fault.ts';
import { AFTER_THE_WINDOW } from '../http/fault-status.ts';
import { type Reason, tokenRefusal } from '../refusals.ts';
import { challenge } from './challenge.ts';

/** A sentence in the characters of `error_description` (RFC 6749 §5.2): printable ASCII without `"` and `\`. */
export function toDescription(message: string): string {
  return message
    .replaceAll('"', "'")
    .replaceAll('\\', '/')
    .replace(/[^\x20-\x7e]/g, '?');
}

export class Refused extends Error {
  override readonly name = 'Refused';
  /** The public answer. */
  readonly fault: Fault;
  /** The reason for the administrator. */
  readonly refusal: Reason;
  /** The claimed client, if the request was read that far; not verified. */
  readonly clientId: string | undefined;

  constructor(fault: Fault, refusal: Reason, clientId?: string) {
    super(refusal.code);
    this.fault = fault;
    this.refusal = refusal;
    this.clientId = clientId;
  }
}

/** The only answer to a client that is not authenticated. */
const CONSTANT_ANSWER = 'client authentication failed';

function headersOf(kind: FaultKind, error: string, description: string | undefined): Readonly<Record<string, string>> {
  if (kind === 'throttled') return AFTER_THE_WINDOW;
  if (kind !== 'unauthenticated') return {};
  // For a client that used the Authorization header (edge/oauth/oauth-error.ts). Some libraries show only the challenge of a
  // 401, so it repeats the public description.
  return challenge(description === undefined ? { error } : { error, error_description: toDescription(description) });
}

/** @param kind replaces the table's kind: 413, 415 */
export function refuse(refusal: Reason, kind?: FaultKind): Refused {
  const { code, reason, isMissing } = refusal;
  const wire = tokenRefusal(code);
  const error = isMissing === true ? (wire.errorIfMissing ?? wire.error) : wire.error;
  const description = wire.description === 'reason' ? reason : undefined;
  const headers = headersOf(wire.kind, error, description);
  return new Refused(new Fault(kind ?? wire.kind, description ?? CONSTANT_ANSWER, { code: error, headers }), refusal);
}

/** A thrown Refused; undefined for any other error. */
export function asRefused(error: unknown): Refused | undefined {
  if (error instanceof Refused) return error;
  if (!(error instanceof Fault) || error.kind !== 'unavailable') return undefined;
  return new Refused(error, { code: 'unavailable', reason: error.message });
}

/**
 * Does the work of a request that claims to be from a client.
 *
 * @throws the error of `work`; a Refused without a client gets this client
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
