/** `npm run reindex` on a database: its work, where it continues after an interruption, and its errors. */
import { randomUUID } from 'node:crypto';

import { beforeEach, expect, test } from 'vitest';

import { inSite } from '../../edge/store/in-site.ts';
import { toWrite, writeResources } from '../../edge/store/resource.ts';
import { uuidv7 } from '../../shared/uuid.ts';
import { createSite } from '../stack/services/seed.ts';
import { runProgram, startProgram } from '../stack/tools/command-line.ts';
import { edgeDatabase, useTestDatabase } from '../stack/tools/database.ts';
import { lockWaits } from '../stack/tools/lock-waits.ts';
import { until } from '../stack/services/until.ts';

const db = await useTestDatabase();
const database = edgeDatabase(db);
beforeEach(() => db.client.query('truncate job'));

const reindex = (...args: string[]) => runProgram('reindex', args, { DATABASE_URL: db.ownerUrl });

const PATIENTS = 600;

/** A site of patients in the order of their ids, whose rows for searching are gone. */
async function damagedSite(): Promise<{ site: string; ids: readonly string[] }> {
  const site = await createSite(db.client);
  const ids = Array.from({ length: PATIENTS }, () => uuidv7(Date.now())).toSorted();
  const writes = ids.map((id, n) =>
    toWrite({ resourceType: 'Patient', identifier: [{ value: `N${n}` }] }, id, 'create'),
  );
  await inSite(database, site).run(writeResources(site, writes));
  await db.client.query('delete from resource_identifier where site_id = $1', [site]);
  return { site, ids };
}
const indexed = async (site: string) =>
  (await db.client.query('select from resource_identifier where site_id = $1', [site])).rowCount;

test('does the named site and no other, then all', async () => {
  const [{ site: one }, { site: other }] = [await damagedSite(), await damagedSite()];
  const first = await reindex('--site', one);
  expect(first).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${PATIENTS} of ${PATIENTS} resources, done\n`),
  });
  expect(first.stderr).toContain('100 %');
  expect([await indexed(one), await indexed(other)]).toEqual([PATIENTS, 0]);
  const all = await reindex();
  expect(all.code).toBe(0);
  expect(all.stdout).toContain(other);
  expect(await indexed(other)).toBe(PATIENTS);
});

test('ends after its step when interrupted, and the next run continues', async () => {
  const { site, ids } = await damagedSite();
  // The second step waits for this, so that it is under way at the signal.
  const holder = await db.connect(db.ownerUrl);
  await holder.query('begin');
  await holder.query('select from resource where site_id = $1 and id = $2 for update', [site, ids[300]]);
  const { child, ended } = startProgram('reindex', ['--site', site], { DATABASE_URL: db.ownerUrl });
  await until('the second step waits', async () => (await lockWaits(db.client)) === 1);
  child.kill('SIGINT');
  await holder.query('commit');
  await holder.end();
  expect(await ended).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`400 of ${PATIENTS} resources, interrupted: run it again to continue`),
  });
  expect(await indexed(site)).toBe(400);
  await db.client.query('delete from resource_identifier where site_id = $1', [site]);
  expect(await reindex('--site', site)).toMatchObject({ code: 0 });
  expect(await indexed(site)).toBe(PATIENTS - 400);
  await db.client.query(`update job set state = 'open', ended_at = null`);
  expect(await reindex('--site', site, '--restart')).toMatchObject({ code: 0 });
  expect(await indexed(site)).toBe(PATIENTS);
});

test.each([
  [['--site', randomUUID()], 'does not exist'],
  [['--site', 'north'], 'the site north does not exist'],
  [['--sites', 'x'], "Unknown option '--sites'"],
])('%s is a clear error', async (args, message) => {
  const { code, stdout, stderr } = await reindex(...args);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(message);
  expect(stderr).toContain('\nHelp: npm run reindex -- --help');
  expect((await db.client.query('select from job')).rowCount).toBe(0);
});

test('reports a missing DATABASE_URL', async () => {
  const { code, stderr } = await runProgram('reindex', [], {});
  expect([code, stderr]).toEqual([1, expect.stringContaining('DATABASE_URL is not set')]);
});
