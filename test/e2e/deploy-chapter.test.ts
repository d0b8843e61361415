/** The commands of the chapters Deploy and Operate, run as they are printed, except those that need a Cloudflare account or Docker. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';

import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';

import { useFolder } from '../stack/tools/use-folder.ts';
import { ROOT } from '../stack/services/build.ts';
import { denoBinary } from '../stack/services/edge-deno.ts';
import { freePort } from '../stack/services/free-port.ts';
import { BARE_ENV, type Ended, runAdminHere } from '../stack/tools/command-line.ts';
import { startConsole, type TestConsole } from '../stack/tools/console.ts';
import { useTestDatabase } from '../stack/tools/database.ts';
import { isFull, sized } from '../stack/tools/size.ts';
import { testWhere } from '../stack/tools/test-where.ts';
import { commandsOf, ON_DEPLOYMENT, ON_USED_DEPLOYMENT, RECORDED } from '../inputs/documented-commands.ts';

let stack: TestConsole;
const home = await useFolder('deploy');

const db = await useTestDatabase();
beforeAll(async () => {
  stack = await startConsole('deno', db, randomUUID(), { env: { FHIR_SUBSCRIPTIONS: 'on' } });
});
afterAll(() => stack.stop());

/** The recorded programs, and what one run leaves for the next. */
const BEGIN = `
${RECORDED.map((name) => `${name}() { echo "$*" >> "$HOME/${name}"; cat > /dev/null; }`).join('\n')}
if [ -e "$HOME/state" ]; then . "$HOME/state"; fi
`;
const END = '\ndeclare -p SECRETS SITE CLIENT_ID DATABASE_URL > "$HOME/state"\n';

/**
 * Each start of `npm run admin` is a second of work, so this process answers the commands at the normal size. Commands
 * that read standard input still start a process.
 */
const ADMIN = (port: number) => `
npm() {
  case "$*" in
    'run -s admin -- patient '*) command npm "$@" ;;
    'run -s admin -- '*)
      shift 4
      local code=$(printf '%s\\0' "\${DATABASE_URL-}" "\${ADMIN_TOKEN-}" "$@" |
        curl -sS -o "$HOME/said" -w '%{http_code}' --data-binary @- http://127.0.0.1:${port})
      if [ "$code" != 200 ]; then cat "$HOME/said" >&2; return 1; fi
      cat "$HOME/said"
      ;;
    *) command npm "$@" ;;
  esac
}
`;
const adminHere = (): string => sized(ADMIN((adminServer.address() as AddressInfo).port), '');
const adminServer = createServer((request, response) => {
  void buffer(request).then(async (body) => {
    const [DATABASE_URL = '', ADMIN_TOKEN = '', ...args] = body.toString().split('\0').slice(0, -1);
    const { code, stdout, stderr } = await runAdminHere(args, { DATABASE_URL, ADMIN_TOKEN });
    response.writeHead(code === 0 ? 200 : 400).end(code === 0 ? stdout : stderr);
  });
});
beforeAll(async () => {
  await once(adminServer.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => void adminServer.close());

/** Starts the program on Deno, waits until it answers, and ends it as a supervisor does: it exits with 0. */
const START = (port: number) =>
  `PORT=${port} edge/platform/gateway-deno.sh > "$HOME/deno" & ` +
  `curl -sS --fail --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:${port}/healthz; kill -TERM $!; wait $!`;

/** Runs the commands of sections; the first failure ends them. */
async function run(sections: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  const begin = BEGIN + adminHere();
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
      ['-euo', 'pipefail', '-c', `${begin}${commands}${END}`],
      { cwd: ROOT, env: { ...BARE_ENV, PATH: path, HOME: home, ...env }, maxBuffer: 1 << 24 },
      (error, stdout, stderr) => resolve({ stdout, stderr, code: error?.code ?? 0 }),
    );
    child.stdin?.end();
  });
}

// A minute of work, in dozens of processes.
testWhere(isFull)(
  'lead from an empty database to a patient, rotated keys and an archive of the audit, and to an erased patient',
  async () => {
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
  },
  300_000,
);

const variables = z.record(z.string(), z.string()).default({});
const workflowOfSite = z.object({
  jobs: z.object({
    site: z.object({
      environment: z.literal("${{ github.event_name == 'push' && 'gateway-apply' || 'gateway-plan' }}"),
      env: variables,
      steps: z.array(
        z.object({
          name: z.string().optional(),
          if: z.string().optional(),
          env: variables,
          run: z.string().optional(),
        }),
      ),
    }),
  }),
});

test('the CI job plans a site’s file with a client that can only read, applies the reviewed plan, and finds drift', async () => {
  const { site } = stack.oidc.admin;
  const admin = (...args: string[]) => runAdminHere(args, { DATABASE_URL: db.ownerUrl });
  expect((await admin('site', 'create', '--name', 'Coded', '--id', site)).code).toBe(0);
  const checkout = join(home, 'ci');
  const [file, plan] = [join(checkout, 'sites', 'site.yaml'), join(checkout, 'sites', 'site.plan')];
  await mkdir(join(checkout, 'sites'), { recursive: true });
  await symlink(ROOT, join(checkout, 'gateway'));

  const chapter = await readFile(join(ROOT, 'edge/docs/operate.md'), 'utf8');
  const [, workflow = ''] = /### In GitHub Actions[^]*?```yaml\n([^]*?)```/.exec(chapter) ?? [];
  const job = workflowOfSite.parse(parse(workflow)).jobs.site;
  const shell = (commands: string, env: Readonly<Record<string, string>>): Promise<Ended> =>
    promisify(execFile)('bash', ['-e', '-c', adminHere() + commands], {
      cwd: join(checkout, 'gateway'),
      env: { ...BARE_ENV, HOME: home, ...env },
    }).then(
      (ended) => ({ code: 0, ...ended }),
      (error: unknown) => error as Ended,
    );
  /** Runs the steps of an event as GitHub does, and returns what the last one said. */
  const onEvent = async (event: string, client: string): Promise<Ended> => {
    const exported = join(home, 'github-env');
    await writeFile(exported, '');
    let last: Ended = { code: 1, stdout: '', stderr: 'no step' };
    for (const step of job.steps) {
      if (
        step.name === undefined ||
        (step.if ?? `github.event_name == '${event}'`) !== `github.event_name == '${event}'`
      )
        continue;
      const set = Object.fromEntries((await readFile(exported, 'utf8')).split('\n').map((line) => line.split('=', 2)));
      const given = { TOKEN_ENDPOINT: `${stack.oidc.issuer}/token`, CLIENT: client };
      const env = { ...job.env, CONSOLE: stack.baseUrl, SITE: site, GITHUB_ENV: exported, ...set };
      const own = Object.fromEntries(Object.keys(step.env).map((name) => [name, Object(given)[name]]));
      // `cd` follows the link no further than its name.
      const commands = (step.run ?? 'false')
        .replaceAll('../sites', join(checkout, 'sites'))
        .replaceAll(/https:\/\/\w+\.example\.org/g, stack.baseUrl);
      last = await shell(commands, { ...env, ...own });
      if (last.code !== 0) return last;
    }
    return last;
  };
  const { admin: applying, reader: planning } = stack.oidc.scripts;

  const at = ['--console', stack.baseUrl];
  const ADMIN_TOKEN = await stack.oidc.adminToken();
  const { stdout: exported } = await runAdminHere(['export', ...at], { ADMIN_TOKEN });
  expect(exported).toBe((await admin('export', '--site', 'Coded')).stdout);
  const jwksOf = async (kid: string) => {
    const { publicKey } = await generateKeyPair('ES256');
    return { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256' }] };
  };
  const jwks = await jwksOf('ci');
  const edited = exported.replace('usCore: false', 'usCore: true').replace('apiKeys: []', '');
  await writeFile(file, `${edited}apiKeys:\n  - ${JSON.stringify({ name: 'Lab: 1', tokenTtlSeconds: 300, jwks })}\n`);
  await writeFile(plan, '');
  const first = await onEvent('pull_request', planning);
  expect(first.code, first.stderr).not.toBe(0);
  expect(first.stdout).toContain('    ~ usCore: false → true\n+ API key "Lab: 1": new\n');
  await writeFile(plan, `${/^fingerprint: (.*)$/m.exec(first.stdout)?.[1] ?? ''}\n`);
  expect((await onEvent('pull_request', planning)).code).toBe(0);
  const refused = await onEvent('push', planning);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('site.settings.update')]);
  const applied = await onEvent('push', applying);
  expect(applied.code, applied.stderr).toBe(0);
  const { clientIds } = JSON.parse(applied.stdout) as { clientIds: { name: string; clientId: string }[] };
  expect(clientIds).toEqual([{ name: 'Lab: 1', clientId: expect.stringMatching(/^svc-/) }]);
  // A job that runs again changes nothing.
  expect(JSON.parse((await onEvent('push', applying)).stdout)).toMatchObject({ changes: [], clientIds });
  const { rows } = await db.client.query(
    `select actor_kind, actor, action from audit where site_id = $1 and actor_kind <> 'operator' and action in ('settings-changed', 'key-created') order by 3`,
    [site],
  );
  const by = { actor_kind: 'person', actor: 'script' };
  expect(rows).toEqual([
    { ...by, action: 'key-created' },
    { ...by, action: 'settings-changed' },
  ]);

  const isAsFile = await onEvent('schedule', planning);
  expect(isAsFile.stdout).toMatch(/^ok +site file +the site is as the file says$/m);
  await admin('key', 'update', '--site', site, '--client-id', clientIds[0]?.clientId ?? '', '--ttl', '900');
  const byHand = join(home, 'by-hand.json');
  await writeFile(byHand, JSON.stringify(await jwksOf('by-hand')));
  await admin('key', 'create', '--site', site, '--name', 'By hand', '--jwks', byHand);
  const drifted = await onEvent('schedule', planning);
  expect(drifted.code).toBe(1);
  expect(drifted.stdout).toMatch(
    /^BAD +site file +API key "Lab: 1": tokenTtlSeconds is 900, the file has 300\n +→ apply the file, or export/m,
  );
  // The secret of a new subscription is not in the output, which a CI job keeps.
  const subscribing = join(home, 'subscribing.yaml');
  const hook = `{ apiKey: 'Lab: 1', type: Patient, endpoint: 'https://hooks.example.org/x', reason: test }`;
  const lab = `{ name: 'Lab: 1', subscriptionHosts: [hooks.example.org], allowedScopes: [system/Patient.read] }`;
  await writeFile(subscribing, `format: 1\napiKeys: [${lab}]\nsubscriptions: [${hook}]\n`);
  const of = [...at, '--file', subscribing];
  const planned = await runAdminHere(['plan', ...of, '--print', 'fingerprint'], { ADMIN_TOKEN });
  const apply = ['apply', ...of, '--plan', planned.stdout.trim()];
  const unsafe = await runAdminHere(apply, { ADMIN_TOKEN });
  expect([unsafe.code, unsafe.stderr]).toEqual([1, expect.stringMatching(/add --secrets NEW_FILE/)]);
  const secrets = join(home, 'secrets.json');
  const subscribed = await runAdminHere([...apply, '--secrets', secrets], { ADMIN_TOKEN });
  expect([subscribed.code, subscribed.stdout.includes('whsec_')], subscribed.stderr).toEqual([0, false]);
  expect(JSON.parse(await readFile(secrets, 'utf8'))).toMatchObject([
    { apiKey: 'Lab: 1', type: 'Patient', secret: expect.stringMatching(/^whsec_/) },
  ]);
  expect((await stat(secrets)).mode & 0o077).toBe(0);
  // By the database, an export has it, and a file can leave it as it is.
  expect((await admin('export', '--site', 'Coded')).stdout).toContain('endpoint: https://hooks.example.org/x\n');
  await writeFile(subscribing, `format: 1\nsubscriptions: [${hook.replace('reason: test', 'reason: other')}]\n`);
  const byDatabase = await admin('plan', '--site', 'Coded', '--file', subscribing);
  expect([byDatabase.code, byDatabase.stderr]).toEqual([
    1,
    expect.stringMatching(/line 2: subscriptions\[0\]: .*--console/),
  ]);
  expect(drifted.stdout).toMatch(/^\? +site file +not in the file: API key "By hand" \(svc-\S+\)$/m);
}, 60_000);

testWhere(isFull)(
  'name subcommands and options of Wrangler that its help has',
  async () => {
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
  },
  60_000,
);
