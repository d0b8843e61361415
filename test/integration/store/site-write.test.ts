/**
 * If two administrators change one version of a site's settings at once, the second gets a conflict, and nothing is
 * lost.
 */
import { Client } from 'pg';
import { expect, test } from 'vitest';

import { siteStatements } from '../../../edge/store/site.ts';
import { createSite } from '../../stack/services/seed.ts';
import { until } from '../../stack/services/until.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { lockWaits } from '../../stack/tools/lock-waits.ts';

const db = await useTestDatabase();
const second = await db.connect(db.ownerUrl);

const { writeSite } = siteStatements<{ name: string }>(['name']);

test('the second of two concurrent changes gets a conflict', async () => {
  const site = await createSite(db.client, { name: 'First' });
  const write = async (client: Pick<Client, 'query'>, name: string) => {
    const { text, params } = writeSite({ site, expected: [1], by: name, record: { name } });
    return (await client.query<{ outcome: string; version: number }>(text, [...params])).rows;
  };
  await db.client.query('begin');
  expect(await write(db.client, 'Ada')).toEqual([{ outcome: 'updated', version: 2 }]);
  const other = write(second, 'Eve');
  await until('the second waits', async () => (await lockWaits(db.client)) > 0);
  await db.client.query('commit');
  expect(await other).toEqual([{ outcome: 'version', version: 2 }]);
  const { rows } = await db.client.query('select name from site where site_id = $1', [site]);
  expect(rows).toEqual([{ name: 'Ada' }]);
});
