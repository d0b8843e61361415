/** A query that failed for a moment is repeated where that does no harm; every other failure is reported at once. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import type { Database, Query } from '../../../edge/deps.ts';
import { neonDatabase } from '../../../edge/platform/neon.ts';
import { read, sql } from '../../../edge/store/sql.ts';
import { APPLICATION_ROLE } from '../../../migrations/role.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';

type Failure = (response: ServerResponse) => void;

const pgError =
  (code: string): Failure =>
  (response) =>
    void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ message: 'no', code }));

const FAILURES = {
  'a connection that is cut': (response) => void response.destroy(),
  'a proxy whose database is away': (response) => void response.writeHead(503).end('upstream is away'),
  'a page where an answer should be': (response) => void response.writeHead(200).end('<html>'),
  'a server that was shut down': pgError('57P01'),
  'a connection that was lost behind the proxy': pgError('08006'),
  'a database that starts up': pgError('57P03'),
  'a database with no connection left': pgError('53300'),
} as const satisfies Record<string, Failure>;

const NOT_BEGUN: readonly string[] = ['a database that starts up', 'a database with no connection left'];

let server: ReturnType<typeof createServer>;
let database: Database;
/** The next requests get these failures before one succeeds. */
let failures: Failure[] = [];
let asked = 0;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(request);
  // The driver has one endpoint for a process, so requests of an earlier test file can arrive here.
  if (!String(request.headers['neon-connection-string']).includes(`/${db.name}`)) return void response.destroy();
  asked += 1;
  const failure = failures.shift();
  if (failure !== undefined) return failure(response);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  delete headers['host'];
  delete headers['connection'];
  delete headers['content-length'];
  const answered = await fetch(db.endpoint.url, { method: 'POST', headers, body: Uint8Array.from(body) });
  response.writeHead(answered.status, { 'content-type': 'application/json' }).end(await answered.text());
}

const db = await useTestDatabase();
beforeAll(async () => {
  await db.client.query(`create table note (id int); grant insert on note to ${APPLICATION_ROLE}`);
  server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  database = neonDatabase({ DATABASE_URL: db.url, DATABASE_FETCH_ENDPOINT: `http://127.0.0.1:${port}/sql` });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  failures = [];
  asked = 0;
});

const one = read<{ n: number }>`select 1 as n`;
const write = sql`insert into note values (1)`;
const unavailable = expect.objectContaining({ kind: 'unavailable' });
const outcomeOf = (queries: readonly Query[]): Promise<unknown> =>
  database.batch(queries).catch((error: unknown) => error);

const cases = Object.entries(FAILURES);

test.each(cases)('%s: a read succeeds once it has passed', async (_, failure) => {
  failures = [failure, failure];
  expect([await database.run(one), asked]).toEqual([[{ n: 1 }], 3]);
});

test.each(cases)('%s that lasts is reported', async (_, failure) => {
  failures = [failure, failure, failure];
  expect([await outcomeOf([one]), asked]).toEqual([unavailable, 3]);
});

test.each(cases)('%s: a write is asked again only where it cannot have begun', async (name, failure) => {
  failures = [failure];
  const isAskedAgain = NOT_BEGUN.includes(name);
  expect([await outcomeOf([one, write]), asked]).toEqual(isAskedAgain ? [expect.any(Array), 2] : [unavailable, 1]);
});

test('retries a read with an audit row, but not with a write', async () => {
  const note = { ...sql`insert into note values (3)`, notes: true } as const;
  failures = [FAILURES['a connection that is cut']];
  expect([await outcomeOf([one, note]), asked]).toEqual([[[{ n: 1 }], []], 2]);
  failures = [FAILURES['a connection that is cut']];
  expect([await outcomeOf([write, note]), asked]).toEqual([unavailable, 3]);
});

test('retries an idempotent write', async () => {
  failures = [FAILURES['a connection that is cut']];
  expect([await outcomeOf([one, { ...write, once: true }]), asked]).toEqual([expect.any(Array), 2]);
});

test('a query that PostgreSQL rejects is not repeated', async () => {
  expect(await outcomeOf([read`select 1/0`])).toMatchObject({ code: '22012' });
  expect(asked).toBe(1);
});

test('retries nothing after its time', async () => {
  failures = [FAILURES['a connection that is cut']];
  const limits = { answerMs: 200, workMs: 90, lockMs: 50 };
  await expect(database.run(one, limits)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(asked).toBe(1);
});

test('a query declared as read cannot write', async () => {
  expect(await outcomeOf([read`insert into note values (2)`])).toMatchObject({ code: '25006' });
});
