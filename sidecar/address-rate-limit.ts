/**
 * Limits the message rate of an address. A faster sender waits for its ACKs instead of being rejected, so that a loop at
 * one hospital does not slow the others down.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { Metrics } from './metrics.ts';

/** Resolves when the next message of the address may continue, or when `signal` is aborted. */
export type Pace = (address: string, signal: AbortSignal) => Promise<void> | undefined;

/** Above this number, addresses without recent messages are dropped. */
const MAX_REMEMBERED = 10_000;

/** The generic cell rate algorithm: `perSecond` on average, with a burst of one second. */
export function createAddressRateLimit(perSecond: number, metrics: Pick<Metrics, 'paced'>): Pace {
  const intervalMs = 1000 / perSecond;
  /** By address, the time at which its messages would have exactly the allowed rate. */
  const levelAt = new Map<string, number>();

  const forgetQuiet = (now: number): void => {
    for (const [address, at] of levelAt) if (at <= now) levelAt.delete(address);
  };

  return (address, signal) => {
    const now = performance.now();
    if (levelAt.size >= MAX_REMEMBERED) forgetQuiet(now);
    const level = Math.max(levelAt.get(address) ?? 0, now) + intervalMs;
    levelAt.set(address, level);
    const waitMs = level - now - 1000;
    if (waitMs <= 0) return undefined;
    metrics.paced.inc();
    return delay(waitMs, undefined, { signal }).catch(() => undefined);
  };
}
