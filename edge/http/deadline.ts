/**
 * A time limit for one piece of work. Hono's `timeout` would end the whole request; here the waiting code decides how to
 * continue.
 */

/** For work that cannot be cancelled. */
export interface TimeLimit {
  /** Rejects when the time is over; use it in a race. */
  readonly expired: Promise<never>;
  readonly hasExpired: () => boolean;
  /** Stops the timer, which would otherwise keep a process alive. */
  readonly clear: () => void;
}

export interface Deadline extends TimeLimit {
  /** For work that can be cancelled. */
  readonly signal: AbortSignal;
}

export function timeLimit(ms: number): TimeLimit {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    reject(new DOMException(`${ms} ms have expired`, 'TimeoutError'));
  }, ms);
  // The rejection may come after the race has ended.
  expired.catch(() => undefined);
  return { expired, hasExpired: () => isOver, clear: () => clearTimeout(timer) };
}

export function deadline(ms: number): Deadline {
  const limit = timeLimit(ms);
  const abort = new AbortController();
  limit.expired.catch((reason: unknown) => abort.abort(reason));
  return { ...limit, signal: abort.signal };
}
