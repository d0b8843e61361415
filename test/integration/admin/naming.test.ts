/** Giving names their URIs beside others who change the settings. */
import { expect, test } from 'vitest';

import { giveUri, previewNaming } from '../../../edge/admin/names/naming.ts';
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

test('the preview counts what a URI touches, and these pairs are listed afterwards', async () => {
  const patient = async (control: string, identifier: string, name: string): Promise<void> => {
    const { text } = await site.send(
      `MSH|^~\\&|A|B|||20260701||ADT^A04^ADT_A01|${control}|P|2.5.1\rEVN||20260701\rPID|1||${identifier}||${name}||19700101|F\r`,
    );
    expect(text).toContain('MSA|AA');
  };
  await patient('N-1', '77^^^WARD^MR', 'Doe^Jane');
  await patient('N-2', '77^^^&1.2.840.77&ISO^MR', 'Roe^Anna');
  await patient('N-3', '78^^^WARD^MR', 'Poe^Mary');
  const preview = (kind: 'authority' | 'code-system', name: string, system: string) =>
    previewNaming(
      site.deps.database,
      toActor({ sub: 'ada', site: site.site, permissions: Object.keys(PERMISSIONS) }),
      { kind, name },
      system,
    );
  const system = 'urn:oid:1.2.840.77';
  const found = await preview('authority', 'WARD', system);
  expect(found).toEqual({ messages: 2, patients: 2, pairs: 1, others: [] });
  expect(await preview('authority', 'WARD', 'urn:example:hosp')).toMatchObject({ pairs: 0, others: ['Hosp'] });
  expect(await preview('code-system', 'WARD', system)).toEqual({ messages: 0, patients: 0, pairs: 0, others: [] });
  await expect(preview('authority', 'WARD', 'ward')).rejects.toMatchObject({ kind: 'invalid' });
  await expect(preview('authority', 'HOSP', system)).rejects.toMatchObject({ kind: 'invalid' });

  await giveUri(
    site.deps.database,
    toActor({ sub: 'ada', site: site.site, permissions: Object.keys(PERMISSIONS) }),
    { kind: 'authority', name: 'WARD' },
    system,
  );
  const { rows } = await site.db.client.query(
    `select count(*)::int as issues from issue where site_id = $1 and kind = 'possible-duplicate'`,
    [site.site],
  );
  expect(rows).toEqual([{ issues: found.pairs }]);
});
