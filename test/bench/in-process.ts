/** What the gateway needs of a runtime, in this process, so that a measurement has nothing else in between. */
import type { Config } from '../../edge/config.ts';
import type { Database, Deps } from '../../edge/deps.ts';

export const inProcess = (config: Config, database: Database): Deps => ({
  config,
  database,
  measured: async (work) => ({ result: await work(), database: { requests: 0, ms: 0 } }),
  jtiStore: { claim: async () => true },
  rateLimiter: { allow: async () => true },
  now: () => Date.now(),
  background: () => undefined,
  log: () => undefined,
  fetch: (address, init) => fetch(address, init),
  resolveHost: async () => [],
  asset: async () => new Response(null, { status: 404 }),
  sourceAddress: () => '192.0.2.10',
});
