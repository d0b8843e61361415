/**
 * The API reference at a separate host may call the surfaces at their hosts, and no other page may. The headers have the exact
 * origin, no wildcard and no credentials, also on refusals. The same on workerd and on Deno.
 */
import { request } from 'node:http';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import { type Gateway, ONE_RUNTIME, startGateway } from '../stack/tools/gateway.ts';

const DOCS = 'https://docs.example.org';
const HOSTS = {
  INTEGRATION_OAUTH_PUBLIC_BASE_URL: 'https://auth.example.org',
  INTEGRATION_FHIR_PUBLIC_BASE_URL: 'https://fhir.example.org/r4',
  INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: 'https://hl7.example.org',
  ADMIN_PUBLIC_BASE_URL: 'https://console.example.org',
};
/** Pages that are not the reference, some of which look like it. */
const NEIGHBOURS = [
  'https://console.example.org',
  'https://fhir.example.org',
  'http://docs.example.org',
  'https://docs.example.org:8443',
  'https://docs.example.org.evil.example',
  'https://evil.example',
  'https://DOCS.example.org',
  'https://docs.example.org/',
  'null',
];

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface Asked {
  readonly host: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const SURFACES: readonly Asked[] = [
  { host: 'auth.example.org', path: '/oauth2/token', method: 'POST' },
  { host: 'auth.example.org', path: '/oauth2/introspect', method: 'POST' },
  { host: 'auth.example.org', path: '/oauth2/refusals', method: 'GET' },
  { host: 'fhir.example.org', path: '/r4/fhir/Patient', method: 'GET' },
  { host: 'fhir.example.org', path: '/r4/fhir/Patient', method: 'POST' },
  { host: 'fhir.example.org', path: '/r4/fhir', method: 'POST' },
  { host: 'fhir.example.org', path: '/r4/fhir/$export', method: 'GET' },
  { host: 'fhir.example.org', path: '/r4/fhir/Nothing/1', method: 'GET' },
  { host: 'hl7.example.org', path: '/hl7/messages', method: 'POST' },
];
const corsHeaders = ({ headers }: Answer) => Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describe.each(ONE_RUNTIME)('the API reference at a separate host, on %s', (runtime) => {
  let database: TestDatabase;
  let gateway: Gateway;

  const ask = ({ host, path, method = 'GET', headers = {} }: Asked): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: gateway.port, path, method, headers: { ...headers, host } };
      const outgoing = request(options, (response) => {
        response.resume();
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
      });
      outgoing.on('error', reject);
      outgoing.end();
    });

  beforeAll(async () => {
    database = await createTestDatabase();
    gateway = await startGateway({ runtime, database, env: { ...HOSTS, INTEGRATION_DOCS_URL: `${DOCS}/docs` } });
  });
  afterAll(async () => {
    await gateway.stop();
    await database.drop();
  });

  test('it is at its host and at the console’s host, at no other, and its host has no other surface', async () => {
    const statusOf = async (host: string, path: string) => (await ask({ host, path })).status;
    expect(await statusOf('docs.example.org', '/docs')).toBe(200);
    expect(await statusOf('docs.example.org', '/docs/openapi.json')).toBe(200);
    expect(await statusOf('console.example.org', '/docs')).toBe(200);
    expect(await statusOf('console.example.org', '/docs/admin')).toBe(200);
    const moved = await ask({ host: 'docs.example.org', path: '/docs/admin' });
    expect([moved.status, moved.headers['location']]).toEqual([307, 'https://console.example.org/docs/admin']);
    expect(await statusOf('fhir.example.org', '/docs')).toBe(404);
    expect(await statusOf('docs.example.org', '/admin')).toBe(404);
    expect(await statusOf('docs.example.org', '/r4/fhir/metadata')).toBe(404);
    const page = await ask({ host: 'docs.example.org', path: '/docs' });
    expect(page.headers['content-security-policy']).toContain(
      "connect-src 'self' https://auth.example.org https://fhir.example.org https://hl7.example.org;",
    );
    const administration = await ask({ host: 'console.example.org', path: '/docs/admin' });
    expect(administration.headers['content-security-policy']).toContain("connect-src 'self';");
  });

  test('its page may call, may read refusals, and a preflight lists the allowed headers', async () => {
    for (const surface of SURFACES) {
      const refused = await ask({ ...surface, headers: { origin: DOCS } });
      const where = `${surface.method} ${surface.path}`;
      expect(refused.status, where).toBeGreaterThanOrEqual(400);
      expect(refused.headers, where).toMatchObject({ 'access-control-allow-origin': DOCS });
      expect(refused.headers['vary'], where).toMatch(/\bOrigin\b/);
      expect(refused.headers['access-control-expose-headers'], where).toContain('WWW-Authenticate');
      const preflight = await ask({
        ...surface,
        method: 'OPTIONS',
        headers: {
          origin: DOCS,
          'access-control-request-method': surface.method ?? '',
          'access-control-request-headers': 'authorization,if-match',
        },
      });
      expect(preflight.status, where).toBe(204);
      expect(preflight.headers, where).toMatchObject({ 'access-control-allow-origin': DOCS });
      expect(preflight.headers['access-control-allow-methods'], where).toContain(surface.method);
      expect(preflight.headers['access-control-allow-headers'], where).toMatch(/Authorization.*If-Match/);
      expect(preflight.headers['vary'], where).toMatch(/\bOrigin\b/);
      for (const { headers } of [refused, preflight]) {
        expect(headers, where).not.toHaveProperty('access-control-allow-credentials');
      }
    }
  });

  test.each(NEIGHBOURS)('a page at %s gets no CORS headers', async (origin) => {
    for (const surface of SURFACES) {
      const where = `${surface.method} ${surface.path}`;
      const refused = await ask({ ...surface, headers: { origin } });
      expect(corsHeaders(refused), where).toEqual([]);
      expect(refused.headers['vary'], where).toMatch(/\bOrigin\b/);
      const headers = { origin, 'access-control-request-method': surface.method ?? '' };
      expect(corsHeaders(await ask({ ...surface, method: 'OPTIONS', headers })), where).toEqual([]);
    }
  });

  test('public documents stay readable for all origins, and the console answers no other origin, the reference’s neither', async () => {
    for (const [host, path] of [
      ['auth.example.org', '/.well-known/smart-configuration'],
      ['fhir.example.org', '/r4/fhir/metadata'],
    ] as const) {
      for (const origin of [DOCS, 'https://evil.example']) {
        const { status, headers } = await ask({ host, path, headers: { origin } });
        expect([status, headers['access-control-allow-origin']]).toEqual([200, '*']);
      }
    }
    for (const origin of [DOCS, 'https://evil.example']) {
      for (const method of ['GET', 'OPTIONS']) {
        const headers = { origin, 'access-control-request-method': 'GET' };
        const asked = await ask({ host: 'console.example.org', path: '/admin/api/api-keys', method, headers });
        expect(corsHeaders(asked)).toEqual([]);
      }
    }
  });
});
