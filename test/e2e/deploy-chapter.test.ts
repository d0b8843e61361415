/** The commands of the chapters Deploy and Operate, run in their order as they are printed, save those that need a Cloudflare account. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { ROOT } from '../stack/services/build.ts';
import { BARE_ENV } from '../stack/tools/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import { startGateway, type Gateway } from '../stack/tools/gateway.ts';

const PAGES = ['deploy', 'operate'].map((page) => readFileSync(`${ROOT}edge/docs/${page}.md`, 'utf8')).join('\n');

/** The commands below a heading or a step, up to the next one. */
function commandsOf(start: string, end: RegExp): string {
  const from = PAGES.indexOf(start);
  expect(from, start).toBeGreaterThan(0);
  const text = PAGES.slice(from + start.length);
  const blocks = text.slice(0, end.exec(text)?.index).matchAll(/^ *```sh\n([^]*?)^ *```$/gm);
  return [...blocks].map(([, block = '']) => block).join('\n');
}
const sectionOf = (heading: string) => commandsOf(`\n## ${heading}\n`, /^## /m);

let db: TestDatabase;
let gateway: Gateway;
let home: string;

beforeAll(async () => {
  db = await createTestDatabase();
  gateway = await startGateway({ runtime: 'deno', database: db });
  home = await mkdtemp(join(tmpdir(), 'deploy-'));
});
afterAll(async () => {
  await gateway.stop();
  await rm(home, { recursive: true, force: true });
  await db.drop();
});

/** @returns what the commands print; they end at the first that fails */
const run = (script: string): Promise<{ stdout: string; stderr: string; code: unknown }> =>
  new Promise((resolve) => {
    const mine = script
      .replaceAll(/"postgres:\/\/\w+…"/g, `"${db.ownerUrl}"`)
      .replaceAll('https://oauth.example.org', gateway.oauthBaseUrl)
      .replaceAll('https://fhir.example.org', gateway.fhirBaseUrl)
      // No message came yet, so none can be replayed.
      .replace(/replay start .* --apply .*$/m, '$& || true');
    // Wrangler asks for an account; what it would get is read all the same.
    const stub = 'npx() { cat > /dev/null; }\n';
    execFile(
      'bash',
      ['-euo', 'pipefail', '-c', stub + mine],
      { cwd: ROOT, env: { ...BARE_ENV, HOME: home }, maxBuffer: 1 << 24 },
      (error, stdout, stderr) => resolve({ stdout, stderr, code: error?.code ?? 0 }),
    );
  });

test('lead from an empty database to a patient, and then to rotated keys and an archive of the audit', async () => {
  const before = (await readdir(ROOT)).toSorted((a, b) => a.localeCompare(b));
  const steps = [
    'Step 1: database',
    'Step 2: keys and secrets',
    'Step 4: first site, first API key',
    'Step 5: first patient',
    'Settings of a site',
  ].map(sectionOf);
  expect(steps.every((commands) => commands.includes('npm run') || commands.includes('curl'))).toBe(true);
  const rotate = sectionOf('Rotate the signing keys');
  const archive = sectionOf('Who saw what');
  const { stdout, stderr, code } = await run([...steps, rotate, archive].join('\n'));
  expect(code, stderr.slice(-2000)).toBe(0);
  const [, patient = ''] = /(\{"resourceType":"Patient".*?\})\{"resourceType":"Bundle"/s.exec(stdout) ?? [];
  expect(JSON.parse(patient)).toMatchObject({ identifier: [{ value: 'A-1' }] });
  expect(stdout).toMatch(/"resourceType":"Bundle"[^\n]*"total":1/);

  const secrets = join(home, 'gateway-secrets');
  const ring = JSON.parse(await readFile(join(secrets, 'rings/4.json'), 'utf8')) as { keys: unknown[] };
  expect(ring.keys).toHaveLength(1);
  const made = await readdir(secrets, { recursive: true });
  expect(made).toEqual(expect.arrayContaining(['production/edge.json', 'laboratory/private.pem', 'rings/2.json']));
  // What is in a folder that only its owner enters is the owner's alone.
  for (const folder of [secrets, join(home, 'gateway-archive')]) expect((await stat(folder)).mode & 0o077).toBe(0);
  expect(await readdir(join(home, 'gateway-archive'))).toEqual(['2026-01.ndjson']);
  expect((await readdir(ROOT)).toSorted((a, b) => a.localeCompare(b))).toEqual(before);
}, 300_000);
