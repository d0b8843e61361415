/** Growing waits between attempts, with jitter, so that many connections do not retry in the same instant. */
import { setTimeout as delay } from 'node:timers/promises';

export interface BackoffOptions {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

export interface Backoff {
  /**
   * Waits at most until `deadline` (of `performance.now()`), so that the last attempt is made at the deadline. Returns
   * false if the deadline has passed or `signal` is aborted.
   */
  wait(deadline: number, signal: AbortSignal): Promise<boolean>;
}

export function createBackoff({ firstMs, factor, maxMs }: BackoffOptions): Backoff {
  let next = firstMs;
  return {
    async wait(deadline, signal) {
      const left = deadline - performance.now();
      if (signal.aborted || left <= 0) return false;
      // A timer may fire a millisecond early; without the extra millisecond the last attempt would wait twice.
      const ms = Math.ceil(Math.min(next * (0.5 + Math.random() / 2), left)) + 1;
      next = Math.min(next * factor, maxMs);
      return delay(ms, true, { signal }).catch(() => false);
    },
  };
}
