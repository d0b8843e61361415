/** `npm run retention` on a database: what it announces, what it deletes, and what it leaves. */
import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';

import { createSite } from '../stack/services/seed.ts';
import { runProgram } from '../stack/tools/command-line.ts';
import { useTestDatabase } from '../stack/tools/database.ts';

const db = await useTestDatabase();

const retention = (...args: string[]) => runProgram('retention', args, { DATABASE_URL: db.ownerUrl });

/** A site with counts of 450 quarters of an hour, all of long ago. */
async function siteOfLongAgo(): Promise<string> {
  const site = await createSite(db.client, { name: 'Old' });
  await db.client.query(
    `insert into usage (site_id, bucket, surface, outcome, requests, latency)
     select $1, now() - interval '500 days' + n * interval '15 minutes', 'fhir', 'ok', 1, '{1}' from generate_series(1, 450) n`,
    [site],
  );
  return site;
}
const left = async (site: string) =>
  (await db.client.query('select from usage where site_id = $1', [site])).rowCount ?? 0;

test('previews and deletes rows of the named site only, and none under legal hold', async () => {
  const [one, other, held] = [await siteOfLongAgo(), await siteOfLongAgo(), await siteOfLongAgo()];
  await db.client.query('update site set legal_hold = true where site_id = $1', [held]);
  const counts = '0 messages, 0 attempts, 0 refusals, 450 usage, 0 audit';

  const dry = await retention('--dry-run');
  expect(dry.code).toBe(0);
  expect(dry.stdout).toContain(`${one} Old: ${counts} would be deleted\n`);
  expect(dry.stdout).toContain(`${held} Old: legal hold, nothing is deleted\n`);
  expect(await left(one)).toBe(450);

  expect(await retention('--site', one)).toMatchObject({ code: 0, stdout: `${one} Old: ${counts} deleted, done\n` });
  expect([await left(one), await left(other), await left(held)]).toEqual([0, 450, 450]);
  expect((await retention()).stdout).toContain(`${other} Old: ${counts} deleted, done\n`);
  expect([await left(other), await left(held)]).toEqual([0, 450]);

  expect(await retention('--site', randomUUID())).toMatchObject({ code: 1, stdout: '' });
});
