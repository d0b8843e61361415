/**
 * Two writers with the same rows in different orders cannot deadlock: each acquires its locks in one order. The test
 * needs no race: another session has the first lock, and the waiting writer must not have the second.
 */
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { lockKeys } from '../../../edge/store/lock.ts';
import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import type { Query } from '../../../edge/deps.ts';
import { createHl7Site } from '../../stack/tools/hl7-site.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { createSite } from '../../stack/services/seed.ts';
import { until } from '../../stack/services/until.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { sized } from '../../stack/tools/size.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { lockWaits } from '../../stack/tools/lock-waits.ts';

const ROUNDS = sized(6, 200);

const run = async (client: Client, { text, params }: Query) => client.query(text, [...params]);

const db = await useTestDatabase();
const site = await createSite(db.client);
const writer = await db.connect(db.ownerUrl);

/** Resolves when the writer waits for a lock. */
const writerWaits = () => until('the writer waits', async () => (await lockWaits(db.client)) > 0);

test('resources are locked by id, in any order in the request', async () => {
  const [first, second] = [uuidv7(Date.now()), uuidv7(Date.now() + 1)];
  const patient = (id: string, value: string) =>
    toWrite({ resourceType: 'Patient', identifier: [{ value }] }, id, 'upsert');
  await run(db.client, writeResources(site, [patient(first, 'a'), patient(second, 'b')]));

  await db.client.query('begin');
  await db.client.query('select from resource where site_id = $1 and id = $2 for update', [site, first]);
  const writing = run(writer, writeResources(site, [patient(second, 'c'), patient(first, 'd')]));
  await writerWaits();
  const { rowCount } = await db.client.query(
    'select from resource where site_id = $1 and id = $2 for update skip locked',
    [site, second],
  );
  await db.client.query('rollback');
  await writing;
  expect(rowCount, 'the second resource is free while its writer waits for the first').toBe(1);
});

test('keys are locked by their hash, in any order in the request', async () => {
  const keys = ['Patient|1', 'Patient|2', 'Patient|3', 'Patient|4', 'Patient|5'];
  const { rows } = await db.client.query<{ key: string; hash: string }>(
    `select k as key, hashtextextended($1::uuid || '|' || k, 0)::text as hash from unnest($2::text[]) k
      order by hashtextextended($1::uuid || '|' || k, 0)`,
    [site, keys],
  );
  const [lowest, ...rest] = rows;
  await db.client.query('begin');
  await db.client.query('select pg_advisory_xact_lock($1::bigint)', [lowest?.hash]);
  const locking = run(writer, lockKeys(site, rows.map(({ key }) => key).toReversed()));
  await writerWaits();
  const free = await db.client.query<{ free: boolean }>(
    'select bool_and(pg_try_advisory_xact_lock(h)) as free from unnest($1::bigint[]) h',
    [rest.map(({ hash }) => hash)],
  );
  await db.client.query('rollback');
  await locking;
  expect(free.rows, 'the other keys are free while their taker waits for the lowest').toEqual([{ free: true }]);
});

test('keys of two sites are two locks', async () => {
  const other = await createSite(db.client);
  await db.client.query('begin');
  await run(db.client, lockKeys(site, ['Patient|9']));
  await run(writer, lockKeys(other, ['Patient|9']));
  await db.client.query('rollback');
});

test('a message waits for the lock of its identifier, even before the patient exists', async () => {
  const hl7 = await createHl7Site({ database: db });
  await db.client.query('begin');
  await run(db.client, lockKeys(hl7.site, ['Patient|P7']));
  const sent = hl7.send(`${msh('ADT^A04^ADT_A01')}\nPID|1||P7^^^HOSP^MR||Doe^Jane`);
  await writerWaits();
  await db.client.query('rollback');
  expect((await sent).outcome).toBe('AA');
});

/** A FHIR client's update of a patient, as it is run: numbers are held first, those that it brings and those that it takes. */
async function updatePatient(client: Client, at: string, id: string, identifiers: readonly string[]): Promise<void> {
  const resource = { resourceType: 'Patient', identifier: identifiers.map((value) => ({ system: 'urn:mrn', value })) };
  await client.query('begin');
  await run(
    client,
    lockKeys(
      at,
      identifiers.map((value) => `Patient|${value}`),
      [id],
    ),
  );
  await run(client, writeResources(at, [toWrite(resource, id, 'update')]));
  await client.query('commit');
}

test('a write that removes an identifier from a patient waits for its holder, and then reads the current patient', async () => {
  const hl7 = await createHl7Site({ database: db });
  const [one, two] = [uuidv7(Date.now()), uuidv7(Date.now() + 1)];
  const patient = (id: string, value: string) =>
    toWrite({ resourceType: 'Patient', identifier: [{ system: 'urn:mrn', value }] }, id, 'create');
  await run(db.client, writeResources(hl7.site, [patient(one, 'L1'), patient(two, 'L2')]));

  await db.client.query('begin');
  await run(db.client, lockKeys(hl7.site, ['Patient|L1']));
  // It names only the number that it brings.
  const update = updatePatient(writer, hl7.site, one, ['L3']);
  await writerWaits();
  await db.client.query('rollback');
  await update;

  // One removes an identifier and the other adds it, both ways at once: neither waits endlessly, and each has its
  // identifier.
  const other = await db.connect(db.ownerUrl);
  onTestFinished(() => other.end());
  for (let round = 0; round < ROUNDS; round += 1) {
    const [a, b] = round % 2 === 0 ? ['L2', 'L3'] : ['L3', 'L2'];
    const result = hl7.send(
      `${msh('ORU^R01')}\nPID|1||${a}^^^&urn:mrn&URI\nOBR|1||R${round}|1^T^L|||20260101\nOBX|1|NM|r${round}^T^L||5||||||F`,
    );
    await Promise.all([updatePatient(writer, hl7.site, one, [a]), updatePatient(other, hl7.site, two, [b])]);
    // The result arrives before, between or after the two. It belongs to a patient who had the identifier, or to a new
    // patient if none had it. It is rejected if two had it.
    expect(['AA', 'AE']).toContain((await result).outcome);
    const { rows } = await db.client.query(
      'select value, id from patient_identity where site_id = $1 and id = any ($2::uuid[]) order by value',
      [hl7.site, [one, two]],
    );
    expect(rows).toEqual([
      { value: 'L2', id: a === 'L2' ? one : two },
      { value: 'L3', id: a === 'L3' ? one : two },
    ]);
  }
});
