/** The commands of the chapters Deploy and Operate, run as they are printed, except those that need a Cloudflare account or Docker. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { useFolder } from '../stack/tools/use-folder.ts';
import { ROOT } from '../stack/services/build.ts';
import { denoBinary } from '../stack/services/edge-deno.ts';
import { freePort } from '../stack/services/free-port.ts';
import { BARE_ENV } from '../stack/tools/command-line.ts';
import { startConsole, type TestConsole } from '../stack/tools/console.ts';
import { useTestDatabase } from '../stack/tools/database.ts';
import { commandsOf, ON_DEPLOYMENT, ON_USED_DEPLOYMENT, RECORDED } from '../inputs/documented-commands.ts';

let stack: TestConsole;
const home = await useFolder('deploy');

const db = await useTestDatabase();
beforeAll(async () => {
  stack = await startConsole('deno', db, randomUUID());
});
afterAll(() => stack.stop());

/** The recorded programs, and what one run leaves for the next. */
const BEGIN = `
${RECORDED.map((name) => `${name}() { echo "$*" >> "$HOME/${name}"; cat > /dev/null; }`).join('\n')}
if [ -e "$HOME/state" ]; then . "$HOME/state"; fi
`;
const END = '\ndeclare -p SECRETS SITE CLIENT_ID DATABASE_URL > "$HOME/state"\n';

/** Starts the program on Deno, waits until it answers, and ends it as a supervisor does: it exits with 0. */
const START = (port: number) =>
  `PORT=${port} edge/platform/gateway-deno.sh > "$HOME/deno" & ` +
  `curl -sS --fail --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:${port}/healthz; kill -TERM $!; wait $!`;

/** Runs the commands of sections; the first failure ends them. */
async function run(sections: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  const commands = sections
    .flatMap(commandsOf)
    .join('\n')
    .replaceAll('"postgres://owner…"', `"${db.ownerUrl}"`)
    .replaceAll('"postgres://gateway_edge…"', `"${db.url}"`)
    .replaceAll(/https:\/\/(?:oauth|fhir|console|gateway)\.example\.org/g, stack.baseUrl)
    .replace(/exec edge\/platform\/gateway-deno\.sh/, START(port))
    // No message has arrived yet, so replay has nothing to do.
    .replace(/replay start .* --apply .*$/m, '$& || true')
    // The command asks for the id of the patient, and to type a word.
    .replace(/^.* patient erase .*$/m, `printf '%s\\nerase\\n' "$PATIENT" | $&`);
  return new Promise<{ stdout: string; stderr: string; code: unknown }>((resolve) => {
    const path = `${dirname(denoBinary())}:${BARE_ENV['PATH']}`;
    const child = execFile(
      'bash',
      ['-euo', 'pipefail', '-c', `${BEGIN}${commands}${END}`],
      { cwd: ROOT, env: { ...BARE_ENV, PATH: path, HOME: home, ...env }, maxBuffer: 1 << 24 },
      (error, stdout, stderr) => resolve({ stdout, stderr, code: error?.code ?? 0 }),
    );
    child.stdin?.end();
  });
}

test('lead from an empty database to a patient, rotated keys and an archive of the audit, and to an erased patient', async () => {
  // The builds of other tests write to these folders.
  const builds = new Set(['dist', '.wrangler']);
  const entries = async () => new Set((await readdir(ROOT)).filter((name) => !builds.has(name)));
  const before = await entries();
  const { stdout, stderr, code } = await run(ON_DEPLOYMENT);
  expect(code, stderr.slice(-2000)).toBe(0);
  const [, created = ''] = /(\{"resourceType":"Patient".*?\})\{"resourceType":"Bundle"/s.exec(stdout) ?? [];
  const patient = JSON.parse(created) as { readonly id: string };
  expect(patient).toMatchObject({ identifier: [{ value: 'A-1' }] });
  expect(stdout).toMatch(/"resourceType":"Bundle"[^\n]*"total":1/);

  const secrets = join(home, 'gateway-secrets');
  const ring = JSON.parse(await readFile(join(secrets, 'rings/4.json'), 'utf8')) as { keys: unknown[] };
  expect(ring.keys).toHaveLength(1);
  const made = await readdir(secrets, { recursive: true });
  expect(made).toEqual(
    expect.arrayContaining(['production/edge.json', 'laboratory/private.pem', 'rings/2.json', 'box/gateway.env']),
  );
  // Only the owner can enter these folders.
  for (const folder of [secrets, join(home, 'gateway-archive')]) expect((await stat(folder)).mode & 0o077).toBe(0);
  expect(await readdir(join(home, 'gateway-archive'))).toEqual(['2026-01.ndjson']);
  expect(await entries()).toEqual(before);

  const { rows } = await db.client.query<{ alert_id: string }>(
    `insert into alert (site_id, alert_id, kind, subject, firing_since)
     select site_id, gen_random_uuid(), 'signing-key-old', 'kid', now() from site returning alert_id`,
  );
  const used = await run(ON_USED_DEPLOYMENT, { ALERT: rows[0]?.alert_id ?? '', PATIENT: patient.id });
  expect(used.code, used.stderr.slice(-2000)).toBe(0);
  const left = await db.client.query('select from resource where id = $1', [patient.id]);
  expect(left.rowCount).toBe(0);
}, 300_000);

test('name subcommands and options of Wrangler that its help has', async () => {
  const commands = (await readFile(join(home, 'npx'), 'utf8')).trimEnd().split('\n');
  expect(commands.length).toBeGreaterThan(8);
  const options = new Map<string, Set<string>>();
  for (const command of new Set(commands)) {
    const [, name = ''] = /^wrangler((?: [a-z]+)+)/.exec(command) ?? [];
    const known = options.get(name) ?? new Set();
    for (const [option] of command.matchAll(/--[a-z-]+/g)) known.add(option);
    options.set(name, known);
  }
  for (const [name, named] of options) {
    const args = [...name.trim().split(' '), '--help'];
    const { stdout } = await promisify(execFile)('node_modules/.bin/wrangler', args, {
      cwd: ROOT,
      env: { ...BARE_ENV, HOME: home, WRANGLER_SEND_METRICS: 'false' },
    });
    expect(stdout).toMatch(new RegExp(`^wrangler${name}\\b`, 'm'));
    expect([...named].filter((option) => !stdout.includes(option))).toEqual([]);
  }
}, 60_000);
