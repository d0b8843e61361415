/** `/admin/api` accepts access tokens of the staff's provider for this API that have not expired. */
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { expect, test } from 'vitest';

import { createBearer } from '../../../../edge/admin/staff/bearer-token.ts';
import { createProviderKeys } from '../../../../edge/admin/staff/provider-keys.ts';
import type { Provider } from '../../../../edge/admin/staff/provider.ts';
import { testDeps } from '../../../stack/tools/test-deps.ts';

const ISSUER = 'https://staff.example.com';
const AUDIENCE = 'https://console.example.com/admin/api';
const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const NOW = NOW_MS / 1000;
const SITE = '00000000-0000-4000-8000-000000000001';

const pair = await generateKeyPair('ES256', { extractable: true });
const stranger = await generateKeyPair('ES256', { extractable: true });
const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'a', alg: 'ES256' };

const deps = testDeps({
  env: {
    ADMIN_PUBLIC_BASE_URL: 'https://console.example.com',
    ADMIN_OIDC_ISSUER: ISSUER,
    ADMIN_OIDC_CLIENT_ID: 'console',
  },
  now: () => NOW_MS,
  fetch: async () => Response.json({ keys: [jwk] }),
});
const provider = { server: { issuer: ISSUER, jwks_uri: `${ISSUER}/jwks` } } as Provider;

const GOOD: JWTPayload = { iss: ISSUER, aud: AUDIENCE, sub: 'ada', exp: NOW + 60, site: SITE, permissions: [] };

async function read(
  claims: Readonly<Record<string, unknown>>,
  key = pair.privateKey,
  typ: string | undefined = 'at+jwt',
) {
  const given = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
  const token = await new SignJWT(given)
    .setProtectedHeader({ alg: 'ES256', kid: 'a', ...(typ === undefined ? {} : { typ }) })
    .sign(key);
  const request = new Request('https://console.example.com/admin/api', {
    headers: { authorization: `Bearer ${token}` },
  });
  return createBearer(deps, async () => provider, createProviderKeys(deps))(request);
}

test('a valid token names the actor', async () => {
  expect(await read(GOOD)).toMatchObject({ subject: 'ada', site: SITE });
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['another issuer', { ...GOOD, iss: 'https://elsewhere.example.com' }],
  ['another audience', { ...GOOD, aud: 'console' }],
  ['no audience', { ...GOOD, aud: undefined }],
  ['its time over', { ...GOOD, exp: NOW - 31 }],
  ['no end', { ...GOOD, exp: undefined }],
  ['no subject', { ...GOOD, sub: undefined }],
  ['a time to come', { ...GOOD, nbf: NOW + 120 }],
])('a token with %s is rejected', async (_, claims) => {
  await expect(read(claims)).rejects.toMatchObject({ kind: 'unauthenticated' });
});

test.each(['at+jwt', 'AT+JWT', 'application/at+jwt'])('accepts typ %s', async (typ) => {
  expect(await read(GOOD, pair.privateKey, typ)).toMatchObject({ subject: 'ada' });
});

test.each(['JWT', 'logout+jwt', 'id+jwt', ''])('rejects typ %j', async (typ) => {
  await expect(read(GOOD, pair.privateKey, typ)).rejects.toMatchObject({ kind: 'unauthenticated' });
});

test('a token with a foreign signature is rejected', async () => {
  await expect(read(GOOD, stranger.privateKey)).rejects.toMatchObject({ kind: 'unauthenticated' });
});

test('a request without the header has no actor', async () => {
  const bearer = createBearer(deps, async () => provider, createProviderKeys(deps));
  expect(await bearer(new Request('https://console.example.com/admin/api'))).toBeUndefined();
});
