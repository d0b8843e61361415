/**
 * `npm start` as a newcomer uses it: the stack starts and the printed commands work. One message travels from a socket
 * to a Patient, and the other site does not see it. Neither Ctrl-C nor the end of npm leaves anything behind. On both
 * runtimes.
 */
import { spawn, execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ROOT } from '../stack/services/build.ts';
import { clientAssertion, getToken, requestToken } from '../stack/services/client.ts';
import { freePort } from '../stack/services/free-port.ts';
import type { StackClient, StackDescription } from '../stack/start/local.ts';
import { assertPortsFree } from '../stack/start/ports.ts';
import { until } from '../stack/services/until.ts';
import { sized } from '../stack/tools/size.ts';
import { testWhere } from '../stack/tools/test-where.ts';
import { commandsOf, ON_LOCAL_STACK } from '../inputs/documented-commands.ts';

const PORT_NAMES = [
  'EDGE_PORT',
  'OIDC_PORT',
  'MLLP_PORT',
  'SIDECAR_HEALTH_PORT',
  'POSTGRES_PORT',
  'NEON_PORT',
  'WEBHOOK_PORT',
] as const;
const START_TIMEOUT_MS = 120_000;

interface LocalStack {
  readonly folder: string;
  readonly ports: Record<string, number>;
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly description: StackDescription;
}

async function startStack(edge: string, folder: string, ports: Record<string, number>): Promise<LocalStack> {
  const given = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)]));
  const env = { ...process.env, LOCAL_FOLDER: folder, FHIR_SEARCH: 'us-core', ...given };
  const child = spawn('npm', ['start', '--', '--edge', edge], { cwd: ROOT, env });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  await until(
    'the stack is ready',
    () => {
      if (child.exitCode !== null) throw new Error(`the stack ended with ${child.exitCode}:\n${output}`);
      return output.includes('The gateway is ready.');
    },
    START_TIMEOUT_MS,
  );
  const description = JSON.parse(await readFile(`${folder}/stack.json`, 'utf8')) as StackDescription;
  return { folder, ports, process: child, output: () => output, description };
}

async function stopStack(stack: LocalStack, signal: 'SIGINT' | 'SIGTERM' = 'SIGINT'): Promise<number | null> {
  const ended = once(stack.process, 'exit');
  stack.process.kill(signal);
  const [code] = (await ended) as [number | null];
  return code;
}

/**
 * Sends one message over a socket, in any frame; resolves with the bytes before the peer closed, or with one frame.
 */
async function sendMllp(stack: LocalStack, bytes: Buffer): Promise<string> {
  const socket = connect(stack.description.mllp.port, stack.description.mllp.host);
  socket.write(bytes);
  let answer = '';
  for await (const chunk of socket) {
    answer += String(chunk);
    if (answer.endsWith('\u001c\r')) break;
  }
  return answer;
}

const frame = (message: string): Buffer => Buffer.from(`\u000b${message}\u001c\r`);

const adt = (control: string, mrn: string, family: string): string =>
  `MSH|^~\\&|ADT|EAST|GW|GW|20261101083000+0100||ADT^A04^ADT_A01|${control}|P|2.5.1\r` +
  `EVN|A04|20261101083000+0100\rPID|1||${mrn}^^^EAST^MR||${family}^Ada||19701231|F\rPV1|1|O\r`;

const oru = (control: string, mrn: string, family: string): string =>
  `MSH|^~\\&|LAB|EAST|GW|GW|20261101083000+0100||ORU^R01^ORU_R01|${control}|P|2.5.1\r` +
  `PID|1||${mrn}^^^EAST^MR||${family}^Ada||19701231|F\r` +
  `OBR|1|P-${control}|F-${control}|24326-1^Electrolytes^LN|||20261101\r` +
  'OBX|1|NM|2951-2^Sodium^LN||140.10|mmol/L|||||F\r';

interface Bundle {
  resourceType: string;
  type: string;
  entry?: { resource: { resourceType: string; id: string; [member: string]: unknown } }[];
}

describe.each(['workers', 'deno'])('npm start -- --edge %s', (edge) => {
  /** At the normal size one edge has all cases; the other starts, exchanges the first messages and stops. */
  const ofOne = testWhere(sized(edge === 'deno', true));
  let stack: LocalStack;
  let folder: string;

  const client = (name: string): StackClient => {
    const found = stack.description.clients.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`no client ${name}`);
    return found;
  };
  const token = (name: string): Promise<string> => getToken(stack.description.oauthBaseUrl, client(name));
  const fhir = async (name: string, path: string, init: { method?: string; body?: string } = {}): Promise<Response> =>
    fetch(`${stack.description.fhirBaseUrl}/fhir/${path}`, {
      ...init,
      headers: {
        Authorization: `Bearer ${await token(name)}`,
        Accept: 'application/fhir+json',
        'Content-Type': 'application/fhir+json',
      },
    });
  const search = async (name: string, path: string): Promise<Bundle> => {
    const response = await fhir(name, path);
    expect(response.status).toBe(200);
    return (await response.json()) as Bundle;
  };
  const hl7 = async (name: string, message: string): Promise<Response> =>
    fetch(`${stack.description.hl7HttpBaseUrl}/hl7/messages`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${await token(name)}`, 'Content-Type': 'text/plain' },
      body: message,
    });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-stack-'));
    const ports: Record<string, number> = {};
    for (const name of PORT_NAMES) ports[name] = await freePort();
    stack = await startStack(edge, folder, ports);
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    if (stack?.process.exitCode === null) await stopStack(stack);
    await rm(folder, { recursive: true, force: true });
  });

  test('stack.json describes it', () => {
    const { clients, site, otherSite, mllp, admin, adminToken } = stack.description;
    expect(clients.filter((each) => each.site === site && each.protocols.includes('fhir')).length).toBeGreaterThan(0);
    expect(clients.filter((each) => each.site === site && each.protocols.includes('hl7')).length).toBeGreaterThan(0);
    expect(clients.filter((each) => each.site === otherSite && each.protocols.includes('fhir')).length).toBeGreaterThan(
      0,
    );
    expect(clients.filter((each) => each.status === 'disabled').length).toBeGreaterThan(0);
    expect(mllp.port).toBe(stack.ports['MLLP_PORT']);
    expect(admin.username).not.toBe('');
    expect(adminToken.split('.')).toHaveLength(3);
  });

  ofOne('each of its Bearer tokens administers its own site', async () => {
    const { adminUrl, adminToken, otherAdminToken, clients, site, otherSite } = stack.description;
    const keysOf = async (token: string): Promise<string[]> => {
      const response = await fetch(`${adminUrl}/api/api-keys`, { headers: { authorization: `Bearer ${token}` } });
      const { items } = (await response.json()) as { items: { clientId: string }[] };
      return items.map(({ clientId }) => clientId);
    };
    const clientsOf = (of: string) => clients.filter((each) => each.site === of).map(({ clientId }) => clientId);
    expect(new Set(await keysOf(adminToken))).toEqual(new Set(clientsOf(site)));
    expect(new Set(await keysOf(otherAdminToken))).toEqual(new Set(clientsOf(otherSite)));
  });

  ofOne('the test of the webhook arrives at the receiver of the stack, with a verified signature', async () => {
    const { adminUrl, adminToken, webhookUrl } = stack.description;
    const shown = async (): Promise<string> => (await fetch(webhookUrl)).text();
    expect(await shown()).toContain('Nothing yet');
    const headers = { authorization: `Bearer ${adminToken}` };
    const sent = await fetch(`${adminUrl}/api/alerts/webhook/test`, { method: 'POST', headers });
    expect([sent.status, await sent.json()]).toMatchObject([200, { isDelivered: true, answer: '204' }]);
    expect(await shown()).toMatch(/Signature verified[^]*alert\.test/);
    const forged = await fetch(webhookUrl, { method: 'POST', body: '{}' });
    expect([forged.status, await shown()]).toEqual([404, expect.not.stringContaining('Rejected')]);
    const ca = await readFile(`${folder}/receiver-authority.pem`);
    const headersOf = {
      'webhook-id': '1',
      'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`,
      'webhook-signature': 'v1,AAAA',
    };
    const unsigned = request(`${webhookUrl.replace('http:', 'https:')}/alerts`, {
      method: 'POST',
      ca,
      headers: headersOf,
    });
    unsigned.end('<b>');
    const [refused] = (await once(unsigned, 'response')) as [IncomingMessage];
    refused.resume();
    expect([refused.statusCode, await shown()]).toEqual([401, expect.stringContaining('&lt;b&gt;')]);
  });

  ofOne('the log of the edge has a line for each request, which its answer names, and no query', async () => {
    const answer = await fetch(`${stack.description.oauthBaseUrl}/.well-known/smart-configuration?who=secret-name`);
    const requestId = answer.headers.get('x-request-id') ?? 'none';
    const log = () => readFile(`${folder}/edge.log`, 'utf8');
    await until('the request is logged', async () => (await log()).includes(requestId));
    const line = (await log()).split('\n').find((each) => each.includes(requestId));
    expect(JSON.parse(line ?? '')).toMatchObject({
      event: 'http.request',
      route: '/.well-known/smart-configuration',
      status: 200,
    });
    expect(await log()).not.toContain('secret-name');
  });

  test('the three printed commands work as printed', async () => {
    const commands = stack.output().match(/^ {2}(?:curl|npm) .*$/gm) ?? [];
    expect(commands).toHaveLength(3);
    const run = async (command: string): Promise<string> => {
      const env = { ...process.env, LOCAL_FOLDER: folder };
      const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd: ROOT, env });
      return stdout;
    };
    const [found, overHttp, overMllp] = [await run(commands[0]!), await run(commands[1]!), await run(commands[2]!)];
    expect((JSON.parse(found) as Bundle).entry?.[0]?.resource['name']).toMatchObject([{ family: 'Müller' }]);
    expect(overHttp).toMatch(/^MSA\|AA\|DEMO-ADT-1/m);
    expect(overMllp).toMatch(/^MSA\|AA\|DEMO-ORU-1/m);
  });

  ofOne('the commands of README, Quickstart, HL7 senders and FHIR clients work as printed', async () => {
    // README and the chapters share blocks.
    const blocks = new Set(ON_LOCAL_STACK.flatMap(commandsOf));
    const { fhirBaseUrl, webhookUrl, adminUrl, adminToken } = stack.description;
    const receiver = new URL(webhookUrl).host;
    const commands = [...blocks]
      .join('\n')
      .replaceAll('http://127.0.0.1:28080', fhirBaseUrl)
      .replaceAll('127.0.0.1:28086', receiver);
    const env = { ...process.env, LOCAL_FOLDER: folder };
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], { cwd: ROOT, env });
    for (const expected of ['Lovelace', 'Nightingale', 'MSA|AA|DEMO-ADT-1', 'MSA|AA|DEMO-ORU-1', 'transactionTime'])
      expect(stdout).toContain(expected);
    expect(stdout).toMatch(/^\{"resourceType":"Patient",.*Lovelace.*\}$/m);
    expect(stdout).not.toContain('OperationOutcome');
    expect(stdout).toContain('query-status');

    // The console can test it, send again, pause and resume. The receiver shows each post with a verified signature.
    const ask = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${adminUrl}/api/subscriptions${path}`, {
        method,
        headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return (await response.json()) as Record<string, unknown>;
    };
    const posts = async (type: string): Promise<number> => {
      const page = await (await fetch(webhookUrl)).text();
      const parts = page.split('<h2>').filter((part) => part.includes('/notifications</h2>'));
      expect(parts.filter((part) => part.includes('Rejected'))).toEqual([]);
      return parts.filter((part) => part.includes('Signature verified') && part.includes(`&quot;${type}&quot;`)).length;
    };
    const { items } = (await ask('GET', '')) as { items: { subscriptionId: string; delivered: number }[] };
    const [{ subscriptionId: id } = { subscriptionId: '' }] = items;
    const is = (expected: object) =>
      until(JSON.stringify(expected), async () => {
        const shown = await ask('GET', `/${id}`);
        return Object.entries(expected).every(([name, value]) => shown[name] === value);
      });
    expect(items).toHaveLength(1);
    expect(await ask('POST', `/${id}/test`)).toMatchObject({
      isDelivered: true,
      answer: '204',
      notification: 'heartbeat',
    });
    expect([await posts('handshake'), await posts('heartbeat')]).toEqual([1, 1]);
    const before = await posts('event-notification');
    expect(before).toBeGreaterThan(0);
    await ask('POST', `/${id}/resend`, { from: 1 });
    await until('the events arrive again', async () => (await posts('event-notification')) > before);
    expect(await ask('POST', `/${id}/pause`)).toMatchObject({ status: 'off' });
    expect(await ask('POST', `/${id}/resume`)).toMatchObject({ status: 'requested' });
    await is({ status: 'active' });
    expect(await posts('handshake')).toBe(2);
  });

  ofOne('discovery leads to a token, and metadata is public', async () => {
    const discovery = await fetch(`${stack.description.oauthBaseUrl}/.well-known/smart-configuration`);
    const document = (await discovery.json()) as Record<string, unknown>;
    expect(document['token_endpoint']).toBe(`${stack.description.oauthBaseUrl}/oauth2/token`);
    expect(document['token_endpoint_auth_methods_supported']).toEqual(['private_key_jwt']);
    const metadata = await fetch(`${stack.description.fhirBaseUrl}/fhir/metadata`);
    expect(metadata.status).toBe(200);
    const statement = (await metadata.json()) as {
      rest: { resource: { type: string; searchParam: { name: string }[] }[] }[];
    };
    expect(statement).toMatchObject({ resourceType: 'CapabilityStatement', fhirVersion: '4.0.1' });
    const ofPatient = statement.rest[0]?.resource.find(({ type }) => type === 'Patient')?.searchParam;
    // FHIR_SEARCH of the environment counts.
    expect(ofPatient?.map(({ name }) => name)).toContain('family');
  });

  test('a patient by FHIR, by HL7 over HTTP and by MLLP: all found by search, none by the other site', async () => {
    const created = await fhir('demo', 'Patient', {
      method: 'POST',
      body: JSON.stringify({
        resourceType: 'Patient',
        identifier: [{ value: 'E2E-1' }],
        name: [{ text: 'Ada Threeways' }],
        birthDate: '1970-12-31',
      }),
    });
    expect(created.status).toBe(201);
    expect(await (await hl7('demo-hl7', adt('E2E-A1', 'E2E-2', 'Threeways'))).text()).toMatch(/\rMSA\|AA\|E2E-A1/);
    expect(await sendMllp(stack, frame(adt('E2E-A2', 'E2E-3', 'Threeways')))).toMatch(/\rMSA\|AA\|E2E-A2/);

    const mine = await search('demo', 'Patient?name=threeways');
    expect(mine).toMatchObject({ resourceType: 'Bundle', type: 'searchset' });
    expect(mine.entry).toHaveLength(3);
    for (const { resource } of mine.entry ?? []) {
      expect((await fhir('demo', `Patient/${resource.id}`)).status).toBe(200);
      expect((await fhir('other', `Patient/${resource.id}`)).status).toBe(404);
    }
    expect((await search('other', 'Patient?name=threeways')).entry ?? []).toEqual([]);
    expect((await search('other', 'Patient?identifier=E2E-1,E2E-2,E2E-3')).entry ?? []).toEqual([]);
    expect((await search('demo', 'Patient?birthdate=1970-12-31&gender=female')).entry).toHaveLength(2);
  });

  ofOne('results by HL7 over both ways become Observations, digit for digit', async () => {
    expect(await (await hl7('demo-hl7', oru('E2E-R1', 'E2E-2', 'Threeways'))).text()).toMatch(/\rMSA\|AA\|E2E-R1/);
    expect(await sendMllp(stack, frame(oru('E2E-R2', 'E2E-2', 'Threeways')))).toMatch(/\rMSA\|AA\|E2E-R2/);
    const [patient] = (await search('demo', 'Patient?identifier=E2E-2')).entry ?? [];
    const found = await fhir(
      'demo',
      `Observation?patient=Patient/${patient?.resource.id}&code=http://loinc.org|2951-2`,
    );
    const text = await found.text();
    expect(text.match(/"value":140\.10[,}]/g)).toHaveLength(2);
    const elsewhere = await search('other', `Observation?patient=Patient/${patient?.resource.id}`);
    expect(elsewhere.entry ?? []).toEqual([]);
  });

  ofOne('decimals sent by FHIR come back digit for digit, and an update is a new version', async () => {
    const [patient] = (await search('demo', 'Patient?identifier=E2E-1')).entry ?? [];
    const observation = (value: string): string =>
      `{"resourceType":"Observation","status":"final","code":{"text":"weight"},` +
      `"subject":{"reference":"Patient/${patient?.resource.id}"},"valueQuantity":{"value":${value},"unit":"kg"}}`;
    const created = await fhir('demo', 'Observation', { method: 'POST', body: observation('1.50') });
    expect(created.status).toBe(201);
    expect(created.headers.get('etag')).toBe('W/"1"');
    const body = await created.text();
    expect(body).toContain('"value":1.50');
    const { id } = JSON.parse(body) as { id: string };
    const updated = await fhir('demo', `Observation/${id}`, {
      method: 'PUT',
      body: observation('1.500').replace('{', `{"id":"${id}",`),
    });
    expect(updated.status).toBe(200);
    expect(updated.headers.get('etag')).toBe('W/"2"');
    expect(await (await fhir('demo', `Observation/${id}`)).text()).toContain('"value":1.500');
  });

  ofOne('bad input has its documented answer, and none is a 500', async () => {
    const { oauthBaseUrl, fhirBaseUrl } = stack.description;
    const demo = client('demo');

    const forged = await requestToken(oauthBaseUrl, { ...demo, privateJwk: client('other').privateJwk });
    expect([forged.status, await forged.json()]).toMatchObject([401, { error: 'invalid_client' }]);
    const assertion = await clientAssertion(demo, `${oauthBaseUrl}/oauth2/token`);
    expect((await requestToken(oauthBaseUrl, demo, { client_assertion: assertion })).status).toBe(200);
    const replayed = await requestToken(oauthBaseUrl, demo, { client_assertion: assertion });
    expect([replayed.status, await replayed.json()]).toMatchObject([401, { error: 'invalid_client' }]);
    const elsewhere = await requestToken(
      oauthBaseUrl,
      demo,
      {},
      { claims: { aud: 'https://elsewhere.example/token' } },
    );
    expect(elsewhere.status).toBe(401);
    const disabled = await requestToken(oauthBaseUrl, client('demo-disabled'));
    expect([disabled.status, await disabled.json()]).toMatchObject([401, { error: 'invalid_client' }]);
    const notAllowed = await requestToken(oauthBaseUrl, demo, { audience: 'svc-hl7-http' });
    expect([notAllowed.status, await notAllowed.json()]).toMatchObject([400, { error: 'invalid_target' }]);

    const wrongAudience = await fetch(`${fhirBaseUrl}/fhir/Patient`, {
      headers: { Authorization: `Bearer ${await token('demo-hl7')}` },
    });
    expect(wrongAudience.status).toBe(401);
    expect(wrongAudience.headers.get('www-authenticate')).toContain('invalid_token');
    const readOnly = await getToken(oauthBaseUrl, demo, { scope: 'system/Patient.read' });
    const missingScope = await fetch(`${fhirBaseUrl}/fhir/Patient`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${readOnly}`, 'Content-Type': 'application/fhir+json' },
      body: '{"resourceType":"Patient"}',
    });
    expect(missingScope.status).toBe(403);
    expect(missingScope.headers.get('www-authenticate')).toContain('system/Patient.write');

    const outcomes: [number, Response][] = [
      [401, await fetch(`${fhirBaseUrl}/fhir/Patient`)],
      [400, await fhir('demo', 'Patient', { method: 'POST', body: '{"resourceType":' })],
      [404, await fhir('demo', 'Medication')],
      [405, await fhir('demo', 'Patient/01900000-0000-7000-8000-000000000000', { method: 'DELETE' })],
      [404, await fhir('demo', 'Patient/01900000-0000-7000-8000-000000000000')],
      [400, await fhir('demo', 'Patient?favourite-colour=blue')],
    ];
    for (const [status, response] of outcomes) {
      expect([response.status, await response.json()]).toMatchObject([status, { resourceType: 'OperationOutcome' }]);
    }

    const noHeader = await hl7('demo-hl7', 'PID|1||X\r');
    expect(noHeader.status).toBe(400);
    expect(await noHeader.text()).toMatch(/\rMSA\|AR\|/);
    expect(await sendMllp(stack, frame('PID|1||X\r'))).toMatch(/\rMSA\|AR\|/);
    // A frame cut short and then a whole one: only the whole one is answered.
    const broken = Buffer.concat([Buffer.from('\u000bMSH|^~\\&|CUT'), frame(adt('E2E-A3', 'E2E-4', 'Unbroken'))]);
    // oxlint-disable-next-line no-control-regex
    expect(await sendMllp(stack, broken)).toMatch(/^\u000bMSH[^\u000b]*\rMSA\|AA\|E2E-A3[^\u000b]*$/);
  });

  ofOne(
    'a second start finds its data; Ctrl-C stops every part, and so does SIGTERM to npm',
    async () => {
      expect(await stopStack(stack)).toBe(0);
      await assertPortsFree(stack.ports);
      stack = await startStack(edge, folder, stack.ports);
      expect((await search('demo', 'Patient?name=threeways')).entry).toHaveLength(3);
      expect(await stopStack(stack, 'SIGTERM')).toBe(0);
      await assertPortsFree(stack.ports);
    },
    START_TIMEOUT_MS,
  );
});
