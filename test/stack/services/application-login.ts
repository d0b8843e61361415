/**
 * A database made ready as an operator does it (edge/docs/deploy.md): the owner migrates it and makes the login that the
 * gateway connects by.
 */
import { Client } from 'pg';

import { APPLICATION_ROLE } from '../../../migrations/role.ts';
import { migrate } from '../../../migrations/run.ts';

const LOGIN = 'gateway_edge';

/** The application's connection string to the owner's database; the login has the owner's password. */
export function asApplication(ownerUrl: string): string {
  const url = new URL(ownerUrl);
  url.username = LOGIN;
  return url.href;
}

/** @returns the application's connection string */
export async function prepareDatabase(ownerUrl: string): Promise<string> {
  await migrate(ownerUrl);
  const client = new Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [LOGIN]);
    if (rowCount === 0) {
      const password = client.escapeLiteral(new URL(ownerUrl).password);
      await client.query(`create role ${LOGIN} login password ${password} in role ${APPLICATION_ROLE}`);
    }
    await client.query(`alter role ${LOGIN} set statement_timeout = '8s'`);
  } finally {
    await client.end();
  }
  return asApplication(ownerUrl);
}
