/** `/readyz` on a database that is as this build needs it, ahead of it, or behind. */
import { afterEach, beforeEach, expect, test } from 'vitest';

import { createDatabaseMeter } from '../../edge/platform/database-meter.ts';
import { neonDatabase } from '../../edge/platform/neon.ts';
import { createProbes } from '../../edge/probes.ts';
import { SCHEMA_VERSION } from '../../edge/store/schema.generated.ts';
import { createTestDatabase, edgeDatabase, type TestDatabase } from '../stack/tools/database.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

/** The status and the answer, once the database has been changed. */
async function readyAfter(change: string, url = db.url): Promise<[number, unknown]> {
  await db.client.query(change);
  const { measured } = createDatabaseMeter();
  const database = neonDatabase({ DATABASE_URL: url, DATABASE_FETCH_ENDPOINT: db.endpoint.url });
  const probes = createProbes(
    { config: {}, database, measured, log: () => undefined, now: () => Date.now(), background: () => undefined },
    [''],
    () => [],
  );
  const response = await probes.fetch(new Request('http://edge.example/readyz'));
  const { status, detail, schemaVersion } = (await response.json()) as Record<string, unknown>;
  return [response.status, detail ?? [status, schemaVersion]];
}

const APPLIED = "insert into schema_migration (version, name, checksum) values (9999, '9999_of_the_next_release', '')";

test('without METRICS_TOKEN there are no metrics', async () => {
  const { measured } = createDatabaseMeter();
  const database = edgeDatabase(db);
  const probes = createProbes(
    { config: {}, database, measured, log: () => undefined, now: () => Date.now(), background: () => undefined },
    ['', '/prefix'],
    () => [],
  );
  for (const path of ['/metrics', '/prefix/metrics']) {
    const headers = { authorization: 'Bearer undefined' };
    const response = await probes.fetch(new Request(`http://edge.example${path}`, { headers }));
    expect([response.status, await response.text()]).toEqual([404, expect.not.stringContaining('gateway_')]);
  }
});

test.each([
  ['as it was made', 'select 1', [200, ['ready', SCHEMA_VERSION]]],
  ['newer than the code', APPLIED, [200, ['ready', 9999]]],
  [
    'with functions of the next release',
    "insert into schema_function (name, checksum) values ('of_the_next_release', '')",
    [200, ['ready', SCHEMA_VERSION]],
  ],
  [
    'without the newest tables',
    `delete from schema_migration where version = ${SCHEMA_VERSION}`,
    [
      503,
      `the database is at migration ${SCHEMA_VERSION - 1}, this build needs ${SCHEMA_VERSION}: run npm run migrate`,
    ],
  ],
  [
    'without a function',
    "delete from schema_function where name in ('job_claim', 'assert_caller')",
    [503, 'the database lacks the functions assert_caller, job_claim: run npm run migrate'],
  ],
  [
    'without the function that begins every transaction',
    'drop function limit_time',
    [503, 'the database lacks the function limit_time: run npm run migrate'],
  ],
  [
    'that takes no writes',
    `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`,
    [503, 'the database does not accept writes: it is read-only or a replica'],
  ],
  ['without anything', 'drop table schema_migration', [503, 'the database has no schema: run npm run migrate']],
])('a database %s', async (_, change, expected) => {
  expect(await readyAfter(change)).toEqual(expected);
});

test('reports a login without row-level security', async () => {
  const detail = "the login in DATABASE_URL bypasses row-level security: use the gateway's login";
  expect(await readyAfter('select 1', db.ownerUrl)).toEqual([503, detail]);
});

test('any number of requests, on any surface, ask the database once a second', async () => {
  const { measured } = createDatabaseMeter();
  const database = edgeDatabase(db);
  let now = 1_800_000_000_000;
  const probes = createProbes(
    { config: {}, database, measured, log: () => undefined, now: () => now, background: () => undefined },
    ['', '/prefix'],
    () => [],
  );
  const ask = async (path: string): Promise<number> =>
    (await probes.fetch(new Request(`http://edge.example${path}`))).status;
  const before = db.endpoint.requests();
  const asked = () => db.endpoint.requests() - before;
  const crowd = Array.from({ length: 50 }, (_, n) => ask(n % 2 === 0 ? '/readyz' : '/prefix/readyz'));
  expect(new Set(await Promise.all(crowd))).toEqual(new Set([200]));
  now += 999;
  expect([await ask('/readyz'), asked()]).toEqual([200, 1]);
  await db.client.query("delete from schema_function where name = 'job_claim'");
  now += 1;
  expect([await ask('/readyz'), await ask('/prefix/readyz'), asked()]).toEqual([503, 503, 2]);
  // A clock that is set back does not keep an answer permanently.
  now -= 3_600_000;
  expect([await ask('/readyz'), asked()]).toEqual([503, 3]);
});
