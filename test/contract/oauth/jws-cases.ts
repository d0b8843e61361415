/** Rows 15-33 of what is refused: the JWS and its header. Each is signed by the right key, so that only the check refuses. */
import { randomUUID } from 'node:crypto';

import { exportJWK, generateKeyPair } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';

import type { ApiKey } from '../../stack/services/seed.ts';
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

type Make = (subject: Subject, key: ApiKey) => Promise<string> | string;

const b64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64url');

/** A good assertion, changed afterwards. */
const changed =
  (change: (text: string) => string): Make =>
  async (subject, key) =>
    change(await assertion(subject, key));

/** Signed over these texts. */
const signed =
  (
    header: (good: string) => string | Uint8Array,
    claims: (good: string) => string | Uint8Array = (good) => good,
  ): Make =>
  (subject, key) =>
    sign(key.privateJwk, header(headerOf(key)), claims(claimsOf(subject, key)));

/** Signed over segments that were changed, as a verifier that decodes leniently would accept. */
const resigned =
  (change: (header: string, claims: string) => string): Make =>
  (subject, key) =>
    sign(key.privateJwk, '', '', change(b64(headerOf(key)), b64(claimsOf(subject, key))));

const withHeader =
  (change: Readonly<Record<string, unknown>>): Make =>
  (subject, key) =>
    assertion(subject, key, {}, change);

const good = (text: string) => text;
const add = (members: string) => (text: string) => `${text.slice(0, -1)},${members}}`;

const REFUSED: readonly (readonly [string, Make, string])[] = [
  ['15: one part', changed((text) => text.split('.')[0] ?? ''), 'authentication|format'],
  ['15: two parts', changed((text) => text.split('.').slice(0, 2).join('.')), 'format'],
  ['15: four parts', changed((text) => `${text}.x`), 'format'],
  ['15: random text', () => 'not a token', 'format'],
  ['15: a leading space', changed((text) => ` ${text}`), 'format'],
  ['16: five parts', changed((text) => `${text}.x.y`), 'format'],
  ['16: cty', withHeader({ cty: 'JWT' }), 'header'],
  ['17: JSON serialization', changed((text) => JSON.stringify({ payload: text.split('.')[1] })), 'format'],
  ['18: over 8 KiB', signed(good, add(`"x":"${'a'.repeat(6200)}"`)), 'format'],
  ['18: a header over 1 KiB', withHeader({ x: 'a'.repeat(1024) }), 'format'],
  ['18: a payload over 4 KiB', signed(good, add(`"x":"${'a'.repeat(4096)}"`)), 'format'],
  ['19: a space inside', resigned((header, claims) => `${header}.${claims.slice(0, 8)} ${claims.slice(8)}`), 'format'],
  ['19: white space after', changed((text) => `${text} `), 'format'],
  ['19: padding', resigned((header, claims) => `${header}.${claims}==`), 'format'],
  ['19: another spelling', changed((text) => text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'z')), 'format|signature'],
  ['20: + and /', resigned((header, claims) => `${header}.${claims.slice(0, -2)}+/`), 'format'],
  ['21: alg twice', signed((text) => `{"alg":"none",${text.slice(1)}`), 'format'],
  ['21: sub twice', signed(good, (text) => `{"sub":"a",${text.slice(1)}`), 'format'],
  ['22: a header that is an array', signed((text) => `[${text}]`), 'format'],
  ['22: claims that are a string', signed(good, JSON.stringify), 'format'],
  ['22: not JSON', signed(good, (text) => `${text},`), 'format'],
  ['22: invalid UTF-8', signed(good, (text) => Buffer.from(add('"x":"\xff"')(text), 'latin1')), 'format'],
  ['23: a byte order mark', signed(good, (text) => `\ufeff${text}`), 'format'],
  ['23: nine levels', signed(good, add(`"x":${'['.repeat(8)}${']'.repeat(8)}`)), 'format'],
  ['25: alg none', changed((text) => `${b64('{"alg":"none"}')}.${text.split('.')[1]}.AA`), 'alg'],
  ['25: alg nOnE', withHeader({ alg: 'nOnE' }), 'alg'],
  ['25: alg absent', withHeader({ alg: undefined }), 'alg'],
  ['25: HS256', withHeader({ alg: 'HS256' }), 'alg'],
  ['25: RS512', withHeader({ alg: 'RS512' }), 'alg'],
  ['26: an alg that the key is not for', withHeader({ alg: 'ES384' }), 'jwks'],
  ['27: jwk', withHeader({ jwk: { kty: 'EC' } }), 'header'],
  ['27: x5u', withHeader({ x5u: 'https://keys.example.org/' }), 'header'],
  ['27: x5c', withHeader({ x5c: ['AA'] }), 'header'],
  ['27: x5t', withHeader({ x5t: 'AA' }), 'header'],
  ['27: jku where none is registered', withHeader({ jku: 'https://keys.example.org/' }), 'header'],
  ['29: crit', withHeader({ crit: ['exp'], exp: 1 }), 'header'],
  ['29: crit, empty', withHeader({ crit: [] }), 'header'],
  ['29: b64', withHeader({ b64: false }), 'header'],
  ['30: at+jwt', withHeader({ typ: 'at+jwt' }), 'typ'],
  ['30: dpop+jwt', withHeader({ typ: 'dpop+jwt' }), 'typ'],
  ['30: typ a number', withHeader({ typ: 1 }), 'typ'],
  ['31: kid unknown', withHeader({ kid: randomUUID() }), 'kid'],
  ['32: kid a number', withHeader({ kid: 1 }), 'kid'],
  ['32: kid an object', withHeader({ kid: {} }), 'kid'],
  ['32: kid empty', withHeader({ kid: '' }), 'kid'],
  ['32: kid over 256 characters', withHeader({ kid: 'a'.repeat(257) }), 'kid'],
  ['32: kid a path', withHeader({ kid: '../../x' }), 'kid'],
  ['32: kid SQL', withHeader({ kid: "' or 1=1 --" }), 'kid'],
  ['32: kid with CRLF', withHeader({ kid: 'a\r\nb' }), 'kid'],
];

export function jwsCases(subject: () => Subject): void {
  let key: ApiKey;
  beforeAll(async () => {
    key = await subject().createKey();
  });

  test.each(REFUSED)('%s', async (_, make, code) => {
    const text = await make(subject(), key);
    const answer = await present(subject(), text);
    expectC(answer);
    // The gateway cannot assign an unreadable assertion to a key.
    if (!/^(?:authentication|format)/.test(code)) {
      expect(await reasonKept(subject(), answer)).toMatch(new RegExp(`^(?:${code}): `));
    }
  });

  test('15: empty', async () => {
    expectC(await present(subject(), ''));
  });

  test('24: constructor and __proto__ beside good claims are ignored', async () => {
    const claims = add('"__proto__":{"sub":"x"},"constructor":{"a":1}')(claimsOf(subject(), key));
    expectToken(await present(subject(), await sign(key.privateJwk, headerOf(key), claims)));
  });

  test('24: a sub in __proto__ is not a sub', async () => {
    const { clientId } = key;
    const claims = claimsOf(subject(), key).replace(`"sub":"${clientId}"`, `"__proto__":{"sub":"${clientId}"}`);
    const answer = await present(subject(), await sign(key.privateJwk, headerOf(key), claims));
    expectRefusal(answer, 401, 'invalid_client', /^sub was nothing/);
  });

  test('25: HS256 keyed with the public key', async () => {
    const { rows } = await subject().db.client.query<{ jwks: string }>(
      'select jwks from api_key where client_id = $1',
      [key.clientId],
    );
    const input = `${b64(headerOf(key, { alg: 'HS256' }))}.${b64(claimsOf(subject(), key))}`;
    for (const secret of [rows[0]?.jwks ?? '', JSON.stringify(JSON.parse(rows[0]?.jwks ?? '').keys[0])]) {
      const hmac = await crypto.subtle.importKey('raw', Buffer.from(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
        'sign',
      ]);
      const signature = new Uint8Array(await crypto.subtle.sign('HMAC', hmac, Buffer.from(input)));
      expectC(await present(subject(), `${input}.${b64(signature)}`));
    }
  });

  test('30: typ absent, or in another case', async () => {
    expectToken(await present(subject(), await assertion(subject(), key, {}, { typ: undefined })));
    expectToken(await present(subject(), await assertion(subject(), key, {}, { typ: 'jwt' })));
  });

  test('31: the reason in the console', async () => {
    const answer = await present(subject(), await assertion(subject(), key, {}, { kid: 'a' }));
    expectC(answer);
    expect(await reasonKept(subject(), answer)).toBe(
      `kid: kid "a" is not in the JWKS, which has "${key.privateJwk.kid}"`,
    );
  });

  describe('33', () => {
    const pairOf = async (alg: string, kid: string) => {
      const pair = await generateKeyPair(alg, { extractable: true });
      return {
        private: { ...(await exportJWK(pair.privateKey)), kid, alg },
        public: { ...(await exportJWK(pair.publicKey)), kid },
      };
    };

    test('two keys of the same kid and type', async () => {
      const [one, two] = [await pairOf('ES256', 'k'), await pairOf('ES256', 'k')];
      const { clientId } = await subject().createKey({ jwks: { keys: [one.public, two.public] } });
      expectC(await present(subject(), await assertion(subject(), { clientId, privateJwk: one.private })));
    });

    test('alg chooses between RSA and EC with the same kid; without kid each key for the alg is tried', async () => {
      const keys = [await pairOf('RS256', 'k'), await pairOf('ES256', 'k'), await pairOf('ES256', 'l')];
      const { clientId } = await subject().createKey({ jwks: { keys: keys.map((pair) => pair.public) } });
      for (const { private: privateJwk } of keys) {
        expectToken(await present(subject(), await assertion(subject(), { clientId, privateJwk })));
        expectToken(
          await present(subject(), await assertion(subject(), { clientId, privateJwk }, {}, { kid: undefined })),
        );
      }
    });
  });
}
