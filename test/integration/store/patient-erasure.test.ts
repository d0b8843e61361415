/** One person of a site erased: nothing of it is left in any table, and nothing of others is missing. */
import { randomUUID } from 'node:crypto';

import { afterAll, beforeEach, expect, test } from 'vitest';

import { erase } from '../../../edge/platform/node/erase-patient.ts';
import { connectDatabase } from '../../../edge/platform/node/database.ts';
import { audited } from '../../../edge/store/audit.ts';
import {
  beginExport,
  type ExportKey,
  exportExists,
  filePage,
  type FileRow,
  findExport,
  openFile,
  stepExport,
} from '../../../edge/store/bulk-export.ts';
import { erasePatient } from '../../../edge/store/patient-erasure.ts';
import { writeResources, toWrite } from '../../../edge/store/resource.ts';
import { until } from '../../stack/services/until.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { PLAIN_EXPORT } from '../../stack/tools/plain-export.ts';
import { copySite, RECORD_TABLES } from '../../stack/tools/twin-site.ts';

/** Files of opened exports: a client that is reading an export continues. */
const files = new Map<string, FileRow>();
let site: Hl7Site;
const db = await useTestDatabase();
const owner = await connectDatabase(db.ownerUrl);
afterAll(() => owner?.close());
beforeEach(async () => {
  site = await createHl7Site({ database: db });
});

const pid = (id: string, name = 'Doe^Jane') => `PID|1||${id}^^^HOSP^MR||${name}||19800101|F`;
const admit = (control: string, id: string, name?: string) => `${msh('ADT^A04', control)}\n${pid(id, name)}`;
const result = (control: string, id: string) =>
  `${msh('ORU^R01', control)}\n${pid(id)}\nOBR|1|P${id}|F${id}|GLU^Glucose^L|||20260101080000+0000|||||||||||||||||LAB|F\n` +
  'OBX|1|NM|GLU^Glucose^L||5.50|mmol/L|||||F|||20260101080000+0000';

async function idOf(number: string): Promise<string> {
  const { rows } = await db.client.query<{ id: string }>(
    'select distinct id from patient_identity where site_id = $1 and value = $2',
    [site.site, number],
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.id ?? '';
}

const OPERATOR = { kind: 'operator', name: 'root', clientId: null, address: null, requestId: 'e-1' } as const;
/** As the command does it. @param answers to its questions; default those that erase */
async function eraseNow(id: string, answers: readonly string[] = [id, 'erase'], at: Hl7Site = site): Promise<string> {
  const asked: string[] = [];
  const left = [...answers];
  await erase(audited(owner, at.site, OPERATOR), at.site, id, (question) => {
    asked.push(question);
    return Promise.resolve(left.shift());
  });
  return asked.join('');
}

/** Every row of the site in every table but the audit, as text. */
async function everything(at: Hl7Site = site): Promise<Record<string, string[]>> {
  const { rows: tables } = await db.client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'site_id'
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'audit' order by 1`,
  );
  const found: Record<string, string[]> = {};
  for (const { name } of tables) {
    const { rows } = await db.client.query<{ text: string }>(
      `select t::text as text from ${name} t where site_id = $1 order by 1`,
      [at.site],
    );
    found[name] = rows.map(({ text }) => text);
  }
  return found;
}
const hex = (text: string) => Buffer.from(text).toString('hex');

test('another site that has the same ids keeps every row', async () => {
  await site.send(admit('S-1', 'A1', 'Secret^Jane'));
  await site.send(result('S-2', 'A1'));
  await site.send(`${msh('ADT^A04', 'S-3').replace('|P|2.5.1', '|T|2.5.1')}\n${pid('A1', 'Secret^Jane')}`);
  await site.send(admit('S-4', 'B2'));
  const [id, other] = [await idOf('A1'), await idOf('B2')];
  const link = `,"link":[{"type":"seealso","other":{"reference":"Patient/${id}"}}]`;
  await db.client.query('update resource set body = body || $3 where site_id = $1 and id = $2', [
    site.site,
    other,
    link,
  ]);
  await db.client.query(
    `select attention_add(site_id, message_id, json_build_array(json_build_object('kind', 'possible-duplicate', 'patients', json_build_array($2::uuid))))
       from hl7_message where site_id = $1 limit 1`,
    [site.site, id],
  );
  await db.client.query(
    `insert into issue_decision (site_id, issue_id, state, by, reason)
     select site_id, issue_id, 'dismissed', 'ada', 'Secret reason' from issue where site_id = $1`,
    [site.site],
  );
  const twin = await createHl7Site({ database: db });
  const messages = [
    'hl7_message_resource',
    'hl7_message_key',
    'patient_name',
    'issue',
    'attention',
    'issue_message',
    'issue_decision',
  ];
  await copySite(db.client, site.site, twin.site, ['hl7_message', ...RECORD_TABLES, ...messages]);
  const before = await everything(twin);
  for (const table of ['hl7_message', 'resource', 'study', 'report', ...messages])
    expect(before[table], table).not.toEqual([]);

  expect(await eraseNow(id)).toMatch(/2 hl7_result\n[^]*1 patients/);
  expect(JSON.stringify(await everything())).not.toContain('Secret');
  expect(await everything(twin)).toEqual(before);
});

test('erases all data of a patient, and no data of other patients or sites', async () => {
  const neighbour = await createHl7Site({ database: db });
  await neighbour.send(result('N-1', 'A1'));
  await site.send(result('B-1', 'B2'));
  const others = await everything(neighbour);
  const before = await everything();
  await site.send(admit('A-1', 'A1', 'Secret^Jane'));
  await site.send(result('A-2', 'A1'));
  await site.send(admit('A-3', 'A1', 'Secret^Janet'));
  // Rejected, and about no stored patient.
  await site.send(`${msh('ADT^A04', 'A-4').replace('|P|2.5.1', '|T|2.5.1')}\n${pid('A1', 'Secret^Jane')}`);
  // Its number also where patients had it in older versions (PID-4).
  await site.send(
    `${msh('ADT^A04', 'A-5').replace('|P|2.5.1', '|T|2.5.1')}\nPID|1||Z9^^^HOSP^MR|A1^^^HOSP|Secret^Jane`,
  );
  const id = await idOf('A1');

  const said = await eraseNow(id);
  expect(said).toContain('5 messages\n');
  expect(said).toContain('1 patients');
  const after = await everything();
  const all = JSON.stringify(after);
  for (const trace of [id, 'Secret', 'secret', hex('Secret')]) expect(all).not.toContain(trace);
  // An accepted message is still known when it is sent again.
  const { hl7_message: messages, hl7_attempt: attempts, ...rest } = after;
  const { hl7_message: messagesBefore = [], hl7_attempt: attemptsBefore = [], ...restBefore } = before;
  expect(rest).toEqual(restBefore);
  expect(messages).toEqual(expect.arrayContaining(messagesBefore));
  expect([messages?.length, attempts?.length]).toEqual([messagesBefore.length + 3, attemptsBefore.length + 3]);
  expect(await everything(neighbour)).toEqual(others);
  expect(await site.send(result('A-2', 'A1'))).toMatchObject({ status: 'seen', outcome: 'AA' });
  expect(await everything()).toEqual(after);
});

test('is in the audit once, by ids only; a preview is not', async () => {
  await site.send(admit('A-1', 'A1'));
  const id = await idOf('A1');
  await expect(eraseNow(id, [id, 'no'])).rejects.toThrow('nothing was erased');
  await expect(eraseNow(id, ['A1'])).rejects.toThrow('nothing was erased');
  await expect(eraseNow(id, [])).rejects.toThrow('nothing was erased');
  expect(await idOf('A1')).toBe(id);
  await eraseNow(id);
  const { rows } = await db.client.query(
    `select actor_kind, actor, types, patients from audit where site_id = $1 and action = 'patient-erased'`,
    [site.site],
  );
  expect(rows).toEqual([{ actor_kind: 'operator', actor: 'root', types: ['Hl7Message', 'Patient'], patients: [id] }]);
});

test('erases a patient with its merged patients, and no merged patient alone', async () => {
  await site.send(admit('A-1', 'A1'));
  await site.send(result('B-1', 'B2'));
  const [first, second] = [await idOf('A1'), await idOf('B2')];
  await site.send(`${msh('ADT^A40', 'M-1')}\n${pid('A1')}\nMRG|B2^^^HOSP^MR`);
  await expect(eraseNow(second)).rejects.toThrow(`it was merged into ${first}`);
  await eraseNow(first);
  const all = JSON.stringify(await everything());
  for (const trace of [first, second, hex('Doe')]) expect(all).not.toContain(trace);
});

test('removes links to the patient from other patients, also in old versions, and keeps everything else', async () => {
  await site.send(admit('A-1', 'A1'));
  const id = await idOf('A1');
  const other = randomUUID();
  const linked = (birthDate: string) => ({
    resourceType: 'Patient',
    birthDate,
    link: [
      { other: { reference: `Patient/${id}`, display: 'Secret Jane' }, type: 'seealso' },
      { other: { display: 'elsewhere' }, type: 'seealso' },
    ],
  });
  for (const date of ['1980-01-01', '1980-01-02']) {
    await site.database.run(writeResources(site.site, [toWrite(linked(date), other, 'upsert')]));
  }
  await eraseNow(id);
  const all = JSON.stringify(await everything());
  for (const trace of [id, 'Secret Jane']) expect(all).not.toContain(trace);
  const [patient] = await site.resources('Patient');
  expect(patient).toMatchObject({
    id: other,
    version: 3,
    birthDate: '1980-01-02',
    link: [{ other: { display: 'elsewhere' }, type: 'seealso' }],
  });
});

test('another site’s patient is not found, a legal hold keeps all patients, and the gateway’s role cannot erase', async () => {
  await site.send(admit('A-1', 'A1'));
  const id = await idOf('A1');
  const neighbour = await createHl7Site({ database: db });
  await expect(eraseNow(id, undefined, neighbour)).rejects.toMatchObject({ kind: 'not-found' });
  await expect(site.database.run(erasePatient(site.site, id, true))).rejects.toMatchObject({ code: '42501' });
  await db.client.query('update site set legal_hold = true where site_id = $1', [site.site]);
  await expect(eraseNow(id)).rejects.toMatchObject({ kind: 'conflict' });
  expect(await idOf('A1')).toBe(id);
});

test('the bytes of a message that also names another patient are deleted, and the other’s record stays', async () => {
  await site.send(admit('B-1', 'B2'));
  await site.send(admit('A-1', 'A1'));
  const [id, other] = [await idOf('A1'), await idOf('B2')];
  await db.client.query(
    `insert into hl7_message_resource (site_id, message_id, type, id, version, is_written)
     select site_id, message_id, 'Patient', $2, 1, true from hl7_message where site_id = $1 and control_id = 'A-1'`,
    [site.site, other],
  );
  expect(await eraseNow(id)).toContain('1 messages that also made resources of others\n');
  expect((await site.resources('Patient')).map((patient) => patient.id)).toEqual([other]);
  const { rows } = await db.client.query(
    `select m.control_id, m.raw is not null as kept, x.id from hl7_message m
       join hl7_message_resource x using (site_id, message_id) where m.site_id = $1 order by 1`,
    [site.site],
  );
  expect(rows).toEqual([
    { control_id: 'A-1', kept: false, id: other },
    { control_id: 'B-1', kept: true, id: other },
  ]);
});

test('a Group that is written meanwhile never keeps the patient', async () => {
  await site.send(admit('G-1', 'G1'));
  const id = await idOf('G1');
  const group = {
    resourceType: 'Group',
    type: 'person',
    actual: true,
    member: [{ entity: { reference: `Patient/${id}` } }],
  };
  const write = (groupId: string) => writeResources(site.site, [toWrite(group, groupId, 'create')]);
  const writer = await db.connect();
  const [first, second] = [randomUUID(), randomUUID()];
  await writer.query('begin');
  await writer.query(`select set_config('gateway.site', $1, true)`, [site.site]);
  await writer.query(write(first).text, [...write(first).params]);
  const erased = eraseNow(id);
  // This Group is written while the erasure waits for the first one.
  await until('the erasure waits', async () => {
    const { rows } = await db.client.query<{ waiting: boolean }>(
      `select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%patient_erase%'
         and datname = current_database()) as waiting`,
    );
    return rows[0]?.waiting === true;
  });
  const late = site.database.run(write(second)).then(
    () => 'written',
    ({ kind }: { readonly kind: string }) => kind,
  );
  await writer.query('commit');
  await erased;
  expect(['written', 'invalid']).toContain(await late);
  const { rows } = await db.client.query<{ body: string }>(
    `select body from resource where site_id = $1 and type = 'Group'
     union all select body from resource_history where site_id = $1 and type = 'Group'`,
    [site.site],
  );
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.filter(({ body }) => body.includes('member'))).toEqual([]);
  await expect(site.database.run(write(randomUUID()))).rejects.toMatchObject({ kind: 'invalid' });
});

test('ends the exports of the site, even during a download; later exports have no data of the patient', async () => {
  await site.send(admit('X-1', 'X1', 'Secret^Jane'));
  await site.send(admit('X-2', 'X2'));
  const neighbour = await createHl7Site({ database: db });
  await neighbour.send(admit('X-3', 'X3'));
  const begun = [await exportOf(site), await exportOf(neighbour)] as const;
  const id = await idOf('X1');
  expect(await namesIn(begun[0])).toContain('Secret');
  await eraseNow(id, ['no']).catch(() => undefined);
  expect(await namesIn(begun[0])).toContain('Secret');
  await eraseNow(id);
  expect(await namesIn(begun[0])).toBe(undefined);
  expect(await namesIn(begun[1])).toContain('Doe');
  const after = await namesIn(await exportOf(site));
  expect(after).toContain('Doe');
  expect(after).not.toContain('Secret');

  /** An export of the site's patients, complete. */
  async function exportOf(at: Hl7Site): Promise<ExportKey & { readonly at: Hl7Site }> {
    const key = { site: at.site, clientId: at.clientId, id: randomUUID(), at };
    await at.database.run(beginExport({ ...key, ...PLAIN_EXPORT }));
    await until('the export is complete', async () => {
      const [, [row]] = await at.database.batch([stepExport(key), findExport(key)] as const);
      return row?.is_complete;
    });
    return key;
  }

  /** The content of its first page; undefined if the export was deleted. */
  async function namesIn({ at, ...key }: ExportKey & { readonly at: Hl7Site }): Promise<string | undefined> {
    const [file] = await at.database.run(openFile(key, 'Patient', 1, ['Patient']));
    const wasThere = files.get(key.id) ?? file;
    if (wasThere?.after_id == null || wasThere.upto_id === null) throw new Error('there is no file');
    files.set(key.id, wasThere);
    const opened = { ...wasThere, upto_id: wasThere.upto_id };
    const page = filePage({ ...key, type: 'Patient', number: 1, file: opened, after: wasThere.after_id });
    const [rows, stored] = await at.database.batch([page, exportExists(key)] as const);
    expect(stored.length === 1).toBe(file !== undefined);
    const text = JSON.stringify(rows);
    if (stored.length === 0) expect(text).not.toContain('Secret');
    return stored.length === 0 ? undefined : text;
  }
});
