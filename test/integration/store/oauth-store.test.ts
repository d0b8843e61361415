/** The rows that the token service keeps in the database, through the real driver: revocations, claims of a jti. */
import { describe, expect, test } from 'vitest';

import { inSite } from '../../../edge/store/in-site.ts';
import { findClient } from '../../../edge/store/client.ts';
import { claimJti, revokeToken, tokenStanding } from '../../../edge/store/token.ts';
import { useTestDatabase, ownerDatabase } from '../../stack/tools/database.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { callerOf } from '../../stack/tools/caller.ts';

const db = await useTestDatabase();
const database = ownerDatabase(db);
const site = await createSite(db.client);

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
  const token = (tokenId: string) => callerOf(site, clientId, { tokenId });
  const soon = Math.floor(Date.now() / 1000) + 60;
  const live = async (tokenId: string) => (await inSite(database, site).run(tokenStanding(token(tokenId))))[0]?.live;
  expect(await live('a')).toBe(true);
  await database.run(revokeToken(token('old'), soon - 3600));
  await database.run(revokeToken(token('a'), soon));
  await database.run(revokeToken(token('a'), soon));
  expect([await live('a'), await live('b')]).toEqual([false, true]);
  const { rows } = await db.client.query<{ jti: string }>('select jti from revoked_token');
  expect(rows.map(({ jti }) => jti)).toEqual(['a']);
  await db.client.query(`update api_key set protocols = '{fhir}' where client_id = $1`, [clientId]);
  expect(await live('b')).toBe(false);
  await db.client.query(`update api_key set protocols = '{hl7}', status = 'disabled' where client_id = $1`, [clientId]);
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
