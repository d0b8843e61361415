/** Maps any failure of the token service to the JSON of RFC 6749 §5.2. */
import type { Fault, FaultKind } from '../../shared/fault.ts';
import { FAULT_STATUS } from '../http/fault-status.ts';
import { challengeOf } from './bearer.ts';
import { toDescription } from './refused.ts';

/** RFC 6749 §5.1: caches must store neither tokens nor refusals. */
export const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const;

/** The error code if the Fault has none. */
const CODE: Readonly<Record<FaultKind, string>> = {
  malformed: 'invalid_request',
  invalid: 'invalid_request',
  unauthenticated: 'invalid_token',
  forbidden: 'insufficient_scope',
  'not-found': 'invalid_request',
  'method-not-allowed': 'invalid_request',
  'not-acceptable': 'invalid_request',
  conflict: 'invalid_request',
  'precondition-failed': 'invalid_request',
  timeout: 'invalid_request',
  'too-large': 'invalid_request',
  'unsupported-media-type': 'invalid_request',
  throttled: 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
};

/**
 * The challenge is only for a client that used the `Authorization` header (RFC 6749 §5.2). Client libraries mistake a
 * challenge for a resource server's and hide the body, which contains the reason.
 */
function headersOf(fault: Fault, request: Request): Readonly<Record<string, string>> {
  if (request.headers.has('authorization')) return challengeOf(fault);
  const { 'WWW-Authenticate': _challenge, ...others } = fault.headers;
  return others;
}

/**
 * @param fault undefined for a bug, whose text is not shown
 * @param request the request that is answered
 */
export function errorResponse(fault: Fault | undefined, request: Request): Response {
  if (fault === undefined) return Response.json({ error: 'server_error' }, { status: 500, headers: NO_STORE });
  const body = { error: fault.code ?? CODE[fault.kind], error_description: toDescription(fault.message) };
  return Response.json(body, {
    status: FAULT_STATUS[fault.kind],
    headers: { ...NO_STORE, ...headersOf(fault, request) },
  });
}
