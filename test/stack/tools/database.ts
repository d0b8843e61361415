/**
 * A database for one test file: a copy of the migrated template. Its endpoints for the real drivers run in the test's
 * process, so that a test can count and inspect round trips.
 */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, inject } from 'vitest';

import { neonDatabase } from '../../../edge/platform/neon.ts';
import { asApplication } from '../services/application-login.ts';
import { type DatabaseEndpoints, startDatabaseEndpoints } from '../services/database-endpoints.ts';
import type { NeonEndpointOptions } from '../services/neon-endpoint.ts';

export interface TestDatabase {
  /** The application's: for `neon(url)` and `DATABASE_URL` of the edge. */
  readonly url: string;
  /** The owner's: for migrations, commands and what a test does past the gateway. */
  readonly ownerUrl: string;
  readonly name: string;
  /** `endpoint.url` is `neonConfig.fetchEndpoint`, or `DATABASE_FETCH_ENDPOINT` of the edge; `endpoint.wirePort` the port for TCP. */
  readonly endpoint: DatabaseEndpoints;
  /** A connection of the owner's, past the endpoint: it is not counted. */
  readonly client: Client;
  /** A further connection, until `drop`. @param url default the application's */
  connect(url?: string): Promise<Client>;
  /** Removes the database and ends its connections. */
  drop(): Promise<void>;
}

/** The options of its endpoint. */
export type TestDatabaseOptions = Pick<NeonEndpointOptions, 'onRequest' | 'connections'>;

/** Clones the template, some 0.2 s. Needs global-setup.ts among vitest's `globalSetup`. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const template = new URL(inject('templateDatabaseUrl'));
  const name = `test_${randomBytes(6).toString('hex')}`;
  const ownerUrl = withDatabase(template, name);
  const administrationUrl = withDatabase(template, 'postgres');
  await administer(administrationUrl, `create database ${name} template ${template.pathname.slice(1)}`);

  const url = asApplication(ownerUrl);
  const clients: Client[] = [];
  const connect = async (to = url): Promise<Client> => {
    const client = new Client({ connectionString: to });
    client.on('error', () => undefined);
    await client.connect();
    clients.push(client);
    return client;
  };
  const client = await connect(ownerUrl);
  const endpoint = await startDatabaseEndpoints({
    databaseUrl: ownerUrl,
    wireTargetPort: inject('wireTargetPort'),
    ...options,
  });
  const drop = async () => {
    for (const each of clients) await each.end();
    await endpoint.close();
    await administer(administrationUrl, `drop database ${name} with (force)`);
  };
  return { url, ownerUrl, name, endpoint, client, connect, drop };
}

/** `createTestDatabase` for the file or `describe` that calls it, removed after its tests. */
export async function useTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const db = await createTestDatabase(options);
  afterAll(() => db.drop());
  return db;
}

/** The driver as the edge, which sees the rows of the site that a transaction names. */
export const edgeDatabase = ({ url, endpoint }: Pick<TestDatabase, 'url' | 'endpoint'>) =>
  neonDatabase({ DATABASE_URL: url, DATABASE_FETCH_ENDPOINT: endpoint.url });

/** The driver as the owner, who sees the rows of every site: what then is of one site is so by a statement's own condition. */
export const ownerDatabase = ({ ownerUrl, endpoint }: TestDatabase) =>
  neonDatabase({ DATABASE_URL: ownerUrl, DATABASE_FETCH_ENDPOINT: endpoint.url });

async function administer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function withDatabase(server: URL, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
