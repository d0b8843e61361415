/** Which chart a message finds, against a real PostgreSQL: the cases that run on both runtimes, without a gateway. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { changeSite } from '../../../edge/admin/settings/site.ts';
import { toActor } from '../../../edge/admin/staff/permissions.ts';
import { msh } from '../../stack/tools/hl7-text.ts';

import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import { identityCases, type ChartSubject } from '../../contract/hl7/identity-cases.ts';
import { chartQueries } from '../../contract/hl7/chart-queries.ts';
import { createHl7Site, type Hl7Site } from './site.ts';

let site: Hl7Site;
beforeAll(async () => {
  site = await createHl7Site();
});
afterAll(() => site.db.drop());

const subject = (): ChartSubject => ({
  send: (message) => site.send(message),
  ...chartQueries(site.db.client, site.site),
  async write(patient, id) {
    const written = toWrite(patient, id ?? randomUUID(), id === undefined ? 'create' : 'update');
    await site.deps.database.run(writeResources(site.site, [written]));
    return written.id;
  },
});

identityCases(subject);

test('patients whose numbers meet when a namespace gets a URI are possible duplicates, and are found by both', async () => {
  const named = await createHl7Site({ database: site.db });
  const send = (numbers: string, family: string, birth: string) =>
    named.send(`${msh('ADT^A08')}\nPID|1||${numbers}||${family}^Ann||${birth}`);
  await send('1001^^^HOSP^MR', 'Named', '19800203');
  await send('1001^^^&1.2.77&ISO^MR', 'Numbered', '19600506');
  await send('1002^^^HOSP^MR', 'Alone', '19700101');
  const charts = chartQueries(named.db.client, named.site);
  const ids = await Promise.all(
    ['Named', 'Numbered'].map(async (family) => (await charts.patients(family))[0]?.id ?? ''),
  );
  await named.db.client.query('delete from attention where site_id = $1', [named.site]);
  const actor = toActor({ sub: 'ada', site: named.site, permissions: ['site.settings.update'] });
  const assigningAuthorities = [{ namespace: 'Hosp', system: 'urn:oid:1.2.77' }];
  await changeSite(named.deps.database, actor, [], { assigningAuthorities });
  expect(await charts.listed(ids)).toEqual(['possible-duplicate']);
  expect((await send('1002^^^&1.2.77&ISO', 'Alone', '19700101')).errors).toEqual([]);
  expect(await charts.patients('Alone')).toHaveLength(1);
  // The name is taken back: what came by it meanwhile is found by it.
  await send('1003^^^HOSP', 'Later', '19900304');
  await named.db.client.query(`update site set assigning_authorities = '{}' where site_id = $1`, [named.site]);
  expect((await send('1003^^^HOSP', 'Later', '19900304')).errors).toEqual([]);
  expect(await charts.patients('Later')).toHaveLength(1);
});
