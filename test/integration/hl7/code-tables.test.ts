/** Codes of messages that a site's code tables map: what is added, what is compared, and how many round trips it takes. */
import { beforeAll, expect, test } from 'vitest';

import { editRows, importBody, importRows } from '../../../edge/admin/code-tables/import.ts';
import { addTable, findMisses, release, remove, requireTable } from '../../../edge/admin/code-tables/tables.ts';
import type { SentRow } from '../../../edge/admin/code-tables/rows.ts';
import type { Actor } from '../../../edge/admin/staff/actor.ts';
import { createMisses } from '../../../edge/hl7/ingest/code-misses.ts';
import { noteCodeMisses } from '../../../edge/store/code-table.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { sql } from '../../../edge/store/sql.ts';
import { createSnapshotCache } from '../../../edge/hl7/ingest/snapshot/cache.ts';
import { previewReplay, reprocess } from '../../../edge/hl7/ingest/replay/replay.ts';
import { checkMessage } from '../../../edge/hl7/ingest/check.ts';
import { cutMessage } from '../../../edge/hl7/ingest/cut-documents.ts';
import { PERMISSIONS } from '../../../edge/permissions.ts';
import { objectsOf, type JsonObject } from '../../../shared/json.ts';
import { callerOf } from '../../stack/tools/caller.ts';
import { ADA, createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';

const db = await useTestDatabase();
const site = await createHl7Site({ database: db });
const other = await createHl7Site({ database: db });

const SNOMED = 'http://snomed.info/sct';
const FHIR = { INTEGRATION_FHIR_PUBLIC_BASE_URL: 'https://gateway.example' };

const actorOf = ({ site: id }: Hl7Site): Actor => ({
  subject: '1',
  name: 'Ada',
  site: id,
  permissions: new Set(Object.keys(PERMISSIONS)) as unknown as Actor['permissions'],
});

const row = (code: string, targetCode: string, more: Partial<SentRow> = {}): SentRow => ({
  system: 'L',
  code,
  application: '',
  facility: '',
  targetSystem: targetCode === '' ? '' : SNOMED,
  targetCode,
  display: '',
  equivalence: targetCode === '' ? 'unmatched' : 'equivalent',
  ...more,
});

async function draft(of: Hl7Site, id: string, mode: 'replace' | 'set', rows: SentRow[]): Promise<void> {
  if (mode === 'set') await editRows(FHIR, of.deps.database, actorOf(of), id, { change: 'set', rows });
  else await importRows(FHIR, of.deps.database, actorOf(of), id, importBody.parse({ rows }));
}

async function goLive(of: Hl7Site, id: string, version?: number | null): Promise<void> {
  const { table } = await requireTable(of.deps.database, of.site, id);
  const chosen = version === undefined ? table.draft : version;
  await release(of.deps.database, actorOf(of), id, { version: chosen, edits: table.edits, comment: 'test' });
}

const newTable = async (of: Hl7Site, name: string): Promise<string> =>
  (await addTable(of.deps.database, actorOf(of), name)).table_id;

const oru = (number: string, obx3: string, status = 'F', value = '5') =>
  `${msh('ORU^R01')}\nPID|1||${number}||Doe^Jane||19800229|F\nOBR|1||F-${number}|P^Panel^99P|||202601010800||||||||||||||||||${status}\n` +
  `OBX|1|NM|${obx3}||${value}||||||${status}`;

const results = async (number: string, of = site): Promise<JsonObject[]> =>
  (await of.resources('Observation')).filter((each) => JSON.stringify(each).includes(`F-${number}"`));

const codingsOf = (resource: JsonObject | undefined, element = 'code'): string[] => {
  const concept = [resource?.[element] ?? []].flat()[0];
  return objectsOf((concept as JsonObject | undefined)?.['coding']).map(({ system, code, userSelected }) => {
    const name = typeof system === 'string' ? system.replace(/^https:.*code-systems\//, '').replace(SNOMED, 'SCT') : '';
    return `${name}|${typeof code === 'string' ? code : ''}${userSelected === false ? ' added' : ''}`;
  });
};

/** The codings of the only result of a message about a new patient. */
async function read(number: string, obx3: string, of = site): Promise<string[]> {
  expect(await of.send(oru(number, obx3))).toMatchObject({ outcome: 'AA' });
  const [result, ...more] = await results(number, of);
  expect(more).toEqual([]);
  return codingsOf(result);
}

let table = '';
beforeAll(async () => {
  table = await newTable(site, 'Laboratory');
  await draft(site, table, 'replace', [
    row('GLU', '36048009', { display: 'Glucose' }),
    row('GLU', '111', { system: '99LAB' }),
    row('K', '59573005', { application: 'OTHER' }),
    row('K', '88480006'),
    row('K', '222', { application: 'LAB' }),
    row('WIDE', '333', { equivalence: 'wider' }),
    row('NONE', ''),
    row('2345-7', '444', { system: 'LOINC' }),
    row('H', '555', { system: 'hl7-0078' }),
  ]);
});

test('a draft maps nothing; a live version maps from the next message on, in an isolate that knows the sender', async () => {
  expect(await read('D1', 'GLU^Glucose^L')).toEqual(['L|GLU']);
  await goLive(site, table);
  expect(await read('D2', 'GLU^Glucose^L')).toEqual(['L|GLU', 'SCT|36048009 added']);
  const [result] = await results('D2');
  expect(result?.['code']).toMatchObject({
    coding: [{ display: 'Glucose' }, { display: 'Glucose', userSelected: false }],
  });
  expect(result?.['code']).not.toHaveProperty('text');
});

test.each([
  ['another system with the same code has its own row', 'GLU^^99LAB', ['99LAB|GLU', 'SCT|111 added']],
  ['a system without a row', 'GLU^^99X', ['99X|GLU']],
  ['no system is like L', 'GLU^Glucose', ['|GLU', 'SCT|36048009 added']],
  ['white space does not count', ' GLU ^^L', ['L|GLU', 'SCT|36048009 added']],
  ['case counts', 'glu^^L', ['L|glu']],
  ['a concept that is only a text', '^Glucose', []],
  ['the alternate code', 'X^^99X^GLU^^L', ['99X|X', 'L|GLU', 'SCT|36048009 added']],
  ['the sender has the target already', `GLU^^L^36048009^^SCT`, ['L|GLU', 'SCT|36048009']],
  ['a row for another sender', 'NA^^L', ['L|NA']],
  ['a row for this sender replaces that for any', 'K^^L', ['L|K', 'SCT|222 added']],
  ['a wider target is not added', 'WIDE^^L', ['L|WIDE']],
  ['a code without a target', 'NONE^^L', ['L|NONE']],
  ['LN and LOINC are one system', '2345-7^^LN', ['http://loinc.org|2345-7', 'SCT|444 added']],
])('%s', async (name, obx3, expected) => {
  expect(await read(`C-${name.replaceAll(' ', '')}`.slice(0, 20), obx3)).toEqual(expected);
});

test('the code of an HL7 table is mapped beside the map of the standard', async () => {
  await site.send(oru('H1', 'X^^99X').replace('||5||||||', '||5|||H|||'));
  expect(codingsOf((await results('H1'))[0], 'interpretation')).toEqual([
    'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation|H',
    'SCT|555 added',
  ]);
});

test('the table of another site maps nothing', async () => {
  expect(await read('O1', 'GLU^Glucose^L', other)).toEqual(['L|GLU']);
  await expect(goLive(other, table)).rejects.toMatchObject({ kind: 'not-found' });
  await expect(draft(other, table, 'set', [row('GLU', '9')])).rejects.toMatchObject({ kind: 'not-found' });
});

test('a table that changes between a message and its correction makes no second result and no stale value', async () => {
  const own = await newTable(site, 'Changing');
  await draft(site, own, 'replace', [row('CHG', '1001'), row('POS', '1002')]);
  await goLive(site, own);
  const coded = (status: string) =>
    oru('T1', 'CHG^^L^ALT^^99ALT', status, 'POS^Positive^L').replace('OBX|1|NM', 'OBX|1|CE');
  const first = coded('F');
  await site.send(first);
  expect((await results('T1')).map((each) => [codingsOf(each), codingsOf(each, 'valueCodeableConcept')])).toEqual([
    [
      ['L|CHG', '99ALT|ALT', 'SCT|1001 added'],
      ['L|POS', 'SCT|1002 added'],
    ],
  ]);
  await draft(site, own, 'replace', [row('CHG', '2001')]);
  await goLive(site, own);

  expect(await site.send(first), 'the same bytes').toMatchObject({ status: 'seen', outcome: 'AA' });
  const sent = await site.send(coded('C'));
  expect(sent.text).not.toContain('stale');
  expect((await results('T1')).map((each) => [codingsOf(each), codingsOf(each, 'valueCodeableConcept')])).toEqual([
    [['L|CHG', '99ALT|ALT', 'SCT|2001 added'], ['L|POS']],
  ]);
  const { rows } = await db.client.query('select kind from attention where site_id = $1', [site.site]);
  expect(rows).toEqual([]);

  // Another version again, and an older message that says the same: nothing of it is stale.
  await goLive(site, own, 1);
  const older = coded('C').replace(/^((?:[^|]*\|){6})[^|]*/, '$120260101090000+0100');
  expect((await site.send(older)).errors).toEqual([]);
  expect(await results('T1')).toHaveLength(1);
});

test('a replay after a new version adds its codings, as its preview says, and a search finds by either', async () => {
  const own = await newTable(site, 'Later');
  await site.send(oru('R1', 'LATER^^99R'));
  const { rows } = await db.client.query<{ message_id: string }>(
    'select message_id from hl7_message where site_id = $1 order by message_id desc limit 1',
    [site.site],
  );
  const id = rows[0]?.message_id ?? '';
  await draft(site, own, 'replace', [row('LATER', '777', { system: '99R' })]);
  await goLive(site, own);
  const preview = await previewReplay(site.deps, site.site, id, 'r');
  const changed = preview.changes.filter(({ change }) => change === 'changed');
  expect(changed.map(({ reference }) => reference.split('/')[0])).toEqual(['Observation']);
  await reprocess(site.deps, site.site, id, { why: 'replayed', actor: 'test', jobId: null, by: ADA }, 'r');
  expect(codingsOf((await results('R1'))[0])).toEqual(['99R|LATER', 'SCT|777 added']);
  const found = await db.client.query(
    `select c.code from resource_token t join (values ('LATER'), ('777')) c (code) on t.code_key = token_key('Observation', 'code', c.code)
      where t.site_id = $1 order by c.code`,
    [site.site],
  );
  expect(found.rows.map(({ code }: { code?: string }) => code)).toEqual(['777', 'LATER']);
});

test('one round trip with known codes, another for unknown ones; a new version is noticed with the commit', async () => {
  const trips = async (message: string, by: object): Promise<number> => {
    const before = db.endpoint.requests();
    expect(await site.send(message, by)).toMatchObject({ outcome: 'AA' });
    return db.endpoint.requests() - before;
  };
  const one = { snapshots: createSnapshotCache() };
  expect(await trips(oru('N1', 'GLU^^L'), one), 'the codes come with the snapshot').toBe(2);
  expect(await trips(oru('N2', 'GLU^^L'), one)).toBe(1);
  expect(await trips(oru('N3', 'UNSEEN^^L'), one), 'a code that is not in the cache').toBe(2);
  expect(await trips(oru('N4', 'UNSEEN^^L'), one), 'nor in a table').toBe(1);
  expect(await trips(oru('N5', 'UNSEEN^^99ELSE'), one), 'a system without a table').toBe(1);
  await draft(site, table, 'set', [row('UNSEEN', '888')]);
  expect(await trips(oru('N6', 'UNSEEN^^L'), one), 'a draft').toBe(1);
  await goLive(site, table);
  expect(await trips(oru('N7', 'UNSEEN^^L'), one), 'refused, codes, stored').toBe(3);
  expect(codingsOf((await results('N7'))[0])).toEqual(['L|UNSEEN', 'SCT|888 added']);
  expect(await trips(oru('N8', 'UNSEEN^^L'), one)).toBe(1);
  await goLive(site, table, null);
  await site.send(oru('N9', 'UNSEEN^^L'), one);
  expect(codingsOf((await results('N9'))[0])).toEqual(['L|UNSEEN']);
  await goLive(site, table, 2);
});

test('a deleted table adds nothing, also in an isolate that had it in memory, and stored results keep its codings', async () => {
  const one = { snapshots: createSnapshotCache() };
  const own = await newTable(site, 'Leaving');
  await draft(site, own, 'replace', [row('LEAVE', '4001')]);
  await goLive(site, own);
  for (const number of ['L1', 'L2']) await site.send(oru(number, 'LEAVE^^L'), one);
  const editsNow = async () => (await requireTable(site.deps.database, site.site, own)).table.edits;
  const removed = async () => remove(site.deps.database, actorOf(site), own, { edits: await editsNow() });
  await expect(removed()).rejects.toMatchObject({ kind: 'conflict' });
  await goLive(site, own, null);
  await removed();
  await site.send(oru('L3', 'LEAVE^^L'), one);
  expect(codingsOf((await results('L3'))[0])).toEqual(['L|LEAVE']);
  expect(codingsOf((await results('L2'))[0]), 'a stored result').toEqual(['L|LEAVE', 'SCT|4001 added']);
  // The retention job deletes the rows of the old one, and none of the new one.
  const next = await newTable(site, 'Leaving');
  await draft(site, next, 'replace', [row('LEAVE', '4002')]);
  await goLive(site, next);
  await db.client.query('select code_tables_forget($1, 100)', [site.site]);
  await site.send(oru('L4', 'LEAVE^^L'), one);
  expect(codingsOf((await results('L4'))[0])).toEqual(['L|LEAVE', 'SCT|4002 added']);
  const { rows } = await db.client.query('select from code_table_row where site_id = $1 and table_id = $2', [
    site.site,
    own,
  ]);
  expect(rows).toHaveLength(0);
  await site.send(oru('L2', 'LEAVE^^L', 'C'), one);
  expect(codingsOf((await results('L2'))[0]), 'its correction').toEqual(['L|LEAVE', 'SCT|4002 added']);
  await goLive(site, next, null);
});

test('the check of a message shows the added codings', async () => {
  const message = await cutMessage(bytesOf(oru('K1', 'GLU^^L')), Infinity);
  const sender = { kind: 'caller', caller: callerOf(site.site, site.clientId) } as const;
  const { resources } = await checkMessage(site.deps, sender, message, 'r');
  expect(codingsOf(resources.find(({ resourceType }) => resourceType === 'Observation'))).toEqual([
    'L|GLU',
    'SCT|36048009 added',
  ]);
});

test('codes without a row are counted behind the messages, where a live table has their system; a mapped one leaves the list', async () => {
  const own = await newTable(site, 'Missing');
  await draft(site, own, 'replace', [
    row('HERE', '1', { system: '99M' }),
    row('THERE', '2', { system: '99M', application: 'X' }),
  ]);
  await goLive(site, own);
  const written: Promise<unknown>[] = [];
  const ending = AbortSignal.abort();
  const noteMisses = createMisses(
    { now: () => Date.now(), background: (work) => void written.push(work), ending },
    (id, misses) => inSite(site.deps.database, id).run(noteCodeMisses(id, misses)),
  );
  const by = { noteMisses };
  const first = oru('M1', 'MISS^First text^99M');
  await site.send(first, by);
  await site.send(first, by);
  for (const [number, obx3] of [
    ['M2', 'MISS^Second text^99M'],
    ['M3', 'HERE^x^99M'],
    ['M4', 'THERE^There^99M'],
    ['M5', 'NOWHERE^x^99NOTABLE'],
    ['M6', 'ALT^Alternate^99M^MISS^^99M'],
  ] as const)
    await site.send(oru(number, obx3), by);
  // A rejected message is not counted.
  expect(await site.send(oru('M7', 'BAD^x^99M').replace('|P^Panel^99P|', '||'), by)).toMatchObject({ outcome: 'AE' });
  await Promise.all(written);
  const list = async () =>
    (await findMisses(site.deps.database, site.site, { limit: 50 })).items
      .filter(({ system }) => system === '99M')
      .map(({ code, text, messages, application }) => `${code} ${messages} ${text} ${application}`);
  expect(await list()).toEqual(['MISS 3 Second text LAB', 'ALT 1 Alternate LAB', 'THERE 1 There LAB']);
  const page = await findMisses(site.deps.database, site.site, { limit: 1 });
  const next = await findMisses(site.deps.database, site.site, { limit: 50, cursor: page.next ?? '' });
  expect(next.items.map(({ code }) => code)).not.toContain(page.items[0]?.code);
  await draft(site, own, 'set', [row('MISS', '3', { system: '99M' })]);
  expect(await list()).toEqual(['ALT 1 Alternate LAB', 'THERE 1 There LAB']);

  // The list is bounded: what is rare leaves it first.
  await site.database.run(
    sql`select code_misses_note(${site.site}::uuid, ${JSON.stringify([
      { system: '99M', code: 'NEW', text: '', application: 'A', facility: 'F', messages: 9 },
    ])}::json, 2)`,
  );
  const { rows } = await db.client.query<{ code: string }>(
    'select code from code_miss where site_id = $1 order by messages desc',
    [site.site],
  );
  expect(rows.map(({ code }) => code)).toEqual(['NEW', 'MISS']);

  // A code that no message had for as long as attempts are kept is deleted.
  await db.client.query(
    `update code_miss set last_at = now() - interval '91 days' where site_id = $1 and code = 'NEW'`,
    [site.site],
  );
  await db.client.query('select retention_step($1, now(), null, 100)', [site.site]);
  const { rows: kept } = await db.client.query('select code from code_miss where site_id = $1', [site.site]);
  expect(kept).toEqual([{ code: 'MISS' }]);
});
