/** The lookups for a message grow in proportion to it, and their results never prevent that it is stored. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from 'pg';

import { readBytes } from '../../../edge/hl7/ingest/reading.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';

let site: Hl7Site;
/** Row policies apply to this role and add conditions. */
let application: Client;
beforeAll(async () => {
  site = await createHl7Site();
  // As when a deployment is new: the planner knows nothing of the tables.
  await site.db.client.query('alter table hl7_result set (autovacuum_enabled = off)');
  await site.db.client.query('alter table hl7_identity set (autovacuum_enabled = off)');
  application = new Client({ connectionString: site.db.url });
  await application.connect();
  await application.query(`select set_config('gateway.site', $1, false)`, [site.site]);
});
afterAll(async () => {
  await application.end();
  await site.db.drop();
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

/** Blocks that PostgreSQL reads to find what a message speaks of. */
async function blocksFor(text: string): Promise<number> {
  const { identifierValues, keys } = readBytes(bytesOf(text), 'utf-8').lookup;
  const { rows } = await application.query<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>(
    'explain (analyze, buffers, format json) select * from hl7_matches($1, $2, $3, $4)',
    [site.site, identifierValues, keys.map(({ type }) => type), keys.map(({ key }) => key)],
  );
  return rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? Number.NaN;
}

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
  const blocks: number[] = [];
  for (const n of [100, 200]) {
    const text = message(header, `${what.replaceAll(/\W/g, '')}${n}`, lines(n));
    expect((await site.send(text)).outcome).toBe('AA');
    // The first call of a connection reads the catalog too.
    await blocksFor(text);
    blocks.push(await blocksFor(text));
  }
  const [small = 0, large = Infinity] = blocks;
  expect(large / small).toBeLessThanOrEqual(2.3);
});

test('a result is found by its primary key while PostgreSQL has no statistics', async () => {
  await application.query('set enable_seqscan = off');
  const { rows } = await application.query<{ 'QUERY PLAN': string }>(
    'explain (generic_plan) update hl7_result set filler = $4 where site_id = $1 and type = $2 and id = $3',
  );
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('using hl7_result_pkey');
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
