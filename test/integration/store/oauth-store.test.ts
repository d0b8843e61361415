/** What the token service keeps in the database, through the real driver: refusals, revocations, claims of a jti. */
import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { neonDatabase } from '../../../edge/platform/neon.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { findClient } from '../../../edge/store/client.ts';
import { findRefusals } from '../../../edge/store/admin-refusal.ts';
import { recordRefusal } from '../../../edge/store/refusal.ts';
import { claimJti, isTokenLive, revokeToken } from '../../../edge/store/token.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { createTestDatabase, type TestDatabase } from '../../stack/tools/database.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';

let db: TestDatabase;
let database: ReturnType<typeof neonDatabase>;
let site: string;

const ofKey = (clientId: string) => ({ clientId, surface: '', code: '', text: '' });

beforeAll(async () => {
  db = await createTestDatabase();
  // The owner sees the rows of every site: what then is of one site is so by the statement's own condition.
  database = neonDatabase({ DATABASE_URL: db.ownerUrl, DATABASE_FETCH_ENDPOINT: db.endpoint.url });
  site = await createSite(db.client);
});
afterAll(() => db.drop());

const refusal = (clientId: string, reason = 'aud was "a"', id = uuidv7(Date.now())) =>
  recordRefusal({
    id,
    clientId,
    surface: 'token',
    requestId: 'request-1',
    sourceAddress: '192.0.2.1',
    code: 'aud',
    reason,
  });

describe('refusals', () => {
  test('are kept with all that explains them', async () => {
    const { clientId } = await createApiKey(db.client, { site });
    await database.run(refusal(clientId));
    const [row] = await inSite(database, site).run(findRefusals(site, ofKey(clientId), null, 10));
    expect(row).toMatchObject({ surface: 'token', request_id: 'request-1', code: 'aud', reason: 'aud was "a"' });
    expect(row?.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('a list of all keys has those of its own site only', async () => {
    const [here, there] = [await createSite(db.client), await createSite(db.client)];
    const own = await createApiKey(db.client, { site: here });
    const foreign = await createApiKey(db.client, { site: there });
    await database.batch([refusal(own.clientId, 'own'), refusal(foreign.clientId, 'foreign')]);
    const rows = await inSite(database, here).run(findRefusals(here, ofKey(''), null, 10));
    expect(rows.map(({ reason }) => reason)).toEqual(['own']);
  });

  test('of an unknown client are not kept', async () => {
    const clientId = `svc-${randomUUID()}`;
    await database.run(refusal(clientId));
    const { rows } = await db.client.query('select from refusal where client_id = $1', [clientId]);
    expect(rows).toHaveLength(0);
  });

  test('a flood leaves the newest 500 of its key and those of others', async () => {
    const { clientId } = await createApiKey(db.client, { site });
    const { clientId: other } = await createApiKey(db.client, { site });
    await database.run(refusal(other, 'of another key'));
    for (let i = 0; i < 520; i += 20) {
      await database.batch(Array.from({ length: 20 }, (_, k) => refusal(clientId, `number ${i + k}`)));
    }
    const rows = await inSite(database, site).run(findRefusals(site, ofKey(clientId), null, 1000));
    expect(rows).toHaveLength(500);
    expect(rows[0]?.reason).toBe('number 519');
    expect(rows.at(-1)?.reason).toBe('number 20');
    expect(await inSite(database, site).run(findRefusals(site, ofKey(other), null, 10))).toHaveLength(1);
  });

  test('go after 90 days, and pages follow one another', async () => {
    const { clientId } = await createApiKey(db.client, { site });
    for (let i = 0; i < 3; i += 1) await database.run(refusal(clientId, `number ${i}`));
    await db.client.query(
      `update refusal set at = now() - interval '91 days' where client_id = $1 and reason = 'number 0'`,
      [clientId],
    );
    const [newest] = await inSite(database, site).run(findRefusals(site, ofKey(clientId), null, 1));
    const rest = await inSite(database, site).run(findRefusals(site, ofKey(clientId), newest?.refusal_id ?? null, 10));
    expect([newest?.reason, ...rest.map((row) => row.reason)]).toEqual(['number 2', 'number 1']);
    await database.run(refusal(clientId));
    const { rows } = await db.client.query(`select from refusal where at < now() - interval '90 days'`);
    expect(rows).toHaveLength(0);
  });
});

test('a client is found with its arrays', async () => {
  const { clientId } = await createApiKey(db.client, { site, scopes: ['system/Patient.read'], audiences: [] });
  const [row] = await database.run(findClient(clientId));
  expect(row).toMatchObject({
    site_id: site,
    status: 'active',
    token_ttl_seconds: 300,
    allowed_scopes: ['system/Patient.read'],
    allowed_audiences: [],
    protocols: ['fhir', 'hl7'],
  });
});

test('a revoked token and a disabled key are not live; expired revocations go', async () => {
  const { clientId } = await createApiKey(db.client, { site });
  const token = (tokenId: string) => ({ site, clientId, tokenId });
  const soon = Math.floor(Date.now() / 1000) + 60;
  const live = async (tokenId: string) => (await inSite(database, site).run(isTokenLive(token(tokenId))))[0]?.live;
  expect(await live('a')).toBe(true);
  await database.run(revokeToken(token('old'), soon - 3600));
  await database.run(revokeToken(token('a'), soon));
  await database.run(revokeToken(token('a'), soon));
  expect([await live('a'), await live('b')]).toEqual([false, true]);
  const { rows } = await db.client.query<{ jti: string }>('select jti from revoked_token');
  expect(rows.map(({ jti }) => jti)).toEqual(['a']);
  await db.client.query(`update api_key set status = 'disabled' where client_id = $1`, [clientId]);
  expect(await live('b')).toBe(false);
});

describe('a jti', () => {
  const later = Math.floor(Date.now() / 1000) + 300;
  const claim = async (client: string, hash: string, attempt: string, expires = later) =>
    (await database.run(claimJti(client, hash, expires, attempt)))[0]?.first;

  test('is claimed once, by one attempt, for one client', async () => {
    expect(await claim('a', 'x', '1')).toBe(true);
    expect(await claim('a', 'x', '1')).toBe(true);
    expect(await claim('a', 'x', '2')).toBe(false);
    expect(await claim('b', 'x', '2')).toBe(true);
  });

  test('claimed 100 times at once is had by one', async () => {
    const claims = await Promise.all(Array.from({ length: 100 }, (_, i) => claim('c', 'x', String(i))));
    expect(claims.filter((first) => first === true)).toHaveLength(1);
  });

  test('is forgotten when its time has come', async () => {
    await claim('d', 'old', '1', later - 3600);
    await claim('d', 'new', '1');
    const { rows } = await db.client.query(`select jti_hash from jti_claim where client_id = 'd'`);
    expect(rows).toEqual([{ jti_hash: 'new' }]);
  });
});
