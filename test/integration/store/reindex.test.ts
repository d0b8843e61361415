/** Reindexing on a real PostgreSQL: search rows become complete again, and are never older than the content. */
import { randomUUID } from 'node:crypto';

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { REINDEX, reindexJob } from '../../../edge/fhir/search/reindex.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { INDEX_FINGERPRINT } from '../../../edge/store/search/parameters.ts';
import type { JobDeps } from '../../../edge/jobs/kind.ts';
import { tick } from '../../../edge/jobs/tick.ts';
import { addJob, findJobs } from '../../../edge/store/job.ts';
import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import type { Criterion } from '../../../edge/store/search/kinds.ts';
import { countResources, REINDEX_START, sitesBehind } from '../../../edge/store/search/reindex.ts';
import { searchCount } from '../../../edge/store/search/search.ts';
import type { JsonObject } from '../../../shared/json.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { createSite } from '../../stack/services/seed.ts';
import { useTestDatabase, ownerDatabase } from '../../stack/tools/database.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { lockWaits } from '../../stack/tools/lock-waits.ts';
import { until } from '../../stack/services/until.ts';

let deps: JobDeps;
let site: string;

const db = await useTestDatabase();
const database = ownerDatabase(db);
beforeAll(async () => {
  deps = { database, now: () => Date.now(), log: () => undefined };
});
beforeEach(async () => {
  await db.client.query('truncate job');
  site = await createSite(db.client);
});

const newId = () => uuidv7(Date.now());
const patient = (value: string, more: JsonObject = {}): JsonObject => ({
  resourceType: 'Patient',
  identifier: [{ system: 'urn:mrn', value }, { value: `${value}-b` }],
  name: [{ family: 'Müller', given: ['Ann'] }],
  birthDate: '1974-12-25',
  gender: 'female',
  ...more,
});
const about = (id: string) => ({ reference: `Patient/${id}` });
const coding = (...codes: string[]) => ({ coding: codes.map((code) => ({ system: 'urn:codes', code })) });
const accession = (value: string) => ({ type: { coding: [{ code: 'ACSN' }] }, value });

async function write(at: string, resources: readonly (readonly [id: string, resource: JsonObject])[]) {
  await inSite(database, at).run(
    writeResources(
      at,
      resources.map(([id, resource]) => toWrite(resource, id, 'upsert')),
    ),
  );
}

const RESOURCES = 9;

/** One resource of each of the seven types, reports with and without an accession number. @param ids of all of them */
async function fill(at: string, ids = Array.from({ length: RESOURCES }, newId)): Promise<void> {
  const [id = '', ...others] = ids;
  const subject = about(id);
  await write(at, [
    [id, patient('A1')],
    [
      others[0] ?? '',
      { resourceType: 'Condition', subject, clinicalStatus: coding('active'), code: coding('c1', 'c2') },
    ],
    [
      others[1] ?? '',
      { resourceType: 'AllergyIntolerance', patient: subject, reaction: [{ substance: coding('nut') }] },
    ],
    [
      others[2] ?? '',
      { resourceType: 'Observation', status: 'final', code: coding('o1'), subject, effectiveDateTime: '2026-02' },
    ],
    [
      others[3] ?? '',
      {
        resourceType: 'Procedure',
        status: 'completed',
        code: coding('p1'),
        subject,
        performedPeriod: { start: '2026-02-01T10:00:00+01:00' },
      },
    ],
    [others[4] ?? '', { resourceType: 'DiagnosticReport', status: 'final', code: coding('r'), subject }],
    [
      others[5] ?? '',
      { resourceType: 'DiagnosticReport', status: 'partial', code: coding('r'), subject, identifier: [accession('7')] },
    ],
    [
      others[6] ?? '',
      { resourceType: 'DiagnosticReport', status: 'final', code: coding('r'), subject, identifier: [accession('7')] },
    ],
    [
      others[7] ?? '',
      {
        resourceType: 'DocumentReference',
        type: coding('t1'),
        subject,
        masterIdentifier: { value: 'M1' },
        content: [],
      },
    ],
  ]);
}

const INDEX = [
  'select type, id, value, system from resource_identifier where site_id = $1 order by 1, 2, 3, 4',
  'select id, code_key, system_key from resource_token where site_id = $1 order by 1, 2, 3',
  `select id, date_key, from_at, before_at, from_is_local, before_is_local, patient_id from resource_date
    where site_id = $1 order by 1, 2`,
  'select id, names, name_sort, birth_date, gender, families, givens, exact from patient_search where site_id = $1 order by 1',
  'select part, name, id from patient_name where site_id = $1 order by 1, 2, 3',
  `select o.report_id, o.state, s.patient_id, s.accession, case when s.accession is null then s.study_id end as own,
          (select array_agg(x.report_id order by 1) from report x where x.site_id = o.site_id and x.study_id = o.study_id) as together
     from report o join study s using (site_id, study_id) where o.site_id = $1 order by 1`,
  'select type, id, patient_id from resource where site_id = $1 order by 1, 2',
];
const ROWS_OF_KNOWN = [
  'select xmin, ctid from patient_identity where site_id = $1 order by id, authority, value, number_type',
  'select xmin, ctid from patient_trait where site_id = $1 order by id, trait',
];
const CONTENT = [
  'select type, id, version, last_updated, meta, body from resource where site_id = $1 order by 1, 2',
  'select count(*) from resource_history where site_id = $1',
];
async function rowsOf(at: string, queries: readonly string[]): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const query of queries) all.push((await db.client.query<object>(query, [at])).rows);
  return all;
}

async function ask(at = site): Promise<string> {
  const [counted] = await inSite(database, at).run(countResources(at));
  const [added] = await inSite(database, at).run(addJob(reindexJob(randomUUID(), at, counted?.total ?? 0, 'a test')));
  return added?.id ?? '';
}
/** Far beyond what any of these takes. */
const BUDGET_MS = 60_000;
const runAll = () => tick(deps, [REINDEX], BUDGET_MS);
const runOneStep = (using = deps) => tick(using, [REINDEX], 0);
async function jobOf(id: string) {
  const [row] = await inSite(database, site).run(findJobs([id]));
  return row;
}

describe('a site reindexed', () => {
  test('restores the rows as they were written; content, versions and times do not change', async () => {
    await fill(site);
    const [index, content] = [await rowsOf(site, INDEX), await rowsOf(site, CONTENT)];
    for (const damage of [
      'delete from resource_identifier where site_id = $1',
      'update resource_token set code_key = code_key + 16 where site_id = $1',
      `update patient_search set names = '', name_sort = 'x', birth_date = '1900', gender = null where site_id = $1`,
      `update patient_search set families = '', givens = '', exact = 'x' where site_id = $1`,
      'delete from patient_name where site_id = $1',
      `update resource_date set before_at = from_at, from_is_local = not from_is_local where site_id = $1`,
      `insert into resource_date (site_id, id, date_key, from_at, before_at, from_is_local, before_is_local)
         select site_id, id, date_key(type, 'period'), now(), now(), false, false from resource where site_id = $1 and type <> 'DocumentReference'`,
      `insert into study (site_id, study_id) values ($1, $1)`,
      `update report set state = 'draft', study_id = $1 where site_id = $1`,
      `update study set patient_id = null where site_id = $1`,
      `delete from report where site_id = $1 and report_id = (select min(report_id::text)::uuid from report where site_id = $1)`,
      `update resource set patient_id = null where site_id = $1 and type = 'Observation'`,
      `update resource set patient_id = id where site_id = $1 and type = 'Patient'`,
      `insert into resource_token (site_id, id, code_key, system_key)
         select site_id, id, token_key(type, 'code', 'stale'), 0 from resource where site_id = $1`,
    ]) {
      await db.client.query(damage, [site]);
    }
    expect(await rowsOf(site, INDEX)).not.toEqual(index);
    const id = await ask();
    expect(await runAll()).toEqual({ advanced: 1, failed: 0 });
    expect(await jobOf(id)).toMatchObject({ state: 'done', progress_done: RESOURCES, progress_total: RESOURCES });
    expect(await rowsOf(site, INDEX)).toEqual(index);
    expect(await rowsOf(site, CONTENT)).toEqual(content);
  });

  test('that was whole is not written at all', async () => {
    await fill(site);
    const rowVersions = [
      'select xmin, ctid from resource_identifier where site_id = $1 order by id, value',
      'select xmin, ctid from resource_token where site_id = $1 order by id, code_key',
      'select xmin, ctid from resource_date where site_id = $1 order by id, date_key',
      'select ctid from study where site_id = $1 order by study_id',
    ];
    const before = await rowsOf(site, rowVersions);
    await ask();
    await runAll();
    expect(await rowsOf(site, rowVersions)).toEqual(before);
  });

  test('leaves other sites alone, even one with the same ids', async () => {
    const other = await createSite(db.client);
    const ids = Array.from({ length: RESOURCES }, newId);
    await fill(site, ids);
    await fill(other, ids);
    const index = await rowsOf(site, INDEX);
    await db.client.query('delete from resource_token');
    await db.client.query(`update resource_identifier set value = value || '-wrong'`);
    await db.client.query(`update resource set patient_id = null where type = 'Observation'`);
    await db.client.query('update study set patient_id = null where site_id = any ($1)', [[site, other]]);
    const damaged = await rowsOf(other, INDEX);
    const id = await ask();
    await runAll();
    expect(await jobOf(id)).toMatchObject({ state: 'done', progress_done: RESOURCES });
    expect(await rowsOf(site, INDEX)).toEqual(index);
    expect(await rowsOf(other, INDEX)).toEqual(damaged);
  });

  test('ignores a patient that only another site has', async () => {
    const other = await createSite(db.client);
    const [elsewhere, id] = [newId(), newId()];
    await write(other, [[elsewhere, patient('E')]]);
    await write(site, [[id, { resourceType: 'Procedure', status: 'completed', code: coding('p') }]]);
    const body = `"status":"completed","subject":{"reference":"Patient/${elsewhere}"}`;
    await db.client.query('update resource set body = $2 where site_id = $1', [site, body]);
    await ask();
    expect(await runAll()).toEqual({ advanced: 1, failed: 0 });
    expect((await rowsOf(site, INDEX)).at(-1)).toEqual([{ type: 'Procedure', id, patient_id: null }]);
  });

  test('without resources is done at once', async () => {
    const id = await ask();
    await runAll();
    expect(await jobOf(id)).toMatchObject({ state: 'done', progress_done: 0 });
  });
});

describe('by which numbers patients are known', () => {
  const KNOWN = [
    'select id, authority, value, number_type, led, is_assumed, is_taught from patient_identity where site_id = $1 order by 1, 2, 3, 4',
    'select id, trait from patient_trait where site_id = $1 order by 1, 2',
  ];
  const adt = (numbers: string, family: string) => `${msh('ADT^A08')}\nPID|1||${numbers}||${family}^Ann||19800203|F`;
  /** A patient of messages, with a number that was only listed and one without an authority, and one of a FHIR client. */
  async function people(): Promise<Hl7Site> {
    const hl7 = await createHl7Site({ database: db });
    for (const numbers of ['K1^^^HOSP^MR~K2^^^LAB^PI', 'K1^^^HOSP^MR']) await hl7.send(adt(numbers, 'Known'));
    await hl7.send(adt('K3', 'Bare'));
    await write(hl7.site, [[newId(), patient('K4')]]);
    return hl7;
  }

  test('stays as it is where it is whole: what messages taught too', async () => {
    const hl7 = await people();
    const [known, rowVersions] = [await rowsOf(hl7.site, KNOWN), await rowsOf(hl7.site, ROWS_OF_KNOWN)];
    await ask(hl7.site);
    await runAll();
    expect(await rowsOf(hl7.site, KNOWN)).toEqual(known);
    expect(await rowsOf(hl7.site, ROWS_OF_KNOWN)).toEqual(rowVersions);
  });

  test('restores lost identifiers: the next message finds its patient, of this site only', async () => {
    const [hl7, other] = [await people(), await people()];
    await db.client.query('delete from patient_identity where site_id = any ($1)', [[hl7.site, other.site]]);
    await db.client.query('delete from patient_trait where site_id = any ($1)', [[hl7.site, other.site]]);
    await ask(hl7.site);
    await runAll();
    const { rows } = await db.client.query<{ value: string; authority: string; led: boolean }>(
      'select value, authority, led from patient_identity where site_id = $1 order by value, authority',
      [hl7.site],
    );
    expect(rows).toEqual([
      { value: 'K1', authority: 'name:HOSP', led: true },
      { value: 'K2', authority: 'name:LAB', led: true },
      { value: 'K3', authority: 'name:', led: true },
      { value: 'K4', authority: 'urn:mrn', led: true },
      { value: 'K4-b', authority: 'name:', led: true },
    ]);
    const count = (await hl7.resources('Patient')).length;
    for (const [numbers, family] of [
      ['K1^^^HOSP^MR', 'Known'],
      ['K2^^^LAB^PI', 'Known'],
      ['K3', 'Bare'],
    ] as const) {
      expect(await hl7.send(adt(numbers, family))).toMatchObject({ outcome: 'AA' });
    }
    expect(await hl7.resources('Patient')).toHaveLength(count);
    // A result of another person is rejected again, because the traits of the patient record are known.
    const stranger = `${msh('ORU^R01')}\nPID|1||K1^^^HOSP^MR||Other^Bob||19600506|M\nOBR|1||R1|1^T^L|||20260101\nOBX|1|NM|1^T^L||5||||||F`;
    expect(await hl7.send(stranger)).toMatchObject({ outcome: 'AE', errors: ['E 205 PID^1^3^1^1'] });
    expect(await rowsOf(other.site, KNOWN)).toEqual([[], []]);
  });

  test('loses a number that the content does not have and no message taught', async () => {
    const hl7 = await people();
    const known = await rowsOf(hl7.site, KNOWN);
    await db.client.query(
      `insert into patient_identity (site_id, authority, value, number_type, id, led, is_assumed, is_taught)
         select site_id, 'urn:stray', 'STRAY', '', id, true, false, false from resource where site_id = $1 and type = 'Patient'`,
      [hl7.site],
    );
    await ask(hl7.site);
    await runAll();
    expect(await rowsOf(hl7.site, KNOWN)).toEqual(known);
  });
});

describe('an update between the read and the write of a step', () => {
  const tokens = async () =>
    (
      await db.client.query<{ code: string }>(
        `select c.code from resource_token t join (values ('old'), ('new')) c (code)
             on t.code_key = token_key('Observation', 'code', c.code)
          where t.site_id = $1`,
        [site],
      )
    ).rows;
  const observation = (code: string): JsonObject => ({
    resourceType: 'Observation',
    status: 'final',
    code: coding(code),
  });

  test('keeps its rows', async () => {
    const id = newId();
    await write(site, [[id, observation('old')]]);
    const job = await ask();
    const step = await REINDEX.step(deps, {
      id: job,
      site,
      cursor: REINDEX_START,
      attempts: 1,
      progress: { done: 0, total: 1 },
    });
    expect(step.progress.done).toBe(1);
    await write(site, [[id, observation('new')]]);
    await inSite(database, site).batch(step.writes);
    expect(await tokens()).toEqual([{ code: 'new' }]);
  });

  test('keeps its rows when it runs during the write', async () => {
    const id = newId();
    await write(site, [[id, observation('old')]]);
    await ask();
    const writer = await db.connect(db.ownerUrl);
    await writer.query('begin');
    const { text, params } = writeResources(site, [toWrite(observation('new'), id, 'update')]);
    await writer.query(text, [...params]);
    const ran = runAll();
    await until('the step waits', async () => (await lockWaits(db.client)) === 1);
    await writer.query('commit');
    await writer.end();
    expect(await ran).toEqual({ advanced: 1, failed: 0 });
    expect(await tokens()).toEqual([{ code: 'new' }]);
  });
});

describe('a site of which an older release has written', () => {
  const observation = (more: JsonObject = {}): JsonObject => ({
    resourceType: 'Observation',
    status: 'final',
    code: coding('c'),
    effectiveDateTime: '2026-02-03',
    ...more,
  });
  /** As the release before did it: of what is new it said nothing. */
  async function writeAsBefore(id: string, resource: JsonObject): Promise<void> {
    const { dates: _, parts: __, indexed: ___, tokens, ...write } = toWrite(resource, id, 'upsert');
    const old = { ...write, tokens: tokens.filter(([param]) => param === 'code') };
    await inSite(database, site).run({
      text: 'select resource_write($1::uuid, $2::json)',
      params: [site, JSON.stringify([old])],
    });
  }
  const A_DAY: Criterion = {
    kind: 'date',
    param: 'date',
    any: [{ prefix: 'eq', range: { from: Date.UTC(2026, 1, 3), before: Date.UTC(2026, 1, 4), isLocal: true } }],
  };
  const search = async (criteria: readonly Criterion[], at = site): Promise<number | undefined> => {
    const [row] = await inSite(database, at).run(searchCount(at, 'Observation', criteria));
    return row?.total;
  };
  const refused = expect.objectContaining({ kind: 'malformed', code: 'not-supported' });
  const behind = async () => (await database.run(sitesBehind([site]))).length;

  test('is not searched by what is new until it is reindexed; by the rest it is, and so are other sites', async () => {
    const other = await createSite(db.client);
    await write(site, [[newId(), observation()]]);
    expect([await search([A_DAY]), await behind()]).toEqual([1, 0]);
    await writeAsBefore(newId(), observation());
    await expect(search([A_DAY])).rejects.toEqual(refused);
    await expect(search([{ kind: 'not', of: A_DAY }])).rejects.toEqual(refused);
    expect(await search([{ kind: 'token', param: 'code', any: [{ system: null, value: 'c' }] }])).toBe(2);
    expect([await search([A_DAY], other), await behind()]).toEqual([0, 1]);
    await ask();
    await runAll();
    expect([await search([A_DAY]), await behind()]).toEqual([2, 0]);
  });

  test('is behind again, or still, when that release writes once more: before, at the end and during a reindexing', async () => {
    const id = newId();
    await writeAsBefore(id, observation());
    await ask();
    await runAll();
    await writeAsBefore(id, observation({ status: 'amended' }));
    await expect(search([A_DAY])).rejects.toEqual(refused);
    const many = Array.from({ length: 250 }, (): [string, JsonObject] => [newId(), observation()]);
    await write(site, many);
    await ask();
    await runOneStep();
    // The step has passed it by.
    await writeAsBefore(id, observation({ status: 'corrected' }));
    await runAll();
    await expect(search([A_DAY])).rejects.toEqual(refused);
    await ask();
    await runAll();
    expect(await search([A_DAY])).toBe(251);
  });

  test('a reindexing does not begin before the writes of the old release have ended', async () => {
    await writeAsBefore(newId(), observation());
    const writer = await db.connect(db.ownerUrl);
    await writer.query('begin');
    const { dates: _, parts: __, indexed: ___, ...old } = toWrite(observation(), newId(), 'create');
    await writer.query('select resource_write($1::uuid, $2::json)', [site, JSON.stringify([old])]);
    await ask();
    const ran = runAll();
    await until('the step waits', async () => (await lockWaits(db.client)) === 1);
    await writer.query('commit');
    await writer.end();
    await ran;
    // The step did not see what the release wrote, so the site is not complete.
    const found = await search([A_DAY]).catch(() => 'refused');
    expect(found).toBe(2);
  });
});

describe('steps', () => {
  const MANY = 450;

  async function fillMany(): Promise<void> {
    const all = Array.from({ length: MANY }, (_, n): [string, JsonObject] => [newId(), patient(`N${n}`)]);
    await write(site, all);
    await db.client.query('delete from resource_identifier where site_id = $1', [site]);
  }
  const countIdentifiers = async () =>
    (await db.client.query('select distinct id from resource_identifier where site_id = $1', [site])).rowCount;

  test('are small, and the next runner continues at the end of the last step', async () => {
    await fillMany();
    const id = await ask();
    await runOneStep();
    expect(await jobOf(id)).toMatchObject({ state: 'open', progress_done: 200, progress_total: MANY });
    expect(await countIdentifiers()).toBe(200);
    await db.client.query('delete from resource_identifier where site_id = $1', [site]);
    expect(await ask()).toBe(id);
    await runAll();
    expect(await jobOf(id)).toMatchObject({ state: 'done', progress_done: MANY });
    // The work of the first step was not repeated.
    expect(await countIdentifiers()).toBe(MANY - 200);
  });

  const FAILS = { text: 'select 1 / 0', params: [] };

  test('that fail are rolled back and repeated', async () => {
    await fillMany();
    const id = await ask();
    const failing: JobDeps = {
      ...deps,
      database: {
        run: (query) => database.run(query),
        // The step's own, which begins with the site.
        batch: (queries) =>
          database.batch((queries[1]?.text.includes('job_advance') ? [...queries, FAILS] : queries) as never),
      },
    };
    expect(await runOneStep(failing)).toEqual({ advanced: 0, failed: 1 });
    expect(await countIdentifiers()).toBe(0);
    expect(await jobOf(id)).toMatchObject({ state: 'open', progress_done: 0, attempts: 1 });
    await db.client.query('update job set run_after = now()');
    await runAll();
    expect([await jobOf(id), await countIdentifiers()]).toMatchObject([{ state: 'done' }, MANY]);
  });

  test('contain the resources that fit their budget, at least one', async () => {
    const large = 'x'.repeat(1_500_000);
    for (let n = 0; n < 3; n += 1) await write(site, [[newId(), patient(`L${n}`, { implicitRules: large })]]);
    const id = await ask();
    for (const done of [1, 2, 3]) {
      await runOneStep();
      expect(await jobOf(id)).toMatchObject({ progress_done: done });
    }
    expect(await jobOf(id)).toMatchObject({ state: 'done' });
  });

  test('have a job kind for each table of parameters', () => {
    expect(REINDEX.kind).toBe(`reindex-${INDEX_FINGERPRINT}`);
    expect(INDEX_FINGERPRINT).toMatch(/^[0-9a-f]{8}$/);
  });
});

test('a name that a patient has no more, or of which only the end is another, leaves no row behind', async () => {
  const id = newId();
  const rows = async () =>
    (await rowsOf(site, ['select part, name from patient_name where site_id = $1 order by 1, 2']))[0];
  const long = 'x'.repeat(300);
  const named = (...families: string[]) =>
    write(site, [[id, patient('A1', { name: families.map((family) => ({ family, given: ['Ann'] })) })]]);
  await named('Smith', 'Müller', `${long}1`, `${long}2`);
  const begins = { part: 'family', name: long.slice(0, 200) };
  const ann = { part: 'given', name: 'ann' };
  expect(await rows()).toEqual([{ part: 'family', name: 'muller' }, { part: 'family', name: 'smith' }, begins, ann]);
  await named('Smith', `${long}3`);
  expect(await rows()).toEqual([{ part: 'family', name: 'smith' }, begins, ann]);
  await named();
  expect(await rows()).toEqual([]);
});
