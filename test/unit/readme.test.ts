/** What README says of the configuration: every name in full, so that it can be searched and copied. */
import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { PERMISSIONS } from '../../edge/admin/staff/permissions.ts';
import { ROOT } from '../stack/services/build.ts';

const text = (path: string): Promise<string> => readFile(`${ROOT}${path}`, 'utf8');
const readme = await text('README.md');

/** For the local stack and for tests only. */
const OF_TESTS = new Set(['JWKS_TRUSTED_HOSTS']);

test.each(['edge/config.ts', 'sidecar/config.ts'])('every variable of %s is there', async (file) => {
  const names = [...(await text(file)).matchAll(/^ {2}([A-Z][A-Z0-9_]+): /gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(15);
  const missing = names.filter((name) => !OF_TESTS.has(name) && !readme.includes(`\`${name}\``));
  expect(missing).toEqual([]);
  expect(readme).not.toMatch(/`…_/);
});

test('every permission is there, and where the provider has to lead back to', () => {
  const named = Object.entries(PERMISSIONS).filter(
    ([name, does]) => readme.includes(`\`${name}\``) && readme.includes(does),
  );
  expect(named).toHaveLength(Object.keys(PERMISSIONS).length);
  expect(readme).toContain('/admin/callback');
  expect(readme).toContain('/admin/signed-out');
});

test('a sidecar’s keys are made in one place', () => {
  expect(readme.match(/keys -- sidecar/g)).toHaveLength(1);
});
