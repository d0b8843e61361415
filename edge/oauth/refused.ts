/**
 * A refused token request: what the caller is told, and apart from it the exact reason for the administrator. Until a
 * signature has verified every refusal of a client is one constant answer, so that it tells nothing about keys.
 */
import { Fault, type FaultKind } from '../../shared/fault.ts';
import type { Reason, RefusalCode } from '../../shared/oauth/reason.ts';

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

  constructor(fault: Fault, refusal: Reason) {
    super(refusal.code);
    this.fault = fault;
    this.refusal = refusal;
  }
}

/** The constant answer: row C of the list of refusals. */
export function refuseClient(refusal: Reason): Refused {
  const fault = new Fault('unauthenticated', 'client authentication failed', {
    code: 'invalid_client',
    headers: challenge({ error: 'invalid_client' }),
  });
  return new Refused(fault, refusal);
}

/** A precise answer to a caller whose signature has verified. */
export function refuseAssertion(refusal: Reason): Refused {
  // Some libraries show of a 401 only its challenge: the description stands there too.
  const headers = challenge({ error: 'invalid_client', error_description: toDescription(refusal.reason) });
  const fault = new Fault('unauthenticated', refusal.reason, { code: 'invalid_client', headers });
  return new Refused(fault, refusal);
}

type RequestError = 'invalid_request' | 'unsupported_grant_type' | 'invalid_scope' | 'invalid_target' | 'invalid_grant';

/** A refusal of the request itself, 400 unless the kind says otherwise. */
export function refuseRequest(
  error: RequestError,
  code: RefusalCode,
  reason: string,
  kind: FaultKind = 'malformed',
): Refused {
  return new Refused(new Fault(kind, reason, { code: error }), { code, reason });
}
