/** The gateway on Deno, as edge/docs/deploy.md says to run it, with PostgreSQL over TCP. Its limits of requests are above any bench. */
import * as z from 'zod';

import { startDenoEdge } from '../stack/services/edge-deno.ts';
import { freePort } from '../stack/services/free-port.ts';

export interface ServedDeno {
  readonly url: string;
  readonly pid: number;
  /** What its log says so far: how many requests it has answered, and how many of the database's these took. */
  logged(): { readonly answers: number; readonly databaseRequests: number };
  stop(): Promise<void>;
}

const FAR_ABOVE = 1_000_000_000;
const listening = z.object({ event: z.literal('listening'), pid: z.number() });

/** @param env for the address that the gateway will have, which its base URLs need */
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
