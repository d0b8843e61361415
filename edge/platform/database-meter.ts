/**
 * What each piece of work asks of the database, for its log line. The work's own context tells requests apart that run at
 * the same time; workerd and Deno both have Node's AsyncLocalStorage for it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

import type { Measured } from '../deps.ts';

export interface DatabaseMeter {
  /** Notes one HTTP request to the database, answered or not, with the work that made it. */
  readonly note: (ms: number) => void;
  readonly measured: <T>(work: () => Promise<T>) => Promise<Measured<T>>;
}

export function createDatabaseMeter(): DatabaseMeter {
  const context = new AsyncLocalStorage<{ requests: number; ms: number }>();
  return {
    note(ms) {
      const spent = context.getStore();
      if (spent === undefined) return;
      spent.requests += 1;
      spent.ms += ms;
    },
    async measured(work) {
      const spent = { requests: 0, ms: 0 };
      const result = await context.run(spent, work);
      return { result, database: { ...spent } };
    },
  };
}
