/**
 * Rows 31, 75, 76 and 79, which need 30 s to pass. The token service runs in this process, with a clock that a test can
 * set.
 */
import type { JWK } from 'jose';
import { expect, test } from 'vitest';

import { type KeyPair, makeKeyPair } from '../../stack/services/key-pair.ts';
import { createRefusals } from '../../../edge/http/refusals.ts';
import { createClientKeyring } from '../../../edge/oauth/client-keys.ts';
import { createOauth } from '../../../edge/oauth/routes.ts';
import { postgresJtiStore } from '../../../edge/platform/postgres-jti-store.ts';
import { noteRefusals } from '../../../edge/store/refusal.ts';
import { edgeDatabase, useTestDatabase } from '../../stack/tools/database.ts';
import { clientAssertion, ASSERTION_TYPE } from '../../stack/services/client.ts';
import { makeSecrets } from '../../stack/services/secrets.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { testDeps } from '../../stack/tools/test-deps.ts';

const URI = 'https://keys.example.org/jwks';
const ENDPOINT = 'https://oauth.test/base/oauth2/token';
const db = await useTestDatabase();

/** A client whose host has these keys, and a gateway that has asked it once. */
async function rotating(first: KeyPair) {
  const host = { keys: [first.publicJwk], fetches: 0, seconds: 0, maxAge: 3600 };
  // The time passes only with `host.seconds`, however slow the machine is.
  const started = Date.now();
  const now = () => started + host.seconds * 1000;
  const database = edgeDatabase(db);
  const ring: { keys: JWK[] } = JSON.parse((await makeSecrets()).env.TOKEN_SIGNING_KEYS);
  const waiting: Promise<unknown>[] = [];
  const deps = testDeps({
    signingKeys: ring.keys,
    database,
    jtiStore: postgresJtiStore(database),
    now,
    background: (work) => waiting.push(work),
    resolveHost: async () => ['8.8.8.8'],
    fetch: async () => {
      host.fetches += 1;
      const headers = { 'cache-control': `max-age=${host.maxAge}` };
      return Response.json({ keys: host.keys }, { headers });
    },
  });
  const note = createRefusals(deps, 5_000, (refusals) => database.run(noteRefusals(refusals)))('token');
  const app = createOauth(deps, createClientKeyring(deps), undefined, note);
  const { clientId } = await createApiKey(db.client, { site: await createSite(db.client), jwksUri: URI });
  const ask = async (privateJwk: JWK): Promise<number> => {
    const exp = Math.floor(now() / 1000) + 60;
    const assertion = await clientAssertion({ clientId, privateJwk }, ENDPOINT, { claims: { exp, iat: undefined } });
    const form = { grant_type: 'client_credentials', scope: 'system/*.*', client_assertion_type: ASSERTION_TYPE };
    const body = new URLSearchParams({ ...form, client_assertion: assertion });
    const response = await app.request(ENDPOINT, { method: 'POST', body });
    await response.text();
    await Promise.all(waiting.splice(0));
    return response.status;
  };
  const lastReason = async () => {
    const sql = 'select reason from refusal where client_id = $1 order by since desc, last_at desc limit 1';
    const { rows } = await db.client.query<{ reason: string }>(sql, [clientId]);
    return rows[0]?.reason;
  };
  expect([await ask(first.privateJwk), host.fetches]).toEqual([200, 1]);
  return { host, ask, lastReason };
}

test('31: a kid that is new at the host is found by one refetch, after the cool-down', async () => {
  const [first, second] = [await makeKeyPair({ kid: 'a' }), await makeKeyPair({ kid: 'b' })];
  const { host, ask, lastReason } = await rotating(first);
  host.keys = [first.publicJwk, second.publicJwk];
  host.seconds = 10;
  expect([await ask(second.privateJwk), host.fetches]).toEqual([401, 1]);
  expect(await lastReason()).toMatch(
    /^kid "b" is not in the JWKS, which has "a"; the JWKS was fetched 10 s ago, the next fetch is possible in 20 s$/,
  );
  host.seconds = 31;
  expect([await ask(second.privateJwk), host.fetches]).toEqual([200, 2]);
  expect([await ask(first.privateJwk), host.fetches]).toEqual([200, 2]);
});

test('75: unknown kids fetch once in 30 s, each time', async () => {
  const { host, ask } = await rotating(await makeKeyPair({ kid: 'a' }));
  for (const [seconds, fetches] of [
    [31, 2],
    [40, 2],
    [60, 2],
    [62, 3],
  ] as const) {
    host.seconds = seconds;
    const unknown = await makeKeyPair({ kid: `random-${seconds}` });
    expect([await ask(unknown.privateJwk), host.fetches]).toEqual([401, fetches]);
  }
});

test('76: the same kid with a new key: a failed signature refetches', async () => {
  const [first, second] = [await makeKeyPair({ kid: 'a' }), await makeKeyPair({ kid: 'a' })];
  const { host, ask, lastReason } = await rotating(first);
  host.keys = [second.publicJwk];
  host.seconds = 31;
  expect([await ask(second.privateJwk), host.fetches]).toEqual([200, 2]);
  expect([await ask(first.privateJwk), host.fetches]).toEqual([401, 2]);
  expect(await lastReason()).toMatch(/^the signature does not verify with the key "a"/);
});

test('79: a removed key is rejected when max-age is over, and not before', async () => {
  const [first, second] = [await makeKeyPair({ kid: 'a' }), await makeKeyPair({ kid: 'b' })];
  const { host, ask } = await rotating(first);
  host.keys = [second.publicJwk];
  host.seconds = 3599;
  expect([await ask(first.privateJwk), host.fetches]).toEqual([200, 1]);
  host.seconds = 3601;
  expect([await ask(first.privateJwk), host.fetches]).toEqual([401, 2]);
});
