/**
 * Measures the database use of each piece of work for its log line. Node's AsyncLocalStorage, which workerd and Deno have
 * too, separates concurrent requests.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

import type { Measured } from '../deps.ts';

export interface DatabaseMeter {
  /** Counts one HTTP request to the database, even a failed one, for the work that made it. */
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
