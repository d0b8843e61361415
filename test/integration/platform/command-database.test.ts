/** The database of commands returns the same rows and the same errors as the edge's driver. */
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { Database, Query } from '../../../edge/deps.ts';
import { type CommandDatabase, connectDatabase } from '../../../edge/platform/node/database.ts';
import { neonDatabase } from '../../../edge/platform/neon.ts';
import { sql } from '../../../edge/store/sql.ts';
import { createTestDatabase, type TestDatabase } from '../../stack/tools/database.ts';

let db: TestDatabase;
let command: CommandDatabase;
let edge: Database;
beforeAll(async () => {
  db = await createTestDatabase();
  command = await connectDatabase(db.ownerUrl);
  edge = neonDatabase({ DATABASE_URL: db.url, DATABASE_FETCH_ENDPOINT: db.endpoint.url });
});
afterAll(async () => {
  await command.close();
  await db.drop();
});

const NOWHERE = '00000000-0000-4000-8000-000000000000';
const MISSING = sql`select require_resource(${NOWHERE}::uuid, 'Patient', ${NOWHERE}::uuid, null, 7)`;
const BUG = sql`select nowhere`;

/** How each kind of query fails: the class of the error, and its kind or code. */
async function failures(database: Database, query: Query) {
  const asked = await Promise.allSettled([database.run(query), database.batch([query])]);
  return asked.map((settled) => (settled.status === 'rejected' ? settled.reason : undefined));
}

test('a state that says something to the caller is a Fault, alone and in a batch', async () => {
  for (const database of [edge, command]) {
    const fault = { name: 'Fault', kind: 'not-found', message: 'no such resource', rows: [7] };
    expect(await failures(database, MISSING)).toMatchObject([fault, fault]);
  }
});

test('any other is the driver’s own error', async () => {
  for (const database of [edge, command]) {
    expect(await failures(database, BUG)).toMatchObject([{ code: '42703' }, { code: '42703' }]);
  }
});

test('a batch that failed has left nothing, and the connection remains usable', async () => {
  const note = sql`insert into sidecar_seen (issuer) values ('noted')`;
  await expect(command.batch([note, BUG])).rejects.toMatchObject({ code: '42703' });
  expect(await command.run(sql`select issuer from sidecar_seen`)).toEqual([]);
  await command.batch([note]);
  expect(await edge.run(sql`select issuer from sidecar_seen`)).toEqual([{ issuer: 'noted' }]);
});
