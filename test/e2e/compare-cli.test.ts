/** The drill of edge/docs/operate.md: a backup restored into a second database, brought forward, and compared with the first. */
import { beforeAll, expect, test } from 'vitest';

import { migrate } from '../../migrations/run.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { runProgram } from '../stack/tools/command-line.ts';
import { useTestDatabase } from '../stack/tools/database.ts';

const original = await useTestDatabase();
const copy = await useTestDatabase();

beforeAll(async () => {
  const site = await createSite(original.client);
  await createApiKey(original.client, { site });
});

const compare = (...args: string[]) =>
  runProgram('compare', args, { DATABASE_URL: original.ownerUrl, RESTORED_DATABASE_URL: copy.ownerUrl });

test.each([
  ['db.example.org/gateway', /^RESTORED_DATABASE_URL must be a postgres:\/\/ connection string/],
  [original.ownerUrl, /^DATABASE_URL and RESTORED_DATABASE_URL are one database/],
  [original.ownerUrl.replace(/[^/]+$/, 'postgres'), /^the database postgres has no tables of the gateway/],
])('%s is rejected as the copy', async (url, said) => {
  const ended = await runProgram('compare', [], { DATABASE_URL: original.ownerUrl, RESTORED_DATABASE_URL: url });
  expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(said) });
});

test('missing rows are reported by table; a complete backup is reported, and rows written after the backup are a fault if asked', async () => {
  const { code, stderr } = await compare();
  expect(code).toBe(1);
  expect(stderr).toContain('site is empty in the copy\n');
  expect(stderr).toContain('api_key is empty in the copy\n');

  await createApiKey(copy.client, { site: await createSite(copy.client) });
  await migrate(copy.ownerUrl);
  expect(await compare('--exact')).toMatchObject({ code: 0, stderr: 'the copy is complete\n' });

  await createSite(original.client);
  expect(await compare()).toMatchObject({ code: 0, stderr: 'the copy is complete\n' });
  expect(await compare('--exact')).toMatchObject({ code: 1, stderr: expect.stringContaining('site has fewer rows') });
});
