/** The JSON API of the console (edge/docs/behaviour.md, Administration), over HTTP. */
import { randomUUID } from 'node:crypto';

import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, test } from 'vitest';

import { makeKeyPair } from '../stack/services/key-pair.ts';
import { type ConsoleSite, useConsole } from '../stack/tools/console-site.ts';
import { getToken, requestToken } from '../stack/services/client.ts';
import { PERMISSIONS } from '../stack/services/oidc-accounts.ts';
import { createApiKey } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly { readonly field: string; readonly detail: string }[];
}

const keyPair = (alg?: string) => makeKeyPair({ kid: randomUUID(), use: 'sig' }, alg);

describe.each(ONE_RUNTIME)('the JSON API on %s', (runtime) => {
  const at = useConsole(runtime, { site: { name: 'North' }, otherSite: { name: 'South' } });

  const call: ConsoleSite['api'] = (...call) => at.api(...call);

  const json = async <T>(response: Response): Promise<T> => (await response.json()) as T;

  const newKey = async (members: object = {}) => ({
    name: 'Laboratory',
    jwks: { keys: [(await keyPair()).publicJwk] },
    tokenTtlSeconds: 300,
    allowedScopes: 'system/Patient.read, system/Patient.write',
    ...members,
  });

  interface Key {
    readonly clientId: string;
    readonly version: number;
    readonly status: string;
    readonly protocols: readonly string[];
    readonly [member: string]: unknown;
  }

  const create = async (members: object = {}): Promise<Key> => {
    const response = await call('POST', '/api-keys', await newKey(members));
    expect(response.status, await response.clone().text()).toBe(201);
    return json<Key>(response);
  };

  const refused = async (members: object): Promise<string[]> => {
    const response = await call('POST', '/api-keys', { ...(await newKey()), ...members });
    expect([response.status, response.headers.get('content-type')]).toEqual([422, 'application/problem+json']);
    const problem = await json<Problem>(response);
    return (problem.errors ?? []).map(({ field, detail }) => `${field}: ${detail}`);
  };

  describe('creating a key', () => {
    test('answers 201 with its Client ID, address and version, and the findings for its JWKS', async () => {
      const response = await call('POST', '/api-keys', await newKey());
      expect(response.status).toBe(201);
      const key = await json<Key>(response);
      expect(key.clientId).toMatch(/^svc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(response.headers.get('location')).toBe(`${at.baseUrl}/admin/api/api-keys/${key.clientId}`);
      expect(response.headers.get('etag')).toBe('"1"');
      expect(key).toMatchObject({
        name: 'Laboratory',
        status: 'active',
        jwksUri: null,
        tokenTtlSeconds: 300,
        allowedScopes: ['system/Patient.read', 'system/Patient.write'],
        allowedAudiences: [],
        protocols: ['fhir'],
        allowedIps: [],
        hl7SenderApplication: null,
        hl7SenderFacility: null,
        version: 1,
        jwksFindings: { unreachable: null, keys: [{ type: 'EC P-256', size: 256, use: 'sig', usable: true }] },
      });
      const read = await fetch(response.headers.get('location') ?? '', {
        headers: { Authorization: `Bearer ${at.token}` },
      });
      expect(read.status).toBe(200);
      const { jwksFindings: _, ...record } = key;
      expect(await read.json()).toEqual(record);
    });

    test('issues tokens for the new key immediately', async () => {
      const { publicJwk, privateJwk } = await keyPair('ES384');
      const { clientId } = await create({ jwks: JSON.stringify({ keys: [publicJwk] }) });
      await expect(getToken(at.gateway.oauthBaseUrl, { clientId, privateJwk })).resolves.toMatch(/^ey/);
    });

    test.each([
      ['neither JWKS', { jwks: null }, /^jwksUri: .*\njwks: /],
      ['both', { jwksUri: 'https://keys.example.com/jwks.json' }, /^jwksUri: .*\njwks: /],
      ['a JWKS that is not JSON', { jwks: 'x' }, /^jwks: it is not valid JSON/],
      ['a JWKS without keys', { jwks: { keys: [] } }, /^jwks: it has no keys/],
      ['a shared secret', { jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }, /jwks: .*shared secret/],
      ['a TTL below 60', { tokenTtlSeconds: 59 }, /^tokenTtlSeconds: /],
      ['a TTL over 3600', { tokenTtlSeconds: 3601 }, /^tokenTtlSeconds: /],
      ['a TTL that is not an integer', { tokenTtlSeconds: 60.5 }, /^tokenTtlSeconds: /],
      ['a TTL as text', { tokenTtlSeconds: '300' }, /^tokenTtlSeconds: /],
      ['no TTL', { tokenTtlSeconds: undefined }, /^tokenTtlSeconds: is required/],
      ['no name', { name: ' ' }, /^name: is required/],
      ['another status', { status: 'paused' }, /^status: /],
      ['an unknown scope', { allowedScopes: ['fhir.read'] }, /^allowedScopes: "fhir.read" is not a scope/],
      ['an unknown audience', { allowedAudiences: 'svc-fhir,svc-x' }, /^allowedAudiences: "svc-x"/],
      ['an unknown protocol', { protocols: ['fax'] }, /^protocols: "fax"/],
      ['a bad address', { allowedIps: '10.0.0.256' }, /^allowedIps: /],
      ['a bad range', { allowedIps: ['10.0.0.0/33'] }, /^allowedIps: /],
      ['MLLP without addresses', { protocols: ['hl7-mllp'] }, /^allowedIps: /],
      ['http', { jwks: null, jwksUri: 'http://keys.example.com/jwks.json' }, /^jwksUri: it must be https/],
      ['an address', { jwks: null, jwksUri: 'https://127.0.0.1/jwks.json' }, /^jwksUri: /],
      ['localhost', { jwks: null, jwksUri: 'https://localhost/jwks.json' }, /^jwksUri: /],
      ['a member of the gateway', { clientId: 'svc-x' }, /^clientId: is set by the gateway/],
      ['an unknown member', { tokenTtl: 1 }, /^tokenTtl: is unknown/],
    ])('rejects %s by the name of the field', async (_, members, expected) => {
      expect((await refused(members)).join('\n')).toMatch(expected);
    });

    test('names every field that is wrong at once', async () => {
      const errors = await refused({ name: '', tokenTtlSeconds: 1, allowedScopes: 'x', protocols: ['y'] });
      expect(errors.map((line) => line.split(':')[0])).toEqual([
        'name',
        'tokenTtlSeconds',
        'allowedScopes',
        'protocols',
      ]);
    });

    test('rejects a private key and explains what to do', async () => {
      const { privateJwk } = await keyPair();
      expect((await refused({ jwks: { keys: [privateJwk] } })).join()).toMatch(/PRIVATE key.*compromised/);
    });

    test('rejects weak or malformed RSA keys', async () => {
      const short = await generateKeyPair('RS256', { modulusLength: 2048, extractable: true });
      const jwk = await exportJWK(short.publicKey);
      expect((await refused({ jwks: { keys: [{ ...jwk, n: (jwk.n ?? '').slice(0, 168) }] } })).join()).toMatch(
        /too few/,
      );
      expect((await refused({ jwks: { keys: [{ ...jwk, e: 'AQ' }] } })).join()).toMatch(/exponent/);
    });

    test('rejects a key that another client has, of any site, by inline or by the same request', async () => {
      const { publicJwk } = await keyPair();
      await create({ jwks: { keys: [publicJwk] } });
      const other = { ...publicJwk, kid: 'renamed' };
      expect((await refused({ jwks: { keys: [other] } })).join()).toMatch(
        /"renamed" already belongs to another API key/,
      );
    });

    test('keeps a JWKS URI of an unreachable host, with a warning', async () => {
      const key = await create({ jwks: null, jwksUri: 'https://keys.gateway-test.example/jwks.json' });
      expect(key).toMatchObject({ jwks: null, jwksUri: 'https://keys.gateway-test.example/jwks.json' });
      expect(key['jwksFindings']).toMatchObject({ unreachable: expect.any(String), keys: [] });
    });

    test.each(['\\u0000', '\\ud800'])(
      'refuses %s, which PostgreSQL cannot store as text, in every field',
      async (escape) => {
        const key = JSON.stringify(await newKey());
        for (const body of [
          `{"name":"A${escape}"}`,
          `{"${escape}":1}`,
          key.replace('"Laboratory"', `"Lab${escape}"`),
          key.replace('"keys":[{', `"keys":[{"x5t":"${escape}",`),
        ]) {
          expect((await call('POST', '/api-keys', body)).status, body).toBe(422);
        }
        const replay = { apply: 'nothing', comment: JSON.parse(`"${escape}"`) };
        expect((await call('POST', '/replays', replay)).status).toBe(422);
      },
    );

    test('rejects a body that is not JSON, has another type, or is too large', async () => {
      expect((await call('POST', '/api-keys', '{')).status).toBe(400);
      expect((await call('POST', '/api-keys', '{"name":1,"name":2}')).status).toBe(400);
      expect((await call('POST', '/api-keys', '[]')).status).toBe(422);
      expect((await call('POST', '/api-keys', 'name=a', { 'Content-Type': 'text/plain' })).status).toBe(415);
      expect((await call('POST', '/api-keys', JSON.stringify({ name: 'x'.repeat(300_000) }))).status).toBe(413);
    });
  });

  describe('changing a key', () => {
    test('needs If-Match, and overwrites no version that was not read', async () => {
      const { clientId } = await create();
      const path = `/api-keys/${clientId}`;
      expect((await call('PATCH', path, { name: 'A' })).status).toBe(428);
      expect((await call('PATCH', path, { name: 'A' }, { 'If-Match': 'nonsense' })).status).toBe(400);
      const first = await call('PATCH', path, { name: 'A' }, { 'If-Match': '"1"' });
      expect([first.status, first.headers.get('etag')]).toEqual([200, '"2"']);
      const second = await call('PATCH', path, { name: 'B' }, { 'If-Match': '"1"' });
      expect([second.status, (await json<Problem>(second)).status]).toEqual([412, 412]);
      expect(await json<Key>(await call('GET', path))).toMatchObject({ name: 'A', version: 2 });
      expect((await call('PATCH', path, { name: 'C' }, { 'If-Match': '*' })).status).toBe(200);
    });

    test('applies one of several simultaneous changes to the same version', async () => {
      const { clientId } = await create();
      const names = Array.from({ length: 8 }, (_, at) => `Name ${at}`);
      const answers = await Promise.all(
        names.map((name) => call('PATCH', `/api-keys/${clientId}`, { name }, { 'If-Match': '"1"' })),
      );
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
        200,
        ...Array.from({ length: 7 }, () => 412),
      ]);
    });

    test('is checked as a complete key: null removes a member, and the result must be valid', async () => {
      const { clientId } = await create({ hl7SenderApplication: 'LAB' });
      const change = (members: object) => call('PATCH', `/api-keys/${clientId}`, members, { 'If-Match': '*' });
      expect((await change({ jwks: null })).status).toBe(422);
      expect((await change({ jwksUri: 'https://keys.gateway-test.example/jwks.json' })).status).toBe(422);
      expect((await change({ protocols: [] })).status).toBe(422);
      expect((await change({ tokenTtlSeconds: 10 })).status).toBe(422);
      const cleared = await change({
        hl7SenderApplication: null,
        jwks: null,
        jwksUri: 'https://keys.gateway-test.example/jwks.json',
      });
      expect(await json<Key>(cleared)).toMatchObject({ hl7SenderApplication: null, jwks: null, version: 2 });
    });

    test('without a difference makes no version', async () => {
      const { clientId } = await create();
      const same = await call('PATCH', `/api-keys/${clientId}`, { name: 'Laboratory' }, { 'If-Match': '"1"' });
      expect(await json<Key>(same)).toMatchObject({ version: 1 });
    });

    test('accepts a public key for another API key after this key has removed it', async () => {
      const { publicJwk } = await keyPair();
      const { clientId } = await create({ jwks: { keys: [publicJwk] } });
      const replaced = { jwks: { keys: [(await keyPair()).publicJwk] } };
      expect((await call('PATCH', `/api-keys/${clientId}`, replaced, { 'If-Match': '"1"' })).status).toBe(200);
      await create({ jwks: { keys: [publicJwk] } });
    });

    test('is kept: actor, time, values before and after', async () => {
      const { clientId } = await create();
      await call('PATCH', `/api-keys/${clientId}`, { name: 'Renamed', tokenTtlSeconds: 600 }, { 'If-Match': '"1"' });
      const { items } = await json<{ items: Record<string, unknown>[] }>(
        await call('GET', `/api-keys/${clientId}/changes`),
      );
      expect(items).toMatchObject([
        {
          version: 2,
          by: 'script (script)',
          changed: ['name', 'tokenTtlSeconds'],
          before: { name: 'Laboratory', tokenTtlSeconds: 300 },
          after: { name: 'Renamed', tokenTtlSeconds: 600 },
        },
        { version: 1, before: null, after: { name: 'Laboratory', status: 'active' } },
      ]);
    });
  });

  describe('a disabled key', () => {
    test('gets no token, its refusal is explained, and enabled again it works', async () => {
      const { publicJwk, privateJwk } = await keyPair();
      const { clientId } = await create({ jwks: { keys: [publicJwk] } });
      const key = { clientId, privateJwk };
      const change = (status: string) => call('PATCH', `/api-keys/${clientId}`, { status }, { 'If-Match': '*' });
      const accessToken = await getToken(at.gateway.oauthBaseUrl, key);
      expect((await change('disabled')).status).toBe(200);
      expect((await requestToken(at.gateway.oauthBaseUrl, key)).status).toBe(401);
      const search = () =>
        fetch(`${at.gateway.fhirBaseUrl}/fhir/Patient`, { headers: { Authorization: `Bearer ${accessToken}` } });
      expect((await search()).status).toBe(401);

      const refusal = await until('the refusal is kept', async () => {
        const { items } = await json<{ items: Record<string, unknown>[] }>(
          await call('GET', `/api-keys/${clientId}/refusals`),
        );
        return items.find(({ surface }) => surface === 'token');
      });
      expect(refusal).toMatchObject({ code: 'status', reason: 'the API key is disabled', clientId });
      expect(refusal['hint']).toMatch(/Enable/);
      expect((await change('active')).status).toBe(200);
      await expect(getToken(at.gateway.oauthBaseUrl, key)).resolves.toMatch(/^ey/);
      expect((await search()).status).toBe(200);
    });
  });

  describe('lists', () => {
    test('walk all keys once, by cursors, and filter', async () => {
      const marker = randomUUID();
      const made = new Set<string>();
      for (let at = 0; at < 5; at += 1) made.add((await create({ name: `${marker} ${at}` })).clientId);
      const seen: string[] = [];
      let next: string | null = '';
      while (next !== null) {
        const cursor: string = next === '' ? '' : `&cursor=${next}`;
        const page: { items: Key[]; next: string | null } = await json(
          await call('GET', `/api-keys?limit=2&q=${marker}${cursor}`),
        );
        expect(page.items.length).toBeGreaterThan(0);
        seen.push(...page.items.map(({ clientId }) => clientId));
        next = page.next;
      }
      expect(seen).toHaveLength(5);
      expect(new Set(seen)).toEqual(made);
      const disabled: { items: Key[] } = await json(await call('GET', `/api-keys?q=${marker}&status=disabled`));
      expect(disabled.items).toEqual([]);
    });

    test.each([
      '/api-keys?limit=0',
      '/api-keys?limit=x',
      '/api-keys?cursor=abc',
      '/api-keys?color=red',
      '/messages?from=monday',
    ])('reject %s with 400', async (path) => {
      const response = await call('GET', path);
      expect(response.status).toBe(400);
      expect((await json<Problem>(response)).errors).toHaveLength(1);
    });
  });

  test('endpoints are each configured or not', async () => {
    const { items, next } = await json<{ items: unknown[]; next: null }>(await call('GET', '/endpoints'));
    expect(next).toBeNull();
    expect(items).toEqual([
      { name: 'INTEGRATION_OAUTH_PUBLIC_BASE_URL', status: 'configured', value: at.baseUrl },
      { name: 'INTEGRATION_FHIR_PUBLIC_BASE_URL', status: 'configured', value: at.baseUrl },
      { name: 'INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL', status: 'configured', value: at.baseUrl },
      { name: 'INTEGRATION_HL7_MTTP_DOMAIN', status: 'not-configured', value: null },
      { name: 'INTEGRATION_HL7_MTTP_PORT', status: 'not-configured', value: null },
      { name: 'INTEGRATION_DOCS_URL', status: 'configured', value: `${at.baseUrl}/docs` },
    ]);
    expect((await call('GET', '/usage?span=30d&timeZone=Europe/Berlin')).status).toBe(200);
    expect((await call('GET', '/usage?timeZone=Mars')).status).toBe(400);
    expect((await call('GET', '/sidecars')).status).toBe(200);
  });

  describe('permissions', () => {
    const KEY = '/api-keys/{key}';
    const MESSAGE = '/messages/0192f0c1-0000-7000-8000-000000000000';

    test.each([
      ['GET', '/api-keys', undefined, 'site.api_keys.read'],
      ['GET', KEY, undefined, 'site.api_keys.read'],
      ['GET', `${KEY}/refusals`, undefined, 'site.api_keys.read'],
      ['GET', `${KEY}/changes`, undefined, 'site.api_keys.read'],
      ['POST', '/api-keys', {}, 'site.api_keys.create'],
      ['PATCH', KEY, { name: 'A' }, 'site.api_keys.update'],
      ['PATCH', KEY, { status: 'active' }, 'site.api_keys.update'],
      ['PATCH', KEY, { status: 'disabled' }, 'site.api_keys.disable'],
      ['GET', '/site', undefined, 'site.settings.read'],
      ['GET', '/site/changes', undefined, 'site.settings.read'],
      ['PATCH', '/site', { name: 'North' }, 'site.settings.update'],
      ['GET', '/endpoints', undefined, 'site.endpoints.read'],
      ['GET', '/usage', undefined, 'site.endpoints.read'],
      ['GET', '/sidecars', undefined, 'site.endpoints.read'],
      ['GET', '/messages', undefined, 'site.messages.read'],
      ['GET', MESSAGE, undefined, 'site.messages.read'],
      ['POST', `${MESSAGE}/replay`, { apply: 'newest' }, 'site.messages.replay'],
      ['POST', '/workbench/assertion', { assertion: 'x' }, 'site.api_keys.read'],
      ['POST', '/workbench/message', { clientId: 'x', message: 'x' }, 'site.messages.read'],
      ['POST', '/workbench/resource', {}, 'site.api_keys.read'],
    ])('%s %s %j needs %s', async (method, path, body, permission) => {
      const { clientId } = await create();
      const target = path.replace('{key}', clientId);
      const ask = async (permissions: readonly string[]) =>
        call(method, target, body, { 'If-Match': '*' }, await at.oidc.signToken({ permissions }));
      const without = await ask(PERMISSIONS.filter((each) => each !== permission));
      expect(without.status).toBe(403);
      expect((await json<Problem>(without)).detail).toContain(permission);
      expect((await ask([permission])).status).not.toBe(403);
      expect((await call(method, target, body, {}, '')).status).toBe(401);
    });

    test('does not find keys and messages of another site', async () => {
      const foreign = await createApiKey(at.db.client, { site: at.otherSite, name: 'Foreign' });
      const list: { items: Key[] } = await json(await call('GET', '/api-keys?limit=200'));
      expect(list.items.map(({ clientId }) => clientId)).not.toContain(foreign.clientId);
      const path = `/api-keys/${foreign.clientId}`;
      const answers = [
        await call('GET', path),
        await call('GET', `${path}/refusals`),
        await call('GET', `${path}/changes`),
        await call('PATCH', path, { status: 'disabled' }, { 'If-Match': '*' }),
        await call('POST', '/workbench/message', { clientId: foreign.clientId, message: 'MSH|^~\\&|A' }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
      const unknown = await json<Problem>(await call('GET', `/api-keys/svc-${randomUUID()}`));
      expect(await json<Problem>(answers[0] as Response)).toMatchObject({
        detail: unknown.detail,
        title: unknown.title,
      });
    });

    test.each([
      ['an expired token', { exp: 1 }, {}],
      ['another issuer', { iss: 'https://elsewhere.example' }, {}],
      ['another audience', { aud: 'console' }, {}],
      ['no expiry', { exp: undefined }, {}],
    ])('%s is 401', async (_, claims, header) => {
      const response = await call('GET', '/api-keys', undefined, {}, await at.oidc.signToken(claims, header));
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('invalid_token');
    });

    test('a token without a site, an access token of the gateway, garbage', async () => {
      const siteless = await at.oidc.signToken({ site: undefined });
      expect((await call('GET', '/api-keys', undefined, {}, siteless)).status).toBe(403);
      const key = await createApiKey(at.db.client, { site: at.site });
      const ours = await getToken(at.gateway.oauthBaseUrl, key);
      expect((await call('GET', '/api-keys', undefined, {}, ours)).status).toBe(401);
      expect((await call('GET', '/api-keys', undefined, {}, 'x.y.z')).status).toBe(401);
      const unknownSite = await at.oidc.signToken({ site: randomUUID() });
      expect((await call('POST', '/api-keys', await newKey(), {}, unknownSite)).status).toBe(403);
    });
  });

  describe('an instant that PostgreSQL has no place for', () => {
    const INSTANTS = [
      '0000-01-01T00:00:00Z',
      '0000-12-31T23:59:59.999+14:00',
      '2026-01-01T00:00:00+23:59',
      `2026-01-01T00:00:00.${'1'.repeat(200)}Z`,
      '2026-02-30T00:00:00Z',
      '-000001-01-01T00:00:00Z',
      '+010000-01-01T00:00:00Z',
    ];

    test('is rejected by its name in every list', async () => {
      const key = await create();
      for (const path of ['/messages', '/audit', '/requests', `/api-keys/${key.clientId}/refusals`]) {
        for (const at of INSTANTS) {
          for (const name of ['from', 'to']) {
            const response = await call('GET', `${path}?${new URLSearchParams({ [name]: at }).toString()}`);
            const { errors = [] } = await json<Problem>(response);
            expect([response.status, errors.map(({ field }) => field)], `${path} ${at}`).toEqual([400, [name]]);
          }
        }
      }
    });

    test('is rejected by its name in a replay', async () => {
      for (const at of INSTANTS) {
        for (const name of ['from', 'to']) {
          const response = await call('POST', '/replays', { [name]: at });
          const { errors = [] } = await json<Problem>(response);
          expect([response.status, errors.map(({ field }) => field)], at).toEqual([422, [name]]);
        }
      }
    });

    test('is rejected in a filter that ends before it begins', async () => {
      const times = { from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' };
      for (const path of ['/messages', '/audit', '/audit/sums', '/requests']) {
        const response = await call('GET', `${path}?${new URLSearchParams(times).toString()}`);
        expect([response.status, (await json<Problem>(response)).errors], path).toMatchObject([400, [{ field: 'to' }]]);
      }
      for (const apply of ['nothing', 'newest']) {
        const response = await call('POST', '/replays', { ...times, apply });
        expect([response.status, (await json<Problem>(response)).errors]).toMatchObject([422, [{ field: 'to' }]]);
      }
    });

    test('is rejected as the position of a list', async () => {
      const key = await create();
      for (const path of ['/messages', '/audit', '/requests', '/alerts', '/api-keys', '/attention', '/sessions']) {
        for (const at of ['0000-01-01T00:00:00.000Z', '2026-99-99T99:99:99.000Z']) {
          for (const id of [randomUUID(), key.clientId]) {
            const cursor = Buffer.from(JSON.stringify([at, id])).toString('base64url');
            const response = await call('GET', `${path}?cursor=${cursor}`);
            expect(response.status, `${path} ${at} ${await response.text()}`).toBe(400);
          }
        }
      }
    });

    test('the first and the last are', async () => {
      for (const path of ['/messages', '/audit', '/requests']) {
        for (const at of ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59.999999-12:00']) {
          const asked = new URLSearchParams({ from: at, to: at });
          expect((await call('GET', `${path}?${asked.toString()}`)).status, `${path} ${at}`).toBe(200);
          expect((await call('POST', '/replays', { from: at, to: at })).status, at).toBe(200);
        }
      }
    });
  });

  test('an unknown path is 404, another method 405 with Allow, both problem details', async () => {
    const missing = await call('GET', '/nothing');
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    const method = await call('DELETE', '/api-keys');
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'GET, POST']);
  });
});
