/**
 * How fast one address may send. Whoever is faster is not refused but waits, and with him his sender, since no sender
 * goes on without an ACK: a loop gone wild at one hospital then takes nothing from the others.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { Metrics } from './metrics.ts';

/** Resolves when the next message of the address may go on, or when `signal` is aborted. */
export type WaitForTurn = (address: string, signal: AbortSignal) => Promise<void> | undefined;

/** So many addresses are remembered before those that were quiet are forgotten. */
const MAX_REMEMBERED = 10_000;

/** The generic cell rate algorithm: `perSecond` on average, a second's worth at once. */
export function createAddressRateLimit(perSecond: number, metrics: Pick<Metrics, 'paced'>): WaitForTurn {
  const intervalMs = 1000 / perSecond;
  /** When the address would be level with its rate. */
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
