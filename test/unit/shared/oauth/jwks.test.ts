/** Rows 26 and 36-42 of what the token service refuses: keys. */
import { describe, expect, test } from 'vitest';

import { checkEcPoint } from '../../../../shared/oauth/ec-point.ts';
import { readJwks } from '../../../../shared/oauth/jwks.ts';
import { ec, ec384, ed, jwks, rsa } from '../../../inputs/jwks.ts';

const b64 = (bytes: number[]) => Buffer.from(bytes).toString('base64url');
const modulus = (bits: number) => b64([0x80, ...Array<number>(bits / 8 - 2).fill(0xff), 0x01]);

describe('a JWKS', () => {
  test('is described key by key', () => {
    const { keys, problems } = jwks({ ...rsa, kid: 'r', use: 'sig' }, ec, ec384, { ...ed, alg: 'EdDSA' });
    expect(problems).toEqual([]);
    expect(keys.map(({ kid, type, size, use, usable }) => [kid, type, size, use, usable])).toEqual([
      ['r', 'RSA', 2048, 'sig', true],
      [undefined, 'EC P-256', 256, undefined, true],
      [undefined, 'EC P-384', 384, undefined, true],
      [undefined, 'OKP Ed25519', 256, undefined, true],
    ]);
  });

  test.each<[string, object, RegExp, boolean]>([
    ['36 a point off the curve', { ...ec, y: ec.x }, /not on the curve/, true],
    ['36 a coordinate too short', { ...ec, x: b64([1]) }, /32 bytes/, true],
    ['36 P-256 that says P-384', { ...ec, crv: 'P-384' }, /48 bytes/, true],
    ['37 RSA of 1024 bits', { kty: 'RSA', e: 'AQAB', n: modulus(1024) }, /1024 bits are too few/, true],
    [
      '37 RSA padded with zeros',
      { kty: 'RSA', e: 'AQAB', n: b64([...Array<number>(128).fill(0), 0x80, ...Array<number>(127).fill(1)]) },
      /1024 bits/,
      true,
    ],
    ['38 exponent 1', { ...rsa, e: 'AQ' }, /exponent/, true],
    ['38 exponent 3', { ...rsa, e: 'Aw' }, /exponent/, true],
    ['38 a huge exponent', { ...rsa, e: b64([1, 0, 0, 0, 0, 1]) }, /exponent/, true],
    ['39 RSA of 8192 bits', { kty: 'RSA', e: 'AQAB', n: modulus(8192) }, /8192 bits are too many/, true],
    ['40 use enc', { ...ec, use: 'enc' }, /use is "enc"/, false],
    ['40 key_ops without verify', { ...ec, key_ops: ['sign'] }, /key_ops/, false],
    ['26 RSA for RS512', { ...rsa, alg: 'RS512' }, /^alg is "RS512", not one of RS256, RS384, PS256, PS384$/, false],
    ['42 RSA for encryption', { ...rsa, alg: 'RSA-OAEP-256' }, /^alg is "RSA-OAEP-256"/, false],
    ['26 P-256 for ES512', { ...ec, alg: 'ES512' }, /^alg is "ES512", not one of ES256$/, false],
    ['42 X25519', { kty: 'OKP', crv: 'X25519', x: ed.x }, /OKP X25519.*not supported/, false],
    ['42 secp256k1', { ...ec, crv: 'secp256k1' }, /not supported/, false],
    ['42 oct', { kty: 'oct', k: 'c2VjcmV0' }, /shared secret/, true],
    ['an even modulus', { kty: 'RSA', e: 'AQAB', n: b64([0x80, ...Array<number>(255).fill(0)]) }, /even/, true],
    ['a kid that is not a string', { ...ec, kid: 1 }, /kid is not a string/, false],
    ['a type from the prototype', { kty: 'constructor' }, /not supported/, false],
  ])('%s cannot be used', (_, jwk, reason, dangerous) => {
    const { keys, problems } = jwks(jwk, ec);
    expect(problems).toEqual([]);
    expect(keys[0]?.reason).toMatch(reason);
    expect([keys[0]?.usable, keys[0]?.dangerous, keys[1]?.usable]).toEqual([false, dangerous, true]);
  });

  test.each<[string, string, RegExp]>([
    ['not JSON', '<html>', /not valid JSON/],
    ['no keys', '{}', /"keys" array/],
    ['keys no array', '{"keys":{}}', /"keys" array/],
    ['an array', '[]', /"keys" array/],
    ['keys twice', '{"keys":[],"keys":[]}', /twice/],
    ['empty', '{"keys":[]}', /no keys/],
    ['21 keys', JSON.stringify({ keys: Array(21).fill(ec) }), /21 keys/],
    ['nothing usable', JSON.stringify({ keys: [{ ...ec, use: 'enc' }] }), /none of its keys/],
    ['41 a private key', JSON.stringify({ keys: [{ ...ec, d: 'AAAA' }] }), /PRIVATE key/],
  ])('%s: the document is rejected', (_, text, problem) => {
    expect(readJwks(text).problems.join()).toMatch(problem);
  });

  test('41: a private key is an alert', () => {
    expect([jwks({ ...ec, d: '' }).hasPrivateKey, jwks(ec).hasPrivateKey]).toEqual([true, false]);
  });

  test('recognizes the points of both curves, and rejects them with one changed bit', () => {
    for (const [curve, jwk] of [
      ['P-256', ec],
      ['P-384', ec384],
    ] as const) {
      const [x, y] = [jwk.x, jwk.y].map((part) => new Uint8Array(Buffer.from(part ?? '', 'base64url')));
      expect(checkEcPoint(curve, x, y)).toBeUndefined();
      if (y !== undefined) y[5] = (y[5] ?? 0) ^ 1;
      expect(checkEcPoint(curve, x, y)).toBe('the point is not on the curve');
    }
  });
});

test('a coordinate that is not below the prime of the curve is rejected, though it names a point', () => {
  const beyond = new Uint8Array(32).fill(255);
  expect(checkEcPoint('P-256', beyond, beyond)).toMatch(/too large/);
});
