/** The console fetches a JWKS URI once when it saves it, shows the stored keys, and refuses keys that must not be trusted. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { makeKeyPair } from '../stack/services/key-pair.ts';
import { useConsole } from '../stack/tools/console-site.ts';
import { useKeyHost } from '../stack/tools/use-key-host.ts';
import { type Behaviour, jwks } from '../stack/services/key-host.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

const host = await useKeyHost();

describe.each(ONE_RUNTIME)('a JWKS URI on %s', (runtime) => {
  const { caCertificate } = host;
  const at = useConsole(runtime, { env: { JWKS_TRUSTED_HOSTS: '127.0.0.1' }, caCertificate });

  const create = (members: object) =>
    at.ask('POST', '/api-keys', {
      name: 'Remote',
      tokenTtlSeconds: 60,
      allowedScopes: 'system/Patient.read',
      ...members,
    });
  const serve = (behaviour: Behaviour): { path: string; uri: string } => {
    const path = `/${randomUUID()}`;
    return { path, uri: host.serve(path, behaviour) };
  };

  test('is fetched once, and the console shows the result', async () => {
    const { path, uri } = serve(
      jwks([(await makeKeyPair({ kid: 'a' })).publicJwk, { kty: 'OKP', crv: 'X25519', x: 'AA', kid: 'x' }]),
    );
    const { status, body } = await create({ jwksUri: uri });
    expect([status, host.fetches(path)]).toEqual([201, 1]);
    expect(body['jwksFindings']).toMatchObject({
      unreachable: null,
      keys: [
        { kid: 'a', type: 'EC P-256', size: 256, usable: true, reason: null },
        { kid: 'x', usable: false, reason: expect.stringContaining('not supported') },
      ],
    });
  });

  test.each<[string, () => Promise<Behaviour>, RegExp]>([
    ['a private key', async () => jwks([(await makeKeyPair({ kid: 'a' })).privateJwk]), /PRIVATE key/],
    ['a shared secret', async () => jwks([{ kty: 'oct', k: 'AAAA' }]), /shared secret/],
    ['no keys', async () => jwks([]), /no keys/],
    ['no JSON', async () => (response) => response.writeHead(200).end('hello'), /not valid JSON/],
  ])('with %s is rejected', async (_, behaviour, expected) => {
    const { status, body } = await create({ jwksUri: serve(await behaviour()).uri });
    expect(status).toBe(422);
    expect(body['errors']).toMatchObject([
      { field: 'jwksUri' },
      ...(Array.isArray(body['errors']) ? body['errors'].slice(1) : []),
    ]);
    expect(JSON.stringify(body['errors'])).toMatch(expected);
  });

  test.each<[string, Behaviour]>([
    ['answers 404', (response) => response.writeHead(404).end()],
    ['redirects', (response) => response.writeHead(302, { location: 'https://example.com/' }).end()],
    ['answers with a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
  ])('is saved with a warning if its host %s', async (_, behaviour) => {
    const { status, body } = await create({ jwksUri: serve(behaviour).uri });
    expect(status).toBe(201);
    expect(body['jwksFindings']).toMatchObject({ unreachable: expect.any(String), keys: [] });
  });

  describe('while it is typed', () => {
    const check = async (body: unknown, permissions = ['site.api_keys.update']) =>
      at.ask('POST', '/api-keys/check-jwks-uri', body, {}, await at.oidc.signToken({ permissions }));

    test('is checked like a new key, without saving', async () => {
      const { path, uri } = serve(jwks([(await makeKeyPair({ kid: 'typed' })).publicJwk]));
      expect(await check({ jwksUri: ` ${uri} ` })).toMatchObject({
        status: 200,
        body: {
          acceptable: true,
          problems: [],
          jwksFindings: { unreachable: null, keys: [{ kid: 'typed', usable: true }] },
        },
      });
      expect(host.fetches(path)).toBe(1);
      const { rows } = await at.db.client.query('select 1 from api_key where jwks_uri = $1', [uri]);
      expect(rows).toEqual([]);
    });

    test('is rejected as when it is saved: a private key, an inside address, a host of the gateway, an address without https', async () => {
      const { privateJwk: closed } = await makeKeyPair({ kid: 'p' });
      const bad = [
        serve(jwks([closed])).uri,
        'https://10.0.0.1/jwks.json',
        `${at.baseUrl.replace('http:', 'https:')}/oauth2/jwks`,
        'http://keys.example.com/jwks.json',
        'ftp:',
      ];
      for (const jwksUri of bad) {
        const { status, body } = await check({ jwksUri });
        expect([status, body['acceptable']], jwksUri).toEqual([200, false]);
        expect(JSON.stringify(body)).not.toContain(closed.d ?? '');
      }
      for (const body of [{}, { jwksUri: ' ' }, { jwksUri: 1 }, { jwksUri: 'https://a.example', site: 'x' }]) {
        expect((await check(body)).status).toBe(422);
      }
    });

    test('needs the right to make keys or to change them', async () => {
      const { path, uri } = serve(jwks([]));
      for (const permission of ['site.api_keys.read', 'site.api_keys.disable', 'site.settings.update']) {
        expect((await check({ jwksUri: uri }, [permission])).status).toBe(403);
      }
      expect(host.fetches(path)).toBe(0);
      expect((await check({ jwksUri: uri }, ['site.api_keys.create'])).status).toBe(200);
    });
  });

  test("with a key that another client has inline is rejected; the gateway's own host too", async () => {
    const { publicJwk: open } = await makeKeyPair({ kid: 'shared' });
    expect((await create({ jwks: { keys: [open] } })).status).toBe(201);
    const { status, body } = await create({ jwksUri: serve(jwks([open])).uri });
    expect([status, body['errors']]).toMatchObject([
      422,
      [{ field: 'jwksUri', detail: expect.stringContaining('"shared"') }],
    ]);
    const own = at.baseUrl.replace('http:', 'https:');
    expect((await create({ jwksUri: `${own}/oauth2/jwks` })).status).toBe(422);
  });
});
