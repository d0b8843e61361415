/** Client authentication up to the first refusal: what is asked and done, and what is not. */
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { authenticateClient } from '../../../../edge/oauth/assertion/authenticate.ts';
import { readPresented } from '../../../../edge/oauth/assertion/credentials.ts';
import { createClientKeyring } from '../../../../edge/oauth/client-keys.ts';
import { Refused } from '../../../../edge/oauth/refused.ts';
import type { ClientRow } from '../../../../edge/store/client.ts';
import { ASSERTION_TYPE, type AssertionOptions, clientAssertion } from '../../../stack/services/client.ts';
import { testDeps } from '../../../stack/tools/test-deps.ts';

/** Verified signatures, with a client's key or with a decoy. */
const verified = vi.spyOn(crypto.subtle, 'verify');
afterAll(() => verified.mockRestore());

const ENDPOINT = 'https://oauth.test/base/oauth2/token';
const CLIENT_ID = 'svc-0193e8a0-0000-7000-8000-000000000001';
let open: JWK;
let closed: JWK & { kid: string };
beforeAll(async () => {
  const pair = await generateKeyPair('ES256', { extractable: true });
  open = { ...(await exportJWK(pair.publicKey)), kid: 'a' };
  closed = { ...(await exportJWK(pair.privateKey)), kid: 'a', alg: 'ES256' };
});

const row = (change: Partial<ClientRow> = {}): ClientRow => ({
  site_id: 'site',
  client_id: CLIENT_ID,
  status: 'active',
  jwks_uri: null,
  jwks: JSON.stringify({ keys: [open] }),
  token_ttl_seconds: 300,
  allowed_scopes: [],
  allowed_audiences: [],
  protocols: ['fhir'],
  ...change,
});

/** Presents an assertion and returns the client or the code of the refusal, and the work that was done. */
async function present(client: ClientRow | undefined, options: AssertionOptions = {}) {
  const done: string[] = [];
  verified.mockClear();
  const deps = testDeps({
    signingKeys: [{ ...closed }],
    now: () => Date.now(),
    database: {
      run: async () => {
        done.push('look-up');
        return (client === undefined ? [] : [client]) as never[];
      },
      batch: () => Promise.reject(new Error('no batch is expected')),
    },
    allow: (bucket) => done.push(bucket) > 0,
    jtiStore: {
      claim: async () => {
        done.push('claim');
        return true;
      },
    },
  });
  const body = new URLSearchParams({
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: await clientAssertion({ clientId: CLIENT_ID, privateJwk: closed }, ENDPOINT, options),
  });
  const request = new Request(ENDPOINT, { method: 'POST', body });
  const attempt = {
    request,
    requestId: 'r',
    sourceAddress: '192.0.2.1',
    countFor: () => undefined,
    knownClient: () => undefined,
    signedWith: () => undefined,
    countToken: () => undefined,
  };
  const presented = await readPresented(request);
  const result = await authenticateClient(deps, createClientKeyring(deps), attempt, presented, [ENDPOINT]).then(
    ({ client_id: clientId }) => clientId,
    (error: unknown) => (error instanceof Refused ? error.refusal.code : error),
  );
  return { result, done, verified: verified.mock.calls.length };
}

test('an accepted assertion needs one lookup, one count and one claim', async () => {
  expect(await present(row())).toEqual({ result: CLIENT_ID, done: ['look-up', 'token-client', 'claim'], verified: 1 });
});

test.each<[string, Partial<ClientRow> | undefined, AssertionOptions, string]>([
  ['an unknown client', undefined, {}, 'client'],
  ['an unknown client with a jku', undefined, { header: { jku: 'https://keys.example.org/' } }, 'client'],
  ['another jku than the registered', {}, { header: { jku: 'https://keys.example.org/' } }, 'header'],
  ['an unknown kid', {}, { header: { kid: 'b' } }, 'kid'],
  ['a JWKS that cannot be used', { jwks: '{}' }, {}, 'jwks'],
])('%s takes as long as a bad signature, and spends nothing', async (_, change, options, code) => {
  const client = change === undefined ? undefined : row(change);
  expect(await present(client, options)).toEqual({ result: code, done: ['look-up'], verified: 1 });
});

test.each<[string, boolean]>([
  ['known', true],
  ['unknown', false],
])('a header that no client may send costs no check of a signature, be the client %s', async (_, isKnown) => {
  const client = isKnown ? row() : undefined;
  const made = await present(client, { header: { typ: 'at+jwt' } });
  expect(made).toEqual({ result: isKnown ? 'typ' : 'client', done: ['look-up'], verified: 0 });
});

test('a bad signature is checked once', async () => {
  const other = await exportJWK((await generateKeyPair('ES256', { extractable: true })).publicKey);
  const client = row({ jwks: JSON.stringify({ keys: [{ ...other, kid: 'a' }] }) });
  expect(await present(client)).toEqual({ result: 'signature', done: ['look-up'], verified: 1 });
});

test('a rejected claim spends the limit and no jti; a disabled key has spent both', async () => {
  const late = { claims: { exp: Math.floor(Date.now() / 1000) - 60 } };
  expect(await present(row(), late)).toEqual({ result: 'exp', done: ['look-up', 'token-client'], verified: 1 });
  expect(await present(row({ status: 'disabled' }))).toEqual({
    result: 'status',
    done: ['look-up', 'token-client', 'claim'],
    verified: 1,
  });
});
