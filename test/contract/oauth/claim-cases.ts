/** Rows 44-50 of what is refused: claims, over HTTP. The full table is in the unit tests; here is what an integrator sees. */
import { beforeAll, expect, test } from 'vitest';

import type { ApiKey } from '../../stack/services/seed.ts';
import { assertion, expectRefusal, expectToken, now, present, reasonKept, type Subject } from './subject.ts';

type Claims = Readonly<Record<string, unknown>>;

export function claimCases(subject: () => Subject): void {
  let key: ApiKey;
  beforeAll(async () => {
    key = await subject().createKey();
  });
  const ask = async (claims: Claims) => present(subject(), await assertion(subject(), key, claims));

  test.each<[string, (endpoint: string) => Claims, RegExp]>([
    ['44: iss missing', () => ({ iss: undefined }), /^iss was nothing/],
    ['44: sub missing', () => ({ sub: undefined }), /^sub was nothing/],
    ['45: aud missing', () => ({ aud: undefined }), /^aud was nothing, expected 'http/],
    ['45: a trailing slash', (endpoint) => ({ aud: `${endpoint}/` }), /token\/', expected/],
    ['46: two entries', (endpoint) => ({ aud: [endpoint, 'x'] }), /^aud was \[/],
    ['47: exp past', () => ({ exp: now() - 412 }), /^exp is 4\d\d s in the past; is the client's clock right\?$/],
    ['49: exp not after nbf', () => ({ nbf: now() + 50, exp: now() + 40 }), /exp is not after nbf/],
    ['49: iat too far ahead', () => ({ iat: now() + 90 }), /^iat is (?:8\d|90) s ahead/],
    ['50: jti missing', () => ({ jti: undefined }), /^jti is missing/],
    ['50: jti with a control character', () => ({ jti: 'a\nb' }), /control/],
  ])('%s', async (_, claims, description) => {
    const answer = await ask(claims(subject().tokenEndpoint));
    expectRefusal(answer, 401, 'invalid_client', description);
    expect(answer.headers.get('www-authenticate')).toBeNull();
  });

  test('the reason in the console', async () => {
    const answer = await ask({ aud: 'https://other.example' });
    expect(await reasonKept(subject(), answer)).toBe(
      `aud: aud was "https://other.example", expected "${subject().tokenEndpoint}"`,
    );
    const { rows } = await subject().db.client.query('select * from refusal where $1 = any (request_ids)', [
      answer.requestId,
    ]);
    expect(rows).toMatchObject([
      {
        site_id: key.site,
        client_id: key.clientId,
        surface: 'token',
        source_address: '127.0.0.1',
        answer: '401',
        first_at: expect.any(Date),
        last_at: expect.any(Date),
      },
    ]);
  });

  test('46: aud alone in an array, 49: a clock 10 s ahead, exp 300 s ahead, no iat', async () => {
    expectToken(await ask({ aud: [subject().tokenEndpoint] }));
    expectToken(await ask({ iat: now() + 10, nbf: now() + 10, exp: now() + 300 }));
    expectToken(await ask({ exp: now() + 300, iat: undefined }));
  });
}
