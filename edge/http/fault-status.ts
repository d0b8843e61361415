/** The HTTP status of each kind of failure (RFC 9110 §15), and the log entry of a failure. */
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

/** For a client over a rate limit: the limiter does not report when its window of 60 s ends. */
export const AFTER_THE_WINDOW = { 'Retry-After': '60' } as const;

/** While a dependency is unavailable (RFC 9110 §10.2.3): about the interval of a balancer's checks. */
export const WHILE_AWAY = { 'Retry-After': '5' } as const;

/** True for an unavailable dependency, which is logged once when the outage begins (./outage.ts). */
const isUnavailable = (error: unknown): boolean => error instanceof Fault && error.kind === 'unavailable';

/** The log entry of background work that failed. */
export const backgroundFailed = (error: unknown): LogEntry => ({
  level: isUnavailable(error) ? 'warn' : 'error',
  event: 'background',
  error,
});

/**
 * Returns a thrown Fault and logs it. Anything else is a bug: it is logged, and the answer for `undefined` must be 500
 * without its text.
 */
export function faultOf(error: unknown, log: Log, surface: string, requestId: string): Fault | undefined {
  if (!(error instanceof Fault)) {
    log({ level: 'error', event: 'bug', surface, requestId, error });
    return undefined;
  }
  const level = isUnavailable(error) ? 'warn' : 'info';
  const fault = error.code === undefined ? error.kind : `${error.kind}/${error.code}`;
  log({ level, event: 'fault', surface, requestId, fault, error: error.cause });
  if (error.kind !== 'unavailable' || error.headers['Retry-After'] !== undefined) return error;
  return error.with({ headers: { ...error.headers, ...WHILE_AWAY } });
}
