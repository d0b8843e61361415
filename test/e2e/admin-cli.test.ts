/** `npm run admin` on a fresh database: from nothing to a key that could get a token, and what it says when it cannot. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { exportJWK, generateKeyPair } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import * as z from 'zod';

import { useFolder } from '../stack/tools/use-folder.ts';
import { ROOT } from '../stack/services/build.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { type Ended, runAdminHere, runProgram } from '../stack/tools/command-line.ts';
import { useTestDatabase } from '../stack/tools/database.ts';
import { noteRefusalsSql, refusalOf } from '../stack/tools/refusal.ts';

const folder = await useFolder('admin-cli');

const db = await useTestDatabase();

const GATEWAY = 'https://gateway.example';

const ENV = {
  DATABASE_URL: db.ownerUrl,
  INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: GATEWAY,
  INTEGRATION_OAUTH_PUBLIC_BASE_URL: GATEWAY,
};

const admin = (...args: string[]) => runAdminHere(args, ENV);
/** In a separate process, as `npm run admin` starts it. */
const adminProcess = (...args: string[]) => runProgram('admin', args, ENV);

beforeAll(async () => {
  await createSite(db.client, { name: 'Existing' });
});

interface Answer {
  readonly site: string;
  readonly clientId: string;
  readonly linkId: string;
  readonly secret: string;
  readonly page: string;
}

const json = ({ stdout, stderr }: Ended): Answer & readonly Answer[] => {
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Answer & Answer[];
};

async function jwksFile(name: string): Promise<string> {
  const { publicKey } = await generateKeyPair('ES256', { extractable: true });
  const file = join(folder, name);
  await writeFile(file, JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: name, alg: 'ES256' }] }));
  return file;
}

test('makes a site and a key, lists, disables and enables it, and records the person', async () => {
  const { site } = json(await adminProcess('site', 'create', '--name', 'North', '--time-zone', 'Europe/Berlin'));
  const listed = json(await admin('site', 'list'));
  expect(listed.find((each) => each.site === site)).toMatchObject({ site, name: 'North', timeZone: 'Europe/Berlin' });

  const jwks = await jwksFile('a.json');
  const scopes = 'system/Patient.read,system/Patient.write';
  const made = await admin(
    'key',
    'create',
    '--site',
    site,
    '--name',
    'Lab',
    '--jwks',
    jwks,
    '--scopes',
    scopes,
    '--ttl',
    '600',
  );
  const key = json(made);
  expect(key).toMatchObject({
    clientId: expect.stringMatching(/^svc-/),
    allowedScopes: ['system/Patient.read', 'system/Patient.write'],
    protocols: ['fhir'],
    tokenTtlSeconds: 600,
    jwksFindings: { keys: [{ type: 'EC P-256', usable: true }] },
  });
  const of = ['--site', site, '--client-id', key.clientId];
  expect(json(await admin('key', 'disable', ...of))).toMatchObject({ status: 'disabled', version: 2 });
  expect(json(await admin('key', 'enable', ...of))).toMatchObject({ status: 'active', version: 3 });
  expect(json(await admin('key', 'list', '--site', site))).toMatchObject([
    { clientId: key.clientId, status: 'active' },
  ]);
  const { rows } = await db.client.query<{ by: string }>('select by from api_key_change order by version');
  expect(rows).toHaveLength(3);
  expect(rows[0]?.by).toContain('npm run admin');

  const copy = ['--site', site, '--name', 'Copy', '--jwks', jwks, '--scopes', scopes];
  const again = await adminProcess('key', 'create', ...copy);
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toMatch(/jwks: the public key "a.json" already belongs to another API key/);
});

test('exports a site as YAML, and reports each error of a file at its line', async () => {
  const { site } = json(await admin('site', 'create', '--name', 'Coded'));
  expect((await admin('export', '--site', 'Coded')).stdout).toContain(`\nsite: ${site}\n`);
  const file = join(folder, 'site.yaml');
  await writeFile(file, 'format: 1\nsettings:\n  usCore: maybe\napiKeys:\n  - name: A\n    jwksUri: ftp://a\n');
  const wrong = await admin('plan', '--site', site, '--file', file);
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain('  line 3: settings.usCore: must be true or false\n');
  expect(wrong.stderr).toContain('  line 6: apiKeys[0].jwksUri: ');
  expect(wrong.stderr).toContain('  line 5: apiKeys[0].tokenTtlSeconds: ');
  await writeFile(file, 'format: 1\nformat: 1\n');
  expect((await admin('plan', '--site', site, '--file', file)).stderr).toMatch(/ {2}line 2: .*unique/);
});

test('exports code tables as CSV beside the file, and applies an edited row, with its faults by line of the CSV', async () => {
  const { site } = json(await admin('site', 'create', '--name', 'In git'));
  const of = ['--site', site];
  const rows = join(folder, 'rows.csv');
  const tables = join(folder, 'of', 'git');
  const [yaml, again] = [join(tables, 'git.yaml'), join(folder, 'again.yaml')];
  await writeFile(rows, 'code,targetSystem,targetCode,display\nGLU,http://snomed.info/sct,36048009,Glucose\n');
  for (const name of ['Lab/East', 'Lab East']) {
    json(await admin('code-table', 'create', ...of, '--name', name));
    await admin('code-table', 'import', ...of, '--table', name, '--file', rows);
    json(await admin('code-table', 'release', ...of, '--table', name, '--comment', 'x'));
  }
  await writeFile(yaml, (await admin('export', ...of, '--tables', tables)).stdout);
  const beside = join(tables, 'Lab-East-2.csv');
  expect(await readFile(yaml, 'utf8')).toContain('- name: Lab/East\n    csvFile: Lab-East-2.csv\n');
  const head = 'system,code,application,facility,targetSystem,targetCode,display,equivalence';
  const text = `${head}\nL,GLU,,,http://snomed.info/sct,36048009,Glucose,equivalent\n`;
  expect(await readFile(beside, 'utf8')).toBe(text);
  expect((await admin('plan', ...of, '--file', yaml)).stdout).toContain('No changes');
  await writeFile(beside, `${text}L,,,,http://snomed.info/sct,1,,\n`);
  expect((await admin('plan', ...of, '--file', yaml)).stderr).toContain('  Lab-East-2.csv, line 3: code is empty\n');
  await writeFile(beside, `${text}L,K,,,http://snomed.info/sct,59573005,Potassium,\n`);
  const plan = await admin('plan', ...of, '--file', yaml, '--print', 'fingerprint');
  json(await admin('apply', ...of, '--file', yaml, '--plan', plan.stdout, '--comment', 'potassium too'));
  expect(json(await admin('code-table', 'show', ...of, '--table', 'Lab/East'))).toMatchObject({
    liveVersion: 2,
    releases: [{ comment: 'potassium too' }, { comment: 'x' }],
  });
  // Without --tables the rows are in the file.
  const inline = (await admin('export', ...of)).stdout;
  expect(inline).toContain('    csv: |\n      system,code,');
  await writeFile(again, inline);
  expect((await admin('plan', ...of, '--file', again)).stdout).toContain('No changes');
  await writeFile(again, 'format: 1\ncodeTables:\n  - name: A\n    csvFile: ../secret.csv\n');
  expect((await admin('plan', ...of, '--file', again)).stderr).toContain('csvFile ../secret.csv must be a file beside');
  await writeFile(again, 'format: 1\ncodeTables:\n  - name: A\n    csvFile: missing.csv\n');
  expect((await admin('plan', ...of, '--file', again)).stderr).toContain('missing.csv does not exist');
});

test.each([
  [['--console', 'https://console.example.org'], {}, /^ADMIN_TOKEN is needed in the environment/],
  // An access token is never sent in plain text.
  [['--console', 'http://console.example.org'], { ADMIN_TOKEN: 'x' }, /^http:\S+ must be https/],
  [['--console', 'here'], { ADMIN_TOKEN: 'x' }, /^here must be an http or https URL/],
  [['--console', 'https://a.example', '--site', 'North'], { ADMIN_TOKEN: 'x' }, /^North must be the id of a site/],
])('export %j says what is wrong before it sends a token', async (args, env, expected) => {
  const ended = await runAdminHere(['export', ...args], env);
  expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(expected) });
});

test('keeps the source addresses of two sites apart', async () => {
  const of = (range: string, site: string) => ['--site', site, '--range', range];
  const address = (...args: string[]) => admin('site', 'address', ...args);
  await admin('site', 'create', '--name', 'First');
  const [all] = json(await address('list'));
  expect(all).toMatchObject({ range: '*' });
  const { site: second } = json(await admin('site', 'create', '--name', 'Second'));
  const first = all?.site ?? '';
  expect(json(await address('add', ...of('10.1.0.0/16', first)))).toHaveLength(2);
  expect((await address('add', ...of('10.9.0.5', second))).code).toBe(1);
  expect(json(await address('remove', ...of('*', first)))).toMatchObject([{ site: first, range: '10.1.0.0/16' }]);
  expect(json(await address('add', ...of('10.9.0.5', second), '--sender-facility', 'EAST'))).toMatchObject([
    { site: second, range: '10.9.0.5', senderFacility: 'EAST' },
  ]);
  expect(json(await address('list', '--site', second))).toHaveLength(1);
  expect((await address('list', 'more')).code).toBe(1);
});

test('changes and clears the settings of a site and those of a key', async () => {
  const { site } = json(await admin('site', 'create', '--name', 'East', '--processing-ids', 'P,T'));
  const of = ['--site', site];
  const authorities = ['--authority', 'HOSP=urn:oid:1.2.3', '--authority', 'LAB = https://lab.example/codes?a=b'];
  const set = await admin(
    'site',
    'update',
    ...of,
    '--time-zone',
    'Europe/Berlin',
    '--charset',
    '8859/1',
    ...authorities,
  );
  expect(json(set)).toMatchObject({
    timeZone: 'Europe/Berlin',
    defaultCharset: 'iso-8859-1',
    processingIds: ['P', 'T'],
    assigningAuthorities: [
      { namespace: 'HOSP', system: 'urn:oid:1.2.3' },
      { namespace: 'LAB', system: 'https://lab.example/codes?a=b' },
    ],
    version: 2,
  });
  expect(json(await admin('site', 'update', ...of, '--charset', '', '--authority', ''))).toMatchObject({ version: 3 });
  expect(json(await admin('site', 'show', ...of))).toMatchObject({
    site,
    name: 'East',
    timeZone: 'Europe/Berlin',
    defaultCharset: null,
    assigningAuthorities: [],
  });

  const jwks = await jwksFile('east.json');
  const settings = [
    '--code-system',
    '99LAB=https://lab.example/codes',
    '--identifying-types',
    'NH,NI',
    '--us-core',
    'yes',
  ];
  expect(json(await admin('site', 'update', ...of, ...settings))).toMatchObject({
    codeSystems: [{ name: '99LAB', system: 'https://lab.example/codes' }],
    identifyingTypes: ['NH', 'NI'],
    usCore: true,
  });
  const unclear = await admin('site', 'update', ...of, '--us-core', 'maybe');
  expect(unclear).toMatchObject({ code: 1, stderr: expect.stringContaining('usCore: must be true or false') });

  const own = ['--hl7-time-zone', 'Asia/Kolkata', '--hl7-charset', 'UTF-8', '--hl7-processing-ids', 'D'];
  own.push('--hl7-identity-check', 'refuse', '--hl7-strict', 'yes', '--hl7-information', 'no');
  const key = json(await admin('key', 'create', ...of, '--name', 'Ward', '--jwks', jwks, ...own));
  expect(key).toMatchObject({ hl7TimeZone: 'Asia/Kolkata', hl7DefaultCharset: 'utf-8', hl7ProcessingIds: ['D'] });
  expect(key).toMatchObject({
    hl7IdentityCheck: 'refuse',
    hl7Strict: true,
    hl7Information: false,
    hl7AcceptAck: false,
  });
  const changed = await admin(
    'key',
    'update',
    ...of,
    '--client-id',
    key.clientId,
    '--hl7-time-zone',
    '',
    '--ttl',
    '600',
  );
  expect(json(changed)).toMatchObject({ hl7TimeZone: null, tokenTtlSeconds: 600, hl7ProcessingIds: ['D'], version: 2 });
});

test.each([
  [[], /^name a command\nHelp: npm run -s admin -- --help\n$/],
  [['site', 'destroy'], /the command site destroy does not exist/],
  [['site', 'create'], /^--name is needed\nHelp: npm run -s admin -- site create --help\n$/],
  [['site', 'create', '--name', 'X', '--id', 'NORTH'], /^--id NORTH is not a UUID/],
  [['site', 'create', '--name', 'X', '--time-zone', 'Mars'], /not a known IANA name/],
  [['key', 'create', '--site', 'x', '--name', 'A'], /^the site x does not exist: `npm run -s admin -- site list`/],
  [
    ['key', 'list', '--site', '0192f0c1-0000-7000-8000-000000000000'],
    /^the site 0192f0c1-0000-7000-8000-000000000000 does not exist/,
  ],
  [
    ['site', 'show', '--site', '0192f0c1-0000-7000-8000-000000000000'],
    /^the site 0192f0c1-0000-7000-8000-000000000000 does not exist/,
  ],
  [
    ['key', 'create', '--site', 'Existing', '--name', 'A', '--jwks', 'none.json'],
    /^the file none\.json does not exist/,
  ],
  [['site', 'list', '--nonsense'], /^Unknown option '--nonsense'/],
  [['site', 'update', '--site', 'Existing', '--charset', 'x'], /defaultCharset: "x" is not/],
  [['key', 'list', '--time-zone', 'Europe/Berlin'], /key list does not have the option --time-zone/],
  [['key', 'list', '--site', 'Existing', '--site', 'North'], /^--site is given more than once\nHelp: /],
  [['refusal', 'list', '--site', 'Existing', '--text', 'x'.repeat(201)], /^--text may have at most 200 characters\n/],
  [['replay', 'start', '--site', 'Existing', '--from', ''], /^--from is empty/],
  [['replay', 'start', '--site', 'Existing', '--client-id', ''], /^--client-id is needed/],
  [
    ['key', 'create', '--site', 'Existing', '--name', 'A', '--ttl', '5', '--scopes', 'fhir.read'],
    /tokenTtlSeconds: must be at least 60[^]*allowedScopes: "fhir.read" is not a scope[^]*jwks: paste/,
  ],
])('%j says what is wrong and ends with 1', async (args, expected) => {
  const ended = await admin(...args);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(expected);
});

test.each(['refusal list', 'message list', 'subscription list', 'replay start', 'link list', 'key disable'])(
  '%s names an API key that the site does not have',
  async (command) => {
    const ended = await admin(...command.split(' '), '--site', 'Existing', '--client-id', 'svc-1');
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/^the site has no API key svc-1: /) });
  },
);

test('a file that is not UTF-8 is rejected, because its names would have other characters', async () => {
  const file = join(folder, 'latin1.csv');
  await writeFile(file, Buffer.from('code,targetSystem,targetCode\nH\xe4m,http://loinc.org,718-7\n', 'latin1'));
  await admin('code-table', 'create', '--site', 'Existing', '--name', 'Latin');
  const ended = await admin('code-table', 'import', '--site', 'Existing', '--table', 'Latin', '--file', file);
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringMatching(/latin1\.csv is not UTF-8: save it as UTF-8/)]);
});

test('finds a site by its id, then by its name', async () => {
  const id = randomUUID();
  expect((await admin('site', 'create', '--name', 'Chosen', '--id', id, '--print', 'site')).stdout).toBe(`${id}\n`);
  expect((await admin('site', 'show', '--site', id.toUpperCase(), '--print', 'site')).stdout).toBe(`${id}\n`);
  const again = await admin('site', 'create', '--name', 'Other', '--id', id);
  expect([again.code, again.stderr]).toEqual([1, `the site ${id} already exists\n`]);
  // The administrators of another site choose its name.
  const impostor = json(await admin('site', 'create', '--name', 'Impostor'));
  const show = (site: string) => admin('site', 'show', '--site', site, '--print', 'site');
  await admin('site', 'update', '--site', 'Impostor', '--name', id);
  expect((await show(id)).stdout).toBe(`${id}\n`);
  await admin('site', 'update', '--site', impostor.site, '--name', 'Chosen');
  expect(await show('Chosen')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^2 sites have/) });
});

test('prints one member, of a list on a line for each item', async () => {
  const names = (await admin('site', 'list', '--print', 'name')).stdout.trim().split('\n');
  expect(names).toContain('Existing');
  const { code, stderr } = await admin('site', 'show', '--site', 'Existing', '--print', 'id');
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^done, but the output has no member id:\n\{/)]);
});

test('--help after a command explains that command alone', async () => {
  const { stdout } = await admin('key', 'create', '--help');
  expect(stdout).toContain('npm run -s admin -- key create --site SITE');
  expect(stdout).not.toContain('site create');
});

test('lists the rejected requests of a client and the messages of a site', async () => {
  const { site } = json(await admin('site', 'create', '--name', 'Log'));
  const key = json(await admin('key', 'create', '--site', site, '--name', 'Lab', '--jwks', await jwksFile('log.json')));
  const { clientId } = key;
  await db.client.query(...noteRefusalsSql(refusalOf(clientId, { reason: 'aud was x' })));
  const of = ['--site', site];
  expect(json(await admin('refusal', 'list', ...of, '--client-id', clientId, '--text', 'AUD WAS'))).toMatchObject([
    { clientId, reason: 'aud was x', requestId: 'request-1' },
  ]);
  expect(json(await admin('refusal', 'list', ...of, '--text', 'nothing'))).toEqual([]);
  expect(json(await admin('message', 'list', ...of, '--outcome', 'AE'))).toEqual([]);
  const wrong = await admin('message', 'list', ...of, '--outcome', 'XX');
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/^--outcome must be AA, AE or AR/)]);
});

test('ends without a stack trace when the reader of its output has closed the pipe', async () => {
  const command = `{ "${process.execPath}" edge/platform/node/admin-cli.ts schema; echo $? >&2; } | true`;
  const { stderr } = await promisify(execFile)('sh', ['-c', command], { cwd: ROOT });
  expect(stderr).toBe('141\n');
});

test('rejects a second site with the name of another', async () => {
  const { site } = json(await admin('site', 'create', '--name', 'Twin'));
  const again = await admin('site', 'create', '--name', 'Twin');
  expect([again.code, again.stderr]).toEqual([1, `a site with this name already exists: ${site}\n`]);
});

test.each([
  'edge/platform/node/admin-cli.ts',
  'edge/platform/node/keys-cli.ts',
  'edge/platform/node/compare-cli.ts',
  'edge/platform/node/doctor-cli.ts',
  'edge/platform/node/reindex-cli.ts',
  'migrations/run.ts',
  'test/stack/start/start.ts',
  'test/stack/start/reset.ts',
  'test/stack/start/token.ts',
  'test/stack/start/mllp-send.ts',
  'test/bench/run.ts',
])('%s --help says how to call it, and does nothing', async (program) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, '--help'], { cwd: ROOT });
  expect([stdout, stderr]).toEqual([expect.stringMatching(/^usage/i), '']);
});

test.each(['token', 'mllp-send'])('%s names the command that starts the gateway', async (program) => {
  const file = `test/stack/start/${program}.ts`;
  const env = { ...process.env, LOCAL_FOLDER: '/none' };
  const failed = promisify(execFile)(process.execPath, [file, file], { cwd: ROOT, env });
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^\/none\/stack.json does not exist: start the gateway with npm start first\nHelp: /),
  });
});

test('previews, starts, stops and resumes a replay', async () => {
  const { site } = json(await admin('site', 'create', '--name', 'Replayed'));
  const { clientId } = await createApiKey(db.client, { site });
  await db.client.query(
    `insert into hl7_message (message_id, site_id, client_id, source, source_address, sending_application,
        sending_facility, control_id, sha256, message_type, outcome, raw, errors)
      values (gen_random_uuid(), $1, $2, 'http', '192.0.2.1', 'LAB', '', 'C1', 'h', 'ADT^A01', 'AE', 'x', '[]')`,
    [site, clientId],
  );
  const replay = async (...args: string[]): Promise<unknown> => json(await admin('replay', ...args));
  expect(await replay('start', '--site', site, '--outcome', 'AE')).toEqual({ count: 1 });
  expect(await replay('start', '--site', site, '--outcome', 'AR')).toEqual({ count: 0 });
  const wrong = await admin('replay', 'start', '--site', site, '--from', 'yesterday');
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/^--from: /)]);
  const none = await admin('replay', 'start', '--site', site, '--outcome', 'AR', '--apply', 'newest');
  expect([none.code, none.stderr]).toEqual([1, 'No message matches the filter.\n']);
  await replay('start', '--site', site, '--apply', 'newest', '--comment', 'table corrected');
  const [open] = z.array(z.object({ replayId: z.string() }).loose()).parse(await replay('list', '--site', site));
  expect(open).toMatchObject({ state: 'open', total: 1, comment: 'table corrected' });
  const id = open?.replayId ?? '';
  expect(await replay('stop', site, id)).toMatchObject({ state: 'stopped' });
  expect(await replay('resume', site, id)).toMatchObject({ state: 'open' });
  const elsewhere = json(await admin('site', 'create', '--name', 'Elsewhere')).site;
  expect(await admin('replay', 'stop', elsewhere, id)).toMatchObject({ code: 1, stderr: 'no such replay\n' });
});

test('erases a patient that is named twice, and no patient of another site', async () => {
  const { site } = json(await admin('site', 'create', '--name', 'Erased'));
  const patient = '0191a4c0-0000-7000-8000-000000000001';
  await db.client.query(
    `insert into resource (site_id, type, id, version, last_updated, meta, body) values ($1, 'Patient', $2, 1, now(), '', '')`,
    [site, patient],
  );
  const erase = ['patient', 'erase', site, patient];
  const answer = (lines: string) => runAdminHere(erase, ENV, lines);
  expect(await answer(`${patient}\n`)).toMatchObject({ code: 1, stdout: '' });
  const erased = await runProgram('admin', erase, ENV, `${patient}\nerase\n`);
  expect(erased).toMatchObject({ code: 0, stderr: expect.stringContaining('0 messages\n') });
  expect(JSON.parse(erased.stdout)).toMatchObject({ site, patient });
  expect(await answer(`${patient}\nerase\n`)).toMatchObject({ code: 1, stderr: 'the site has no such patient\n' });
  expect(await admin('patient', 'erase', site)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('patient erase SITE ID'),
  });
});

test('lists, acknowledges and silences alerts and ends the silence, with an audit event each', async () => {
  const { site } = json(await admin('site', 'create', '--name', 'Alerted'));
  const alertId = randomUUID();
  await db.client.query(
    `insert into alert (site_id, alert_id, kind, subject, firing_since) values ($1, $2, 'replay-needed', '', now())`,
    [site, alertId],
  );
  const list = async (...more: string[]) => json(await admin('alert', 'list', '--site', site, ...more));
  expect(await list()).toMatchObject([{ alertId, summary: expect.any(String), acknowledged: null }]);
  expect(await list('--state', 'resolved')).toEqual([]);
  expect(json(await admin('alert', 'acknowledge', site, alertId))).toEqual({ alertId });
  expect(json(await admin('alert', 'silence', site, alertId, '--minutes', '60'))).toEqual({ alertId });
  expect(await list()).toMatchObject([
    { acknowledged: { by: expect.stringContaining('npm run admin') }, silenced: { until: expect.any(String) } },
  ]);
  expect(json(await admin('alert', 'unsilence', site, alertId))).toEqual({ alertId });
  const { rows } = await db.client.query(
    `select action, actor_kind from audit where site_id = $1 and action like 'alert-%' order by at`,
    [site],
  );
  expect(rows).toEqual(
    ['alert-acknowledged', 'alert-silenced', 'alert-unsilenced'].map((action) => ({ action, actor_kind: 'operator' })),
  );
  for (const [args, says] of [
    [['acknowledge', site, randomUUID()], /has no such alert/],
    [['unsilence', site, alertId], /has no such alert, or its state does not allow this/],
    [['silence', site, alertId, '--minutes', '0'], /--minutes must be a whole number from 1/],
    [['list', '--site', site, '--state', 'fire'], /--state must be firing or resolved/],
    [['acknowledge', randomUUID(), alertId], /the site \S+ does not exist/],
  ] as const) {
    expect([args, await admin('alert', ...args)]).toEqual([
      args,
      expect.objectContaining({ code: 1, stderr: expect.stringMatching(says) }),
    ]);
  }
});

test('lists, pauses, resumes, repeats and deletes subscriptions, with an audit event each', async () => {
  const { site } = json(await admin('site', 'create', '--name', 'Subscribed'));
  const { clientId } = await createApiKey(db.client, { site, subscriptionHosts: ['hooks.example.org'] });
  const [id, lease] = [randomUUID(), randomUUID()];
  await db.client.query(
    `insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count, matched,
         status, last_event, delivered, lease, lease_until)
       values ($1, $2, $3, 'Patient', 'name=Ada', 'id-only', 'https://hooks.example.org/x', 'hooks.example.org', 'test', 10, 0,
         'active', 3, 2, $4, now() + interval '60 seconds')`,
    [site, id, clientId, lease],
  );
  const list = async (...more: string[]) => json(await admin('subscription', 'list', '--site', site, ...more));
  expect(await list()).toMatchObject([{ subscriptionId: id, status: 'active', filter: 'name=Ada', delivered: 2 }]);
  expect(await list('--status', 'off')).toEqual([]);
  const act = async (change: string, ...more: string[]) => json(await admin('subscription', change, site, id, ...more));
  expect(await act('show')).toMatchObject({
    lag: { events: 1 },
    isPosting: true,
    endpoint: 'https://hooks.example.org/x',
  });
  expect(await act('pause')).toMatchObject({ status: 'off', isPosting: true, nextAt: null });
  expect(await act('resume')).toMatchObject({ status: 'requested', nextAt: expect.any(String) });
  // The result of the post under way does not count, and the next post waits for its end.
  expect(await act('resend', '--from', '1')).toMatchObject({ delivered: 0, lag: { events: 3 }, isPosting: true });
  const late = await db.client.query('select * from subscription_tried($1, $2, $3, 3, $4, true)', [
    site,
    id,
    lease,
    '200',
  ]);
  expect(late.rows).toEqual([]);
  const claim = () => db.client.query('select * from subscription_claim($1, $2, 60, 9)', [site, randomUUID()]);
  expect((await claim()).rows).toEqual([]);
  await db.client.query(`update subscription set lease_until = lease_until - interval '10 seconds'`);
  expect((await claim()).rows).toMatchObject([{ delivered: '0' }]);
  expect(await act('delete')).toEqual({ subscriptionId: id });
  const { rows } = await db.client.query(
    `select action, actor_kind from audit where site_id = $1 and action like 'subscription-%' order by at`,
    [site],
  );
  expect(rows).toEqual(
    ['paused', 'resumed', 'resent', 'deleted'].map((what) => ({
      action: `subscription-${what}`,
      actor_kind: 'operator',
    })),
  );
  for (const [args, says] of [
    [['show', site, id], /no such subscription/],
    [['resend', site, id, '--from', 'x'], /--from must be the number of an event/],
    [['list', '--site', site, '--status', 'on'], /--status must be requested, active, error or off/],
  ] as const) {
    expect([args, await admin('subscription', ...args)]).toEqual([
      args,
      expect.objectContaining({ code: 1, stderr: expect.stringMatching(says) }),
    ]);
  }
});

test('creates, lists and revokes links of an API key, with an audit event each', async () => {
  const { site } = json(await admin('site', 'create', '--name', 'Linked'));
  const { clientId } = await createApiKey(db.client, { site });
  const of = ['--site', site, '--client-id', clientId] as const;
  const made = json(await admin('link', 'create', ...of, '--hours', '3'));
  expect(made).toMatchObject({ secret: expect.stringMatching(/^link_[\w-]{96}$/), isLive: true });
  expect(made.page).toBe(`${GATEWAY}/docs/try#${made.secret}`);
  const { linkId } = made;
  const [listed] = json(await admin('link', 'list', ...of));
  expect(listed).toMatchObject({ linkId, isLive: true, revokedAt: null });
  expect(listed).not.toHaveProperty('secret');
  expect(json(await admin('link', 'revoke', ...of, '--link-id', linkId))).toMatchObject({ linkId, isLive: false });
  const { rows } = await db.client.query(
    `select action, actor_kind from audit where site_id = $1 and action like 'link-%' order by at`,
    [site],
  );
  expect(rows).toEqual(['created', 'revoked'].map((what) => ({ action: `link-${what}`, actor_kind: 'operator' })));
  for (const [args, says] of [
    [['create', ...of, '--hours', '200'], /--hours must be a number from 1 to 168/],
    [['revoke', ...of, '--link-id', linkId], /has no such link/],
  ] as const) {
    expect(await admin('link', ...args)).toMatchObject({ code: 1, stderr: expect.stringMatching(says) });
  }
});

test('imports, exports and releases a code table, with its faults by line', async () => {
  const { site } = json(await admin('site', 'create', '--name', 'Translated'));
  const of = ['--site', 'Translated', '--table', 'Laboratory'];
  const file = join(folder, 'table.csv');
  const head = 'system,code,application,facility,targetSystem,targetCode,display,equivalence';
  const row = 'L,GLU,LAB,,http://snomed.info/sct,36048009,"Glucose, measured",equivalent';
  json(await admin('code-table', 'create', '--site', site, '--name', 'Laboratory'));
  await writeFile(file, `${head}\n${row}\nL,,,,http://snomed.info/sct,1,,\n`);
  const faulty = await admin('code-table', 'import', ...of, '--file', file);
  expect(faulty).toMatchObject({ code: 1, stderr: expect.stringContaining('line 3: code is empty') });
  await writeFile(file, `${head}\n${row}\n`);
  const imported = await admin('code-table', 'import', ...of, '--file', file);
  expect(imported.stderr).toContain('100 %  1 of 1');
  expect(JSON.parse(imported.stdout)).toMatchObject({ draftRows: 1, liveVersion: null });
  expect((await admin('code-table', 'export', ...of)).stdout).toBe(`${head}\r\n${row}\r\n`);

  const { stdout } = await admin('code-table', 'export', ...of, '--format', 'fhir');
  expect(JSON.parse(stdout)).toMatchObject({ resourceType: 'ConceptMap', status: 'draft', title: 'Laboratory' });
  const map = join(folder, 'table.json');
  await writeFile(map, stdout);
  await admin('code-table', 'import', ...of, '--file', map);
  expect((await admin('code-table', 'export', ...of)).stdout, 'the ConceptMap has every member').toBe(
    `${head}\r\n${row}\r\n`,
  );

  expect(json(await admin('code-table', 'release', ...of, '--comment', 'first'))).toMatchObject({ liveVersion: 1 });
  expect(json(await admin('code-table', 'release', ...of, '--comment', 'off', '--version', 'none'))).toMatchObject({
    liveVersion: null,
  });
  expect(json(await admin('code-table', 'show', ...of))).toMatchObject({
    releases: [{ comment: 'off' }, { comment: 'first' }],
  });
  expect(json(await admin('code-table', 'list', '--site', site))).toMatchObject([
    { name: 'Laboratory', draftVersion: 2 },
  ]);
  await writeFile(map, stdout.replace('"36048009"', '" "'));
  expect(await admin('code-table', 'import', ...of, '--file', map)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('conceptMap.group[0].element[0].target[0].code: targetCode must be a code'),
  });
  const missing = await admin('code-table', 'show', '--site', site, '--table', 'Other');
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('no code table Other, but Laboratory') });
  json(await admin('code-table', 'rename', ...of, '--name', 'Renamed'));
  expect(await admin('code-table', 'delete', ...of)).toMatchObject({ code: 1 });
  json(await admin('code-table', 'delete', '--site', site, '--table', 'Renamed'));
  expect(json(await admin('code-table', 'list', '--site', site))).toEqual([]);
});

test('shows, saves and releases the rules of a key, with the place of each fault', async () => {
  const site = await createSite(db.client, { name: 'Ruled' });
  const { clientId } = await createApiKey(db.client, { site, name: 'Lab', protocols: ['hl7'] });
  const of = ['--site', 'Ruled', '--client-id', clientId];
  const file = join(folder, 'rules.json');
  await writeFile(file, '[{ "verb": "trim", "path": "MSH-9" }]');
  expect(await admin('rules', 'save', ...of, '--file', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('  rules[0].path: MSH-9 '),
  });
  const rules = [{ verb: 'trim', path: 'PID-5' }];
  await writeFile(file, JSON.stringify(rules));
  expect(json(await admin('rules', 'save', ...of, '--file', file))).toMatchObject({ draft: rules, liveVersion: null });
  expect(await admin('rules', 'save', ...of, '--file', file, '--edits', '0')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the rules were changed in the meantime'),
  });
  expect(json(await admin('rules', 'release', ...of, '--comment', 'first'))).toMatchObject({ liveVersion: 1 });
  expect(json(await admin('rules', 'show', ...of, '--version', '1'))).toEqual({ version: 1, rules });
  expect(json(await admin('rules', 'release', ...of, '--comment', 'off', '--version', 'none'))).toMatchObject({
    liveVersion: null,
  });
  expect(json(await admin('rules', 'show', ...of))).toMatchObject({
    releases: [{ comment: 'off' }, { comment: 'first' }],
  });
  expect((await admin('rules', 'show', ...of, '--print', 'draft')).stdout).toBe(`${JSON.stringify(rules)}\n`);
  expect(json(await admin('rules', 'release', ...of, '--comment', 'back', '--version', '1'))).toMatchObject({
    liveVersion: 1,
  });
  const missing = await admin('rules', 'show', '--site', 'Ruled', '--client-id', 'svc-other');
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('no API key svc-other') });
});
