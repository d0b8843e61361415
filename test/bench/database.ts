/** The base of a measurement of the complete chain: a separate, durable and migrated PostgreSQL, a Neon endpoint and a site. */
import { Client } from 'pg';

import { prepareDatabase } from '../stack/services/application-login.ts';
import { type Postgres, startPostgres } from '../stack/services/postgres.ts';
import { makeSecrets, type Secrets } from '../stack/services/secrets.ts';
import { createSite } from '../stack/services/seed.ts';
import { childrenOf, parentOf } from './cpu.ts';
import { type BenchEndpoint, startEndpoint } from './endpoint.ts';

export interface BenchDatabase {
  readonly postgres: Postgres;
  /** The running processes of PostgreSQL. */
  readonly pids: () => readonly number[];
  readonly endpoint: BenchEndpoint;
  /** The application's connection string. */
  readonly applicationUrl: string;
  /** The owner's connection. */
  readonly client: Client;
  readonly site: string;
  readonly secrets: Secrets;
  /** The variables of a gateway at `url`. @param access variables of the database; the default is the Neon endpoint */
  env(url: string, access?: Readonly<Record<string, string>>): Record<string, string>;
  stop(): Promise<void>;
}

/** @param settings the server's */
export async function startBenchDatabase(settings: Readonly<Record<string, string>> = {}): Promise<BenchDatabase> {
  const postgres = await startPostgres({ settings });
  const endpoint = await startEndpoint(postgres.url);
  const applicationUrl = await prepareDatabase(postgres.url);
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  const secrets = await makeSecrets();
  const overNeon = { DATABASE_URL: applicationUrl, DATABASE_FETCH_ENDPOINT: endpoint.url };
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = parentOf(rows[0]?.pid ?? 0);
  return {
    postgres,
    pids: () => [...childrenOf(postmaster), postmaster],
    endpoint,
    applicationUrl,
    client,
    site: await createSite(client),
    secrets,
    env: (url, access = overNeon) => ({
      ...secrets.env,
      ...access,
      INTEGRATION_OAUTH_PUBLIC_BASE_URL: url,
      INTEGRATION_FHIR_PUBLIC_BASE_URL: url,
      INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: url,
    }),
    async stop() {
      await client.end();
      await endpoint.stop();
      await postgres.stop();
    },
  };
}
