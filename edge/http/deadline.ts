/**
 * A time after which work of ours is given up. Not Hono's `timeout`, which ends a whole request: a deadline is of one
 * thing that is waited for, and whoever waits decides what follows.
 */

/** Of what cannot be told to stop. */
export interface TimeLimit {
  /** Rejects when the time is over; for a race. */
  readonly passed: Promise<never>;
  readonly hasPassed: () => boolean;
  /** It is waited for no longer: a timer that goes on would hold up the end of a process. */
  readonly clear: () => void;
}

export interface Deadline extends TimeLimit {
  /** For what can be told to stop. */
  readonly signal: AbortSignal;
}

/** @param ms from now */
export function timeLimit(ms: number): TimeLimit {
  const { promise: passed, reject } = Promise.withResolvers<never>();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    reject(new DOMException(`${ms} ms have passed`, 'TimeoutError'));
  }, ms);
  // It also passes when nobody waits for it any more.
  passed.catch(() => undefined);
  return { passed, hasPassed: () => isOver, clear: () => clearTimeout(timer) };
}

/** @param ms from now */
export function deadline(ms: number): Deadline {
  const limit = timeLimit(ms);
  const abort = new AbortController();
  limit.passed.catch((reason: unknown) => abort.abort(reason));
  return { ...limit, signal: abort.signal };
}
