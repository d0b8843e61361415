/** The HTTP status of each kind of failure (RFC 9110 §15), and what a surface logs of it. */
import type { Log, LogEntry } from '../../shared/log.ts';
import { Fault, type FaultKind } from '../../shared/fault.ts';

export const FAULT_STATUS = {
  malformed: 400,
  invalid: 422,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  timeout: 408,
  conflict: 409,
  'precondition-failed': 412,
  'too-large': 413,
  'unsupported-media-type': 415,
  throttled: 429,
  unavailable: 503,
} as const satisfies Record<FaultKind, number>;

/** For whoever is over a rate limit: when in the limiter's window of 60 s it comes back under it is not known. */
export const AFTER_THE_WINDOW = { 'Retry-After': '60' } as const;

/** For whoever meets a dependency that is away (RFC 9110 §10.2.3): about as often as balancers ask. */
export const WHILE_AWAY = { 'Retry-After': '5' } as const;

/** Something was away, which is said once when it begins (./outage.ts), and not with each that meets it. */
const isAway = (error: unknown): boolean => error instanceof Fault && error.kind === 'unavailable';

/** The line of work behind an answer that failed. */
export const backgroundFailed = (error: unknown): LogEntry => ({
  level: isAway(error) ? 'warn' : 'error',
  event: 'background',
  error,
});

/**
 * What was thrown, as a Fault; anything but a Fault is a bug of ours, logged, and `undefined` here: answer 500 without
 * its text. Every failure is logged with the request's id.
 */
export function faultOf(error: unknown, log: Log, surface: string, requestId: string): Fault | undefined {
  if (!(error instanceof Fault)) {
    log({ level: 'error', event: 'bug', surface, requestId, error });
    return undefined;
  }
  const level = isAway(error) ? 'warn' : 'info';
  const fault = error.code === undefined ? error.kind : `${error.kind}/${error.code}`;
  log({ level, event: 'fault', surface, requestId, fault, error: error.cause });
  if (error.kind !== 'unavailable' || error.headers['Retry-After'] !== undefined) return error;
  return error.with({ headers: { ...error.headers, ...WHILE_AWAY } });
}
