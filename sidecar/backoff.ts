/** Waits that grow between tries, with jitter, so that many connections do not come back in one instant. */
import { setTimeout as delay } from 'node:timers/promises';

export interface BackoffOptions {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

export interface Backoff {
  /** False, at once, when the next wait would pass `deadline` (of `performance.now()`) or `signal` is aborted. */
  wait(deadline: number, signal: AbortSignal): Promise<boolean>;
}

export function createBackoff({ firstMs, factor, maxMs }: BackoffOptions): Backoff {
  let next = firstMs;
  return {
    async wait(deadline, signal) {
      const ms = next * (0.5 + Math.random() / 2);
      next = Math.min(next * factor, maxMs);
      if (signal.aborted || performance.now() + ms >= deadline) return false;
      return delay(ms, true, { signal }).catch(() => false);
    },
  };
}
