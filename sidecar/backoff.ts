/** Waits that grow between tries, with jitter, so that many connections do not come back in one instant. */
import { setTimeout as delay } from 'node:timers/promises';

export interface BackoffOptions {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

export interface Backoff {
  /**
   * Waits, but not beyond `deadline` (of `performance.now()`), so that one try is made at its very end. False when it
   * has passed already, or when `signal` is aborted.
   */
  wait(deadline: number, signal: AbortSignal): Promise<boolean>;
}

export function createBackoff({ firstMs, factor, maxMs }: BackoffOptions): Backoff {
  let next = firstMs;
  return {
    async wait(deadline, signal) {
      const left = deadline - performance.now();
      if (signal.aborted || left <= 0) return false;
      // A timer may fire a millisecond early: what is to end at the deadline must not end before it, and wait once more.
      const ms = Math.ceil(Math.min(next * (0.5 + Math.random() / 2), left)) + 1;
      next = Math.min(next * factor, maxMs);
      return delay(ms, true, { signal }).catch(() => false);
    },
  };
}
