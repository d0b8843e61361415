/**
 * Rate limits in the memory of one process: windows of 60 s that begin with a key's first request. Several processes behind
 * a balancer count separately.
 */
import type { Config } from '../config.ts';
import type { RateLimitBucket, RateLimiter } from '../deps.ts';

const WINDOW_MS = 60_000;
/** Bounds the memory during a flood of addresses; when it is full, ended windows are dropped first. */
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
  // All windows are equally long, so in order of insertion the first ends first.
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
