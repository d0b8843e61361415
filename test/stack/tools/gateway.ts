/**
 * The gateway as tests see it: an address and nothing else. The same cases run on both runtimes; what differs is how
 * each is started, stopped and killed.
 */
import type { Edge, EdgeOptions } from '../services/edge.ts';
import type { DatabaseEndpoints } from '../services/database-endpoints.ts';
import { startDenoEdge } from '../services/edge-deno.ts';
import { startWorkerdEdge } from './edge-workerd.ts';
import { freePort } from '../services/free-port.ts';
import { makeSecrets, type Secrets } from '../services/secrets.ts';
import { sized } from './size.ts';

/** workerd and `deno on Neon` ask the database by Neon's driver, `deno` over TCP. */
export type Runtime = 'workerd' | 'deno' | 'deno on Neon';
/**
 * Together the first two run all code of the edge and both drivers. The third combines the same code differently, for
 * `npm run test:full` and for cases about it.
 */
export const RUNTIMES: readonly Runtime[] = sized<Runtime[]>(['workerd', 'deno'], ['workerd', 'deno', 'deno on Neon']);
/** The runtimes for cases that no runtime changes. */
export const ONE_RUNTIME: readonly Runtime[] = sized<readonly Runtime[]>(['deno'], RUNTIMES);

export interface GatewayOptions {
  readonly runtime: Runtime;
  /** From `createTestDatabase()`: the connection string and the endpoints before the database. */
  readonly database: { readonly url: string; readonly endpoint: Pick<DatabaseEndpoints, 'url' | 'wirePort'> };
  /** Added to, or put over, the environment that makes all surfaces configured below one address. */
  readonly env?: Readonly<Record<string, string>>;
  /** The same port again after a stop or a kill; default a free one. */
  readonly port?: number;
  /** Path prefix of the three base URLs, e.g. `/gateway`. */
  readonly prefix?: string;
  /** Durable Objects' storage, to be found again after a restart (workerd). */
  readonly persistDir?: string;
  /** PEM file of a certificate authority that outbound requests trust beside the public ones. */
  readonly caCertificate?: string;
  /** Requests a minute in each bucket; default far above any test. */
  readonly rateLimits?: {
    readonly tokenPerClient?: number;
    readonly tokenPerAddress?: number;
    readonly adminPerAddress?: number;
    readonly perKey?: number;
  };
  readonly secrets?: Secrets;
}

export interface Gateway extends Edge {
  readonly runtime: Runtime;
  /** The process, for its CPU time and its memory. */
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  readonly oauthBaseUrl: string;
  readonly fhirBaseUrl: string;
  readonly hl7BaseUrl: string;
  readonly secrets: Secrets;
}

const FAR_ABOVE_ANY_TEST = 1_000_000;

/** The variables for the database. */
function databaseOf({ runtime, database }: GatewayOptions): Record<string, string> {
  if (runtime !== 'deno') return { DATABASE_URL: database.url, DATABASE_FETCH_ENDPOINT: database.endpoint.url };
  const url = new URL(database.url);
  url.port = String(database.endpoint.wirePort);
  return { DATABASE_URL: url.href };
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const port = options.port ?? (await freePort());
  const secrets = options.secrets ?? (await makeSecrets());
  const url = `http://127.0.0.1:${port}`;
  const base = `${url}${options.prefix ?? ''}`;
  const env = {
    ...secrets.env,
    ...databaseOf(options),
    INTEGRATION_OAUTH_PUBLIC_BASE_URL: base,
    INTEGRATION_FHIR_PUBLIC_BASE_URL: base,
    INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: base,
    // Jobs run only when a test starts them: Deno's timer would add round trips in the middle of a case.
    JOB_TICK_SECONDS: '3600',
    // Many a case looks at what is noted of one request.
    ADMIN_REFUSALS_SECONDS: '0.01',
    ...options.env,
  };
  const edgeOptions: EdgeOptions = {
    port,
    env,
    persistDir: options.persistDir,
    caCertificate: options.caCertificate,
    rateLimits: {
      tokenPerClient: options.rateLimits?.tokenPerClient ?? FAR_ABOVE_ANY_TEST,
      tokenPerAddress: options.rateLimits?.tokenPerAddress ?? FAR_ABOVE_ANY_TEST,
      adminPerAddress: options.rateLimits?.adminPerAddress ?? FAR_ABOVE_ANY_TEST,
      perKey: options.rateLimits?.perKey ?? FAR_ABOVE_ANY_TEST,
    },
  };
  const start = options.runtime === 'workerd' ? startWorkerdEdge : startDenoEdge;
  const edge = await start(edgeOptions);
  return {
    ...edge,
    runtime: options.runtime,
    port,
    url,
    oauthBaseUrl: env.INTEGRATION_OAUTH_PUBLIC_BASE_URL,
    fhirBaseUrl: env.INTEGRATION_FHIR_PUBLIC_BASE_URL,
    hl7BaseUrl: env.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL,
    secrets,
  };
}
