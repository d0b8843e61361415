/**
 * The addresses of each surface: below its base URL and nowhere else, with a path prefix and with separate hosts. A surface
 * that is not configured says so in its error format. The same on workerd and on Deno.
 */
import { request } from 'node:http';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { getToken } from '../stack/services/client.ts';
import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import { type Gateway, ONE_RUNTIME, startGateway } from '../stack/tools/gateway.ts';
import { until } from '../stack/services/until.ts';
import { type ApiKey, createApiKey, createSite } from '../stack/services/seed.ts';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly requestId: string;
  readonly body: string;
}

/** A request with a Host header of our choice, as a proxy or DNS would bring it. */
function ask(gateway: Gateway, path: string, host?: string, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = host === undefined ? {} : { host };
    const outgoing = request({ host: '127.0.0.1', port: gateway.port, path, method, headers }, (response) => {
      let body = '';
      response.on('data', (chunk) => (body += String(chunk)));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          requestId: String(response.headers['x-request-id'] ?? ''),
          body,
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

describe.each(ONE_RUNTIME)('surfaces on %s', (runtime) => {
  let database: TestDatabase;
  let key: ApiKey;
  const running: Gateway[] = [];

  const start = async (options: { prefix?: string; env?: Record<string, string> }): Promise<Gateway> => {
    const gateway = await startGateway({ runtime, database, ...options });
    running.push(gateway);
    return gateway;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    key = await createApiKey(database.client, { site: await createSite(database.client) });
  });
  afterAll(async () => {
    for (const gateway of running) await gateway.stop();
    await database.drop();
  });

  test('a path prefix: every path is below it, none without it, and every URL has it', async () => {
    const gateway = await start({ prefix: '/gateway' });
    const discovery = JSON.parse((await ask(gateway, '/gateway/.well-known/smart-configuration')).body) as object;
    expect(discovery).toMatchObject({
      issuer: `${gateway.url}/gateway`,
      token_endpoint: `${gateway.url}/gateway/oauth2/token`,
    });
    expect((await ask(gateway, '/gateway/fhir/.well-known/smart-configuration')).status).toBe(200);
    expect((await ask(gateway, '/.well-known/smart-configuration')).status).toBe(404);
    expect((await ask(gateway, '/fhir/metadata')).status).toBe(404);
    expect((await ask(gateway, '/gatewayfhir/metadata')).status).toBe(404);
    expect((await ask(gateway, '/gateway/healthz')).status).toBe(200);
    expect(JSON.parse((await ask(gateway, '/gateway/readyz')).body)).toMatchObject({ status: 'ready' });

    const token = await getToken(gateway.oauthBaseUrl, key);
    const created = await fetch(`${gateway.fhirBaseUrl}/fhir/Patient`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/fhir+json' },
      body: '{"resourceType":"Patient"}',
    });
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/gateway\/fhir\/Patient\/[0-9a-f-]+\/_history\/1$/,
    );
  });

  test('different hosts: each answers for its surfaces only, with or without a path prefix', async () => {
    const gateway = await start({
      env: {
        INTEGRATION_OAUTH_PUBLIC_BASE_URL: 'https://auth.example.org',
        INTEGRATION_FHIR_PUBLIC_BASE_URL: 'https://fhir.example.org/r4',
        INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: 'https://hl7.example.org',
      },
    });
    expect((await ask(gateway, '/.well-known/smart-configuration', 'auth.example.org')).status).toBe(200);
    expect((await ask(gateway, '/r4/fhir/metadata', 'fhir.example.org')).status).toBe(200);
    expect((await ask(gateway, '/hl7/messages', 'hl7.example.org', 'POST')).status).toBe(401);
    expect((await ask(gateway, '/.well-known/smart-configuration', 'fhir.example.org')).status).toBe(404);
    expect((await ask(gateway, '/r4/fhir/metadata', 'auth.example.org')).status).toBe(404);
    expect((await ask(gateway, '/hl7/messages', 'auth.example.org', 'POST')).status).toBe(404);
    expect((await ask(gateway, '/fhir/metadata', 'evil.example')).status).toBe(404);
    const metadata = await ask(gateway, '/r4/fhir/metadata', 'fhir.example.org');
    expect(metadata.body).toContain('https://fhir.example.org/r4/fhir');
    for (const host of ['auth.example.org', 'fhir.example.org', 'hl7.example.org']) {
      expect((await ask(gateway, '/healthz', host)).status).toBe(200);
    }
  });

  test('a surface that is not configured answers 503 in its format, and the others work', async () => {
    const gateway = await start({
      env: { INTEGRATION_FHIR_PUBLIC_BASE_URL: '', INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: '' },
    });
    const fhir = await ask(gateway, '/fhir/Patient');
    expect([fhir.status, fhir.type]).toMatchObject([503, expect.stringContaining('application/fhir+json')]);
    expect(JSON.parse(fhir.body)).toMatchObject({ resourceType: 'OperationOutcome' });
    const hl7 = await ask(gateway, '/hl7/messages', undefined, 'POST');
    expect(hl7.status).toBe(503);
    expect(hl7.body).not.toContain('MSA|');
    expect((await ask(gateway, '/.well-known/smart-configuration')).status).toBe(200);
    const none = await start({ env: { INTEGRATION_OAUTH_PUBLIC_BASE_URL: '' } });
    const oauth = await ask(none, '/oauth2/token', undefined, 'POST');
    expect([oauth.status, JSON.parse(oauth.body)]).toMatchObject([503, { error: expect.any(String) }]);
  });

  test('a harmless request id is returned, another is replaced, and none is missing', async () => {
    const [gateway] = running;
    if (gateway === undefined) throw new Error('no gateway');
    const url = `${gateway.url}/gateway/.well-known/smart-configuration`;
    const given = await fetch(url, { headers: { 'X-Request-Id': 'proxy-12345678' } });
    expect(given.headers.get('x-request-id')).toBe('proxy-12345678');
    const odd = await fetch(url, { headers: { 'X-Request-Id': '<script>alert(1)</script>' } });
    expect(odd.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    for (const path of ['/gateway/oauth2/token', '/gateway/fhir/Nothing', '/gateway/hl7/nothing']) {
      expect((await ask(gateway, path)).requestId).not.toBe('');
    }
  });
});

test.each([
  ['127.0.0.0/8', '192.0.2.1'],
  ['', '127.0.0.1'],
])('on Deno, with TRUSTED_PROXIES "%s", a caller behind a proxy is %s', async (proxies, expected) => {
  const database = await createTestDatabase();
  const gateway = await startGateway({ runtime: 'deno', database, env: { TRUSTED_PROXIES: proxies } });
  try {
    const form = new URLSearchParams({ grant_type: 'password' });
    const headers = { 'X-Forwarded-For': '198.51.100.1, 192.0.2.1', 'X-Request-Id': 'behind-a-proxy' };
    await fetch(`${gateway.oauthBaseUrl}/oauth2/token`, { method: 'POST', body: form, headers });
    const line = await until('the refusal is logged', () =>
      gateway.logs().find((each) => each.includes('"event":"token.refused"') && each.includes('behind-a-proxy')),
    );
    expect(JSON.parse(line)).toMatchObject({ sourceAddress: expected });
  } finally {
    await gateway.stop();
    await database.drop();
  }
});
