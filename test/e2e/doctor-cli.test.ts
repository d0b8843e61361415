/** `npm run doctor` against a gateway that is well, with parts pulled out, and against nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest';

import { freePort } from '../stack/services/free-port.ts';
import { sidecarToken } from '../stack/tools/sidecar-token.ts';
import { createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { runProgram } from '../stack/tools/command-line.ts';
import { startConsole, type TestConsole } from '../stack/tools/console.ts';
import { createHttpBrowser } from '../stack/tools/http-browser.ts';
import { useTestDatabase } from '../stack/tools/database.ts';

let stack: TestConsole;
let bare: TestConsole;
let adminToken: string;

const db = await useTestDatabase();
beforeAll(async () => {
  const site = await createSite(db.client);
  const mllp = { INTEGRATION_HL7_MTTP_DOMAIN: 'mllp.example', INTEGRATION_HL7_MTTP_PORT: '2575' };
  stack = await startConsole('deno', db, site, { env: mllp });
  await db.client.query("insert into sidecar_seen (issuer) values ('sidecar-1')");
  bare = await startConsole('deno', db, site, { env: { INTEGRATION_OAUTH_PUBLIC_BASE_URL: '' } });
  adminToken = await stack.oidc.adminToken();
});
afterAll(async () => {
  await stack.stop();
  await bare.stop();
});

const doctor = (env: Readonly<Record<string, string>>, ...args: string[]) => runProgram('doctor', args, env);

test('reports no problem and changes nothing', async () => {
  const rows = async () => (await db.client.query('select count(*) from refusal')).rows;
  const before = await rows();
  const { code, stdout, stderr } = await doctor({ DATABASE_URL: db.url, ADMIN_TOKEN: adminToken }, stack.baseUrl);
  expect(stdout).not.toMatch(/BAD|not checked/);
  for (const subject of ['ready', 'clock', 'discovery', 'token endpoint', 'signing keys', 'FHIR', 'OpenID provider']) {
    expect(stdout).toMatch(new RegExp(`^ok +${subject}`, 'm'));
  }
  for (const subject of ['redirect URI', 'endpoints', 'sidecar sidecar-1', 'jti store', 'migrations', 'row security']) {
    expect(stdout).toMatch(new RegExp(`^ok +${subject}`, 'm'));
  }
  for (const subject of [
    'writes',
    'role',
    'time limit',
    'plans',
    'database clock',
    'claims',
    'refresh tokens',
    'limits',
    'alerts',
  ]) {
    expect(stdout).toMatch(new RegExp(`^ok +${subject}`, 'm'));
  }
  expect([code, stderr]).toEqual([0, 'all checked items are OK\n']);
  expect(await rows()).toEqual(before);
});

test('checks that were skipped for lack of input are listed, and are not faults', async () => {
  const { code, stdout } = await doctor({}, stack.baseUrl);
  expect([code, stdout.match(/not checked/g)]).toEqual([0, Array.from({ length: 2 }, () => 'not checked')]);
});

test('an address with the path of the API has the correct one as the next step', async () => {
  const { code, stdout } = await doctor({}, `${stack.baseUrl}/fhir`);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/^BAD +ready +\/readyz answers 404\n +→ give the base URL, without \/fhir/m),
  ]);
});

test('a missing database and a wrong password have the next step of their cause', async () => {
  const missing = new URL(db.url);
  missing.pathname = '/no_such_database';
  const wrong = new URL(db.url);
  wrong.password = 'wrong';
  const said = await Promise.all([missing, wrong].map(({ href }) => doctor({ DATABASE_URL: href }, stack.baseUrl)));
  expect(said.map(({ code }) => code)).toEqual([1, 1]);
  expect(said[0]?.stdout).toMatch(/^BAD +database .*no_such_database.*\n +→ create the database/m);
  expect(said[1]?.stdout).toMatch(/^BAD +database .*password.*\n +→ check the user and the password/m);
});

test('the owner’s connection string is rejected as a login for a gateway, and the owner gets no time limit', async () => {
  const { code, stdout } = await doctor({ DATABASE_URL: db.ownerUrl }, stack.baseUrl);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/^BAD +role .*\n +→ set DATABASE_URL to .* gateway’s login/m),
  ]);
  expect(stdout).not.toContain('time limit');
});

test('a login whose statements have no limit is reported', async () => {
  const url = new URL(db.url);
  url.searchParams.set('options', '-c statement_timeout=0');
  const { code, stdout } = await doctor({ DATABASE_URL: url.href }, stack.baseUrl);
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^BAD +time limit +a statement of \w+ has no limit/m)]);
});

test('a login that may read whole tables is reported', async () => {
  const url = new URL(db.url);
  url.searchParams.set('options', '-c enable_seqscan=on');
  const { code, stdout } = await doctor({ DATABASE_URL: url.href }, stack.baseUrl);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(
      /^BAD +plans +(\w+) has enable_seqscan on.*\n +→ npm run migrate .* alter role \1 set enable_seqscan = off;/m,
    ),
  ]);
});

test('the API, the doctor and the page report an inner fault with its remedy', async () => {
  await db.client.query("update sidecar_seen set last_seen = now() - interval '1 hour'");
  await db.client.query('alter table refusal disable row level security');
  try {
    const { code, stdout } = await doctor({ ADMIN_TOKEN: adminToken }, stack.baseUrl);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^BAD +sidecar sidecar-1 +silent for (?:59|60) minutes\n +→ see its/m);
    expect(stdout).toMatch(/^BAD +row security +without a policy: refusal\n/m);
    stack.oidc.setAway(true);
    const browser = createHttpBrowser();
    const away = await doctor({ ADMIN_TOKEN: adminToken }, stack.baseUrl);
    expect(away.stdout).toMatch(/^BAD +OpenID provider +.*answers 503 where its discovery document should be$/m);
    stack.oidc.setAway(false);
    const { username, password } = stack.oidc.admin;
    const { url } = await browser.go(`${stack.baseUrl}/admin/health`);
    const page = await browser.go(url, { method: 'POST', body: new URLSearchParams({ username, password }) });
    const text = await page.text();
    expect(text).toContain('2 problems.');
    expect(text.indexOf('row security')).toBeLessThan(text.indexOf('migrations'));
  } finally {
    stack.oidc.setAway(false);
    await db.client.query('alter table refusal enable row level security');
  }
});

test('a sidecar with a wrong clock is reported by name; a fault that a stranger may have caused does not change the exit code', async () => {
  const { gateway } = stack;
  const call = async (claims: Readonly<Record<string, unknown>>, header: Readonly<Record<string, unknown>>) => {
    const authorization = `Bearer ${sidecarToken(gateway, new Uint8Array(0), claims, header)}`;
    const { status } = await fetch(`${gateway.url}/internal/mllp/allowed-ranges`, { headers: { authorization } });
    expect(status).toBe(404);
  };
  const findings = async (): Promise<string> => {
    const headers = { authorization: `Bearer ${adminToken}` };
    const { items } = (await (await fetch(`${stack.baseUrl}/admin/api/health`, { headers })).json()) as {
      items: { state: string; subject: string; says: string }[];
    };
    return items.map(({ state, subject, says }) => `${state} ${subject}: ${says}\n`).join('');
  };
  await db.client.query('update sidecar_seen set last_seen = now()');
  await call({}, { kid: 'ward-2' });
  await until('the unknown sidecar is reported', async () =>
    / sidecar key: a sidecar called from 127\.0\.0\.1 .* the key ward-2 that is not/.test(await findings()),
  );
  const { code, stdout, stderr } = await doctor({ ADMIN_TOKEN: adminToken }, stack.baseUrl);
  expect([code, stderr]).toEqual([0, 'all checked items are OK; 1 to check\n']);
  expect(stdout).toMatch(/^\? +sidecar key +a sidecar called.*\n +→ if it is your sidecar/m);

  const iat = Math.floor(Date.now() / 1000) + 3600;
  await call({ iss: 'ward', iat, exp: iat + 60 }, {});
  await until('its clock is reported', async () =>
    /^bad sidecar ward: it is rejected: its clock is 3\d\d\d s ahead$/m.test(await findings()),
  );
  // It was set since, nearly.
  await db.client.query(
    `insert into sidecar_seen (issuer, clock_seconds, version, connections, reported_at) values ('ward', 20, '1.2.3', 12, now())`,
  );
  await db.client.query("update sidecar_refused set at = now() - interval '1 minute' where reason = 'clock'");
  expect(await findings()).toMatch(
    /^bad sidecar ward: called within a minute; its clock is 20 s behind; version 1.2.3, 12 connections open$/m,
  );
  await db.client.query("delete from sidecar_refused where reason = 'clock'");
  await db.client.query("update sidecar_seen set last_seen = now() - interval '6 minutes' where issuer = 'ward'");
  expect(await findings()).toMatch(/^bad sidecar ward: silent for 6 minutes$/m);
  await db.client.query("delete from sidecar_seen where issuer = 'ward'");
  await db.client.query('delete from sidecar_refused');
});

test('a surface that is not configured, and an API that rejects all tokens', async () => {
  const { code, stdout } = await doctor({ ADMIN_TOKEN: 'nonsense' }, bare.baseUrl);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^BAD +discovery .*503/m);
  expect(stdout).toMatch(/^BAD +inside .*401/m);
});

test('no server at the address', async () => {
  const { code, stdout, stderr } = await doctor({}, `http://127.0.0.1:${await freePort()}`);
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^BAD +ready .*ECONNREFUSED/m)]);
  expect(stderr).toBe('1 problem\n');
});

test('without a database the cause is first, and nothing that follows from it is a problem', async () => {
  const DATABASE_URL = `postgres://u:p@127.0.0.1:${await freePort()}/d`;
  const gateway = await startConsole('deno', db, await createSite(db.client), { env: { DATABASE_URL } });
  try {
    const { stdout, stderr } = await doctor({ DATABASE_URL, ADMIN_TOKEN: adminToken }, gateway.baseUrl);
    expect(stdout.match(/^(?:BAD|-) +\S+ .*$/gm)).toEqual([
      expect.stringMatching(/^BAD +database .*ECONNREFUSED/),
      expect.stringMatching(/^BAD +ready +the database/),
      expect.stringMatching(/^- +console/),
    ]);
    expect(stdout).not.toContain('migrate');
    expect(stderr).toBe('2 problems\n');
  } finally {
    await gateway.stop();
  }
});

test('a database without migrations: the next step is to migrate', async () => {
  const name = `empty_${process.pid}`;
  await db.client.query(`create database ${name}`);
  const DATABASE_URL = Object.assign(new URL(db.ownerUrl), { pathname: `/${name}` }).href;
  try {
    const { stdout } = await doctor({ DATABASE_URL }, stack.baseUrl);
    expect(stdout).toMatch(/^BAD +migrations +the database has none\n +→ npm run migrate/m);
  } finally {
    await db.client.query(`drop database ${name}`);
  }
});

test.each([
  [[], /name one base URL/],
  [['here'], /here must be an http or https URL/],
  [['http://a', 'http://b'], /name one base URL/],
])('%j gets the usage text', async (args, expected) => {
  const { code, stderr } = await doctor({}, ...args);
  expect([code, stderr]).toEqual([1, expect.stringMatching(expected)]);
});
