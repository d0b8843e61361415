/** Pasted public keys become a JWKS, or an error that names what was pasted. */
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

import { calculateJwkThumbprint, type JWK } from 'jose';
import { describe, expect, test } from 'vitest';

import { readPublicKeys } from '../../../../edge/admin/keys/public-keys.ts';
import { readJwks } from '../../../../shared/oauth/jwks.ts';
import { makeAuthority } from '../../../stack/services/certificate.ts';

const PAIRS = {
  'RSA 2048': generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'EC P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'EC P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  Ed25519: generateKeyPairSync('ed25519'),
};
const { publicKey: rsa, privateKey: rsaPrivate } = PAIRS['RSA 2048'];
const { publicKey: ec, privateKey: ecPrivate } = PAIRS['EC P-256'];
const spki = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();
const pkcs8 = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const jwkOf = (key: KeyObject): JWK => key.export({ format: 'jwk' });

const keysOf = async (text: string): Promise<readonly JWK[]> => {
  const read = await readPublicKeys(text);
  if ('problem' in read) throw new Error(read.problem);
  expect(readJwks(read.jwks).problems).toEqual([]);
  return (JSON.parse(read.jwks) as { keys: JWK[] }).keys;
};
const problemOf = async (text: string): Promise<string> => {
  const read = await readPublicKeys(text);
  if ('problem' in read) return read.problem;
  return readJwks(read.jwks).problems.join();
};

describe('a public key in PEM', () => {
  test.each(Object.entries(PAIRS))(
    'a key of %s becomes its JWK with the thumbprint as kid',
    async (_, { publicKey }) => {
      const jwk = jwkOf(publicKey);
      expect(await keysOf(spki(publicKey))).toEqual([{ ...jwk, use: 'sig', kid: await calculateJwkThumbprint(jwk) }]);
    },
  );

  test('in the older format of OpenSSL (RSA PUBLIC KEY) gives the same key', async () => {
    const old = rsa.export({ type: 'pkcs1', format: 'pem' }).toString();
    expect(await keysOf(old)).toEqual(await keysOf(spki(rsa)));
  });

  test.each<[string, (pem: string) => string]>([
    ['with CRLF', (pem) => pem.replaceAll('\n', '\r\n')],
    ['on one line', (pem) => pem.replaceAll('\n', ' ')],
    ['with \\n for its lines', (pem) => pem.replaceAll('\n', '\\n')],
    ['with the dashes of a word processor', (pem) => pem.replaceAll('-----', '\u2014\u2013')],
    ['below what openssl said of it', (pem) => `read EC key\nwriting EC key\n${pem}`],
  ])('%s is understood', async (_, spoil) => {
    expect(await keysOf(spoil(spki(ec)))).toEqual(await keysOf(spki(ec)));
  });

  test('two PEM blocks, for a rotation, are two keys', async () => {
    expect(await keysOf(spki(ec) + spki(rsa))).toHaveLength(2);
  });
});

describe('a certificate', () => {
  const authority = makeAuthority();
  const { certificate } = authority.issue(['client.example']);
  const thumbprint = async (pem: string): Promise<string> => calculateJwkThumbprint(jwkOf(createPublicKey(pem)));

  test('gives the key of the certificate', async () => {
    expect(await keysOf(certificate)).toMatchObject([{ kid: await thumbprint(certificate) }]);
  });

  test('with its chain in any order gives only the key of the certificate', async () => {
    for (const chain of [`${certificate}\n${authority.certificate}`, `${authority.certificate}\n${certificate}`]) {
      expect(await keysOf(chain)).toMatchObject([{ kid: await thumbprint(certificate) }]);
    }
  });

  test('that is self-signed gives its key, even beside another with the same name', async () => {
    const second = makeAuthority();
    expect(await keysOf(authority.certificate + second.certificate)).toHaveLength(2);
  });
});

describe('a JWK', () => {
  test('alone becomes a JWKS; without a kid it gets its thumbprint', async () => {
    const jwk = jwkOf(ec);
    expect(await keysOf(JSON.stringify({ ...jwk, kid: 'mine' }))).toEqual([{ ...jwk, kid: 'mine' }]);
    expect(await keysOf(JSON.stringify(jwk))).toEqual([{ ...jwk, kid: await calculateJwkThumbprint(jwk) }]);
  });

  test('in a JWKS stays unchanged, also without a kid', async () => {
    expect(await keysOf(JSON.stringify({ keys: [jwkOf(ec)], note: 1 }, null, 2))).toEqual([jwkOf(ec)]);
  });
});

test.each<[string, string, RegExp]>([
  ['a private key', pkcs8(ecPrivate), /PRIVATE key/],
  ['a private key of OpenSSL', rsaPrivate.export({ type: 'pkcs1', format: 'pem' }).toString(), /PRIVATE key/],
  ['a private key of SEC 1', ecPrivate.export({ type: 'sec1', format: 'pem' }).toString(), /PRIVATE key/],
  [
    'an encrypted private key',
    rsaPrivate.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' }).toString(),
    /PRIVATE key/,
  ],
  ['a certificate with its private key', makeAuthority().certificate + pkcs8(ecPrivate), /PRIVATE key/],
  ['a private JWK', JSON.stringify(jwkOf(ecPrivate)), /PRIVATE key/],
  ['half of a PEM', spki(rsa).slice(0, 200), /incomplete/],
  ['a PEM with a character too few', spki(rsa).replace('MIIB', 'MIB'), /damaged/],
  [
    'a request for a certificate',
    '-----BEGIN CERTIFICATE REQUEST-----\nAA==\n-----END CERTIFICATE REQUEST-----',
    /CSR/,
  ],
  ['a key of SSH', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBlahblah me@host', /SSH/],
  ['a key of PGP', '-----BEGIN PGP PUBLIC KEY BLOCK-----\nAA\n-----END PGP PUBLIC KEY BLOCK-----', /PGP/],
  ['DER in base64', spki(rsa).replaceAll(/-----.*-----/g, ''), /BEGIN/],
  ['a DER file opened as text', `0\ufffd\u0001"0\r\u0006\t*\ufffdH`, /DER/],
  ['an address', 'https://client.example/jwks.json', /JWKS URI/],
  ['EC P-521', spki(generateKeyPairSync('ec', { namedCurve: 'P-521' }).publicKey), /curve/],
  ['RSA for PSS alone', spki(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey), /PSS/],
  ['X25519', spki(generateKeyPairSync('x25519').publicKey), /not supported/],
  ['RSA of 1024 bits', spki(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey), /1024 bits are too few/],
  ['words', 'ask the vendor', /not valid JSON/],
  ['a list of JWKs', JSON.stringify([jwkOf(ec)]), /"keys" array/],
])('%s is rejected with a matching error', async (_, text, expected) => {
  expect(await problemOf(text)).toMatch(expected);
});
