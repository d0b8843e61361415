import fc from 'fast-check';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';

import { issueAccessToken, readSignedToken } from '../../../edge/oauth/access-token.ts';
import { authenticate, bearerToken, challengeOf, requireScopes } from '../../../edge/oauth/bearer.ts';
import { keyringOf } from '../../../edge/oauth/keyring.ts';
import { Fault } from '../../../shared/fault.ts';
import { testDeps } from '../../stack/tools/test-deps.ts';
import { inputs } from '../../stack/tools/size.ts';

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const CLIENT = 'svc-0193e8a0-0000-7000-8000-000000000001';
const SITE = '0193e8a0-0000-7000-8000-00000000000a';

async function jwk(kid: string) {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const { x = '', y = '', d = '' } = await exportJWK(privateKey);
  return { kty: 'EC' as const, crv: 'P-256' as const, x, y, d, kid };
}

const first = await jwk('first');
const second = await jwk('second');
const deps = testDeps({ now: () => NOW_MS, signingKeys: [first, second] });
const issuer = 'https://oauth.test/base';
const ring = keyringOf(deps.config);
const { privateKey: foreign } = await generateKeyPair('ES256');
const { key: own } = await ring.signingKey();

const token = (change: Partial<Parameters<typeof issueAccessToken>[1]> = {}, nowMs = NOW_MS) =>
  issueAccessToken(
    ring,
    {
      issuer,
      clientId: CLIENT,
      site: SITE,
      audience: 'svc-fhir',
      scopes: ['system/Patient.read'],
      ttlSeconds: 300,
      ...change,
    },
    nowMs,
  );

const withHeader = (value: string) =>
  new Request('https://fhir.test/fhir/Patient', { headers: { authorization: value } });

async function faultOf(work: () => unknown): Promise<Fault> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a token that is good', () => {
  test('returns site, client, scopes and audience', async () => {
    const caller = await authenticate(deps, withHeader(`bearer ${await token()}`), 'svc-fhir');
    expect(caller).toMatchObject({ site: SITE, clientId: CLIENT, audience: 'svc-fhir' });
    expect([...caller.scopes]).toEqual(['system/Patient.read']);
    expect(caller.tokenId).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('verifies by any published key', async () => {
    const turned = testDeps({ now: () => NOW_MS, signingKeys: [second, first] });
    await expect(authenticate(turned, withHeader(`Bearer ${await token()}`), 'svc-fhir')).resolves.toBeDefined();
  });
});

test('a token that was verified is not verified for longer than it lives, nor for another issuer or ring', async () => {
  const given = await token({ ttlSeconds: 60 });
  const read = (at: number, from = issuer, keys = ring) => readSignedToken(keys, from, given, NOW_MS + at);
  const signed = await read(0);
  expect(signed?.claims.client_id).toBe(CLIENT);
  expect(await read(59_999)).toBe(signed);
  expect(await read(60_000)).toMatchObject({ isExpired: true });
  expect(await read(0, 'https://other.test')).toBeUndefined();
  const others = keyringOf(testDeps({ signingKeys: [second] }).config);
  expect(await read(0, issuer, others)).toBeUndefined();
  for (let i = 0; i < 2_000; i += 1) await readSignedToken(ring, issuer, await token(), NOW_MS);
  const again = await read(0);
  expect(again).toEqual(signed);
  expect(again).not.toBe(signed);
});

test('a token with one changed character is rejected unless it decodes to the same bytes', async () => {
  const given = await token();
  const signed = await readSignedToken(ring, issuer, given, NOW_MS);
  const position = fc.nat(given.length - 1);
  const character = fc.constantFrom('A', 'z', '0', '-', '_', '.', '=', ' ', '\n', '+', 'é');
  await fc.assert(
    fc.asyncProperty(position, character, async (at, other) => {
      const read = await readSignedToken(ring, issuer, given.slice(0, at) + other + given.slice(at + 1), NOW_MS);
      if (read !== undefined) expect(read).toEqual(signed);
    }),
    { numRuns: inputs(300) },
  );
});

describe('a request that RFC 6750 rejects', () => {
  test('80: no token has no error code', async () => {
    for (const request of [new Request('https://fhir.test/fhir/Patient'), withHeader('Basic YTpi')]) {
      const fault = await faultOf(() => bearerToken(request));
      expect([fault.kind, fault.code, fault.headers['WWW-Authenticate']]).toEqual([
        'unauthenticated',
        undefined,
        'Bearer realm="integration-gateway"',
      ]);
    }
  });

  test('81: a token in the query, in a form, twice, or no token68', async () => {
    const form = () =>
      new Request('https://fhir.test/fhir/Patient/_search', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'access_token=abc',
      });
    for (const request of [
      new Request('https://fhir.test/fhir/Patient?access_token=abc'),
      form(),
      withHeader('Bearer abc, Bearer abc'),
      withHeader('Basic abc, Bearer abc'),
      withHeader('Bearer'),
      withHeader('Bearer a b'),
      withHeader('Bearer "abc"'),
    ]) {
      const fault = await faultOf(() => bearerToken(request));
      expect([fault.kind, fault.code]).toEqual(['malformed', 'invalid_request']);
    }
  });

  test('leaves the form for the handler', async () => {
    const request = new Request('https://fhir.test/fhir/Patient/_search', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'name=x',
    });
    expect((await faultOf(() => bearerToken(request))).code).toBeUndefined();
    expect(await request.text()).toBe('name=x');
  });

  const claims = { iss: issuer, sub: CLIENT, client_id: CLIENT, aud: 'svc-fhir', scope: '', site: SITE, jti: 'x' };
  const exp = NOW_MS / 1000 + 60;
  const signed = (header: object, body: object, key: CryptoKey) =>
    new SignJWT({ ...claims, iat: exp, exp, ...body })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'first', ...header })
      .sign(key);

  test.each<[string, () => Promise<string>]>([
    ['expired', () => token({ ttlSeconds: 60 }, NOW_MS - 60_000)],
    ['signed by another key', () => signed({}, {}, foreign)],
    ['an unknown kid', () => signed({ kid: 'third' }, {}, own)],
    ['another issuer', () => token({ issuer: 'https://oauth.test/bas' })],
    ['a typ of JWT, as a client assertion has', () => signed({ typ: 'JWT' }, {}, own)],
    ['no expiry', () => signed({}, { exp: undefined }, own)],
    ['no site', () => signed({}, { site: undefined }, own)],
    ['text', async () => 'abc'],
    ['far too long', async () => 'a'.repeat(10_000)],
    ['much too long, but otherwise valid', () => signed({}, { scope: 'a'.repeat(10_000) }, own)],
  ])('82: %s', async (_, make) => {
    const given = await make();
    const fault = await faultOf(() => authenticate(deps, withHeader(`Bearer ${given}`), 'svc-fhir'));
    expect([fault.kind, fault.code]).toEqual(['unauthenticated', 'invalid_token']);
    expect(fault.headers['WWW-Authenticate']).toContain('error="invalid_token"');
  });

  test('83: the audience of the other surface', async () => {
    const given = await token();
    const fault = await faultOf(() => authenticate(deps, withHeader(`Bearer ${given}`), 'svc-hl7-http'));
    expect([fault.kind, fault.code]).toEqual(['unauthenticated', 'invalid_token']);
  });

  test('84: a missing scope names what would do', async () => {
    const caller = await authenticate(deps, withHeader(`Bearer ${await token()}`), 'svc-fhir');
    requireScopes(caller, ['system/Patient.read']);
    const fault = await faultOf(() => requireScopes(caller, ['system/Patient.read', 'system/Patient.write']));
    expect([fault.kind, fault.code]).toEqual(['forbidden', 'insufficient_scope']);
    expect(fault.headers['WWW-Authenticate']).toContain('scope="system/Patient.read system/Patient.write"');
  });

  test('85: a refusal by the database gets its challenge', () => {
    const fault = new Fault('unauthenticated', 'the token is no longer valid', { code: 'invalid_token' });
    expect(challengeOf(fault)['WWW-Authenticate']).toContain('error="invalid_token"');
    expect(challengeOf(new Fault('not-found', 'x'))).toEqual({});
  });

  test('a key over its rate limit waits', async () => {
    const busy = testDeps({ now: () => NOW_MS, signingKeys: [first], allow: () => false });
    const given = await token();
    const fault = await faultOf(() => authenticate(busy, withHeader(`Bearer ${given}`), 'svc-fhir'));
    expect([fault.kind, fault.headers['Retry-After']]).toEqual(['throttled', '60']);
  });
});
