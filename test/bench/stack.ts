/** The complete chain for a measurement: workerd with a Neon endpoint, or Deno over TCP; a line with a delay; and a durable PostgreSQL. */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

import { Client } from 'pg';

import { prepareDatabase } from '../stack/services/application-login.ts';
import { buildWorker } from '../stack/services/build.ts';
import { startDenoEdge } from '../stack/services/edge-deno.ts';
import { freePort } from '../stack/services/free-port.ts';
import { startPostgres } from '../stack/services/postgres.ts';
import { makeSecrets, type Secrets } from '../stack/services/secrets.ts';
import { startTcpProxy } from '../stack/services/tcp-proxy.ts';
import { removeTemporary, temporaryFolder } from '../stack/services/temporary-folder.ts';
import { childrenOf, parentOf } from './cpu.ts';
import { startEndpoint } from './endpoint.ts';
import type { Watched } from './load.ts';
import { startWorkerd } from './workerd.ts';

export type Runtime = 'workerd' | 'Deno';
export const RUNTIMES = ['workerd', 'Deno'] as const satisfies readonly Runtime[];

export interface StackOptions {
  /** The round trip between the gateway and its database, in addition; the default is 0. */
  readonly delayMs?: number;
  /** Settings of PostgreSQL. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Variables of the gateway. @param url its address */
  readonly env?: (url: string) => Readonly<Record<string, string>>;
}

export interface Stack {
  readonly url: string;
  readonly secrets: Secrets;
  /** A connection of the owner of the database. */
  readonly client: Client;
  readonly databaseUrl: string;
  readonly endpointUrl: string;
  /** Every process of the stack, and the database requests. */
  readonly watched: Required<Watched>;
  readonly stop: () => Promise<void>;
}

interface Gateway {
  readonly url: string;
  readonly pid: number;
  readonly count: Required<Watched>['count'];
  readonly stop: () => Promise<void>;
}

/** Delays what passes, half of the time in each direction. */
const startLine = (port: number, roundTripMs: number) =>
  startTcpProxy({ port }, (near, far) => {
    const carry = (from: Socket, into: Socket): void => {
      from.on('data', (chunk) => setTimeout(() => into.write(chunk), roundTripMs / 2));
      from.on('end', () => setTimeout(() => into.end(), roundTripMs / 2));
      from.on('error', () => into.destroy());
    };
    carry(near, far);
    carry(far, near);
  });

const MANY = 1_000_000_000;
const RATE_LIMITS = { tokenPerClient: MANY, tokenPerAddress: MANY, adminPerAddress: MANY, perKey: MANY };

async function startOnDeno(env: (url: string) => Record<string, string>): Promise<Gateway> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logged = { answers: 0, requests: 0 };
  const log = (line: string): void => {
    const [, requests] = /"databaseRequests":(\d+)/.exec(line) ?? [];
    if (requests === undefined) return;
    logged.answers += 1;
    logged.requests += Number(requests);
  };
  const edge = await startDenoEdge({ port, env: env(url), rateLimits: RATE_LIMITS, log });
  const count = async () => {
    const before = { ...logged };
    return async () => (logged.requests - before.requests) / (logged.answers - before.answers);
  };
  return { url, pid: edge.pid, count, stop: () => edge.stop() };
}

async function startOnWorkerd(
  env: (url: string) => Record<string, string>,
  requests: () => Promise<number>,
): Promise<Gateway> {
  const folder = await temporaryFolder('bench');
  const { script, settings } = await buildWorker(`${folder}/build`);
  const text = await readFile(script, 'utf8');
  await removeTemporary(folder);
  const { urls, pid, stop } = await startWorkerd([{ name: 'gateway', script: text, env, settings }]);
  const count = async () => {
    const before = await requests();
    return async (answers: number) => ((await requests()) - before) / answers;
  };
  return { url: urls[0] ?? '', pid, count, stop };
}

export async function startStack(
  runtime: Runtime,
  { delayMs = 0, settings = {}, env = () => ({}) }: StackOptions = {},
): Promise<Stack> {
  const postgres = await startPostgres({ settings });
  const application = new URL(await prepareDatabase(postgres.url));
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = parentOf(rows[0]?.pid ?? 0);
  const endpoint = await startEndpoint(postgres.url);
  const databasePort = runtime === 'Deno' ? postgres.port : endpoint.port;
  const line = delayMs === 0 ? undefined : await startLine(databasePort, delayMs);
  const port = line?.port ?? databasePort;
  if (runtime === 'Deno') application.port = String(port);
  const secrets = await makeSecrets();
  const variables = (url: string): Record<string, string> => ({
    ...secrets.env,
    DATABASE_URL: application.href,
    ...(runtime === 'Deno' ? {} : { DATABASE_FETCH_ENDPOINT: `http://127.0.0.1:${port}/sql` }),
    INTEGRATION_OAUTH_PUBLIC_BASE_URL: url,
    INTEGRATION_FHIR_PUBLIC_BASE_URL: url,
    INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: url,
    ...env(url),
  });
  const gateway = await (runtime === 'Deno' ? startOnDeno(variables) : startOnWorkerd(variables, endpoint.requests));
  return {
    url: gateway.url,
    secrets,
    client,
    databaseUrl: postgres.url,
    endpointUrl: `http://127.0.0.1:${endpoint.port}/sql`,
    watched: {
      cpu: {
        gateway: () => [gateway.pid],
        ...(runtime === 'Deno' ? {} : { endpoint: () => [endpoint.pid] }),
        postgres: () => [...childrenOf(postmaster), postmaster],
      },
      count: gateway.count,
    },
    async stop() {
      await gateway.stop();
      await line?.close();
      await client.end();
      await endpoint.stop();
      await postgres.stop();
    },
  };
}
