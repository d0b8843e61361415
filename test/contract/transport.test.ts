/**
 * Headers of every answer on any surface, and the root of an address. Further cases are requests that arrive slowly, break off,
 * or contain bytes that no database accepts. The same on workerd and on Deno.
 */
import { request } from 'node:http';
import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { startConsole, type TestConsole } from '../stack/tools/console.ts';
import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import { type Gateway, type Runtime, RUNTIMES, startGateway } from '../stack/tools/gateway.ts';
import { withinOneMinute } from '../stack/tools/one-minute.ts';

/** One of each kind: documents, refusals, errors, pages, files, and an address outside all surfaces. */
const EVERYWHERE: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/.well-known/smart-configuration'],
  ['POST', '/oauth2/token'],
  ['GET', '/oauth2/nothing'],
  ['GET', '/fhir/metadata'],
  ['GET', '/fhir/Patient'],
  ['DELETE', '/fhir/Patient/1'],
  ['POST', '/hl7/messages'],
  ['GET', '/hl7/nothing'],
  ['GET', '/admin'],
  ['GET', '/admin/signed-out'],
  ['GET', '/admin/api/api-keys'],
  ['GET', '/admin/assets/console.css'],
  ['POST', '/admin/back-channel-logout'],
  ['GET', '/docs'],
  ['GET', '/docs/openapi.json'],
  ['POST', '/internal/mllp'],
  ['GET', '/healthz'],
  ['GET', '/'],
  ['GET', '/nothing'],
];

const HOST = 'gateway.example.org';

/** With the Host of a deployment. */
function ask(gateway: Gateway, method: string, path: string, host = HOST) {
  return new Promise<{ status: number; headers: Readonly<Record<string, unknown>>; body: string }>(
    (resolve, reject) => {
      const outgoing = request(
        { host: '127.0.0.1', port: gateway.port, path, method, headers: { host } },
        (response) => {
          let body = '';
          response.on('data', (chunk) => (body += String(chunk)));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
        },
      );
      outgoing.on('error', reject);
      outgoing.end();
    },
  );
}

/** A connection that sends the head of a request and a part of its body. */
function begin({ port }: Gateway, path: string, requestId: string, headers = '') {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += String(chunk)));
  socket.on('error', () => undefined);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Request-Id: ${requestId}\r\n${headers}` +
      'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ngrant_type=',
  );
  return { socket, answer: () => answer };
}

interface Started {
  readonly db: TestDatabase;
  readonly stack: TestConsole;
  /** Begun first of all: it takes 30 s, which pass while the rest is asked. */
  readonly slow: ReturnType<typeof begin>;
}
const started = new Map<Runtime, Started>();

beforeAll(async () => {
  await Promise.all(
    RUNTIMES.map(async (runtime) => {
      const db = await createTestDatabase();
      const site = await createSite(db.client);
      const stack = await startConsole(runtime, db, site, { rateLimits: { adminPerAddress: 40 } });
      started.set(runtime, { db, stack, slow: begin(stack.gateway, '/oauth2/token', 'much-too-slow') });
    }),
  );
});
afterAll(async () => {
  for (const { db, stack, slow } of started.values()) {
    slow.socket.destroy();
    await stack.stop();
    await db.drop();
  }
});

describe.each(RUNTIMES)('on %s', (runtime) => {
  let db: TestDatabase;
  let stack: TestConsole;
  let slow: Started['slow'];

  beforeAll(() => {
    const own = started.get(runtime);
    if (own === undefined) throw new Error(`${runtime} has not started`);
    ({ db, stack, slow } = own);
  });

  test('no browser sniffs the type of an answer; with https addresses every answer has HSTS for a year, else none', async () => {
    const base = `https://${HOST}`;
    const gateway = await startGateway({
      runtime,
      database: db,
      env: {
        INTEGRATION_OAUTH_PUBLIC_BASE_URL: base,
        INTEGRATION_FHIR_PUBLIC_BASE_URL: base,
        INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: base,
        ADMIN_PUBLIC_BASE_URL: base,
        INTEGRATION_DOCS_URL: `${base}/docs`,
        ADMIN_OIDC_ISSUER: stack.oidc.issuer,
        ADMIN_OIDC_CLIENT_ID: 'console',
      },
    });
    try {
      for (const [method, path] of EVERYWHERE) {
        const { status, headers } = await ask(gateway, method, path);
        const seen = [headers['x-content-type-options'], headers['strict-transport-security']];
        expect(seen, `${method} ${path} ${status}`).toEqual(['nosniff', 'max-age=31536000']);
        const plain = await ask(stack.gateway, method, path, new URL(stack.baseUrl).host);
        const own = [plain.headers['x-content-type-options'], plain.headers['strict-transport-security']];
        expect(own, `${method} ${path} ${plain.status}`).toEqual(['nosniff', undefined]);
      }
      expect(gateway.logs().join('\n')).not.toContain('plain-http');
    } finally {
      await gateway.kill();
    }
  });

  test('addresses without TLS are logged as a warning, except loopback', async () => {
    const gateway = await startGateway({
      runtime,
      database: db,
      env: {
        INTEGRATION_OAUTH_PUBLIC_BASE_URL: 'https://auth.example.org',
        INTEGRATION_FHIR_PUBLIC_BASE_URL: 'http://fhir.example.org',
      },
    });
    try {
      await ask(gateway, 'GET', '/healthz');
      const line = await until('the warning', () => gateway.logs().find((each) => each.includes('"plain-http"')));
      expect(JSON.parse(line)).toMatchObject({ level: 'warn', problems: ['INTEGRATION_FHIR_PUBLIC_BASE_URL'] });
    } finally {
      await gateway.kill();
    }
  });

  test('the root of an address lists its surfaces, and an unknown address is 404 with a text', async () => {
    const root = await fetch(`${stack.gateway.url}/`);
    expect([root.status, await root.json()]).toMatchObject([
      200,
      { surfaces: expect.arrayContaining([{ name: 'FHIR R4', start: `${stack.gateway.url}/fhir/metadata` }]) },
    ]);
    for (const path of ['/nothing', '/oauth2', '/fhir/nothing/here', '/hl7', '/admin/nothing', '/docs/nothing']) {
      const answer = await fetch(`${stack.gateway.url}${path}`);
      expect([answer.status, await answer.text()], path).toEqual([
        404,
        expect.stringMatching(/nothing at this|no page at this|does not exist/),
      ]);
    }
  });

  test('a request about a token without a client has not authenticated', async () => {
    for (const path of ['/oauth2/introspect', '/oauth2/revoke']) {
      const plain = await fetch(`${stack.gateway.url}${path}`, {
        method: 'POST',
        body: new URLSearchParams({ token: 'x' }),
      });
      expect([plain.status, await plain.json()], path).toMatchObject([401, { error: 'invalid_client' }]);
      expect(plain.headers.get('www-authenticate')).toBeNull();
      const basic = await fetch(`${stack.gateway.url}${path}`, {
        method: 'POST',
        body: new URLSearchParams({ token: 'x' }),
        headers: { authorization: 'Basic eDp5' },
      });
      expect([basic.status, await basic.json()], path).toMatchObject([401, { error: 'invalid_client' }]);
    }
  });

  test('NUL in an address of the console is rejected before any query', async () => {
    const headers = { authorization: `Bearer ${await stack.oidc.adminToken()}` };
    for (const path of [
      '/admin/api/api-keys/%00',
      '/admin/api/api-keys/%00/refusals',
      '/admin/api/api-keys/svc-%00/changes',
      '/admin/api/api-keys?q=%00',
      '/admin/api/messages?q=a%00b',
      '/admin/api/messages?clientId=%00',
      '/admin/api/messages?type=%00',
      '/admin/keys?q=%00',
    ]) {
      const before = db.endpoint.requests();
      expect((await fetch(`${stack.baseUrl}${path}`, { headers })).status, path).toBe(400);
      expect(db.endpoint.requests() - before).toBe(0);
    }
    const created = await fetch(`${stack.baseUrl}/admin/api/api-keys`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'a\0b', status: 'active', tokenTtlSeconds: 300, jwks: { keys: [] } }),
    });
    expect(created.status).toBe(422);
  });

  const logged = (requestId: string) => stack.gateway.logs().filter((line) => line.includes(requestId));

  test('a caller that leaves in the middle of a body causes no fault of the gateway', async () => {
    const { socket } = begin(stack.gateway, '/oauth2/token', 'left-in-the-middle');
    await db.client.query('select 1');
    socket.destroy();
    const after = begin(stack.gateway, '/oauth2/token', 'one-that-follows');
    after.socket.destroy();
    // A runtime need not report that a caller has left. If it does, this is not a bug.
    await fetch(`${stack.gateway.url}/healthz`);
    const lines = [...logged('left-in-the-middle'), ...logged('one-that-follows')].join('\n');
    expect(lines).not.toMatch(/"event":"bug"|"level":"error"/);
  });

  test('a form without a session cookie that the gateway sealed is rejected before its body is read', async () => {
    const { origin } = new URL(stack.baseUrl);
    for (const [what, cookie] of [
      ['without-a-cookie', ''],
      ['with-a-forged-cookie', 'Cookie: __Host-gateway-session=a.b.c.d.e\r\n'],
    ] as const) {
      for (const path of ['/admin/keys', '/admin/names', '/admin/workbench/message']) {
        const sent = begin(stack.gateway, path, `${what}-${path.split('/')[2]}`, `Origin: ${origin}\r\n${cookie}`);
        await until('the answer', () => sent.answer().includes('\r\n\r\n'), 20_000);
        expect(sent.answer(), `${what} ${path}`).toMatch(/^HTTP\/1\.1 401 /);
        expect(sent.answer()).not.toContain('Send it again');
        sent.socket.destroy();
      }
    }
  });

  test('readiness checks the database at most once a second, for any number of requests', async () => {
    const [before, since] = [db.endpoint.requests(), Date.now()];
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, n) => fetch(`${stack.baseUrl}${n % 2 === 0 ? '' : '/..'}/readyz`)),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }
    const seconds = Math.ceil((Date.now() - since) / 1000);
    expect(db.endpoint.requests() - before).toBeLessThanOrEqual(seconds + 5);
  });

  test('a body that does not come within 30 s is 408', async () => {
    await until('the answer', () => slow.answer().includes('invalid_request'), 90_000);
    expect(slow.answer()).toMatch(/^HTTP\/1\.1 408 /);
    expect(slow.answer()).toMatch(/\r\nconnection: close\r\n/i);
    expect(logged('much-too-slow').join('\n')).not.toMatch(/"event":"bug"/);
  });

  test('one address may ask the console so often, signed in or not; its files are not counted', async () => {
    await withinOneMinute(async () => {
      const answers = new Set<number>();
      for (let i = 0; i < 45; i += 1) answers.add((await fetch(`${stack.baseUrl}/admin/signed-out`)).status);
      const over = await fetch(`${stack.baseUrl}/admin/sign-in`, { redirect: 'manual' });
      expect([answers.has(429), over.status, over.headers.get('retry-after')]).toEqual([true, 429, '60']);
      expect((await fetch(`${stack.baseUrl}/admin/api/endpoints`)).status).toBe(429);
    });
    expect((await fetch(`${stack.baseUrl}/admin/assets/console.css`)).status).toBe(200);
    expect((await fetch(`${stack.gateway.url}/fhir/metadata`)).status).toBe(200);
  });
});
