/**
 * Measures the database use of each piece of work for its log line, and knows its share of the memory. Node's AsyncLocalStorage, which workerd and Deno have
 * too, separates concurrent requests.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

import type { Measured, Share } from '../deps.ts';
import { createMemory } from '../http/memory.ts';

export interface DatabaseMeter {
  /** Counts one HTTP request to the database, even a failed one, for the work that made it. */
  readonly note: (ms: number) => void;
  readonly measured: <T>(work: () => Promise<T>) => Promise<Measured<T>>;
  readonly share: () => Share;
}

/** Work that is not measured has no limit. */
const UNLIMITED = createMemory(Infinity, Date.now)();

/** @param createShare the share of each piece of work */
export function createDatabaseMeter(createShare: () => Share = () => UNLIMITED): DatabaseMeter {
  const context = new AsyncLocalStorage<{ requests: number; ms: number; share?: Share }>();
  return {
    note(ms) {
      const spent = context.getStore();
      if (spent === undefined) return;
      spent.requests += 1;
      spent.ms += ms;
    },
    async measured(work) {
      const spent: { requests: number; ms: number; share?: Share } = { requests: 0, ms: 0 };
      try {
        const result = await context.run(spent, work);
        return { result, database: { requests: spent.requests, ms: spent.ms } };
      } finally {
        spent.share?.end();
      }
    },
    share() {
      const spent = context.getStore();
      return spent === undefined ? UNLIMITED : (spent.share ??= createShare());
    },
  };
}
