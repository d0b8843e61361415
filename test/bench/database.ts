/** What a measurement of the whole chain rests on: a PostgreSQL of its own that loses nothing, migrated, a Neon endpoint, a site. */
import { Client } from 'pg';

import { prepareDatabase } from '../stack/services/application-login.ts';
import { type Postgres, startPostgres } from '../stack/services/postgres.ts';
import { makeSecrets, type Secrets } from '../stack/services/secrets.ts';
import { createSite } from '../stack/services/seed.ts';
import { childrenOf, parentOf } from './cpu.ts';
import { type BenchEndpoint, startEndpoint } from './endpoint.ts';

export interface BenchDatabase {
  readonly postgres: Postgres;
  /** PostgreSQL's processes at a moment. */
  readonly pids: () => readonly number[];
  readonly endpoint: BenchEndpoint;
  /** The application's connection string. */
  readonly applicationUrl: string;
  /** The owner's connection. */
  readonly client: Client;
  readonly site: string;
  readonly secrets: Secrets;
  /** What a gateway at `url` is configured with. @param door instead of the endpoint, the way that it asks the database */
  env(url: string, door?: Readonly<Record<string, string>>): Record<string, string>;
  stop(): Promise<void>;
}

export async function startBenchDatabase(): Promise<BenchDatabase> {
  const postgres = await startPostgres();
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
    env: (url, door = overNeon) => ({
      ...secrets.env,
      ...door,
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
