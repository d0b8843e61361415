/** The workbench's view of an assertion: the checks of the token endpoint, one by one, and nothing used up. */
import { randomUUID } from 'node:crypto';

import { beforeAll, expect, test } from 'vitest';

import { createClientKeyring } from '../../../edge/oauth/client-keys.ts';
import { explainAssertion } from '../../../edge/oauth/assertion/explain.ts';
import { clientAssertion } from '../../stack/services/client.ts';
import { edgeDatabase, useTestDatabase } from '../../stack/tools/database.ts';
import { makeSecrets } from '../../stack/services/secrets.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { testDeps } from '../../stack/tools/test-deps.ts';

const ENDPOINT = 'https://oauth.test/base/oauth2/token';
let explain: (assertion: string, at?: string) => ReturnType<typeof explainAssertion>;

const db = await useTestDatabase();
const site = await createSite(db.client);
beforeAll(async () => {
  const ring: { keys: object[] } = JSON.parse((await makeSecrets()).env.TOKEN_SIGNING_KEYS);
  const database = edgeDatabase(db);
  const deps = testDeps({ signingKeys: ring.keys, database, now: () => Date.now() });
  const clientKeys = createClientKeyring(deps);
  explain = (assertion, at = site) => explainAssertion(deps, clientKeys, at, assertion);
});

test('an assertion that would be accepted, twice', async () => {
  const key = await createApiKey(db.client, { site });
  const assertion = await clientAssertion(key, ENDPOINT);
  await explain(assertion);
  const explained = await explain(assertion);
  expect([explained.accepted, explained.clientId]).toEqual([true, key.clientId]);
  expect(explained.checks.map(({ code, result }) => `${code} ${result}`)).toEqual([
    'format passed',
    'client passed',
    'alg passed',
    'typ passed',
    'header passed',
    'header passed',
    'header passed',
    'kid passed',
    'jwks passed',
    'kid passed',
    'signature passed',
    'sub passed',
    'iss passed',
    'aud passed',
    'exp passed',
    'nbf passed',
    'iat passed',
    'jti passed',
    'status passed',
    'scope passed',
    'replay skipped',
  ]);
  expect(explained.checks.find(({ code }) => code === 'aud')?.seen).toBe(`"${ENDPOINT}"`);
});

test('every fault at once', async () => {
  const key = await createApiKey(db.client, { site, status: 'disabled' });
  const past = Math.floor(Date.now() / 1000) - 412;
  const assertion = await clientAssertion(key, 'https://other.example', {
    claims: { exp: past, jti: undefined, iat: undefined },
    header: { kid: 'other', typ: 'at+jwt' },
  });
  const { accepted, checks } = await explain(assertion);
  const failed = checks.filter(({ result }) => result === 'failed').map(({ code, reason }) => `${code}: ${reason}`);
  expect(accepted).toBe(false);
  expect(failed).toEqual([
    'typ: typ was "at+jwt", expected "JWT"',
    `kid: kid "other" is not in the JWKS, which has "${key.privateJwk.kid}"`,
    `aud: aud was "https://other.example", expected "${ENDPOINT}"`,
    expect.stringMatching(/^exp: exp is 4\d\d s in the past; is the client's clock right\?$/),
    'jti: jti is missing: each assertion needs a new one',
    'status: the API key is disabled',
  ]);
});

test('a key of another site is as unknown as a key that does not exist', async () => {
  const key = await createApiKey(db.client, { site });
  const other = await createSite(db.client);
  const checksOf = async (clientId: string, at: string) => {
    const { checks } = await explain(await clientAssertion({ ...key, clientId }, ENDPOINT), at);
    return checks.map(({ code, result, reason }) => [code, result, reason]);
  };
  expect(await checksOf(key.clientId, other)).toEqual(await checksOf(`svc-${randomUUID()}`, site));
});

test('explains a text that is not a JWT', async () => {
  const { accepted, clientId, checks } = await explain('hello');
  expect([accepted, clientId]).toEqual([false, null]);
  expect(checks.map(({ code, reason }) => [code, reason])).toEqual([
    ['format', 'the assertion has 1 parts, a signed JWT has three'],
  ]);
});
