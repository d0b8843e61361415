/** Rows 15-33 and 44-50 of what the token service refuses, as tables over the pure checks. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { parseJson } from '../../../../shared/json.ts';
import { firstBroken } from '../../../../edge/oauth/assertion/check.ts';
import { CLAIM_CHECKS } from '../../../../edge/oauth/assertion/claims.ts';
import { readCompactJws } from '../../../../edge/oauth/assertion/compact-jws.ts';
import { HEADER_CHECKS } from '../../../../edge/oauth/assertion/header.ts';
import { decodeBase64url, encodeBase64url } from '../../../../shared/base64url.ts';
import { inputs } from '../../../stack/tools/size.ts';

const b64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64url');
const HEADER = '{"alg":"ES256","typ":"JWT"}';
const CLAIMS = '{"sub":"a"}';
const SIGNATURE = b64(new Uint8Array(64));
const jws = (header: string | Uint8Array, claims: string | Uint8Array = CLAIMS) =>
  `${b64(header)}.${b64(claims)}.${SIGNATURE}`;
const reasonFor = (text: string) => {
  const read = readCompactJws(text);
  return 'reason' in read ? read.reason : undefined;
};

describe('a compact JWS', () => {
  test('is read', () => {
    expect(readCompactJws(jws(HEADER))).toMatchObject({ jws: { header: { alg: 'ES256' }, claims: { sub: 'a' } } });
  });

  const good = jws(HEADER);
  const [h = '', p = '', s = ''] = good.split('.');
  test.each<[string, string, RegExp]>([
    ['15 empty', '', /1 parts/],
    ['15 one part', h, /1 parts/],
    ['15 two parts', `${h}.${p}`, /2 parts/],
    ['15 four parts', `${good}.x`, /4 parts/],
    ['15 random text', 'no token at all', /1 parts/],
    ['15 leading space', ` ${good}`, /header is not base64url/],
    ['16 a JWE', 'a.b.c.d.e', /encrypted/],
    ['17 JSON serialization', '{"payload":"e30","signatures":[]}', /1 parts/],
    ['18 over 8 KiB', `${h}.${p}.${'A'.repeat(8192)}`, /8192/],
    ['18 header over 1 KiB', jws(`{"alg":"ES256","x":"${'a'.repeat(1024)}"}`), /header has more than 1024/],
    ['18 payload over 4 KiB', jws(HEADER, `{"x":"${'a'.repeat(4096)}"}`), /payload has more than 4096/],
    ['19 a line feed inside', `${h.slice(0, 4)}\n${h.slice(4)}.${p}.${s}`, /base64url/],
    ['19 white space after', `${good} `, /signature is not base64url/],
    ['19 a line feed after the payload', `${h}.${p}\n.${s}`, /payload is not base64url/],
    ['19 padding', `${h}.${p}=.${s}`, /base64url/],
    ['19 a last character that is not canonical', `${h}.${p}.${s.slice(0, -1)}B`, /signature is not base64url/],
    ['20 + and /', `${h}.${p}.${'+/'.repeat(43)}`, /base64url/],
    ['21 a member twice in the header', jws('{"alg":"none","alg":"ES256"}'), /twice/],
    ['21 a member twice in the payload', jws(HEADER, '{"sub":"a","sub":"b"}'), /twice/],
    ['21 twice by an escape', jws(HEADER, '{"sub":"a","\\u0073ub":"b"}'), /twice/],
    ['22 not an object', jws('[]'), /not a JSON object/],
    ['22 null', jws('null'), /not a JSON object/],
    ['22 not JSON', jws('{alg:1}'), /not valid JSON/],
    ['22 invalid UTF-8', jws(new Uint8Array([0x7b, 0xff, 0x7d])), /UTF-8/],
    ['23 a byte order mark', jws(`\ufeff${HEADER}`), /not valid JSON/],
    ['23 nine levels', jws(HEADER, `${'{"a":'.repeat(9)}1${'}'.repeat(9)}`), /nesting/],
    ['no signature', `${h}.${p}.`, /not signed/],
  ])('%s is rejected', (_, text, reason) => {
    expect(reasonFor(text)).toMatch(reason);
  });

  test('24: reads __proto__ as an ordinary claim', () => {
    const read = readCompactJws(jws(HEADER, '{"__proto__":{"sub":"b"},"constructor":1}'));
    expect('jws' in read && read.jws.claims['sub']).toBe(undefined);
  });

  test('never throws for any bytes', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array(), fc.uint8Array(), (text, header, claims) => {
        readCompactJws(text);
        readCompactJws(jws(header, claims));
      }),
      { numRuns: inputs(300) },
    );
  });
});

test('encodes and decodes only the canonical spelling of base64url', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const text = encodeBase64url(bytes);
      expect(text).toBe(b64(bytes));
      expect(decodeBase64url(text)).toEqual(new Uint8Array(bytes));
    }),
  );
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('A', 'B', '0', '1', '-', '_', ' ', '=', '\n', '+', '/') }),
      (text) => {
        const bytes = decodeBase64url(text);
        if (bytes !== undefined) expect(b64(bytes)).toBe(text);
      },
    ),
  );
});

describe('the header', () => {
  const uri = 'https://keys.example.org/jwks';
  const refusal = (json: string, jwksUri: string | null = uri) =>
    firstBroken(HEADER_CHECKS, Object(parseJson(json)), { jwksUri });

  test.each([
    HEADER,
    '{"alg":"RS256"}',
    '{"alg":"EdDSA","typ":"jwt","kid":"a"}',
    `{"alg":"PS384","jku":"${uri}"}`,
    '{"alg":"ES384","kid":"../../x"}',
    `{"alg":"ES384","kid":"' or 1=1"}`,
  ])('%s is accepted', (json) => {
    expect(refusal(json)).toBeUndefined();
  });

  test.each<[string, string]>([
    ['{"alg":"none"}', 'alg'],
    ['{"alg":"nOnE"}', 'alg'],
    ['{}', 'alg'],
    ['{"alg":"HS256"}', 'alg'],
    ['{"alg":"RS512"}', 'alg'],
    ['{"alg":"ES512"}', 'alg'],
    ['{"alg":"toString"}', 'alg'],
    ['{"alg":["ES256"]}', 'alg'],
    ['{"alg":"ES256","jwk":{}}', 'header'],
    ['{"alg":"ES256","x5u":"https://a.example"}', 'header'],
    ['{"alg":"ES256","x5c":[]}', 'header'],
    ['{"alg":"ES256","x5t":"a"}', 'header'],
    ['{"alg":"ES256","x5t#S256":"a"}', 'header'],
    ['{"alg":"ES256","jku":"https://keys.example.org/jwks/"}', 'header'],
    ['{"alg":"ES256","crit":[]}', 'header'],
    ['{"alg":"ES256","crit":["b64"],"b64":false}', 'header'],
    ['{"alg":"ES256","b64":true}', 'header'],
    ['{"alg":"ES256","cty":"JWT"}', 'header'],
    ['{"alg":"ES256","typ":1}', 'typ'],
    ['{"alg":"ES256","typ":"at+jwt"}', 'typ'],
    ['{"alg":"ES256","typ":"dpop+jwt"}', 'typ'],
    ['{"alg":"ES256","kid":1}', 'kid'],
    ['{"alg":"ES256","kid":{}}', 'kid'],
    ['{"alg":"ES256","kid":""}', 'kid'],
    [`{"alg":"ES256","kid":"${'a'.repeat(257)}"}`, 'kid'],
  ])('%s is rejected for its %s', (json, code) => {
    expect(refusal(json)?.code).toBe(code);
  });

  test('28: jku is allowed only for a client with a JWKS URI', () => {
    expect(refusal(`{"alg":"ES256","jku":"${uri}"}`, null)?.reason).toContain('has no JWKS URI');
  });
});

describe('the claims', () => {
  const now = 1_800_000_000;
  const clientId = 'svc-0193e8a0-0000-7000-8000-000000000001';
  const endpoint = 'https://oauth.test/oauth2/token';
  const good = { iss: clientId, sub: clientId, aud: endpoint, exp: now + 300, jti: 'a' };
  const refusal = (change: object) => {
    const members = Object.entries({ ...good, ...change }).filter(([, value]) => value !== undefined);
    const json = JSON.stringify(Object.fromEntries(members)).replace(/"number:([^"]*)"/g, '$1');
    return firstBroken(CLAIM_CHECKS, Object(parseJson(json)), { clientId, audiences: [endpoint], now });
  };

  test.each<[string, object]>([
    ['the usual', {}],
    ['aud alone in an array', { aud: [endpoint] }],
    ['exp as far ahead as a clock may be off', { exp: now + 330 }],
    ['exp within the tolerance', { exp: now - 29 }],
    ['iat and nbf a little ahead', { iat: now + 10, nbf: now + 10 }],
    ['iat and nbf 60 s ahead', { iat: now + 60, nbf: now + 60 }],
    ['iat old, but not too old', { iat: now - 330, exp: now + 1 }],
    ['a long jti', { jti: 'ä'.repeat(127) }],
    ['other claims', { scope: 'x', constructor: 1 }],
  ])('%s: accepted', (_, change) => {
    expect(refusal(change)).toBeUndefined();
  });

  test.each<[string, object, string, RegExp]>([
    ['44 iss missing', { iss: undefined }, 'iss', /iss was nothing, expected the Client ID/],
    ['44 iss another', { iss: 'svc-x' }, 'iss', /iss was "svc-x"/],
    ['44 iss an array', { iss: [clientId] }, 'iss', /iss was \["svc-/],
    ['44 sub missing', { sub: undefined }, 'sub', /sub was nothing/],
    ['44 sub another', { sub: 'svc-x' }, 'sub', /sub was "svc-x"/],
    ['45 aud missing', { aud: undefined }, 'aud', /aud was nothing, expected "https:\/\/oauth.test\/oauth2\/token"/],
    ['45 another server', { aud: 'https://other.test/oauth2/token' }, 'aud', /aud was "https:\/\/other/],
    ['45 http for https', { aud: 'http://oauth.test/oauth2/token' }, 'aud', /http:/],
    ['45 the issuer', { aud: 'https://oauth.test' }, 'aud', /aud was "https:\/\/oauth.test"/],
    ['45 another case', { aud: 'https://oauth.test/OAuth2/token' }, 'aud', /OAuth2/],
    ['45 a trailing slash', { aud: `${endpoint}/` }, 'aud', /token\/"/],
    ['45 a port', { aud: 'https://oauth.test:443/oauth2/token' }, 'aud', /443/],
    ['45 the resource audience', { aud: 'svc-fhir' }, 'aud', /svc-fhir/],
    ['46 two entries, one of them the gateway', { aud: [endpoint, 'x'] }, 'aud', /, expected "https/],
    ['46 with other than strings', { aud: [1] }, 'aud', /\[1\]/],
    ['46 none', { aud: [] }, 'aud', /\[\]/],
    ['47 exp missing', { exp: undefined }, 'exp', /missing/],
    ['47 exp a string', { exp: String(now) }, 'exp', /whole seconds/],
    ['47 exp null', { exp: null }, 'exp', /null/],
    ['47 exp negative', { exp: -1 }, 'exp', /-1/],
    ['47 exp past by the whole tolerance', { exp: now - 30 }, 'exp', /^exp is 30 s in the past/],
    ['47 exp past', { exp: now - 412 }, 'exp', /^exp is 412 s in the past; is the client's clock right\?$/],
    ['48 exp a fraction', { exp: now + 0.5 }, 'exp', /whole seconds/],
    ['48 exp 1e300', { exp: 'number:1e300' }, 'exp', /1e300/],
    ['48 exp with an exponent', { exp: 'number:1.8e9' }, 'exp', /1\.8e9/],
    ['48 exp in milliseconds', { exp: now * 1000 }, 'exp', /milliseconds/],
    ['48 exp too far ahead', { exp: now + 331 }, 'exp', /331 s ahead/],
    ['49 exp not after nbf', { exp: now + 5, nbf: now + 5 }, 'nbf', /exp is not after nbf/],
    ['49 exp not after iat', { exp: now + 5, iat: now + 5 }, 'iat', /exp is not after iat/],
    ['49 iat too old', { iat: now - 331 }, 'iat', /331 s in the past/],
    ['49 iat too far ahead', { iat: now + 61 }, 'iat', /61 s ahead/],
    ['49 nbf too far ahead', { nbf: now + 61 }, 'nbf', /61 s ahead/],
    ['49 iat a string', { iat: 'now' }, 'iat', /whole seconds/],
    ['50 jti missing', { jti: undefined }, 'jti', /missing/],
    ['50 jti empty', { jti: '' }, 'jti', /empty/],
    ['50 jti white space', { jti: ' \u00a0' }, 'jti', /empty/],
    ['50 jti a number', { jti: 1 }, 'jti', /expected a string/],
    ['50 jti an object', { jti: {} }, 'jti', /expected a string/],
    ['50 jti over 255 bytes', { jti: 'ä'.repeat(128) }, 'jti', /255 bytes/],
    ['50 jti with control characters', { jti: 'a\u0000' }, 'jti', /control/],
  ])('%s: rejected', (_, change, code, reason) => {
    const found = refusal(change);
    expect(found?.code).toBe(code);
    expect(found?.reason).toMatch(reason);
  });
});
