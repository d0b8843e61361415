/** Rows 51-54, 56, 57, 59 and 61-65: single use, state, scope and audience. */
import { randomUUID } from 'node:crypto';

import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose';
import { describe, expect, test } from 'vitest';

import { until } from '../../stack/services/until.ts';
import {
  assertion,
  expectC,
  expectRefusal,
  expectToken,
  formOf,
  now,
  post,
  present,
  reasonKept,
  type Subject,
} from './subject.ts';

export function useCases(subject: () => Subject): void {
  test('51: the same assertion twice', async () => {
    const text = await assertion(subject(), await subject().createKey());
    expectToken(await present(subject(), text));
    const again = await present(subject(), text);
    expectRefusal(again, 401, 'invalid_client', /^the assertion has already been used/);
    expect(await reasonKept(subject(), again)).toMatch(/^replay: the assertion has already been used/);
  });

  test('52: 200 times at once: one token', async () => {
    const text = await assertion(subject(), await subject().createKey());
    const ask = async (): Promise<number> => (await present(subject(), text)).status;
    const answers = await Promise.all(Array.from({ length: 200 }, ask));
    // A machine may not have enough time for all at once: a client that gets Retry-After repeats its request.
    let late = 0;
    for (const [n, status] of answers.entries()) {
      if (status !== 503) continue;
      late += 1;
      answers[n] = await until('an answer in time', async () => {
        const again = await ask();
        return again !== 503 && again;
      });
    }
    const tokens = answers.filter((status) => status === 200).length;
    expect(answers.filter((status) => status === 401)).toHaveLength(200 - tokens);
    // A late request may have used the assertion, although its answer was 503.
    expect(late === 0 ? [1] : [0, 1]).toContain(tokens);
  });

  test('53: the same jti in another assertion, by another key; 54: by another client', async () => {
    const second = await generateKeyPair('ES256', { extractable: true });
    const first = await subject().createKey();
    const jti = randomUUID();
    expectToken(await present(subject(), await assertion(subject(), first, { jti })));
    const other = await present(subject(), await assertion(subject(), first, { jti, exp: now() + 200 }));
    expectRefusal(other, 401, 'invalid_client', /already been used/);

    const secondJwk = { ...(await exportJWK(second.privateKey)), kid: 'second', alg: 'ES256' };
    const { rows } = await subject().db.client.query<{ jwks: string }>(
      'select jwks from api_key where client_id = $1',
      [first.clientId],
    );
    const keys = [...JSON.parse(rows[0]?.jwks ?? '').keys, { ...(await exportJWK(second.publicKey)), kid: 'second' }];
    await subject().db.client.query('update api_key set jwks = $2 where client_id = $1', [
      first.clientId,
      JSON.stringify({ keys }),
    ]);
    const bySecond = { clientId: first.clientId, privateJwk: secondJwk };
    expectRefusal(
      await present(subject(), await assertion(subject(), bySecond, { jti })),
      401,
      'invalid_client',
      /used/,
    );
    expectToken(await present(subject(), await assertion(subject(), bySecond)));

    expectToken(await present(subject(), await assertion(subject(), await subject().createKey(), { jti })));
  });

  test('55: a replay after exp, within the tolerance', async () => {
    const text = await assertion(subject(), await subject().createKey(), { exp: now() - 5 });
    expectToken(await present(subject(), text));
    expectRefusal(await present(subject(), text), 401, 'invalid_client', /already been used/);
  });

  test('56: a bad signature does not use up the jti of a victim', async () => {
    const victim = await subject().createKey();
    const attacker = await subject().createKey();
    const jti = randomUUID();
    const forged = {
      clientId: victim.clientId,
      privateJwk: { ...attacker.privateJwk, kid: victim.privateJwk.kid ?? '' },
    };
    expectC(await present(subject(), await assertion(subject(), forged, { jti })));
    expectToken(await present(subject(), await assertion(subject(), victim, { jti })));
  });

  test('57: rejected for its scope, the jti is used', async () => {
    const text = await assertion(subject(), await subject().createKey({ scopes: ['system/Patient.read'] }));
    const refused = await present(subject(), text, { scope: 'system/Patient.write' });
    expectRefusal(refused, 400, 'invalid_scope', /Allowed scopes/);
    expectRefusal(await present(subject(), text), 401, 'invalid_client', /already been used/);
  });

  test('59: a disabled key gets the answer of an unknown key', async () => {
    const disabled = await subject().createKey({ status: 'disabled' });
    const answer = await present(subject(), await assertion(subject(), disabled));
    expectC(answer);
    expect(await reasonKept(subject(), answer)).toBe('status: the API key is disabled');
    const unknown = { ...disabled, clientId: `svc-${randomUUID()}` };
    expectC(await present(subject(), await assertion(subject(), unknown)));
  });

  test('a key that is disabled stops getting tokens at once', async () => {
    const key = await subject().createKey();
    expectToken(await present(subject(), await assertion(subject(), key)));
    await subject().db.client.query(`update api_key set status = 'disabled' where client_id = $1`, [key.clientId]);
    expectC(await present(subject(), await assertion(subject(), key)));
  });

  test('the token has the claims of RFC 9068', async () => {
    const key = await subject().createKey({
      tokenTtlSeconds: 77,
      scopes: ['system/Patient.read', 'system/Observation.write'],
    });
    const answer = await present(subject(), await assertion(subject(), key), { scope: 'system/*.*' });
    const token = expectToken(answer);
    expect(answer.body).toMatchObject({ expires_in: 77, scope: 'system/Patient.read system/Observation.write' });
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    const claims = decodeJwt(token);
    expect(claims).toEqual({
      iss: subject().gateway.oauthBaseUrl,
      sub: key.clientId,
      client_id: key.clientId,
      aud: 'svc-fhir',
      scope: 'system/Patient.read system/Observation.write',
      site: key.site,
      iat: expect.any(Number),
      exp: (claims.iat ?? 0) + 77,
      jti: expect.any(String),
    });
  });

  test('the log has the client of each token request and its outcome, and never a token or an assertion', async () => {
    const key = await subject().createKey();
    const issued = await present(subject(), await assertion(subject(), key));
    const refused = await present(subject(), await assertion(subject(), key, { aud: 'x' }));
    const line = (event: string, { requestId }: { requestId: string }) =>
      until(event, () =>
        subject()
          .gateway.logs()
          .find((text) => text.includes(event) && text.includes(requestId)),
      );
    const { clientId, site } = key;
    expect(JSON.parse(await line('"token.issued"', issued))).toMatchObject({
      clientId,
      site,
      sourceAddress: '127.0.0.1',
    });
    expect(JSON.parse(await line('"token.refused"', refused))).toMatchObject({ clientId, fault: 'aud' });
    expect(
      subject()
        .gateway.logs()
        .filter((text) => text.includes('eyJ')),
    ).toEqual([]);
  });

  describe('scope and audience', () => {
    const ask = async (form: Record<string, string | undefined>, options: object = {}) => {
      const key = await subject().createKey(options);
      return present(subject(), await assertion(subject(), key), form);
    };

    test.each<[string, string | undefined]>([
      ['missing', undefined],
      ['empty', ''],
      ['misspelt', 'system/Patient.reed'],
      ['commas', 'system/Patient.read,system/Patient.write'],
      ['a tab', 'system/Patient.read\tsystem/Patient.write'],
      ['openid', 'openid'],
      ['of a user', 'user/Patient.read'],
      ['unknown', 'fhir.read'],
      ['over a hundred', Array(101).fill('system/Patient.read').join(' ')],
    ])('61: %s', async (_, scope) => {
      expectRefusal(await ask({ scope }), 400, 'invalid_scope', /scope/);
    });

    test('62: rejects a request without an allowed scope, and a key without Allowed scopes', async () => {
      const some = await ask({ scope: 'system/Patient.write' }, { scopes: ['system/Patient.read'] });
      expectRefusal(some, 400, 'invalid_scope', /Allowed scopes of the API key: system\/Patient.read$/);
      expectRefusal(await ask({}, { scopes: [] }), 400, 'invalid_scope', /no Allowed scopes/);
    });

    test('63: part of it', async () => {
      const answer = await ask(
        { scope: 'system/*.rs openid' },
        { scopes: ['system/Patient.read', 'system/Patient.write'] },
      );
      expectToken(answer);
      expect(answer.body['scope']).toBe('system/Patient.read');
    });

    test('64: an audience that is unknown, or not the key has', async () => {
      expectRefusal(await ask({ audience: 'svc-other' }), 400, 'invalid_target', /not known/);
      const fhirOnly = { protocols: ['fhir'] };
      expectRefusal(await ask({ audience: 'svc-hl7-http' }, fhirOnly), 400, 'invalid_target', /protocol hl7/);
      const hl7Only = { audiences: ['svc-hl7-http'] };
      const refused = await ask({ audience: 'svc-fhir' }, hl7Only);
      expectRefusal(refused, 400, 'invalid_target', /Allowed audiences/);
      expect(await reasonKept(subject(), refused)).toMatch(/^audience: svc-fhir is not among/);
    });

    test('the first Allowed audience when none is requested', async () => {
      const answer = await ask({}, { audiences: ['svc-hl7-http', 'svc-fhir'] });
      expect(decodeJwt(expectToken(answer)).aud).toBe('svc-hl7-http');
    });

    test('65: two audiences', async () => {
      const form = new URLSearchParams(formOf(await assertion(subject(), await subject().createKey()))).toString();
      const answer = await post(subject(), `${form}&audience=svc-fhir&audience=svc-hl7-http`);
      expectRefusal(answer, 400, 'invalid_request', /twice/);
    });
  });
}
