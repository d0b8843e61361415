/** The database that each test file gets: migrated, its own, counted, gone afterwards. */
import { neon, neonConfig } from '@neondatabase/serverless';
import { Client } from 'pg';
import { expect, inject, test } from 'vitest';
import { createTestDatabase } from '../../stack/tools/database.ts';

test('databases are migrated, apart from each other, and dropped while in use', async () => {
  const statements: number[] = [];
  const [one, other] = await Promise.all([
    createTestDatabase({ onRequest: (request) => statements.push(request.statements.length) }),
    createTestDatabase(),
  ]);
  await one.client.query('create table only_here (id int)');
  expect(await existsIn(one.client)).toBe(true);
  expect(await existsIn(other.client)).toBe(false);

  neonConfig.fetchEndpoint = one.endpoint.url;
  const sql = neon(one.url);
  const [versions, databases] = await sql.transaction([
    sql`select max(version) > 0 as migrated from schema_migration`,
    sql`select current_database() as name`,
  ]);
  expect([versions, databases]).toEqual([[{ migrated: true }], [{ name: one.name }]]);
  expect([one.endpoint.requests(), other.endpoint.requests()]).toEqual([1, 0]);
  expect(statements).toEqual([2]);

  await Promise.all([one.drop(), other.drop()]);
  const server = new Client({ connectionString: new URL('/postgres', inject('templateDatabaseUrl')).href });
  await server.connect();
  const left = await server.query('select datname from pg_database where datname = any($1)', [[one.name, other.name]]);
  await server.end();
  expect(left.rows).toEqual([]);
});

async function existsIn(client: Client): Promise<boolean> {
  return (await client.query(`select to_regclass('only_here') is not null as here`)).rows[0].here;
}
