/** A rejected form never shows a private key again, in any field. */
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';

import type { JWK } from 'jose';
import { describe, expect, test } from 'vitest';

import { redactKeys, redactTexts } from '../../../edge/members/redact.ts';

const { publicKey: rsa, privateKey: rsaPrivate } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const { publicKey: ec, privateKey: ecPrivate } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const spki = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();
const pkcs8 = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const jwkOf = (key: KeyObject): JWK => key.export({ format: 'jwk' });

describe('a rejected field', () => {
  const secret = jwkOf(ecPrivate).d ?? '';
  const privateJwk = { ...jwkOf(ecPrivate), kid: 'lab', alg: 'ES256' };
  const body = pkcs8(ecPrivate).split('\n')[1] ?? '';

  test.each<[string, string]>([
    ['a JWKS', JSON.stringify({ keys: [privateJwk] })],
    ['a JWKS that is not JSON', `{"keys":[${JSON.stringify(privateJwk)},]}`],
    ['a JWKS of JavaScript', `{ keys: [{ kty: 'EC', d: '${secret}' }] }`],
    ['a JWKS in a text', JSON.stringify(JSON.stringify({ keys: [privateJwk] }))],
    ['a member whose name is escaped', `{"kty":"EC","\\u0064":"${secret}"}`],
    ['a member beside the keys', JSON.stringify({ keys: [jwkOf(ec)], backup: { d: secret } })],
    ['YAML', `kty: EC\nd: ${secret}\n`],
    ['the bare number', secret.repeat(2)],
  ])('with %s loses the private member', (_, text) => {
    expect(redactKeys(text)).not.toContain(secret);
  });

  test.each([
    pkcs8(ecPrivate),
    pkcs8(ecPrivate).replaceAll('-----', '\u2014'),
    pkcs8(ecPrivate).replaceAll(/-----.*-----/g, ''),
    rsaPrivate.export({ type: 'pkcs1', format: 'pem' }).toString(),
    `${spki(ec)}\n${pkcs8(ecPrivate)}`,
  ])('with a private PEM becomes empty', (text) => {
    expect(redactKeys(text)).toBe('');
  });

  test('keeps the public members of a JWKS, and every text without a private key', () => {
    const again = JSON.parse(redactKeys(JSON.stringify({ keys: [privateJwk] }))) as unknown;
    expect(again).toEqual({ keys: [{ ...jwkOf(ec), kid: 'lab', alg: 'ES256' }] });
    const half = spki(rsa).slice(0, 200);
    for (const text of ['{"keys": [', spki(rsa), half, 'ask the vendor', '{ "keys":\n[] }']) {
      expect(redactKeys(text)).toBe(text);
    }
  });

  test('with another member loses only the private key', () => {
    const notes = 'The private key is with Bob; d: 1, p = 2. Ask for "k: the key".';
    const texts = { name: [pkcs8(ecPrivate)], notes: [notes], contact: [`{"d":"${secret}"}`], jwks: [''] };
    expect(redactTexts(texts)).toEqual({ name: [], notes: [notes], contact: [], jwks: [''] });
    expect(JSON.stringify(redactTexts(texts))).not.toContain(body);
    // A thumbprint of 43 characters is not a key.
    const digest = createHash('sha256').update('x').digest('base64url');
    expect(redactTexts({ notes: [`kid ${digest}`] })).toEqual({ notes: [`kid ${digest}`] });
  });
});
