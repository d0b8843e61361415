/** Rows 34-43 of what is refused: keys and signatures. Bad keys are put into the database directly, past the console. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';

import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { expect, test } from 'vitest';

import {
  assertion,
  claimsOf,
  expectC,
  expectRefusal,
  expectToken,
  headerOf,
  present,
  reasonKept,
  sign,
  type Subject,
} from './subject.ts';

const b64 = (bytes: Uint8Array | bigint): string => {
  if (typeof bytes !== 'bigint') return Buffer.from(bytes).toString('base64url');
  const hex = bytes.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url');
};
const integer = (text: string): bigint => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`);
const withSignature = (text: string, signature: Uint8Array) =>
  `${text.split('.').slice(0, 2).join('.')}.${b64(signature)}`;
const ORDER_P256 = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** EMSA-PKCS1-v1_5 with SHA-256: with exponent 1 this is its own signature. */
async function encodedMessage(input: string, length: number): Promise<Uint8Array> {
  const prefix = Buffer.from('3031300d060960864801650304020105000420', 'hex');
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', Buffer.from(input)));
  const tail = Buffer.concat([Buffer.from([0]), prefix, hash]);
  return Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(length - tail.length - 2, 0xff), tail]);
}

export function keyCases(subject: () => Subject): void {
  test.each(['RS256', 'RS384', 'PS256', 'PS384', 'ES256', 'ES384', 'EdDSA'] as const)(
    '%s is accepted',
    async (algorithm) => {
      const key = await subject().createKey({ algorithm });
      expectToken(await present(subject(), await assertion(subject(), key)));
    },
  );

  test.each(['RS256', 'PS256', 'ES256', 'EdDSA'] as const)('34: %s tampered, or by another key', async (algorithm) => {
    const key = await subject().createKey({ algorithm });
    const text = await assertion(subject(), key);
    const [header = '', , signature = ''] = text.split('.');
    const claims = Buffer.from(claimsOf(subject(), key)).toString('base64url');
    expectC(await present(subject(), `${header}.${claims}.${signature}`));
    const bytes = Buffer.from(signature, 'base64url');
    bytes[10] = (bytes[10] ?? 0) ^ 1;
    expectC(await present(subject(), withSignature(text, bytes)));
    const other = await subject().createKey({ algorithm });
    const stolen = { clientId: key.clientId, privateJwk: { ...other.privateJwk, kid: key.privateJwk.kid ?? '' } };
    const answer = await present(subject(), await assertion(subject(), stolen));
    expectC(answer);
    expect(await reasonKept(subject(), answer)).toMatch(/^signature: the signature does not verify with the key "/);
  });

  test('35: ECDSA zero, DER, wrong length', async () => {
    const key = await subject().createKey({ algorithm: 'ES256' });
    const text = await assertion(subject(), key);
    const raw = Buffer.from(text.split('.')[2] ?? '', 'base64url');
    const node = createPrivateKey({ key: { ...key.privateJwk }, format: 'jwk' });
    const { sign: nodeSign } = await import('node:crypto');
    const der = nodeSign('sha256', Buffer.from(text.split('.').slice(0, 2).join('.')), node);
    for (const signature of [Buffer.alloc(64), der, raw.subarray(0, 63), Buffer.concat([raw, Buffer.alloc(1)])]) {
      expectC(await present(subject(), withSignature(text, signature)));
    }
  });

  const stored = async (jwk: JWK | undefined, privateJwk: JWK) => {
    const { clientId } = await subject().createKey({ jwks: { keys: jwk === undefined ? [] : [jwk] } });
    return { clientId, privateJwk };
  };
  const pairOf = async (alg: string) => {
    const pair = await generateKeyPair(alg, { extractable: true });
    return { open: await exportJWK(pair.publicKey), closed: { ...(await exportJWK(pair.privateKey)), alg } };
  };

  test('36: P-256 with ES384, a point off the curve', async () => {
    const { open, closed } = await pairOf('ES256');
    const key = await stored(open, closed);
    expectC(await present(subject(), await sign(closed, headerOf(key, { alg: 'ES384' }), claimsOf(subject(), key))));
    const off = await stored({ ...open, y: open.x ?? '' }, closed);
    const answer = await present(subject(), await assertion(subject(), off));
    expectC(answer);
    expect(await reasonKept(subject(), answer)).toMatch(/^jwks: .*not/);
  });

  test('37: RSA of 1024 bits', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const key = await stored({ ...publicKey.export({ format: 'jwk' }), kty: 'RSA' }, { kty: 'RSA', alg: 'RS256' });
    const input = [headerOf(key), claimsOf(subject(), key)]
      .map((text) => Buffer.from(text).toString('base64url'))
      .join('.');
    const { sign: nodeSign } = await import('node:crypto');
    expectC(await present(subject(), `${input}.${b64(nodeSign('sha256', Buffer.from(input), privateKey))}`));
  });

  test('38: rejects exponent 1, with which any client can forge a signature', async () => {
    const { open } = await pairOf('RS256');
    const key = await stored({ ...open, e: 'AQ' }, { kty: 'RSA', alg: 'RS256' });
    const input = [headerOf(key), claimsOf(subject(), key)]
      .map((text) => Buffer.from(text).toString('base64url'))
      .join('.');
    const answer = await present(subject(), `${input}.${b64(await encodedMessage(input, 256))}`);
    expectC(answer);
    expect(await reasonKept(subject(), answer)).toContain('exponent is not 65537');
  });

  test('38: exponent 3', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 });
    const closed = { ...privateKey.export({ format: 'jwk' }), kty: 'RSA' as const, alg: 'RS256' };
    const key = await stored({ ...publicKey.export({ format: 'jwk' }), kty: 'RSA' }, closed);
    expectC(await present(subject(), await assertion(subject(), key)));
  });

  test('40: use enc, key_ops without verify', async () => {
    const { open, closed } = await pairOf('ES256');
    for (const purpose of [{ use: 'enc' }, { key_ops: ['sign'] }]) {
      expectC(await present(subject(), await assertion(subject(), await stored({ ...open, ...purpose }, closed))));
    }
  });

  test('41: a JWKS with private members', async () => {
    const { closed } = await pairOf('ES256');
    const answer = await present(subject(), await assertion(subject(), await stored(closed, closed)));
    expectC(answer);
    expect(await reasonKept(subject(), answer)).toContain('PRIVATE key');
  });

  test('43: a signature malleated by a third party is a replay', async () => {
    const key = await subject().createKey({ algorithm: 'ES256' });
    const text = await assertion(subject(), key);
    expectToken(await present(subject(), text));
    const raw = Buffer.from(text.split('.')[2] ?? '', 'base64url');
    const s = ORDER_P256 - integer(raw.subarray(32).toString('base64url'));
    const twin = Buffer.concat([raw.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]);
    expectRefusal(await present(subject(), withSignature(text, twin)), 401, 'invalid_client', /already been used/);
  });
}
