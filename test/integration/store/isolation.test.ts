/**
 * Two sites whose resources have the same ids: an operation at one site neither changes nor shows the other. So each
 * condition on the site is proven by itself. Neither distinct ids nor policies, which do not apply to the owner, hide a
 * missing condition.
 */
import { randomUUID } from 'node:crypto';

import type { Client } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';

import { beginExport, filePage, findExport, openFile, stepExport } from '../../../edge/store/bulk-export.ts';
import { toPage } from '../../../edge/store/page.ts';
import { everythingPage, everythingSubject } from '../../../edge/store/everything.ts';
import { typeHistoryPage } from '../../../edge/store/type-history.ts';
import { currentVersion, historyPage, readResource } from '../../../edge/store/resource-by-id.ts';
import type { Criterion } from '../../../edge/store/search/kinds.ts';
import { lookUpResources } from '../../../edge/store/resource-lookup.ts';
import type { Sort } from '../../../edge/store/search/page-selection.ts';
import { searchCount, searchPage } from '../../../edge/store/search/search.ts';
import { NO_LOCKS } from '../../../edge/store/lock.ts';
import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import { writeTransaction } from '../../../edge/store/transaction.ts';
import { RESOURCE_TYPES, type ResourceType } from '../../../shared/resource-type.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { until } from '../../stack/services/until.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { createHl7Site } from '../../stack/tools/hl7-site.ts';
import { PLAIN_EXPORT } from '../../stack/tools/plain-export.ts';
import { copySite, RECORD_TABLES, TWIN } from '../../stack/tools/twin-site.ts';

let twin: string;
let before: string;
const ids = { patient: '', other: '', observation: '', report: '' };

/** MSH-7 of a minute from now: clocks may differ. */
const soon = (): string => `${new Date(Date.now() + 60_000).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}+0000`;

async function dump(client: Client, of: string): Promise<string> {
  const parts: string[] = [];
  for (const table of RECORD_TABLES) {
    const { rows } = await client.query<{ rows: string }>(
      `select coalesce(json_agg(t order by t::text)::text, '') as rows from ${table} t where t.site_id = $1`,
      [of],
    );
    parts.push(`${table}: ${rows[0]?.rows}`);
  }
  return parts.join('\n');
}

const adt = (event: string, id: string, rest = ''): string =>
  `${msh(`ADT^${event}^ADT_A01`)}\nPID|1||${id}^^^HOSP^MR||Doe^Jane||19800229|F\n${rest}`;
const oru = (id: string, result: string): string =>
  `${msh('ORU^R01^ORU_R01')}\nPID|1||${id}^^^HOSP^MR||Doe^Jane\nOBR|1||F1|1^Panel^L|||20260101||||||||||||||||||F\n` +
  `OBX|1|NM|2^Test^L||${result}|mg/dL|||||F`;

/** Found by its key in hl7_identity; results are found in hl7_result. */
const ALLERGY = 'AL1|1||N1^Nuts^L';

const site = await createHl7Site({ asOwner: true, assigningAuthorities: { HOSP: 'urn:example:hosp' } });
beforeAll(async () => {
  // A view's condition applies to the owner too.
  await site.db.client.query('create or replace view patient_search_here as select * from patient_search');
  const { client } = site.db;
  for (const message of [
    adt('A04', 'P1', ALLERGY).replace('^MR||', '^MR~OLD^^^HOSP^PI||'),
    adt('A04', 'P2').replace('|F\n', '|F|||||555-1^PRN^PH\n'),
    oru('P1', '5.0'),
    oru('P1', '5.5'),
  ])
    expect((await site.send(message)).outcome).toBe('AA');
  const [first, second] = await site.resources('Patient');
  const [observation] = await site.resources('Observation');
  const [report] = await site.resources('DiagnosticReport');
  Object.assign(ids, {
    patient: first?.id,
    other: second?.id,
    observation: observation?.id,
    report: report?.id,
  });
  twin = await createSite(client, { assigningAuthorities: { HOSP: 'urn:example:hosp' } });
  await copySite(client, site.site, twin);
  const link = [{ type: 'replaced-by', other: { reference: `Patient/${ids.patient}` } }];
  await client.query(`update resource set body = body || $3 where site_id = $1 and id = $2`, [
    twin,
    ids.other,
    `,"link":${JSON.stringify(link)}`,
  ]);
  before = await dump(client, twin);
});

/** Nothing of the other site has changed; neither the answers nor this site contain anything of it. */
const expectApart = async (...answers: unknown[]): Promise<void> => {
  expect(JSON.stringify(answers)).not.toContain(TWIN);
  expect(await dump(site.db.client, site.site)).not.toContain(TWIN);
  expect(await dump(site.db.client, twin)).toBe(before);
};

describe('reads', () => {
  test('by id, by version, as history', async () => {
    const { observation: id } = ids;
    const found = await site.deps.database.batch([
      readResource(site.site, 'Observation', id),
      readResource(site.site, 'Observation', id, 1),
      readResource(site.site, 'Observation', id, 2),
      currentVersion(site.site, 'Observation', id),
      // Versions that only the other site has, superseded and current.
      readResource(site.site, 'Observation', id, 41),
      readResource(site.site, 'Observation', id, 42),
    ] as const);
    expect(found.map((rows) => rows.map(({ version }) => version))).toEqual([[2], [1], [2], [2], [], []]);
    const history = await site.deps.database.run(
      historyPage({ site: site.site, type: 'Observation', id, below: null, since: null, limit: 10 }),
    );
    expect(toPage(history, 10).resources.map(({ version }) => version)).toEqual([2, 1]);
    await expectApart(found, history);
  });

  test('a resource to patch, by id and by a condition', async () => {
    const seen = await site.deps.database.run(
      lookUpResources(site.site, [
        { type: 'Observation', id: ids.observation },
        { type: 'Patient', criteria: [{ kind: 'identifier', any: [{ system: null, value: 'P1' }] }] },
      ]),
    );
    expect(seen.map(({ n, id, version }) => [n, id, version < 40])).toEqual([
      [0, ids.observation, true],
      [1, ids.patient, true],
    ]);
    await expectApart(seen);
  });

  test('the history of a type', async () => {
    const page = { site: site.site, type: 'Observation', after: null, since: null, limit: 10 } as const;
    const [all, rest] = await site.deps.database.batch([
      typeHistoryPage(page),
      typeHistoryPage({ ...page, after: { lastUpdated: '2999-01-01T00:00:00Z', id: ids.observation, version: 99 } }),
    ] as const);
    for (const rows of [all, rest]) expect(toPage(rows, 10).resources.map(({ version }) => version)).toEqual([2, 1]);
    await expectApart(all, rest);
  });

  test('everything of a patient that the other site has merged with another', async () => {
    const page = { site: site.site, types: RESOURCE_TYPES, after: null, since: null, limit: 10 };
    const [subject, rows] = await site.deps.database.batch([
      everythingSubject(site.site, ids.patient),
      everythingPage({ ...page, patient: ids.patient }),
    ] as const);
    expect(subject).toMatchObject([{ survivor: ids.patient }]);
    const { resources } = toPage(rows, 10);
    expect(resources.filter(({ type }) => type === 'Patient').map(({ id }) => id)).toEqual([ids.patient]);
    expect(resources.map(({ type }) => type).toSorted()).toEqual(
      ['AllergyIntolerance', 'DiagnosticReport', 'Observation', 'Patient'].toSorted(),
    );
    const [replaced] = await site.deps.database.run(everythingSubject(site.site, ids.other));
    expect(replaced).toMatchObject({ survivor: ids.other });
    // A patient that only the other site has.
    const theirs = uuidv7(Date.now());
    await site.db.client.query(`insert into resource (site_id, type, id, version, last_updated, meta, body)
      values ('${twin}', 'Patient', '${theirs}', 1, now(), '', '')`);
    // And whose link one of this site has.
    const impostor = uuidv7(Date.now());
    await site.db.client.query(`insert into resource (site_id, type, id, version, last_updated, meta, body)
      values ('${site.site}', 'Patient', '${impostor}', 1, now(), '',
        '"link":[{"type":"replaced-by","other":{"reference":"Patient/${theirs}"}}]')`);
    const none = await site.deps.database.batch([
      everythingSubject(site.site, theirs),
      everythingPage({ ...page, patient: theirs }),
    ] as const);
    await site.db.client.query(`delete from resource where id in ('${theirs}', '${impostor}')`);
    expect(none).toEqual([[], []]);
    await expectApart(subject, rows, replaced);
  });

  const ID: Sort = { by: 'id', descending: false };
  test.each<[string, ResourceType, () => readonly Criterion[], Sort, number]>([
    ['everything', 'Patient', () => [], ID, 2],
    ['by name order', 'Patient', () => [], { by: 'name', descending: false }, 2],
    ['by birth date order', 'Patient', () => [], { by: 'birthdate', descending: true }, 2],
    ['by change order', 'Observation', () => [], { by: 'last-updated', descending: true }, 1],
    [
      'by several orders',
      'Patient',
      () => [],
      { by: 'name', descending: false, ties: [{ by: 'last-updated', descending: true }] },
      2,
    ],
    [
      'by several orders, the other way round',
      'Patient',
      () => [],
      { by: 'last-updated', descending: false, ties: [{ by: 'name', descending: true }] },
      2,
    ],
    ['an identifier', 'Patient', () => [{ kind: 'identifier', any: [{ system: null, value: 'P1' }] }], ID, 1],
    [
      'an identifier and a name',
      'Patient',
      () => [
        { kind: 'identifier', any: [{ system: null, value: 'P1' }] },
        { kind: 'name', fragments: ['jane'] },
      ],
      ID,
      1,
    ],
    ['a birth date', 'Patient', () => [{ kind: 'birthdate', dates: ['1980-02-29'] }], ID, 2],
    ['a gender', 'Patient', () => [{ kind: 'gender', codes: ['female'] }], ID, 2],
    [
      'a code of a patient',
      'Observation',
      () => [
        { kind: 'token', param: 'code', any: [{ system: null, value: '2' }] },
        { kind: 'patient', ids: [ids.patient] },
      ],
      ID,
      1,
    ],
    ['reports of a patient', 'DiagnosticReport', () => [{ kind: 'patient', ids: [ids.patient] }], ID, 1],
    [
      'completed reports of a patient',
      'DiagnosticReport',
      () => [
        { kind: 'patient', ids: [ids.patient] },
        { kind: 'report-state', states: ['completed'] },
      ],
      ID,
      1,
    ],
    ['completed reports', 'DiagnosticReport', () => [{ kind: 'report-state', states: ['completed'] }], ID, 1],
  ])('by search: %s', async (_, type, criteria, sort, count) => {
    const selection = { site: site.site, type, criteria: criteria(), sort, after: null, limit: 10 };
    const [rows, total] = await site.deps.database.batch([
      searchPage(selection),
      searchCount(site.site, type, criteria()),
    ] as const);
    expect(toPage(rows, 10).resources).toHaveLength(count);
    expect(total).toEqual([{ total: count }]);
    await expectApart(rows);
  });

  test('exports current and old versions', async () => {
    const { clientId, database } = site;
    for (const [changed, version] of [
      ['infinity', 2],
      ['-infinity', 1],
    ]) {
      const key = { site: site.site, clientId, id: randomUUID() };
      await database.run(beginExport({ ...PLAIN_EXPORT, ...key, types: ['Observation'], ofPatients: true }));
      // Just before the last change of the Observation, or now.
      await site.db.client.query(
        `update bulk_export set snapshot_at = least(snapshot_at, greatest($3::timestamptz,
                (select last_updated from resource where site_id = $1 and id = $2)))
          where export_id = $4`,
        [site.site, ids.observation, changed, key.id],
      );
      const row = await until('the export is complete', async () => {
        const [, [one]] = await database.batch([stepExport(key), findExport(key)] as const);
        return one?.is_complete === true && one;
      });
      expect(JSON.parse(row.files)).toEqual([{ type: 'Observation', number: 1, count: 1 }]);
      const [file] = await database.run(openFile(key, 'Observation', 1, ['Observation']));
      if (file?.after_id == null || file.upto_id === null) throw new Error('there is no file');
      const opened = { ...file, upto_id: file.upto_id };
      const page = { ...key, type: 'Observation', number: 1, after: file.after_id } as const;
      const rows = await database.run(filePage({ ...page, file: opened }));
      expect(rows.map((shown) => shown.version)).toEqual([version]);
      await expectApart(rows);
    }
  });

  test('a version that only the other site has fails the transaction that reads it', async () => {
    const { patient: id } = ids;
    await client(`update resource_history set version = 9 where site_id = $1 and id = $2 and version = 41`);
    const fresh = uuidv7(Date.now());
    const resource = { resourceType: 'Patient', identifier: [{ value: 'never' }] };
    const writes = [toWrite(resource, fresh, 'create')];
    const failed = site.deps.database.run(
      writeTransaction(site.site, { writes, conditions: [] }, NO_LOCKS, [
        { type: 'Observation', id: ids.observation, version: 9 },
      ]).written,
    );
    await expect(failed).rejects.toMatchObject({ kind: 'not-found', rows: [1] });
    const [none, current] = await site.deps.database.batch([
      readResource(site.site, 'Patient', fresh),
      readResource(site.site, 'Patient', id),
    ] as const);
    expect([none.length, current.length]).toEqual([0, 1]);
    await client(`update resource_history set version = 41 where site_id = $1 and id = $2 and version = 9`);
    await expectApart(current);

    async function client(text: string): Promise<void> {
      const { rowCount } = await site.db.client.query(text, [twin, ids.observation]);
      expect(rowCount).toBe(1);
    }
  });

  test('a current version that only the other site has fails it too', async () => {
    const failed = site.deps.database.run(
      writeTransaction(site.site, { writes: [], conditions: [] }, NO_LOCKS, [
        { type: 'Observation', id: ids.observation, version: 42 },
      ]).written,
    );
    await expect(failed).rejects.toMatchObject({ kind: 'not-found', rows: [0] });
  });
});

describe('writes', () => {
  test('an update, by version', async () => {
    const { patient: id } = ids;
    const resource = {
      resourceType: 'Patient',
      identifier: [{ system: 'urn:example:hosp', value: 'P1' }],
      name: [{ text: 'Jane Doe', family: 'Doe', given: ['Jane'] }],
      birthDate: '1980-02-29',
      gender: 'female',
    };
    const [stored] = await site.deps.database.run(readResource(site.site, 'Patient', id));
    const written = await site.deps.database.run(
      writeResources(site.site, [toWrite(resource, id, 'update', [stored?.version ?? 0])]),
    );
    expect(written).toMatchObject([{ outcome: 'updated', version: (stored?.version ?? 0) + 1 }]);
    const observation = {
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ code: 'other' }] },
      subject: { reference: `Patient/${id}` },
    };
    const report = {
      resourceType: 'DiagnosticReport',
      status: 'preliminary',
      code: { text: 'x' },
      subject: { reference: `Patient/${id}` },
    };
    const others = await site.deps.database.run(
      writeResources(site.site, [
        toWrite(observation, ids.observation, 'update'),
        toWrite(report, ids.report, 'update'),
      ]),
    );
    expect(others).toMatchObject([{ outcome: 'updated' }, { outcome: 'updated' }]);
    await expectApart(written, others);
  });

  test('a conditional create that matches its resource', async () => {
    const resource = { resourceType: 'Patient', identifier: [{ value: 'P2' }] };
    const placeholder = uuidv7(Date.now());
    const rows = await site.deps.database.run(
      writeTransaction(site.site, {
        writes: [{ ...toWrite(resource, placeholder, 'create'), mode: `?${placeholder}` }],
        conditions: [
          {
            kind: 'create',
            type: 'Patient',
            criteria: [{ kind: 'identifier', any: [{ system: null, value: 'P2' }] }],
            placeholder,
            required: null,
            local: [],
          },
        ],
      }).written,
    );
    expect(rows).toMatchObject([{ outcome: 'resolved' }, { outcome: 'matched', id: ids.other }]);
    await expectApart(rows);
  });

  test('an HL7 message removes the value of an earlier message from this site’s patient', async () => {
    const sent = await site.send(adt('A08', 'P2').replace('|F\n', '|F|||||555-2^WPN^PH\n'));
    expect([sent.outcome, sent.errors]).toEqual(['AA', []]);
    const found = (await site.resources('Patient')).find(({ id }) => id === ids.other);
    expect(found?.['telecom']).toMatchObject([{ value: '555-2' }]);
    await expectApart(found);
  });

  test('HL7 messages: a correction, an update, a merge', async () => {
    // The writes of the cases above as FHIR clients are newer than messages sent before them.
    const sentNow = (message: string): string => message.replace('20260102030405+0100', soon());
    const corrected = await site.send(sentNow(oru('P1', '7.0')));
    expect([corrected.outcome, corrected.errors]).toEqual(['AA', []]);
    const renamed = await site.send(sentNow(adt('A08', 'P1', `${ALLERGY}|SV`).replace('Doe^Jane', 'Roe^Jane')));
    expect([renamed.outcome, renamed.errors]).toEqual(['AA', []]);
    const allergies = await site.resources('AllergyIntolerance');
    expect(allergies).toMatchObject([{ version: 2, criticality: 'high' }]);
    // The earlier PID-5 of this site’s patient is known: it is replaced, not joined.
    const patients = await site.resources('Patient');
    expect(patients.find(({ id }) => id === ids.patient)?.['name']).toMatchObject([{ family: 'Roe' }]);
    const merged = await site.send(`${msh('ADT^A40^ADT_A39')}\nPID|1||P2^^^HOSP^MR||Doe^Jane\nMRG|P1^^^HOSP^MR`);
    expect([merged.outcome, merged.errors]).toEqual(['AA', []]);
    const [observation, ...more] = await site.resources('Observation');
    expect(more).toEqual([]);
    expect(observation).toMatchObject({ id: ids.observation, subject: { reference: `Patient/${ids.other}` } });
    const again = await site.send(sentNow(oru('P1', '8.0')));
    expect([again.outcome, again.errors]).toEqual(['AA', []]);
    expect(await site.resources('Observation')).toHaveLength(1);
    await expectApart(observation, allergies);
  });

  test('a merge of two records that have the same allergy, results and order', async () => {
    const { db } = site;
    const authorities = { assigningAuthorities: { HOSP: 'urn:example:hosp' } };
    const here = await createHl7Site({ ...authorities, asOwner: true, database: db });
    const there = await createSite(db.client, authorities);
    const dated = (id: string, result: string): string =>
      oru(id, result).replace('|||||F', '|||||F|||20260101080000+0100');
    for (const message of ['M1', 'M2'].flatMap((id) => [
      adt('A04', id, ALLERGY),
      dated(id, '5.0'),
      oru(id, '6.0').replace('F1', 'F2'),
    ]))
      expect((await here.send(message)).outcome).toBe('AA');
    const milk = 'AL1|1||N2^Milk^L';
    for (const message of [dated('M1', '7.0').replace('F1', 'F3'), adt('A08', 'M1', milk)])
      expect((await here.send(message)).outcome).toBe('AA');
    await copySite(db.client, here.site, there);
    // Data that the second patient has at the other site alone.
    const [from, to] = (await here.resources('Patient')).map(({ id }) => id);
    await db.client.query(
      `insert into hl7_identity (site_id, type, key, id)
       select site_id, type, left(key, -36) || $3, id from hl7_identity where site_id = $1 and key like '%@' || $2
       on conflict do nothing`,
      [there, from, to],
    );
    await db.client.query(
      `insert into study (site_id, study_id, patient_id, accession)
       select site_id, gen_random_uuid(), $3, accession from study where site_id = $1 and patient_id = $2 on conflict do nothing`,
      [there, from, to],
    );
    const untouched = await dump(db.client, there);
    const merged = await here.send(`${msh('ADT^A40^ADT_A39')}\nPID|1||M2^^^HOSP^MR||Doe^Jane\nMRG|M1^^^HOSP^MR`);
    expect([merged.outcome, merged.errors]).toEqual(['AA', []]);
    expect(await dump(db.client, here.site)).not.toContain(TWIN);
    expect(await dump(db.client, there)).toBe(untouched);
    const { rows } = await db.client.query<{ place: number }>('select place from hl7_result where site_id = $1', [
      here.site,
    ]);
    expect(Math.max(...rows.map(({ place }) => place))).toBeLessThan(40);
    expect((await here.send(adt('A08', 'M2', milk))).errors).toEqual([]);
    expect(await here.resources('AllergyIntolerance')).toHaveLength(3);
    expect(await dump(db.client, there)).toBe(untouched);
  });

  test('a message with the control id of the other site’s', async () => {
    const key = await createApiKey(site.db.client, { site: twin });
    expect(key.site).toBe(twin);
    const text = adt('A08', 'P2');
    expect((await site.send(text)).outcome).toBe('AA');
    await expectApart();
  });
});
