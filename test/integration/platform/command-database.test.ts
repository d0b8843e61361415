/** The database of commands returns the same rows and the same errors as the edge's driver. */
import { afterAll, expect, test } from 'vitest';

import type { Database, Query } from '../../../edge/deps.ts';
import { connectDatabase } from '../../../edge/platform/node/database.ts';
import { sql } from '../../../edge/store/sql.ts';
import { edgeDatabase, useTestDatabase } from '../../stack/tools/database.ts';

const db = await useTestDatabase();
const command = await connectDatabase(db.ownerUrl);
const edge = edgeDatabase(db);
afterAll(() => command.close());

const NOWHERE = '00000000-0000-4000-8000-000000000000';
const MISSING = sql`select require_resource(${NOWHERE}::uuid, 'Patient', ${NOWHERE}::uuid, null, 7)`;
const BUG = sql`select nowhere`;

/** How each kind of query fails: the class of the error, and its kind or code. */
async function failures(database: Database, query: Query) {
  const asked = await Promise.allSettled([database.run(query), database.batch([query])]);
  return asked.map((settled) => (settled.status === 'rejected' ? settled.reason : undefined));
}

test('an SQLSTATE of the gateway is a Fault, alone and in a batch', async () => {
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

test('a failed batch is rolled back, and the connection remains usable', async () => {
  const note = sql`insert into sidecar_seen (issuer) values ('noted')`;
  await expect(command.batch([note, BUG])).rejects.toMatchObject({ code: '42703' });
  expect(await command.run(sql`select issuer from sidecar_seen`)).toEqual([]);
  await command.batch([note]);
  expect(await edge.run(sql`select issuer from sidecar_seen`)).toEqual([{ issuer: 'noted' }]);
});
