/** The gateway on Deno, run as in edge/docs/deploy.md, with PostgreSQL over TCP. Its rate limits are above any benchmark. */
import * as z from 'zod';

import { startDenoEdge } from '../stack/services/edge-deno.ts';
import { freePort } from '../stack/services/free-port.ts';

export interface ServedDeno {
  readonly url: string;
  readonly pid: number;
  /** Counts from its log: answered requests, and the database requests for them. */
  logged(): { readonly answers: number; readonly databaseRequests: number };
  stop(): Promise<void>;
}

const FAR_ABOVE = 1_000_000_000;
const listening = z.object({ event: z.literal('listening'), pid: z.number() });

/** @param env makes the variables from the address of the gateway, which its base URLs need */
export async function serveDeno(env: (url: string) => Record<string, string>): Promise<ServedDeno> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const limits = {
    tokenPerClient: FAR_ABOVE,
    tokenPerAddress: FAR_ABOVE,
    adminPerAddress: FAR_ABOVE,
    perKey: FAR_ABOVE,
  };
  const logged = { answers: 0, databaseRequests: 0 };
  const log = (text: string): void => {
    const [, requests] = /"databaseRequests":(\d+)/.exec(text) ?? [];
    if (requests === undefined) return;
    logged.answers += 1;
    logged.databaseRequests += Number(requests);
  };
  const edge = await startDenoEdge({ port, env: env(url), rateLimits: limits, log });
  const line = edge.logs().find((text) => text.includes('"listening"'));
  const { pid } = listening.parse(JSON.parse(line ?? '{}'));
  return { url, pid, logged: () => ({ ...logged }), stop: () => edge.stop() };
}
