/** What README says of the configuration: every name in full, so that it can be searched and copied. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

import { PERMISSIONS } from '../../edge/admin/staff/permissions.ts';
import { VARIABLES } from '../../edge/config.ts';
import { ROOT } from '../stack/services/build.ts';
import { DENO_PERMISSIONS } from '../stack/services/edge-deno.ts';

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

test('what the program may do on Deno is what it is tested with', () => {
  const [command = ''] = /^deno run .*(?:\n .*)*$/m.exec(readme) ?? [];
  const words = command.replaceAll(/[\\']/g, '').split(/\s+/);
  expect(words).toEqual(['deno', 'run', ...DENO_PERMISSIONS, 'edge/platform/deno.ts']);
  const permitted = (DENO_PERMISSIONS.find((flag) => flag.startsWith('--allow-env=')) ?? '').slice(12).split(',');
  const isPermitted = (name: string): boolean =>
    permitted.some((other) => (other.endsWith('*') ? name.startsWith(other.slice(0, -1)) : name === other));
  expect(VARIABLES.filter((name) => !isPermitted(name))).toEqual([]);
});

test('a sidecar’s keys are made in one place', () => {
  expect(readme.match(/keys -- sidecar/g)).toHaveLength(1);
});

/** What a program says of how to call it, in one line. */
const usage = async (program: string): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, [`edge/platform/node/${program}`, '--help'], {
    cwd: ROOT,
  });
  return stdout.replaceAll(/\s+/g, ' ');
};

test('every command that README or a program names is there, with its subcommand', async () => {
  const { scripts } = JSON.parse(await text('package.json')) as { scripts: Record<string, string> };
  const programs = (await readdir(`${ROOT}edge/platform/node`)).filter((name) => name.endsWith('-cli.ts'));
  const sources = ['edge/oauth/ring-rotation.ts', ...programs.map((name) => `edge/platform/node/${name}`)];
  const told = [readme, ...(await Promise.all(sources.map(text)))].join('\n');
  const named = [
    ...told.matchAll(/npm run (?:-s )?([a-z:]+)(?: -- ([a-z]+(?: (?:create|update|show|list|disable|enable))?))?/g),
  ];
  expect(named.length).toBeGreaterThan(40);
  const usages: Readonly<Record<string, string>> = {
    keys: await usage('keys-cli.ts'),
    admin: await usage('admin-cli.ts'),
  };
  const unknown = named.filter(
    ([, script = '', sub]) =>
      !Object.hasOwn(scripts, script) || (sub !== undefined && usages[script]?.includes(`-- ${sub} `) === false),
  );
  expect(unknown.map(([whole]) => whole)).toEqual([]);
});
