/** Only a folder that a run made itself is removed. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { spawnGuarded } from '../../stack/services/guard.ts';
import { removeTemporary, temporaryFolder } from '../../stack/services/temporary-folder.ts';

let kept: string;
beforeAll(async () => {
  kept = await mkdtemp(join(tmpdir(), 'gateway-kept-'));
});
afterAll(() => rm(kept, { recursive: true }));

test.each([
  ['the root', () => '/'],
  ['an empty path', () => ''],
  ['the working folder', () => '.'],
  ['the home folder', () => homedir()],
  ['the folder of temporary files', () => tmpdir()],
  ['a folder that another program made', () => kept],
  [
    'a path through a made folder',
    async () => join(await temporaryFolder('made'), '..', kept.slice(tmpdir().length + 1)),
  ],
])('refuses to remove %s', async (_, path) => {
  const folder = await path();
  expect(() => spawnGuarded('/bin/true', [], { signal: 'TERM', remove: folder })).toThrow('is not a temporary folder');
  await expect(removeTemporary(folder)).rejects.toThrow('is not a temporary folder');
  expect(existsSync(kept)).toBe(true);
});

test('removes its folder when the program ends, but not the target of a link in it', async () => {
  const folder = await temporaryFolder('made');
  await mkdir(join(folder, 'inside'));
  await symlink(kept, join(folder, 'link'));
  const program = spawnGuarded('/bin/true', [], { signal: 'TERM', remove: folder });
  await new Promise((resolve) => program.once('exit', resolve));
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(kept)).toBe(true);
});
