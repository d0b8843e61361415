/** The callers of the sidecars' path: accepted, or rejected, and what an operator sees of them. */
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { beforeAll, expect, test } from 'vitest';

import { callerOf } from '../../../../edge/hl7/mllp/sidecar-token.ts';
import { testDeps } from '../../../stack/tools/test-deps.ts';

const NOW = Date.parse('2026-11-22T08:00:00Z');
const NOW_SECONDS = NOW / 1000;
const ADDRESS = '192.0.2.10';

let ours: CryptoKey;
let theirs: CryptoKey;
let keys: JWK[];
let signing: JWK;

beforeAll(async () => {
  const [known, other] = await Promise.all([1, 2].map(() => generateKeyPair('ES256', { extractable: true })));
  if (known === undefined || other === undefined) throw new TypeError('two pairs');
  [ours, theirs] = [known.privateKey, other.privateKey];
  keys = [{ ...(await exportJWK(known.publicKey)), kid: 'ward-key', alg: 'ES256' }];
  signing = { ...(await exportJWK(other.privateKey)), kid: '2026-01-01-x' };
});

interface Given {
  readonly key?: CryptoKey;
  readonly kid?: string;
  readonly iat?: number;
  readonly exp?: number;
  readonly typ?: string;
  readonly aud?: string;
  readonly src?: string;
}

const token = (given: Given = {}): Promise<string> => {
  const { key = ours, kid = 'ward-key', iat = NOW_SECONDS, typ = 'mllp-sidecar+jwt', aud = 'svc-mllp-ingest' } = given;
  const claims = { jti: crypto.randomUUID(), src: given.src ?? ADDRESS, sha256: 'a'.repeat(43) };
  return new SignJWT({ ...claims, iss: 'ward', aud, iat, exp: given.exp ?? iat + 60 })
    .setProtectedHeader({ alg: 'ES256', typ, kid })
    .sign(key);
};

const callerWith = (bearer: string, env: Readonly<Record<string, string>>) => {
  const deps = testDeps({ signingKeys: [signing], env, now: () => NOW });
  return callerOf(deps, new Request('https://edge.test/', { headers: { authorization: `Bearer ${bearer}` } }));
};
const callerOfToken = async (bearer: string) => callerWith(bearer, { MLLP_SIDECAR_KEYS: JSON.stringify({ keys }) });

test('a registered sidecar is accepted, and the offset of its clock is known', async () => {
  expect(await callerOfToken(await token())).toMatchObject({ claims: { iss: 'ward' }, clockSeconds: 0 });
  expect(await callerOfToken(await token({ iat: NOW_SECONDS - 70 }))).toMatchObject({ clockSeconds: 70 });
  expect(await callerOfToken(await token({ iat: NOW_SECONDS + 29 }))).toMatchObject({ clockSeconds: -29 });
});

test.each([
  ['behind', -3600, 3600],
  ['just too far behind', -91, 91],
  ['ahead', 31, -31],
])('its key distinguishes a sidecar whose clock is %s from a stranger', async (_, seconds, clockSeconds) => {
  const caller = await callerOfToken(await token({ iat: NOW_SECONDS + seconds }));
  expect(caller).toMatchObject({ rejectedSidecar: { reason: 'clock', name: 'ward', kid: null, clockSeconds } });
});

test('a caller without a registered key has no name, because its claims are not verified', async () => {
  const stranger = (kid: string | null) => ({
    rejectedSidecar: { reason: 'unknown-key', name: '', kid, clockSeconds: null },
  });
  expect(await callerOfToken(await token({ key: theirs, kid: 'other-key' }))).toMatchObject(stranger('other-key'));
  // Made again under the same name, and not registered.
  expect(await callerOfToken(await token({ key: theirs }))).toMatchObject(stranger('ward-key'));
  // Late as well: its times say nothing.
  const late = { key: theirs, kid: 'other-key', iat: NOW_SECONDS - 3600 };
  expect(await callerOfToken(await token(late))).toMatchObject(stranger('other-key'));
  expect(await callerWith(await token(), {})).toMatchObject(stranger('ward-key'));
  for (const kid of ['<b>Doe^Jane</b>', 'x'.repeat(65), '']) {
    expect(await callerOfToken(await token({ key: theirs, kid }))).toMatchObject(stranger(null));
  }
});

test('a request that does not resemble a sidecar’s is not recorded', async () => {
  const others: Given[] = [
    { typ: 'JWT', key: theirs },
    { aud: 'svc-fhir', key: theirs },
    { aud: 'svc-fhir' },
    { exp: NOW_SECONDS + 3600 },
    { src: 'x'.repeat(65) },
  ];
  for (const other of others) {
    expect([other, await callerOfToken(await token(other))]).toEqual([
      other,
      expect.objectContaining({ rejectedSidecar: undefined }),
    ]);
  }
  expect(await callerOfToken('a.b.c')).toMatchObject({ rejectedSidecar: undefined });
});

test('the registered purpose of a key is known with it, and is checked when the gateway starts', async () => {
  const site = '01890000-0000-4000-8000-00000000000A';
  const registered = (more: object) => ({
    MLLP_SIDECAR_KEYS: JSON.stringify({ keys: keys.map((key) => ({ ...key, ...more })) }),
  });
  const scope = { ranges: ['10.1.0.0/16', '2001:db8::1'], sites: [site.toLowerCase()] };
  expect(await callerWith(await token(), registered({ ...scope, sites: [site] }))).toMatchObject({ key: scope });
  for (const wrong of [
    { ranges: [] },
    { ranges: ['*.1'] },
    { ranges: '10.0.0.0/8' },
    { sites: [] },
    { sites: ['x'] },
  ]) {
    const bearer = await token();
    await expect((async () => callerWith(bearer, registered(wrong)))()).rejects.toThrow('MLLP_SIDECAR_KEYS');
  }
});
