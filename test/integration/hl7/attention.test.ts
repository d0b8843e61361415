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
  const { rows } = await site.db.client.query<{ kind: string; findings: number; by: string | null }>(
    `select kind, (select count(*)::int from attention f where f.issue_id = i.issue_id) as findings, dismissed_by as by
       from issue i where site_id = $1 order by kind`,
    [site.site],
  );
  return rows.map(({ kind, findings, by }) => `${kind} ${findings} ${by ?? 'open'}`);
};
const dismissAll = () =>
  site.db.client.query(`update issue set dismissed_at = now(), dismissed_by = 'jane', dismissed_reason = 'twins'`);

test('two patients are one issue, in either order, which opens again only for another reason', async () => {
  const [a = '', b = ''] = ids;
  const pair = { kind: 'possible-duplicate', patients: [b, a], detail: { reason: 'number-of-several' } } as const;
  await add(pair);
  await dismissAll();
  await add({ ...pair, patients: [a, b] }, pair);
  expect(await listed()).toEqual(['possible-duplicate 1 jane']);
  await add({ ...pair, detail: { reason: 'identifiers-of-several' } });
  expect(await listed()).toEqual(['possible-duplicate 2 open']);
  const { rows } = await site.db.client.query('select state, by from issue_decision where site_id = $1', [site.site]);
  expect(rows).toEqual([{ state: 'reopened', by: null }]);
});

test('findings of one kind and patient are one issue, and a repetition adds none', async () => {
  const [a = ''] = ids;
  const correction = (about: string) => ({ kind: 'stale-correction', patients: [a], about }) as const;
  await site.db.client.query('truncate issue cascade');
  await add(correction('m1'), correction('m2'), correction('m1'));
  await dismissAll();
  await add(correction('m2'));
  expect(await listed()).toEqual(['stale-correction 2 jane']);
  await add(correction('m3'), { kind: 'namespace-contested', patients: [], about: 'MRN' });
  await add({ kind: 'namespace-contested', patients: [], about: 'MRN' });
  await add({ kind: 'namespace-contested', patients: [], about: 'EPI' });
  expect(await listed()).toEqual([
    'namespace-contested 1 open',
    'namespace-contested 1 open',
    'stale-correction 3 open',
  ]);
});

test('simultaneous messages with one issue do not wait for each other', async () => {
  const [one, two] = [await site.db.connect(), await site.db.connect()];
  const rows = JSON.stringify([{ kind: 'namespace-contested', patients: [], about: 'MRN' }]);
  for (const each of [one, two]) await each.query(`select set_config('gateway.site', $1, false)`, [site.site]);
  await one.query('begin');
  await one.query('select attention_add($1, null, $2)', [site.site, rows]);
  await two.query(`set lock_timeout = '1s'`);
  await two.query('select attention_add($1, null, $2)', [site.site, rows]);
  await one.query('commit');
});

test('a patient of another site is not listed for this site', async () => {
  const other = await createHl7Site({ database: site.db });
  await other.send(`${msh('ADT^A01')}\nPID|1||O1^^^HOSP^MR||Doe^Other`);
  const [stranger] = await other.resources('Patient');
  await expect(add({ kind: 'not-moved', patients: [stranger?.id ?? ''] })).rejects.toThrow('issue');
});

test('a day of glucose tolerance tests adds no issue, in any order of its messages', async () => {
  const day = await createHl7Site({ database: site.db });
  await day.send(`${msh('ADT^A01')}\nPID|1||G1^^^HOSP^MR||Doe^Gina||19800101|F`);
  const glucose = (n: number, minute: string, status: string) =>
    `OBX|${n}|NM|14749-6^Glucose^LN||${5 + n}.1|mmol/L|||||${status}|||202601010${minute}+0000`;
  const order = (report: string, ...results: string[]) =>
    [
      msh('ORU^R01'),
      'PID|1||G1^^^HOSP^MR||Doe^Gina||19800101|F',
      `OBR|1|P1|F1|GTT^Tolerance test^L|||202601010800+0000|||||||||||||||202601011200+0000|||${report}`,
      ...results,
    ].join('\n');
  const [fasting, hour, hours] = ['800', '900', '959'];
  // The parts arrive one by one, the next one preliminary beside final ones; then all are final.
  for (const text of [
    order('P', glucose(1, fasting ?? '', 'P')),
    order('P', glucose(1, fasting ?? '', 'F'), glucose(2, hour ?? '', 'P')),
    order('P', glucose(2, hour ?? '', 'F')),
    order('P', glucose(3, hours ?? '', 'P')),
    order('F', glucose(1, fasting ?? '', 'F'), glucose(2, hour ?? '', 'F'), glucose(3, hours ?? '', 'F')),
  ])
    expect((await day.send(text)).outcome).toBe('AA');
  const { rows } = await day.db.client.query('select kind, detail from attention where site_id = $1', [day.site]);
  expect(rows).toEqual([]);
});
