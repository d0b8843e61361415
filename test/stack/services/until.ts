/** Waiting on a condition, for tests and for the stack: never a fixed sleep. */
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 20;

/**
 * Resolves with the first value of `condition` that is neither undefined nor false.
 *
 * @param what completes the sentence "waited N ms for …"
 * @throws when it does not come true within `timeoutMs`, or when `condition` throws
 */
export async function until<T>(
  what: string,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms for: ${what}`);
    await delay(POLL_MS);
  }
}
