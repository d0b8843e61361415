/**
 * A time after which work of ours is given up. Not Hono's `timeout`, which ends a whole request: a deadline is of one
 * thing that is waited for, and whoever waits decides what follows.
 */

export interface Deadline {
  /** For what can be told to stop. */
  readonly signal: AbortSignal;
  /** Rejects when the time is over; for a race with what cannot. */
  readonly passed: Promise<never>;
  /** It is waited for no longer: a timer that goes on would hold up the end of a process. */
  readonly clear: () => void;
}

/** @param ms from now */
export function deadline(ms: number): Deadline {
  const abort = new AbortController();
  const { signal } = abort;
  const timer = setTimeout(() => abort.abort(new DOMException(`${ms} ms have passed`, 'TimeoutError')), ms);
  const passed = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  // It also passes when nobody waits for it any more.
  passed.catch(() => undefined);
  return { signal, passed, clear: () => clearTimeout(timer) };
}
