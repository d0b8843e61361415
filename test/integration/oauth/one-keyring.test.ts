/**
 * The token endpoint and the workbench say the same of an assertion: both ask one ring of client keys, with one cache and
 * one cool-down. The whole gateway in this process, with a clock that a test can turn.
 */
import { type JWK, SignJWT } from 'jose';
import { expect, test } from 'vitest';

import { makeKeyPair } from '../../stack/services/key-pair.ts';
import { createApp } from '../../../edge/app.ts';
import { postgresJtiStore } from '../../../edge/platform/postgres-jti-store.ts';
import { ASSERTION_TYPE, clientAssertion } from '../../stack/services/client.ts';
import { makeSecrets } from '../../stack/services/secrets.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { edgeDatabase, useTestDatabase } from '../../stack/tools/database.ts';
import { testDeps } from '../../stack/tools/test-deps.ts';

const KEYS = 'https://keys.example.org/jwks';
const STAFF = 'https://staff.example.org';
const ADMIN = 'https://admin.test';
const ENDPOINT = 'https://oauth.test/base/oauth2/token';

const db = await useTestDatabase();
const staff = await makeKeyPair({ kid: 'staff' });

/** A gateway and a client whose host has these keys for an hour, by its own `max-age`. */
async function gatewayFor(keys: JWK[]) {
  const host = { keys, fetches: 0, seconds: 0 };
  // The time passes only with `host.seconds`, however slow the machine is.
  const started = Date.now();
  const now = () => started + host.seconds * 1000;
  const database = edgeDatabase(db);
  const ring: { keys: JWK[] } = JSON.parse((await makeSecrets()).env.TOKEN_SIGNING_KEYS);
  const published: Readonly<Record<string, () => Response>> = {
    [`${STAFF}/.well-known/openid-configuration`]: () => Response.json({ issuer: STAFF, jwks_uri: `${STAFF}/jwks` }),
    [`${STAFF}/jwks`]: () => Response.json({ keys: [staff.publicJwk] }),
    [KEYS]: () => {
      host.fetches += 1;
      return Response.json({ keys: host.keys }, { headers: { 'cache-control': 'max-age=3600' } });
    },
  };
  const app = createApp(
    testDeps({
      signingKeys: ring.keys,
      env: { ADMIN_PUBLIC_BASE_URL: ADMIN, ADMIN_OIDC_ISSUER: STAFF, ADMIN_OIDC_CLIENT_ID: 'console' },
      database,
      jtiStore: postgresJtiStore(database),
      now,
      // Refusals and usage counts do not matter here, and some arrive when the database has ended.
      background: (work) => void work.catch(() => undefined),
      resolveHost: async () => ['8.8.8.8'],
      fetch: async (url) => published[url]?.() ?? new Response(null, { status: 404 }),
    }),
  );
  const site = await createSite(db.client);
  const { clientId } = await createApiKey(db.client, { site, jwksUri: KEYS });

  const assertion = (privateJwk: JWK) => {
    const iat = Math.floor(now() / 1000);
    return clientAssertion({ clientId, privateJwk }, ENDPOINT, { claims: { iat, exp: iat + 60 } });
  };
  const token = async (privateJwk: JWK): Promise<boolean> => {
    const form = { grant_type: 'client_credentials', scope: 'system/*.*', client_assertion_type: ASSERTION_TYPE };
    const body = new URLSearchParams({ ...form, client_assertion: await assertion(privateJwk) });
    const { status } = await app.fetch(new Request(ENDPOINT, { method: 'POST', body }));
    return status === 200;
  };
  const workbench = async (privateJwk: JWK): Promise<boolean> => {
    const iat = Math.floor(now() / 1000);
    const bearer = await new SignJWT({ site, permissions: 'site.api_keys.read' })
      .setProtectedHeader({ alg: 'ES256', kid: 'staff', typ: 'at+jwt' })
      .setIssuer(STAFF)
      .setSubject('ada')
      .setAudience(`${ADMIN}/admin/api`)
      .setExpirationTime(iat + 60)
      .sign(staff.privateJwk);
    const response = await app.fetch(
      new Request(`${ADMIN}/admin/api/workbench/assertion`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ assertion: await assertion(privateJwk) }),
      }),
    );
    expect(response.status).toBe(200);
    return (JSON.parse(await response.text()) as { accepted: boolean }).accepted;
  };
  return { host, token, workbench };
}

/**
 * The answers of both to a key's assertion, in this order, and the number of requests to its client's host until then.
 */
const ORDERS = [['token', 'workbench'] as const, ['workbench', 'token'] as const];

test.each(ORDERS)('a key is rotated 60 s after the first use: the %s and the %s accept it', async (one, other) => {
  const [a, b] = [await makeKeyPair({ kid: 'a' }), await makeKeyPair({ kid: 'b' })];
  const gateway = await gatewayFor([a.publicJwk]);
  const { host } = gateway;
  expect([await gateway[one](a.privateJwk), await gateway[other](a.privateJwk), host.fetches]).toEqual([true, true, 1]);
  host.keys = [b.publicJwk];
  host.seconds = 60;
  expect([await gateway[one](b.privateJwk), await gateway[other](b.privateJwk), host.fetches]).toEqual([true, true, 2]);
  expect([await gateway[one](a.privateJwk), await gateway[other](a.privateJwk), host.fetches]).toEqual([
    false,
    false,
    2,
  ]);
});

test.each(ORDERS)('unknown keys shown to the %s and the %s fetch once in 30 s, in all', async (one, other) => {
  const [a, unknown] = [await makeKeyPair({ kid: 'a' }), await makeKeyPair({ kid: 'unknown' })];
  const gateway = await gatewayFor([a.publicJwk]);
  const { host } = gateway;
  expect([await gateway[one](a.privateJwk), host.fetches]).toEqual([true, 1]);
  for (const [seconds, fetches] of [
    [10, 1],
    [31, 2],
    [59, 2],
    [62, 3],
  ]) {
    host.seconds = seconds ?? 0;
    const said = [await gateway[one](unknown.privateJwk), await gateway[other](unknown.privateJwk)];
    expect([...said, host.fetches]).toEqual([false, false, fetches]);
  }
});
