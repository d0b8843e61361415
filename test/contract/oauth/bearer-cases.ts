/** Rows 80-88: the bearer check on each surface, introspection and revocation. */
import { once } from 'node:events';
import { connect } from 'node:net';

import { decodeJwt, generateKeyPair, type JWTPayload } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';

import type { ApiKey } from '../../stack/services/seed.ts';
import { forgedToken } from '../../stack/tools/access-token.ts';
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

const MESSAGE = 'MSH|^~\\&|A|B|C|D|20260101000000||ADT^A01|1|P|2.5.1\r';

export function bearerCases(subject: () => Subject): void {
  let key: ApiKey;
  beforeAll(async () => {
    key = await subject().createKey();
  });

  const tokenOf = async (client: ApiKey, form: Readonly<Record<string, string>> = {}) =>
    expectToken(await present(subject(), await assertion(subject(), client), { scope: 'system/*.*', ...form }));

  /** A token signed with the gateway's own key, but wrong in some way. */
  const forged = (claims: JWTPayload, header: object = {}, by?: CryptoKey): Promise<string> =>
    forgedToken(subject().gateway, key, claims, header, by);

  const SURFACES = {
    fhir: (headers: Record<string, string>, query = '') =>
      fetch(`${subject().gateway.fhirBaseUrl}/fhir/Patient${query}`, { headers }),
    hl7: (headers: Record<string, string>, query = '') =>
      fetch(`${subject().gateway.hl7BaseUrl}/hl7/messages${query}`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain', ...headers },
        body: MESSAGE,
      }),
  } as const;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  describe.each(['fhir', 'hl7'] as const)('%s', (name) => {
    const surface = SURFACES[name];
    const audience = name === 'fhir' ? 'svc-fhir' : 'svc-hl7-http';

    test('80: no token', async () => {
      for (const headers of [{}, { authorization: 'Basic YTpi' }]) {
        const response = await surface(headers);
        expect(response.status).toBe(401);
        expect(response.headers.get('www-authenticate')).toBe('Bearer realm="integration-gateway"');
      }
    });

    test('81: a token in the query, or no token at all behind Bearer', async () => {
      const token = await tokenOf(key, { audience });
      expect((await surface({}, `?access_token=${token}`)).status).toBe(400);
      expect((await surface(bearer(token), `?access_token=${token}`)).status).toBe(400);
      const broken = await surface(bearer('a b'));
      expect(broken.status).toBe(400);
      expect(broken.headers.get('www-authenticate')).toContain('error="invalid_request"');
    });

    test('81: two headers', async () => {
      const token = await tokenOf(key, { audience });
      const { port } = subject().gateway;
      const socket = connect(port, '127.0.0.1');
      const path = new URL(`${subject().gateway.fhirBaseUrl}${name === 'fhir' ? '/fhir/Patient' : '/hl7/messages'}`)
        .pathname;
      const method = name === 'fhir' ? 'GET' : 'POST';
      const header = `Authorization: Bearer ${token}\r\n`;
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n${header}${header}`);
      socket.write('Content-Length: 0\r\n\r\n');
      let answer = '';
      socket.on('data', (bytes: Buffer) => (answer += bytes.toString('latin1')));
      await once(socket, 'close');
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    });

    test('82: an invalid access token', async () => {
      const { privateKey: foreign } = await generateKeyPair('ES256');
      const tokens = {
        expired: await forged({ aud: audience, exp: now() }),
        'bad signature': await forged({ aud: audience }, {}, foreign),
        'unknown kid': await forged({ aud: audience }, { kid: 'other' }),
        'wrong issuer': await forged({ aud: audience, iss: 'https://other.example' }),
        'typ JWT': await forged({ aud: audience }, { typ: 'JWT' }),
        'no typ': await forged({ aud: audience }, { typ: undefined }),
        'audience an array': await forged({ aud: [audience] }),
        'a client assertion': await assertion(subject(), key, { aud: audience }),
        text: 'abc',
      };
      for (const [what, token] of Object.entries(tokens)) {
        const response = await surface(bearer(token));
        expect([what, response.status]).toEqual([what, 401]);
        expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"');
      }
    });

    test('83: the audience of the other surface', async () => {
      const other = audience === 'svc-fhir' ? 'svc-hl7-http' : 'svc-fhir';
      const response = await surface(bearer(await tokenOf(key, { audience: other })));
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"');
    });

    test('84: a scope that does not cover it', async () => {
      const response = await surface(bearer(await tokenOf(key, { audience, scope: 'system/Condition.write' })));
      expect(response.status).toBe(403);
      const needed =
        name === 'fhir'
          ? 'system/Patient.read'
          : 'system/Patient.write system/Observation.write system/DocumentReference.write';
      const challenge = response.headers.get('www-authenticate');
      expect(challenge).toContain('error="insufficient_scope"');
      expect(challenge).toContain(`scope="${needed}"`);
    });

    test('85: a key disabled, or a token revoked, after issue', async () => {
      const client = await subject().createKey();
      const [first, second] = [await tokenOf(client, { audience }), await tokenOf(client, { audience })];
      expect((await surface(bearer(first))).ok).toBe(name === 'fhir');
      expect(
        (await post(subject(), { token: first }, { path: '/oauth2/revoke', headers: bearer(second) })).status,
      ).toBe(200);
      const revoked = await surface(bearer(first));
      expect(revoked.status).toBe(401);
      expect(revoked.headers.get('www-authenticate')).toContain('error="invalid_token"');
      expect((await surface(bearer(second))).status).not.toBe(401);
      await subject().db.client.query(`update api_key set status = 'disabled' where client_id = $1`, [client.clientId]);
      expect((await surface(bearer(second))).status).toBe(401);
    });
  });

  const asked = async (path: string, token: string | undefined, client: ApiKey, aud?: string) => {
    const { client_assertion, client_assertion_type } = formOf(
      await assertion(subject(), client, aud === undefined ? {} : { aud }),
    );
    return post(subject(), { token, client_assertion, client_assertion_type }, { path });
  };
  const INTROSPECT = '/oauth2/introspect';
  const REVOKE = '/oauth2/revoke';

  describe('introspection', () => {
    test('returns the claims of a live token, with an assertion or with a token', async () => {
      const token = await tokenOf(key);
      const expected = { active: true, token_type: 'Bearer', ...decodeJwt(token) };
      const byAssertion = await asked(INTROSPECT, token, key);
      expect([byAssertion.status, byAssertion.body]).toEqual([200, expected]);
      expect(byAssertion.headers.get('cache-control')).toBe('no-store');
      const itsUrl = `${subject().gateway.oauthBaseUrl}${INTROSPECT}`;
      expect((await asked(INTROSPECT, token, key, itsUrl)).body).toEqual(expected);
      const byToken = await post(subject(), { token }, { path: INTROSPECT, headers: bearer(await tokenOf(key)) });
      expect(byToken.body).toEqual(expected);
    });

    test('returns the current permissions of the key', async () => {
      const client = await subject().createKey();
      const token = await tokenOf(client);
      const set = (column: string, value: readonly string[]) =>
        subject().db.client.query(`update api_key set ${column} = $2 where client_id = $1`, [client.clientId, value]);
      await set('allowed_scopes', ['system/Patient.read', 'system/Observation.read']);
      const { body } = await asked(INTROSPECT, token, client);
      expect(body).toEqual({
        active: true,
        token_type: 'Bearer',
        ...decodeJwt(token),
        scope: 'system/Patient.read system/Observation.read',
      });
      await set('allowed_scopes', []);
      expect((await asked(INTROSPECT, token, client)).body).toEqual({ active: false });
      await set('allowed_scopes', ['system/Patient.read']);
      await set('protocols', ['hl7']);
      expect((await asked(INTROSPECT, token, client)).body).toEqual({ active: false });
    });

    test('86: of garbage, expired, revoked, foreign tokens', async () => {
      const other = await subject().createKey();
      const revoked = await tokenOf(key);
      expect((await asked(REVOKE, revoked, key)).status).toBe(200);
      const tokens = {
        garbage: 'abc',
        expired: await forged({ exp: now() }),
        revoked,
        foreign: await tokenOf(other),
        'a client assertion': await assertion(subject(), key),
      };
      for (const [what, token] of Object.entries(tokens)) {
        const byAssertion = await asked(INTROSPECT, token, key);
        expect([what, byAssertion.status, byAssertion.body]).toEqual([what, 200, { active: false }]);
        const byToken = await post(subject(), { token }, { path: INTROSPECT, headers: bearer(await tokenOf(key)) });
        expect([what, byToken.status, byToken.body]).toEqual([what, 200, { active: false }]);
      }
    });

    test('87: without authentication, or with a token that is dead', async () => {
      const token = await tokenOf(key);
      const none = await post(subject(), { token }, { path: INTROSPECT });
      expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, null]);
      const client = await subject().createKey();
      const dead = await tokenOf(client);
      await subject().db.client.query(`update api_key set status = 'disabled' where client_id = $1`, [client.clientId]);
      for (const target of [dead, token, 'abc']) {
        const refused = await post(subject(), { token: target }, { path: INTROSPECT, headers: bearer(dead) });
        expect([refused.status, refused.body['error']]).toEqual([401, 'invalid_token']);
        expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"');
      }
      expectC(await asked(INTROSPECT, dead, client));
      const both = await asked(INTROSPECT, token, key).then(async () => {
        const { client_assertion, client_assertion_type } = formOf(await assertion(subject(), key));
        const form = { token, client_assertion, client_assertion_type };
        return post(subject(), form, { path: INTROSPECT, headers: bearer(token) });
      });
      expectRefusal(both, 400, 'invalid_request', /use only one/);
    });

    test('an assertion is used once, here too', async () => {
      const text = await assertion(subject(), key);
      const { client_assertion, client_assertion_type } = formOf(text);
      const form = { token: 'abc', client_assertion, client_assertion_type };
      expect((await post(subject(), form, { path: INTROSPECT })).status).toBe(200);
      expectRefusal(await post(subject(), form, { path: INTROSPECT }), 401, 'invalid_client', /already been used/);
      expectRefusal(await present(subject(), text), 401, 'invalid_client', /already been used/);
      expectRefusal(await asked(INTROSPECT, undefined, key), 400, 'invalid_request', /token is required/);
    });
  });

  describe('revocation', () => {
    test('88: an unknown or expired token is not an error', async () => {
      for (const token of ['abc', await forged({ exp: now() })]) {
        const answer = await asked(REVOKE, token, key);
        expect([answer.status, answer.body]).toEqual([200, {}]);
      }
    });

    test('a token revokes itself; the second time is rejected as for any revoked token', async () => {
      const token = await tokenOf(key);
      const revoke = () =>
        post(subject(), { token, token_type_hint: 'access_token' }, { path: REVOKE, headers: bearer(token) });
      expect((await revoke()).status).toBe(200);
      expect((await revoke()).status).toBe(401);
      expect((await asked(REVOKE, token, key)).status).toBe(200);
    });

    test("another client's token is rejected, and stays valid", async () => {
      const other = await subject().createKey();
      const token = await tokenOf(other);
      expectRefusal(await asked(REVOKE, token, key), 400, 'invalid_grant', /another client/);
      expect((await asked(INTROSPECT, token, other)).body).toMatchObject({ active: true });
    });

    test('without authentication is rejected', async () => {
      const none = await post(subject(), { token: 'abc' }, { path: REVOKE });
      expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, null]);
    });
  });

  describe('refusals', () => {
    const REFUSALS = '/oauth2/refusals';
    const list = (token: string) => fetch(`${subject().gateway.oauthBaseUrl}${REFUSALS}`, { headers: bearer(token) });
    type Listed = { refusals: { surface: string; code: string; reason: string; requestId: string }[] };
    const listed = async (token: string): Promise<Listed['refusals']> => {
      const answer = await list(token);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
      const body: Listed = await answer.json();
      return body.refusals;
    };

    test('lists what the key signed or sent with a token, and no attempt of a stranger', async () => {
      const [client, neighbour] = [await subject().createKey(), await subject().createKey()];
      const strangers = await Promise.all([
        present(subject(), await assertion(subject(), { ...neighbour, clientId: client.clientId })),
        present(subject(), await assertion(subject(), client, {}, { alg: 'none' })),
        present(subject(), await assertion(subject(), client, {}, { kid: 'stranger' })),
        present(subject(), await assertion(subject(), client), { grant_type: 'password' }),
        present(subject(), await assertion(subject(), client), { client_secret: 'x' }),
      ]);
      const neighbours = await present(subject(), await assertion(subject(), neighbour, { aud: 'of-the-neighbour' }));
      const own = [
        await present(subject(), await assertion(subject(), client, { aud: 'mine' })),
        await present(subject(), await assertion(subject(), client), { scope: 'openid' }),
      ];
      const token = await tokenOf(client);
      expect((await SURFACES.hl7(bearer(token))).status).toBe(401);
      for (const answer of [...strangers, neighbours, ...own]) await reasonKept(subject(), answer);
      const refusals = await until('three reasons', async () => {
        const found = await listed(token);
        return found.length < 3 ? undefined : found;
      });
      expect(refusals.map(({ surface, code }) => `${surface} ${code}`).toSorted()).toEqual([
        'hl7 invalid_token',
        'token aud',
        'token scope',
      ]);
      expect(refusals.find(({ code }) => code === 'aud')).toEqual({
        surface: 'token',
        answer: '401',
        outcome: 'refused',
        code: 'aud',
        reason: expect.stringContaining('mine'),
        hint: expect.stringContaining('token_endpoint'),
        requests: 1,
        firstAt: expect.any(String),
        lastAt: expect.any(String),
        requestId: own[0]?.requestId,
      });

      const byAssertion = await asked(REFUSALS, undefined, client);
      expect(byAssertion.body).toMatchObject({ refusals });
      const itsUrl = `${subject().gateway.oauthBaseUrl}${REFUSALS}`;
      expect((await asked(REFUSALS, undefined, client, itsUrl)).body).toMatchObject({ refusals });
      expect((await listed(await tokenOf(neighbour))).map(({ code }) => code)).toEqual(['aud']);
    });

    test('has the go-live check list of the client', async () => {
      const client = await subject().createKey();
      const token = await tokenOf(client);
      const ticked = await until('the token', async () => {
        const { checkList } = await (await list(token)).json();
        return checkList.steps[0].done ? checkList : undefined;
      });
      expect(ticked.steps[0]).toEqual({
        step: 'token',
        title: 'The client got an access token',
        done: true,
        at: expect.any(String),
        todo: null,
      });
      expect(ticked.steps.filter(({ done }: { done: boolean }) => done)).toHaveLength(1);
    });

    test('needs the client, alive', async () => {
      const url = `${subject().gateway.oauthBaseUrl}${REFUSALS}`;
      expect((await fetch(url)).status).toBe(401);
      expect((await fetch(`${url}?access_token=${await tokenOf(key)}`)).status).toBe(400);
      expect((await fetch(url, { method: 'PUT' })).headers.get('allow')).toBe('GET, POST');
      const client = await subject().createKey();
      const dead = await tokenOf(client);
      await subject().db.client.query(`update api_key set status = 'disabled' where client_id = $1`, [client.clientId]);
      expect((await list(dead)).status).toBe(401);
      expectC(await asked(REFUSALS, undefined, client));
    });
  });
}
