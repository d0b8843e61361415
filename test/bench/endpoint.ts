/** Neon's endpoint in a separate process, like the external service. */
import process from 'node:process';

import { startNeonEndpoint } from '../stack/services/neon-endpoint.ts';
import { serveForked, startForked } from './forked.ts';

export interface BenchEndpoint {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Round trips so far, without bookkeeping. */
  readonly requests: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

export async function startEndpoint(databaseUrl: string): Promise<BenchEndpoint> {
  const { port, pid, report, stop } = await startForked('endpoint.ts', databaseUrl);
  return { url: `http://127.0.0.1:${port}/sql`, port, pid, requests: report, stop };
}

if (import.meta.main) {
  const endpoint = await startNeonEndpoint({ databaseUrl: process.argv[2] ?? '' });
  serveForked(endpoint.port, () => endpoint.requests());
}
