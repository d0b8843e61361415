/**
 * Rate limits in memory, for one process: windows of 60 s that begin with the first request of a key. Several processes
 * behind a balancer each have their own count.
 */
import type { Config } from '../config.ts';
import type { RateLimitBucket, RateLimiter } from '../deps.ts';

const WINDOW_MS = 60_000;
/** Bounds the memory a flood of addresses can take; when it is full, windows that ended go first. */
const MAX_WINDOWS = 100_000;

interface Window {
  readonly ends: number;
  count: number;
}

type Limits = Pick<
  Config,
  'RATE_LIMIT_TOKEN_PER_CLIENT' | 'RATE_LIMIT_TOKEN_PER_ADDRESS' | 'RATE_LIMIT_ADMIN_PER_ADDRESS' | 'RATE_LIMIT_PER_KEY'
>;

/** @param now milliseconds since the epoch */
export function memoryRateLimiter(limits: Limits, now: () => number): RateLimiter {
  const limitOf: Readonly<Record<RateLimitBucket, number>> = {
    'token-client': limits.RATE_LIMIT_TOKEN_PER_CLIENT,
    'token-address': limits.RATE_LIMIT_TOKEN_PER_ADDRESS,
    'admin-address': limits.RATE_LIMIT_ADMIN_PER_ADDRESS,
    key: limits.RATE_LIMIT_PER_KEY,
  };
  // A map keeps the order of insertion, and all windows are equally long: the first is the first to end.
  const windows = new Map<string, Window>();

  const makeRoom = (time: number): void => {
    for (const [name, { ends }] of windows) {
      if (ends > time && windows.size < MAX_WINDOWS) return;
      windows.delete(name);
    }
  };

  return {
    async allow(bucket, key) {
      const time = now();
      const name = `${bucket} ${key}`;
      const current = windows.get(name);
      if (current !== undefined && current.ends > time) {
        current.count += 1;
        return current.count <= limitOf[bucket];
      }
      windows.delete(name);
      makeRoom(time);
      windows.set(name, { ends: time + WINDOW_MS, count: 1 });
      return limitOf[bucket] >= 1;
    },
  };
}
