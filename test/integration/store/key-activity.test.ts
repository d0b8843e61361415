/**
 * The public keys that a client has signed with, as processes record them: per site, limited in number, and seldom
 * written.
 */
import { expect, test } from 'vitest';

import type { KidNote } from '../../../edge/store/usage.ts';
import { noteUsage } from '../../../edge/store/usage.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';

const db = await useTestDatabase();

const note = async (...kids: KidNote[]): Promise<void> => {
  const { text, params } = noteUsage({ counts: [], answers: [], keys: [], kids });
  await db.client.query(text, [...params]);
};
const kept = async (clientId: string) =>
  (
    await db.client.query<{ site_id: string; kid: string; last: string; xmin: string }>(
      `select site_id, kid, last_at::text as last, xmin::text as xmin from key_kid where client_id = $1 order by last_at desc, kid`,
      [clientId],
    )
  ).rows;

test('a busy key is written once a minute, and an earlier time does not replace a later one', async () => {
  const site = await createSite(db.client);
  const { clientId } = await createApiKey(db.client, { site });
  const at = Date.now() - 3_600_000;
  await note({ site, clientId, kid: 'a', at });
  const [first] = await kept(clientId);
  for (const later of [1, 20_000, 59_000, -5_000]) await note({ site, clientId, kid: 'a', at: at + later });
  expect(await kept(clientId)).toEqual([first]);
  await note({ site, clientId, kid: 'a', at: at + 61_000 });
  expect((await kept(clientId))[0]?.last).not.toBe(first?.last);
  // A clock that is ahead would keep an unused key alive.
  await note({ site, clientId, kid: 'a', at: Date.now() + 86_400_000 });
  expect(Date.parse((await kept(clientId))[0]?.last ?? '')).toBeLessThanOrEqual(Date.now() + 1_000);
});

test('ignores a note for a key of another site or a missing key', async () => {
  const [site, other] = [await createSite(db.client), await createSite(db.client)];
  const { clientId } = await createApiKey(db.client, { site });
  await note(
    { site: other, clientId, kid: 'theirs', at: Date.now() },
    { site, clientId: `svc-${crypto.randomUUID()}`, kid: 'gone', at: Date.now() },
    { site, clientId, kid: '', at: Date.now() },
  );
  expect(await kept(clientId)).toMatchObject([{ site_id: site, kid: '' }]);
});

test('for a client that names each key differently the forty last used stay', async () => {
  const site = await createSite(db.client);
  const { clientId } = await createApiKey(db.client, { site });
  const at = Date.now() - 1_000_000;
  for (let from = 0; from < 60; from += 20) {
    await note(...Array.from({ length: 20 }, (_, n) => ({ site, clientId, kid: `k${from + n}`, at: at + from + n })));
  }
  const names = (await kept(clientId)).map(({ kid }) => kid);
  expect([names.length, names[0], names.at(-1)]).toEqual([40, 'k59', 'k20']);
});
