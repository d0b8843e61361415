/** The JWKS of an API key is rejected for one dangerous key, also beside good keys. */
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { describe, expect, test } from 'vitest';

import { inspectKeys, type Inspection } from '../../../../edge/admin/keys/rules.ts';
import { testDeps } from '../../../stack/tools/test-deps.ts';

const pair = await generateKeyPair('ES256', { extractable: true });
const { kty, crv, x, y, d } = await exportJWK(pair.privateKey);
const good: JWK = { kty: kty ?? '', crv: crv ?? '', x: x ?? '', y: y ?? '', kid: 'good' };
const other = await exportJWK((await generateKeyPair('ES256', { extractable: true })).publicKey);
const rsa = await exportJWK((await generateKeyPair('RS256', { extractable: true })).publicKey);

const DANGEROUS: readonly (readonly [string, object, RegExp])[] = [
  ['a private key', { ...good, kid: 'bad', d }, /PRIVATE key/],
  ['an RSA key with exponent 1', { ...rsa, e: 'AQ', kid: 'bad' }, /"bad".*exponent/],
  ['a short RSA key', { ...rsa, n: (rsa.n ?? '').slice(0, 172), kid: 'bad' }, /"bad".*bits/],
  ['a point that is not on the curve', { ...other, y: good.y, kid: 'bad' }, /"bad".*curve/],
  ['a shared secret', { kty: 'oct', k: 'c2VjcmV0', kid: 'bad' }, /"bad".*shared secret/],
];

const depsWith = (document: string) =>
  testDeps({
    fetch: async () => new Response(document),
    resolveHost: async () => ['93.184.216.34'],
  });

const messagesOf = async (looked: Promise<Inspection>): Promise<string> =>
  (await looked).issues.map(({ at, message }) => `${at}: ${message}`).join('\n');

describe.each(DANGEROUS)('%s beside a good key', (_, bad, message) => {
  const document = JSON.stringify({ keys: [good, bad] });

  test('inline is rejected', async () => {
    const found = await messagesOf(inspectKeys(depsWith(''), { jwksUri: null, jwks: document }));
    expect(found).toMatch(/^jwks: /);
    expect(found).toMatch(message);
  });

  test('at a URI is rejected', async () => {
    const jwksUri = 'https://keys.example.com/jwks.json';
    const found = await messagesOf(inspectKeys(depsWith(document), { jwksUri, jwks: null }));
    expect(found).toMatch(/^jwksUri: /);
    expect(found).toMatch(message);
  });
});

test.each<[string, object, string]>([
  [
    'another key of one type',
    { ...other, kid: 'good' },
    'two EC P-256 keys have the kid "good": give each key another kid',
  ],
  ['the same key again', { ...good, alg: 'ES256' }, 'two EC P-256 keys have the kid "good": give each key another kid'],
  ['a key of another type', { ...rsa, kid: 'good' }, ''],
  ['a key for encryption', { ...other, kid: 'good', use: 'enc' }, ''],
])('%s with one kid', async (_, second, problem) => {
  const document = JSON.stringify({ keys: [good, second] });
  const expected = problem === '' ? '' : `jwks: ${problem}`;
  expect(await messagesOf(inspectKeys(depsWith(''), { jwksUri: null, jwks: document }))).toBe(expected);
});

test('keys without a kid, and RSA keys for two algorithms with one kid, are accepted', async () => {
  for (const keys of [
    [{ ...good, kid: undefined }, other],
    [
      { ...rsa, kid: 'a', alg: 'RS256' },
      { ...rsa, kid: 'a', alg: 'PS256' },
    ],
  ]) {
    expect(await messagesOf(inspectKeys(depsWith(''), { jwksUri: null, jwks: JSON.stringify({ keys }) }))).toBe('');
  }
});

test('a URI at a private address is rejected; an unreachable URI is accepted', async () => {
  const at = (deps: object) => ({ ...depsWith(''), ...deps });
  const rules = { jwksUri: 'https://keys.example.com/jwks.json', jwks: null };
  const refused = inspectKeys(at({ resolveHost: async () => ['10.0.0.1'] }), rules);
  expect(await messagesOf(refused)).toMatch(/^jwksUri: .*private address/);
  const unreachable = { fetch: () => Promise.reject(new TypeError('connection refused')) };
  expect(await messagesOf(inspectKeys(at(unreachable), rules))).toBe('');
});

test('good keys are accepted, also beside a key of an unknown type', async () => {
  for (const keys of [[good], [good, { kty: 'OKP', crv: 'X25519', x: good.x, kid: 'unknown' }]]) {
    const jwks = JSON.stringify({ keys });
    expect(await messagesOf(inspectKeys(depsWith(''), { jwksUri: null, jwks }))).toBe('');
  }
});
