/** Giving names their URIs beside others who change the settings. */
import { expect, test } from 'vitest';

import { giveUri } from '../../../edge/admin/names/naming.ts';
import { requireSite, viewSite } from '../../../edge/admin/settings/site.ts';
import { PERMISSIONS } from '../../../edge/permissions.ts';
import { toActor } from '../../../edge/admin/staff/actor.ts';
import type { Database } from '../../../edge/deps.ts';
import { createHl7Site } from '../../stack/tools/hl7-site.ts';

const site = await createHl7Site({ assigningAuthorities: { Hosp: 'urn:example:hosp' } });

const give = (
  name: string,
  system: string,
  permissions: readonly string[] = Object.keys(PERMISSIONS),
  database: Database = site.deps.database,
) => giveUri(database, toActor({ sub: 'ada', site: site.site, permissions }), { kind: 'code-system', name }, system);
const settings = async () => viewSite(await requireSite(site.deps.database, site.site));

test('keeps all names of simultaneous changes, and changes nothing else', async () => {
  await Promise.all(['ONE', 'TWO', 'THREE'].map((name) => give(name, `https://${name}.example`)));
  expect(await settings()).toMatchObject({
    assigningAuthorities: [{ namespace: 'Hosp', system: 'urn:example:hosp' }],
    codeSystems: [
      { name: 'ONE', system: 'https://ONE.example' },
      { name: 'THREE', system: 'https://THREE.example' },
      { name: 'TWO', system: 'https://TWO.example' },
    ],
    version: 4,
  });
});

test('keeps a simultaneous change of another administrator', async () => {
  const real = site.deps.database;
  let isFirst = true;
  const interrupted: Database = {
    run: (query, limits) => real.run(query, limits),
    async batch(queries, limits) {
      const results = await real.batch(queries, limits);
      if (isFirst) {
        isFirst = false;
        await give('BETWEEN', 'https://between.example');
      }
      return results;
    },
  };
  await give('AFTER', 'https://after.example', undefined, interrupted);
  expect((await settings())['codeSystems']).toEqual(
    expect.arrayContaining(['AFTER', 'BETWEEN'].map((name) => expect.objectContaining({ name }))),
  );
});

test('a name has one URI, in any capitals', async () => {
  await give('FOUR', 'https://four.example');
  await give('four', 'https://four.example');
  const before = await settings();
  await expect(give('Four', 'https://else.example')).rejects.toMatchObject({
    kind: 'invalid',
    message: '"Four" has the URI https://four.example already. Change it under Settings.',
  });
  await expect(give('FIVE', 'five')).rejects.toMatchObject({ kind: 'invalid' });
  await expect(give('FIVE', 'https://five.example', ['site.messages.read'])).rejects.toMatchObject({
    kind: 'forbidden',
  });
  expect(await settings()).toEqual(before);
});
