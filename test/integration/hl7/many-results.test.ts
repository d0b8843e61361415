/** The lookups for a message grow in proportion to it, and their results never prevent that it is stored. */
import { beforeAll, expect, test } from 'vitest';

import { parameter } from '../../../edge/platform/parameter.ts';
import { lookupParams } from '../../../edge/store/hl7-snapshot.ts';
import { bytesOf, msh, readBytes } from '../../stack/tools/hl7-text.ts';
import { createHl7Site } from '../../stack/tools/hl7-site.ts';
import { explain } from '../../stack/tools/plan.ts';
import { sized } from '../../stack/tools/size.ts';

const site = await createHl7Site();
/** Row policies apply to this role and add conditions. */
const application = await site.db.connect();
beforeAll(async () => {
  // As when a deployment is new: the planner knows nothing of the tables.
  await site.db.client.query('alter table hl7_result set (autovacuum_enabled = off)');
  await site.db.client.query('alter table hl7_identity set (autovacuum_enabled = off)');
  await application.query(`select set_config('gateway.site', $1, false)`, [site.site]);
});

const times = (n: number, one: (n: number) => string): string =>
  Array.from({ length: n }, (_, at) => one(at)).join('\n');
const two = (n: number): string => String(n).padStart(2, '0');
const minute = (at: number): string =>
  `202601${two(1 + Math.floor(at / 1440))}${two(Math.floor(at / 60) % 24)}${two(at % 60)}`;
const obr = (at: number | string) => `OBR|1||F${at}|1^P^L|||20260101||||||||||||||||||F`;
const ORU = msh('ORU^R01');
const message = (header: string, patient: string, lines: string) =>
  `${header}\nPID|1||${patient}^^^HOSP^MR||Doe^Jane\n${lines}`;

/** The query that finds everything a message is about. */
function queryOf(text: string) {
  const { lookup } = readBytes(bytesOf(text), 'utf-8');
  return { text: 'select * from hl7_matches($1, $2, $3, $4)', params: [site.site, ...lookupParams(lookup)] };
}
/** Blocks that PostgreSQL reads for it, from memory or from the disk. */
const blocksFor = async (text: string): Promise<number> => (await explain(application, site.site, queryOf(text))).pages;

const CASES: readonly (readonly [what: string, header: string, lines: (size: number) => string])[] = [
  ['orders with a result', ORU, (n) => times(n, (at) => `${obr(at)}\nOBX|1|NM|n^N^L||5||||||F`)],
  ['different results', ORU, (n) => `${obr(1)}\n${times(n, (at) => `OBX|1|NM|n${at}^N^L||5||||||F`)}`],
  ['allergies', msh('ADT^A08'), (n) => times(n, (at) => `AL1|${at}|DA|I${at}^x^L`)],
  [
    'a value a minute, and as many of the day',
    ORU,
    (n) => `${obr(1)}\n${times(n, (at) => `OBX|1|NM|n^N^L||5||||||F|||${minute(at)}\nOBX|1|NM|n^N^L||${at}||||||F`)}`,
  ],
  [
    'minutes whose offset is not known, so that each may be any of the others',
    ORU.replace('+0100', ''),
    (n) => `${obr(1)}\n${times(n, (at) => `OBX|1|NM|n^N^L||5||||||F|||${minute(at)}`)}`,
  ],
];

test.each(CASES)('%s: twice as many are twice the work', async (what, header, lines) => {
  const texts = sized([60, 120], [100, 200]).map((n) => message(header, `${what.replaceAll(/\W/g, '')}${n}`, lines(n)));
  // Both are stored before either is looked up: the second may give an index a further level, which each look-up reads.
  for (const text of texts) expect((await site.send(text)).outcome).toBe('AA');
  const blocks: number[] = [];
  for (const text of texts) {
    // A call reads the catalog too if it is the first of a connection, or follows a change by another test.
    blocks.push(Math.min(await blocksFor(text), await blocksFor(text), await blocksFor(text)));
  }
  const [small = 0, large = Infinity] = blocks;
  expect(large / small).toBeLessThanOrEqual(2.3);
});

test('the same keys find the results of an order after it has many more', async () => {
  const result = (placer: string, filler: string, day: string, more = '') =>
    message(ORU, 'MORE', `OBR|1|${placer}|${filler}|1^P^L|||2026${day}0800+0100\nOBX|1|NM|n^N^L||5||||||F${more}`);
  const [first, second] = [result('P', 'F', '0201'), result('P', '', '0202')];
  for (const each of [first, second]) expect((await site.send(each)).outcome).toBe('AA');
  const found = async () => {
    const apart = result('P', 'F', '0201', '\nOBX|2|NM|n^N^L||5||||||F|||202602020900').replaceAll('+0100', '');
    const lookups = [first, second, result('', 'F', '0201'), result('', 'F', '0202'), result('P', 'F', '0203'), apart];
    const all: Map<string, number[]>[] = [];
    for (const { text, params } of lookups.map(queryOf)) {
      const { rows } = await application.query<{ id: string; asked: number[] }>(
        `select id, asked from (${text}) f where asked is not null`,
        params.map(parameter),
      );
      all.push(new Map(rows.map(({ id, asked }) => [id, asked])));
    }
    return all;
  };
  const few = await found();
  expect(few.map((each) => each.size)).toEqual([4, 4, 4, 4, 4, 4]);
  const older = times(100, (at) => `OBX|${at + 2}|NM|m${at}^N^L||5||||||F`);
  expect((await site.send(result('P', 'F', '0101', `\n${older}`))).outcome).toBe('AA');
  for (const [at, many] of (await found()).entries()) expect(many).toEqual(new Map([...many, ...(few[at] ?? [])]));
});

const OF_PATIENT = 'select * from hl7_result where site_id = $1 and patient_id = $2 and type = $3';

test.each([
  [
    'id',
    'hl7_result_pkey',
    'update hl7_result set filler = $4 where site_id = $1 and type = $2 and id = $3',
    '(id = $3)',
  ],
  [
    'filler',
    'hl7_result_filler',
    `${OF_PATIENT} and filler = $4 and filler <> '' and at between $5 and $6 order by at desc`,
    '(filler = $4)',
  ],
  [
    'placer',
    'hl7_result_placer',
    `${OF_PATIENT} and placer = $4 and placer <> '' and at between $5 and $6 order by at desc`,
    '(placer = $4)',
  ],
  [
    'code',
    'hl7_result_what',
    `${OF_PATIENT} and what = $4 and filler = '' and placer = '' and at between $5 and $6 order by at desc`,
    '(what = $4)',
  ],
  ['patient', 'hl7_result_', 'select * from hl7_result where site_id = $1 and patient_id = $2', '(patient_id = $2)'],
])('a result is found by its %s while PostgreSQL has no statistics', async (_, index, statement, condition) => {
  await application.query('set enable_seqscan = off');
  // The plan that a connection keeps depends on the size of the table when it was first used.
  for (const [size, rows] of [0, 1, 4].entries()) {
    if (rows > 0) {
      const lines = times(rows * 5, (at) => `${obr(at)}\n${times(20, (n) => `OBX|1|NM|p${n}^N^L||5||||||F`)}`);
      expect((await site.send(message(ORU, `PLAN${index}${size}`, lines))).outcome).toBe('AA');
    }
    const plan = await application.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${statement}`);
    const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toMatch(new RegExp(`(using|Index Scan on) ${index}`));
    expect(/Index Cond: (.*)/.exec(text)?.[1]).toContain(condition);
    expect(text).not.toContain('Sort');
  }
});

test('a report with 600 indistinguishable lines is stored again, with one line more and with other lines', async () => {
  const report = (n: number, word: string) =>
    message(ORU, 'REPORT', `${obr('R')}\n${times(n, (at) => `OBX|${at + 1}|ST|R^Report^L||${word} ${at}||||||F`)}`);
  for (const text of [report(600, 'line'), report(601, 'line'), report(601, 'other')]) {
    expect((await site.send(text)).outcome).toBe('AA');
  }
  expect(
    (await site.resources('Observation')).filter(({ code }) => JSON.stringify(code).includes('Report')),
  ).toHaveLength(601);
});

test('a key that is too long to be stored is not looked up', () => {
  const keysOf = (order: string) =>
    readBytes(bytesOf(message(ORU, '1', `${obr(order)}\nOBX|1|NM|n^N^L||5||||||F`)), 'utf-8').lookup.keys;
  const [short, spaced, long] = [keysOf('1'), keysOf('\\.sk99\\'.repeat(100)), keysOf('"'.repeat(100_000))];
  expect(spaced).toHaveLength(short.length);
  expect(long).toEqual([]);
});
