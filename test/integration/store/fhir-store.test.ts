/** The FHIR statements in a real database: versions, references, conditions, batches, studies, long values. */
import { randomUUID } from 'node:crypto';

import { beforeAll, describe, expect, test } from 'vitest';

import type { Database } from '../../../edge/deps.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { NO_LOCKS } from '../../../edge/store/lock.ts';
import type { Criterion } from '../../../edge/store/search/kinds.ts';
import { toPage, withContent } from '../../../edge/store/page.ts';
import { parseStored, renderResource, toWrite, type WriteMode, writeResources } from '../../../edge/store/resource.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { searchCount, searchPage } from '../../../edge/store/search/search.ts';
import { type Condition, settled, writeBatch, writeTransaction } from '../../../edge/store/transaction.ts';
import { currentVersion, historyPage, readResource } from '../../../edge/store/resource-by-id.ts';
import type { Fault } from '../../../shared/fault.ts';
import type { JsonObject } from '../../../shared/json.ts';
import { parameter } from '../../../edge/platform/parameter.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { sql } from '../../../edge/store/sql.ts';
import { edgeDatabase, ownerDatabase, useTestDatabase } from '../../stack/tools/database.ts';
import { growthFor, LINEAR } from '../../stack/tools/growth.ts';
import { cpuMsOf } from '../../stack/tools/process-cost.ts';
import { createSite } from '../../stack/services/seed.ts';

/** The same, about our site. */
let database: Database;

const db = await useTestDatabase();
const gateway = edgeDatabase(db);
const site = await createSite(db.client);
beforeAll(async () => {
  database = inSite(gateway, site);
});

const newId = () => uuidv7(Date.now());
const patient = (value: string, more: JsonObject = {}): JsonObject => ({
  resourceType: 'Patient',
  identifier: [{ system: 'urn:mrn', value }],
  ...more,
});
const observation = (patientId: string, more: JsonObject = {}): JsonObject => ({
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
  subject: { reference: `Patient/${patientId}` },
  ...more,
});
async function write(resource: JsonObject, id = newId(), mode: WriteMode = 'create', expected: number[] | null = null) {
  const [row] = await database.run(writeResources(site, [toWrite(resource, id, mode, expected)]));
  if (row === undefined) throw new Error('no row');
  return row;
}
const failure = (work: Promise<unknown>): Promise<Fault> =>
  work.then(
    () => {
      throw new Error('should have failed');
    },
    (fault: Fault) => fault,
  );
async function find(type: ResourceType, criteria: Criterion[]) {
  const selection = {
    site,
    type,
    criteria,
    sort: { by: 'id', descending: false },
    after: null,
    limit: 10,
  } as const;
  const [rows, [count]] = await database.batch([searchPage(selection), searchCount(site, type, criteria)] as const);
  const { resources } = toPage(rows, 10);
  expect(count?.total).toBe(resources.length);
  return resources.map(({ id }) => id);
}

test('an update keeps the codes and dates of a resource of another type with its id', async () => {
  const { id: of } = await write(patient('shared-id'));
  const id = newId();
  const dated = (code: string, effectiveDateTime: string) =>
    observation(of, { code: { coding: [{ system: 'urn:shared', code }] }, effectiveDateTime });
  await write(dated('a', '2026-01-01'), id);
  await write({ ...dated('b', '2026-02-01'), resourceType: 'Procedure', performedDateTime: '2026-02-01' }, id);
  const rowsOf = async (table: string) =>
    (
      await db.client.query(
        `select to_json(t)::text as row from ${table} t where site_id = $1 and id = $2 order by 1`,
        [site, id],
      )
    ).rows;
  const [tokens, dates] = [await rowsOf('resource_token'), await rowsOf('resource_date')];
  const first = observation(of, { code: { coding: [{ system: 'urn:shared', code: 'c' }] } });
  await write(first, id, 'update');
  await write({ ...first, resourceType: 'Procedure' }, id, 'update');
  expect(await rowsOf('resource_date')).toEqual([]);
  await write(dated('a', '2026-01-01'), id, 'update');
  expect(await rowsOf('resource_date')).toHaveLength(1);
  await write(
    { ...dated('b', '2026-02-01'), resourceType: 'Procedure', performedDateTime: '2026-02-01' },
    id,
    'update',
  );
  expect([await rowsOf('resource_token'), await rowsOf('resource_date')]).toEqual([tokens, dates]);
  expect(tokens.length).toBeGreaterThan(4);
});

test('arrays arrive unchanged, with all characters', async () => {
  const texts = ['a"b', 'c\\d', 'e,f', '{g}', '', ' ', 'null', 'NULL', '\\"'];
  const query = { text: 'select array_to_json($1::text[])::text as json', params: [texts] };
  const [row] = await database.run<{ json: string }>(query);
  expect(JSON.parse(row?.json ?? '')).toEqual(texts);
});

test('an answer has its first resource of any size, and then the resources that fit', async () => {
  const note = (bytes: readonly number[]) => {
    const sizes = `{${bytes.join()}}`;
    return sql`select answer_note(array(select row('read', 'Patient ' || b, null, null)::audit_item
        from unnest(${sizes}::bigint[]) b), ${sizes}::bigint[], 10) as fitting, array_to_json(audit_noted())::text as noted`;
  };
  const fitting = async (...pages: (readonly number[])[]) =>
    (await database.batch(pages.map(note))).map(([row]) => (row as { fitting: number } | undefined)?.fitting);
  expect(await fitting([3, 4, 3, 1], [], [1])).toEqual([3, 0, 0]);
  expect(await fitting([20, 1], [1], [1])).toEqual([1, 0, 0]);
  expect(await fitting([], [4], [7], [1])).toEqual([0, 1, 0, 0]);
  expect(await database.batch([note([20, 1]), sql`select assert_answered()`])).toMatchObject([
    [{ noted: '[{"action":"read","type":"Patient 20","id":null,"patient":null}]' }],
    [{}],
  ]);
  expect(await failure(database.batch([note([20]), note([1]), sql`select assert_answered()`]))).toMatchObject({
    kind: 'invalid',
    code: 'too-costly',
  });
});

test('notes every item for the audit of many statements', async () => {
  const note = (n: number) =>
    sql`select audit_note(array[row('read', 'Patient', null, null), null, row('read', ${`"${n},{`}, null, null)]::audit_item[])`;
  const rows = await database.batch([
    ...Array.from({ length: 400 }, (_, n) => note(n)),
    sql`select audit_note(array[null]::audit_item[])`,
    sql<{
      types: string;
    }>`select array_to_json(array(select i.type from unnest(audit_noted()) i where i.type <> 'Patient'))::text as types,
      cardinality(audit_noted()) as count`,
  ]);
  const [row] = rows.at(-1) ?? [];
  expect(row).toEqual({ types: JSON.stringify(Array.from({ length: 400 }, (_, n) => `"${n},{`)), count: 800 });
});

describe('resource_write', () => {
  test('creates and updates, makes no version without a change, and stores old versions', async () => {
    const { id, ...first } = await write(patient('w1'));
    expect(first).toMatchObject({ ordinal: 0, outcome: 'created', version: 1 });
    expect(await write(patient('w1'), id, 'update')).toMatchObject({ outcome: 'unchanged', version: 1 });
    expect(await write(patient('w2'), id, 'update', [1])).toMatchObject({ outcome: 'updated', version: 2 });
    const [current, old, none, history, version] = await database.batch([
      readResource(site, 'Patient', id),
      readResource(site, 'Patient', id, 1),
      readResource(site, 'Patient', id, 3),
      historyPage({ site, type: 'Patient', id, below: null, since: null, limit: 1 }),
      currentVersion(site, 'Patient', id),
    ] as const);
    expect(current.map((row) => parseStored(withContent(row)))).toMatchObject([{ identifier: [{ value: 'w2' }] }]);
    expect(old.map((row) => renderResource(withContent(row)))).toEqual([
      `{"resourceType":"Patient","id":"${id}","meta":{"versionId":"1","lastUpdated":"${first.last_updated}"},` +
        `"identifier":[{"system":"urn:mrn","value":"w1"}]}`,
    ]);
    expect(none).toEqual([]);
    const { resources, more } = toPage(history, 1);
    expect([resources.map((row) => row.version), more, version]).toEqual([[2], true, [{ version: 2 }]]);
    expect(await find('Patient', [{ kind: 'identifier', any: [{ system: null, value: 'w1' }] }])).toEqual([]);
    expect(await find('Patient', [{ kind: 'identifier', any: [{ system: 'urn:mrn', value: 'w2' }] }])).toEqual([id]);
  });

  test('rejects another version, an unknown id and an unknown patient, without a write', async () => {
    const { id } = await write(patient('r1'));
    expect(await failure(write(patient('r2'), id, 'update', [7]))).toMatchObject({ kind: 'precondition-failed' });
    expect(await failure(write(patient('r2'), newId(), 'upsert', [1]))).toMatchObject({ kind: 'precondition-failed' });
    expect(await failure(write(patient('r2'), newId(), 'update'))).toMatchObject({ kind: 'not-found' });
    const writes = [toWrite(patient('r3'), newId(), 'create'), toWrite(observation(newId()), newId(), 'create')];
    expect(await failure(database.run(writeResources(site, writes)))).toMatchObject({
      kind: 'invalid',
      rows: [1],
    });
    expect(await find('Patient', [{ kind: 'identifier', any: [{ system: null, value: 'r3' }] }])).toEqual([]);
    const other = await createSite(db.client);
    // The statement itself checks the site too, because policies do not apply to the owner.
    const owner = ownerDatabase(db);
    for (const asked of [inSite(gateway, other), owner]) {
      const written = asked.run(writeResources(other, [toWrite(observation(id), newId(), 'create')]));
      expect(await failure(written)).toMatchObject({ kind: 'invalid' });
    }
  });

  test('writes a patient and its resources together, in any order', async () => {
    const [a, b] = [newId(), newId()];
    const rows = await database.run(
      writeResources(site, [toWrite(observation(a), b, 'create'), toWrite(patient('t1'), a, 'create')]),
    );
    expect(rows.toSorted((one, other) => one.ordinal - other.ordinal).map(({ ordinal, id }) => [ordinal, id])).toEqual([
      [0, b],
      [1, a],
    ]);
    expect(await find('Observation', [{ kind: 'patient', ids: [a] }])).toEqual([b]);
  });

  test('writes new, upserted and changed resources about its new patients', async () => {
    const [made, upserted, about, both, changed] = [
      newId(),
      newId(),
      newId(),
      newId(),
      (await write(observation((await write(patient('m0'))).id))).id,
    ];
    const rows = await database.run(
      writeResources(site, [
        toWrite(observation(upserted), about, 'create'),
        toWrite(observation(made), changed, 'update', [1]),
        toWrite(observation(upserted), both, 'upsert', [0]),
        toWrite(patient('m1'), made, 'create'),
        toWrite(patient('m2'), upserted, 'upsert'),
      ]),
    );
    expect(rows.toSorted((a, b) => a.ordinal - b.ordinal).map(({ outcome, version }) => [outcome, version])).toEqual([
      ['created', 1],
      ['updated', 2],
      ['created', 1],
      ['created', 1],
      ['created', 1],
    ]);
    expect(await find('Observation', [{ kind: 'patient', ids: [made] }])).toEqual([changed]);
    expect((await find('Observation', [{ kind: 'patient', ids: [upserted] }])).toSorted()).toEqual(
      [about, both].toSorted(),
    );
    expect(await find('Patient', [{ kind: 'identifier', any: [{ system: null, value: 'm2' }] }])).toEqual([upserted]);
  });

  test('finds values that no index entry could hold', async () => {
    const long = 'é'.repeat(5_000);
    const { id } = await write(patient(long, { name: [{ text: 'x'.repeat(20_000) }] }));
    expect(await find('Patient', [{ kind: 'identifier', any: [{ system: null, value: long }] }])).toEqual([id]);
    expect(await find('Patient', [{ kind: 'identifier', any: [{ system: null, value: `${long}é` }] }])).toEqual([]);
  });

  test('reports share the study of their accession number, and leave it with their patient', async () => {
    const [p, q] = [(await write(patient('s1'))).id, (await write(patient('s2'))).id];
    const report = (subject: string, accession: string | null, status = 'final'): JsonObject => ({
      resourceType: 'DiagnosticReport',
      status,
      code: { text: 'X-ray' },
      subject: { reference: `Patient/${subject}` },
      ...(accession === null
        ? {}
        : { identifier: [{ type: { coding: [{ code: 'ACSN' }] }, system: 'urn:acc', value: accession }] }),
    });
    const { id: a } = await write(report(p, 'A1'));
    const { id: b } = await write(report(p, 'A1', 'preliminary'));
    const { id: c } = await write(report(p, null));
    const studies = async () => {
      const { rows } = await db.client.query<{ report_id: string; study_id: string }>(
        'select report_id, study_id from report where site_id = $1',
        [site],
      );
      return new Map(rows.map((row) => [row.report_id, row.study_id]));
    };
    const before = await studies();
    expect(before.get(a)).toBe(before.get(b));
    expect(before.get(c)).not.toBe(before.get(a));
    await write(report(q, 'A1'), a, 'update');
    expect(await find('DiagnosticReport', [{ kind: 'patient', ids: [p] }])).toEqual([b, c]);
    expect(await find('DiagnosticReport', [{ kind: 'patient', ids: [q] }])).toEqual([a]);
    await write(report(p, 'A2'), b, 'update');
    expect((await studies()).get(b)).not.toBe(before.get(b));
    expect(await find('DiagnosticReport', [{ kind: 'report-state', states: ['completed'] }])).toEqual([a, b, c]);
  });
});

describe('fhir_conditional_write', () => {
  const condition = (kind: Condition['kind'], value: string, more: Partial<Condition> = {}): Condition => ({
    kind,
    type: 'Patient',
    criteria: [{ kind: 'identifier', any: [{ system: null, value }] }],
    placeholder: newId(),
    required: null,
    local: [],
    ...more,
  });
  const conditional = (c: Condition, resource: JsonObject) => ({
    ...toWrite(resource, c.placeholder, 'create'),
    mode: `?${c.placeholder}` as const,
  });
  const run = (writes: Parameters<typeof writeTransaction>[1]['writes'], conditions: Condition[]) =>
    database.run(writeTransaction(site, { writes, conditions }, NO_LOCKS, []).written);

  test('a conditional create creates a resource once, and references to it are resolved', async () => {
    const first = condition('create', 'c1');
    const made = await run(
      [conditional(first, patient('c1')), toWrite(observation(first.placeholder), newId(), 'create')],
      [first],
    );
    expect(made).toMatchObject([
      { part: 'condition', outcome: 'resolved', id: null },
      { part: 'row', ordinal: 0, outcome: 'created', id: first.placeholder },
      { part: 'row', ordinal: 1, outcome: 'created' },
    ]);
    const second = condition('create', 'c1');
    const note = newId();
    const found = await run(
      [conditional(second, patient('c1', { active: false })), toWrite(observation(second.placeholder), note, 'create')],
      [second],
    );
    expect(found).toMatchObject([
      { part: 'condition', outcome: 'resolved', id: first.placeholder },
      { ordinal: 0, outcome: 'matched', id: first.placeholder, version: 1, body: expect.stringContaining('c1') },
      { ordinal: 1, outcome: 'created', id: note, body: null },
    ]);
    expect(await find('Observation', [{ kind: 'patient', ids: [first.placeholder] }])).toContain(note);
    const [stored] = await database.run(readResource(site, 'Observation', note));
    expect(stored?.body).toContain(`"Patient/${first.placeholder}"`);
  });

  test('a conditional update creates, updates, or returns the reason for neither', async () => {
    const [one, two] = [condition('update', 'u1'), condition('update', 'u1')];
    expect((await run([conditional(one, patient('u1'))], [one]))[1]).toMatchObject({ outcome: 'created' });
    expect((await run([conditional(two, patient('u1', { active: true }))], [two]))[1]).toMatchObject({
      outcome: 'updated',
      id: one.placeholder,
      version: 2,
    });
    const named = condition('update', 'u1', { required: newId() });
    expect(await run([conditional(named, patient('u1'))], [named])).toMatchObject([{ outcome: 'another-id' }]);
    const absent = condition('update', 'unknown', { required: newId() });
    expect(await run([conditional(absent, patient('u1'))], [absent])).toMatchObject([{ outcome: 'another-id' }]);
    await write(patient('u1'));
    const many = condition('update', 'u1');
    expect(await run([conditional(many, patient('u1'))], [many])).toMatchObject([{ outcome: 'ambiguous' }]);
  });

  test('references by identifier find one resource, of the site or of the request', async () => {
    const { id } = await write(patient('f1'));
    const reference = condition('reference', 'f1');
    const note = newId();
    const sent = toWrite(observation(reference.placeholder), note, 'create');
    await run([sent], [reference]);
    expect(await find('Observation', [{ kind: 'patient', ids: [id] }])).toEqual([note]);
    // The answer, which is made without another read, equals the stored content.
    const [stored] = await database.run(readResource(site, 'Observation', note));
    expect(stored?.body).toBe(settled(sent.body, new Map([[reference.placeholder, id]])));
    expect(stored?.body).not.toBe(sent.body);

    const fresh = newId();
    const local = condition('reference', 'f2', { local: [fresh] });
    const written = await run(
      [toWrite(observation(local.placeholder), newId(), 'create'), toWrite(patient('f2'), fresh, 'create')],
      [local],
    );
    expect(written).toMatchObject([{ outcome: 'resolved', id: fresh }, {}, {}]);
    const none = condition('reference', 'f3');
    expect(await run([toWrite(observation(none.placeholder), newId(), 'create')], [none])).toMatchObject([
      { outcome: 'no-match' },
    ]);
  });

  test('two conditional creates of one request make one', async () => {
    const one = condition('create', 'd1');
    const two = condition('create', 'd1', { local: [one.placeholder] });
    const rows = await run([conditional(one, patient('d1')), conditional(two, patient('d1'))], [one, two]);
    expect(rows.map((row) => [row.outcome, 'id' in row ? row.id : undefined])).toEqual([
      ['resolved', null],
      ['resolved', one.placeholder],
      ['created', one.placeholder],
      ['matched', one.placeholder],
    ]);
  });

  test('one resource cannot be written twice', async () => {
    const { id } = await write(patient('2x'));
    const twice = [toWrite(patient('2a'), id, 'update'), toWrite(patient('2b'), id, 'update')];
    expect(await failure(run(twice, []))).toMatchObject({ kind: 'conflict', rows: [0, 1] });
  });

  test('a rejected conditional write returns rows, and writes nothing', async () => {
    const { id } = await write(patient('rf1'));
    const required = [{ type: 'Observation', id: newId(), version: null }] as const;
    const found = condition('create', 'rf1');
    const writes = [conditional(found, patient('rf1')), toWrite(patient('rf2'), newId(), 'create')];
    const missing = await database.run(
      writeTransaction(site, { writes, conditions: [found] }, NO_LOCKS, required).written,
    );
    expect(missing).toContainEqual(expect.objectContaining({ part: 'failed', ordinal: 2, outcome: 'GW404' }));
    expect(await find('Patient', [{ kind: 'identifier', any: [{ system: null, value: 'rf2' }] }])).toEqual([]);
    const [one, two] = [condition('update', 'rf1'), condition('update', 'rf1')];
    const twice = await run([conditional(one, patient('rf1')), conditional(two, patient('rf1'))], [one, two]);
    expect(twice.filter(({ part }) => part !== 'condition')).toMatchObject([
      { part: 'failed', ordinal: 0, outcome: 'GW409' },
      { part: 'failed', ordinal: 1, outcome: 'GW409' },
    ]);
    expect(twice).toMatchObject([{ id }, { id }, {}, {}]);
  });

  test('the work of conditional creates that find grows in proportion to their number', async () => {
    const { client } = db;
    const { rows: pids } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = pids[0]?.pid ?? 0;
    const MOST = 400;
    const units = (count: number) =>
      Array.from({ length: count }, (_, n) => {
        const c = condition('create', `many-${n}`);
        return { writes: [conditional(c, patient(`many-${n}`))], conditions: [c] };
      });
    await database.run(writeBatch(site, units(MOST)).written);
    const batch = (count: number) => writeBatch(site, units(count)).written;
    const transaction = (count: number) => {
      const all = units(count);
      const [writes, conditions] = [all.flatMap((unit) => unit.writes), all.flatMap((unit) => unit.conditions)];
      return writeTransaction(site, { writes, conditions }).written;
    };
    for (const statement of [batch, transaction]) {
      const cpuOf = async (count: number): Promise<number> => {
        const { text, params } = statement(count);
        await client.query('begin');
        await client.query(`select set_config('gateway.site', $1, true)`, [site]);
        const before = cpuMsOf(pid);
        const { rows } = await client.query(text, params.map(parameter));
        const cpuMs = cpuMsOf(pid) - before;
        await client.query('rollback');
        expect(rows.filter(({ outcome, body }) => outcome === 'matched' && body !== null)).toHaveLength(count);
        return cpuMs;
      };
      const costs: [number, number][] = [];
      for (let round = 0; round < 3; round += 1) costs.push([await cpuOf(MOST / 8), await cpuOf(MOST)]);
      const least = (at: 0 | 1): number => Math.min(...costs.map((cost) => cost[at]));
      expect(growthFor(least(0), least(1))).toBeLessThan(LINEAR);
    }
  });

  test('a batch writes the entries without faults', async () => {
    const [c, missing] = [condition('create', 'b1'), randomUUID()];
    const created = (resource: JsonObject) => ({ writes: [toWrite(resource, newId(), 'create')], conditions: [] });
    const rows = await database.run(
      writeBatch(site, [
        { writes: [toWrite(patient('b0'), newId(), 'update')], conditions: [] },
        { writes: [conditional(c, patient('b1'))], conditions: [c] },
        // These are written together.
        created(observation(missing)),
        created(patient('b3')),
        created(observation(missing)),
        created(patient('b5')),
        { writes: [toWrite(patient('b6'), newId(), 'update')], conditions: [] },
        created(observation(missing)),
      ]).written,
    );
    expect(rows.map(({ entry, part, ordinal, outcome }) => [entry, part, ordinal, outcome])).toEqual([
      [0, 'failed', 0, 'GW404'],
      [1, 'condition', 0, 'resolved'],
      [1, 'row', 0, 'created'],
      [2, 'failed', 0, 'GW422'],
      [3, 'row', 0, 'created'],
      [4, 'failed', 0, 'GW422'],
      [5, 'row', 0, 'created'],
      [6, 'failed', 0, 'GW404'],
      [7, 'failed', 0, 'GW422'],
    ]);
    for (const row of rows) {
      if (row.part !== 'row') continue;
      const value = `b${row.entry}`;
      expect(await find('Patient', [{ kind: 'identifier', any: [{ system: 'urn:mrn', value }] }])).toEqual([row.id]);
    }
  });
});
