/** Rows 31-33 of what the token service refuses: which key an assertion is checked with. */
import { describe, expect, test } from 'vitest';

import { chooseKeys } from '../../../../edge/oauth/assertion/choose-key.ts';
import { ec, ec384, ed, jwks, rsa } from '../../../inputs/jwks.ts';

describe('the key of an assertion', () => {
  const { keys } = jwks(
    { ...ec, kid: 'a' },
    { ...rsa, kid: 'a' },
    { ...ec384, kid: 'twice' },
    { ...ec384, kid: 'twice' },
    { ...rsa, kid: 'rs256', alg: 'RS256' },
    { ...ec, kid: 'enc', use: 'enc' },
    { ...ed, kid: 'ed', alg: 'Ed25519' },
  );
  const choose = (kid: string | undefined, alg: Parameters<typeof chooseKeys>[1]) => {
    const chosen = chooseKeys(kid === undefined ? {} : { kid }, alg, keys);
    return 'reason' in chosen ? `${chosen.code}: ${chosen.reason}` : chosen.keys.map((key) => `${key.kid} ${key.type}`);
  };

  test('33: chooses between RSA and EC keys with one kid by alg', () => {
    expect(choose('a', 'ES256')).toEqual(['a EC P-256']);
    expect(choose('a', 'PS256')).toEqual(['a RSA']);
  });
  test('33: rejects a kid with two keys of one type', () => {
    expect(choose('twice', 'ES384')).toMatch(/^kid: kid "twice" occurs 2 times in the JWKS/);
  });
  test('without kid: all that fit', () => {
    expect(choose(undefined, 'RS256')).toEqual(['a RSA', 'rs256 RSA']);
    expect(choose(undefined, 'PS256')).toEqual(['a RSA']);
    expect(choose(undefined, 'EdDSA')).toEqual(['ed OKP Ed25519']);
  });
  test.each<[string, Parameters<typeof chooseKeys>[1], RegExp]>([
    ['b', 'ES256', /^kid: kid "b" is not in the JWKS, which has "a", "a", "twice", "twice", "rs256" and 2 more$/],
    ['A', 'ES256', /^kid/],
    ['a', 'ES384', /needs EC P-384/],
    ['rs256', 'RS384', /is for alg "RS256", the assertion has RS384/],
    ['enc', 'ES256', /cannot be used: use is "enc"/],
    ['ed', 'ES256', /is of type OKP Ed25519/],
    ['__proto__', 'ES256', /^kid/],
  ])('%s with %s: none', (kid, alg, reason) => {
    expect(choose(kid, alg)).toMatch(reason);
  });
  test('a kid does not match keys without a kid', () => {
    const chosen = chooseKeys({ kid: 'a' }, 'ES256', jwks(ec).keys);
    expect(chosen).toEqual({ code: 'kid', reason: 'kid "a" is not in the JWKS, which has only keys without a kid' });
  });
});
