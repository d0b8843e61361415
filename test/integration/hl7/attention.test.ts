/** The issues that an administrator must review, as the database keeps them. */
import { beforeAll, expect, test } from 'vitest';

import type { NewAttention } from '../../../edge/store/attention.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { createHl7Site } from '../../stack/tools/hl7-site.ts';

let ids: readonly string[];
const site = await createHl7Site();
beforeAll(async () => {
  for (const id of ['A1', 'A2']) await site.send(`${msh('ADT^A01')}\nPID|1||${id}^^^HOSP^MR||Doe^${id}`);
  ids = (await site.resources('Patient')).map(({ id }) => id);
});

const add = (...rows: NewAttention[]) =>
  site.db.client.query('select attention_add($1, null, $2)', [site.site, JSON.stringify(rows)]);
const listed = async () => {
  const { rows } = await site.db.client.query<{ kind: string; a: string | null; b: string | null; by: string | null }>(
    'select kind, patient_a as a, patient_b as b, dismissed_by as by from attention where site_id = $1 order by kind, about',
    [site.site],
  );
  return rows;
};

test('two patients are listed once, in either order, and stay dismissed', async () => {
  const [a = '', b = ''] = ids;
  await add({ kind: 'possible-duplicate', patients: [b, a] });
  await site.db.client.query(`update attention set dismissed_at = now(), dismissed_by = 'jane'`);
  await add({ kind: 'possible-duplicate', patients: [a, b] }, { kind: 'possible-duplicate', patients: [b, a] });
  expect(await listed()).toEqual([{ kind: 'possible-duplicate', a, b, by: 'jane' }]);

  await add(
    { kind: 'stale-correction', patients: [a], about: 'm1', detail: { at: 'OBX^1' } },
    { kind: 'stale-correction', patients: [a], about: 'm2' },
    { kind: 'not-moved', patients: [] },
    { kind: 'not-moved', patients: [] },
  );
  expect((await listed()).map(({ kind }) => kind)).toEqual([
    'not-moved',
    'possible-duplicate',
    'stale-correction',
    'stale-correction',
  ]);
});

test('a patient of another site is not listed for this site', async () => {
  const other = await createHl7Site({ database: site.db });
  await other.send(`${msh('ADT^A01')}\nPID|1||O1^^^HOSP^MR||Doe^Other`);
  const [stranger] = await other.resources('Patient');
  await expect(add({ kind: 'not-moved', patients: [stranger?.id ?? ''] })).rejects.toThrow('attention');
});
