/**
 * The moment of an export: it contains what was written before the moment, and nothing else, also if a writer took
 * long. It also tests how the resources are split into files.
 */
import { randomUUID } from 'node:crypto';

import { Client } from 'pg';
import { expect, test } from 'vitest';

import type { Database, Query } from '../../../edge/deps.ts';
import {
  beginExport,
  type ExportFile,
  type ExportKey,
  type ExportRow,
  filePage,
  findExport,
  openFile,
  PAGE_RESOURCES,
  stepExport,
} from '../../../edge/store/bulk-export.ts';
import { enterSite, inSite } from '../../../edge/store/in-site.ts';
import { toPage } from '../../../edge/store/page.ts';
import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import { RESOURCE_TYPES, type ResourceType } from '../../../shared/resource-type.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { until } from '../../stack/services/until.ts';
import { edgeDatabase, useTestDatabase } from '../../stack/tools/database.ts';
import { explain } from '../../stack/tools/plan.ts';
import { PLAIN_EXPORT } from '../../stack/tools/plain-export.ts';

/** Other writers, each at a separate pace. */
const db = await useTestDatabase();
const gateway = edgeDatabase(db);
const [writer, holder] = [await db.connect(), await db.connect()];

interface Exporting extends ExportKey {
  readonly database: Database;
}

/** A new site, and a key of it. */
async function newSite() {
  const site = await createSite(db.client);
  const { clientId } = await createApiKey(db.client, { site });
  return { site, clientId, database: inSite(gateway, site) };
}

type Site = Awaited<ReturnType<typeof newSite>>;

async function begun(
  { site, clientId, database }: Site,
  types: readonly ResourceType[] = RESOURCE_TYPES,
  since: string | null = null,
  patients: readonly string[] | null = null,
): Promise<Exporting> {
  const key = { site, clientId, id: randomUUID(), database };
  await database.run(beginExport({ ...key, ...PLAIN_EXPORT, types, since, patients }));
  return key;
}

async function step(of: Exporting, by: Query = stepExport(of)): Promise<ExportRow> {
  const [, [row]] = await of.database.batch([by, findExport(of)] as const);
  if (row === undefined) throw new Error('the export is gone');
  return row;
}

async function complete(of: Exporting): Promise<ExportRow> {
  return until('the export is complete', async () => {
    const row = await step(of);
    return row.is_complete && row;
  });
}

const filesOf = ({ files }: ExportRow) => JSON.parse(files) as readonly ExportFile[];

/** `id version` of what a file holds. */
async function read(of: Exporting, type: ResourceType, number = 1): Promise<string[]> {
  const [file] = await of.database.run(openFile(of, type, number, RESOURCE_TYPES));
  if (file?.after_id == null || file.upto_id === null) throw new Error('there is no file');
  const found: string[] = [];
  let after = file.after_id;
  for (;;) {
    const rows = await of.database.run(
      filePage({ ...of, type, number, file: { ...file, upto_id: file.upto_id }, after }),
    );
    const { resources, more } = toPage(rows, PAGE_RESOURCES);
    found.push(...resources.map(({ id, version }) => `${id} ${version}`));
    after = resources.at(-1)?.id ?? after;
    if (!more) return found;
  }
}

const person = (value: string) => ({ resourceType: 'Patient', identifier: [{ value }] });
const create = (site: string, id: string, value = 'a') => writeResources(site, [toWrite(person(value), id, 'create')]);
const update = (site: string, id: string, value: string) =>
  writeResources(site, [toWrite(person(value), id, 'update')]);
const run = async (client: Client, { text, params }: Query) => client.query(text, [...params]);
const enter = async (client: Client, site: string): Promise<void> => {
  await client.query('begin');
  await run(client, enterSite(site));
};

/** Resolves when a client waits for a lock. */
async function waits(client: Client): Promise<void> {
  await until('it waits', async () => {
    const { rows } = await db.client.query<{ waiting: boolean }>(
      `select wait_event_type = 'Lock' as waiting from pg_stat_activity where pid = $1`,
      [(client as Client & { readonly processID: number }).processID],
    );
    return rows[0]?.waiting === true;
  });
}

test('a write in progress when the export begins is waited for, and is included', async () => {
  const it = await newSite();
  const id = uuidv7(Date.now());
  await enter(writer, it.site);
  await run(writer, create(it.site, id));
  const late = await begun(it);
  expect(await step(late)).toMatchObject({ is_complete: false, is_settled: false, files: '[]' });
  await writer.query('commit');
  const { transaction_time: at } = await complete(late);
  expect(await read(late, 'Patient')).toEqual([`${id} 1`]);
  const next = await begun(it, RESOURCE_TYPES, at);
  expect(filesOf(await complete(next))).toEqual([]);
});

test('a writer that read the clock and then waited for another is waited for too', async () => {
  const it = await newSite();
  const id = uuidv7(Date.now());
  await it.database.run(create(it.site, id));
  await enter(holder, it.site);
  await holder.query(`select from resource where site_id = $1 and id = $2 for no key update`, [it.site, id]);
  await enter(writer, it.site);
  const updating = run(writer, update(it.site, id, 'b'));
  await waits(writer);
  const late = await begun(it);
  await holder.query('commit');
  // Its version is from before the moment, and no other session sees it yet.
  await updating;
  expect(await step(late)).toMatchObject({ is_complete: false, is_settled: false });
  await writer.query('commit');
  await complete(late);
  expect(await read(late, 'Patient')).toEqual([`${id} 2`]);
});

test('a writer that begins later is neither waited for nor in it', async () => {
  const it = await newSite();
  const [id, other] = [uuidv7(Date.now()), uuidv7(Date.now())];
  await it.database.run(create(it.site, id));
  const early = await begun(it);
  await enter(writer, it.site);
  await run(writer, update(it.site, id, 'b'));
  await run(writer, create(it.site, other));
  const { transaction_time: at } = await complete(early);
  expect(await read(early, 'Patient')).toEqual([`${id} 1`]);
  await writer.query('commit');
  expect(await read(early, 'Patient')).toEqual([`${id} 1`]);
  const next = await begun(it, RESOURCE_TYPES, at);
  await complete(next);
  expect(await read(next, 'Patient')).toEqual([`${id} 2`, `${other} 1`]);
});

test('a write in the exact millisecond of the moment belongs to the next export', async () => {
  const it = await newSite();
  const [before, at] = [uuidv7(Date.now()), uuidv7(Date.now())];
  for (const id of [before, at]) await it.database.run(create(it.site, id, id));
  const first = await begun(it);
  for (const [id, earlier] of [
    [before, '1 millisecond'],
    [at, '0'],
  ])
    await db.client.query(
      `update resource set last_updated = (select snapshot_at from bulk_export where export_id = $1) - $2::interval where id = $3`,
      [first.id, earlier, id],
    );
  const { transaction_time: since } = await complete(first);
  expect(await read(first, 'Patient')).toEqual([`${before} 1`]);
  const next = await begun(it, RESOURCE_TYPES, since);
  await complete(next);
  expect(await read(next, 'Patient')).toEqual([`${at} 1`]);
});

test('does not begin in a transaction that has written, because its id is older than the snapshot', async () => {
  const { site, clientId } = await newSite();
  await enter(writer, site);
  await writer.query('select write_time()');
  await expect(run(writer, beginExport({ site, clientId, id: randomUUID(), ...PLAIN_EXPORT }))).rejects.toThrow(
    'read the clock',
  );
  await writer.query('rollback');
});

test('a key has two exports that it polls, and any number of abandoned ones', async () => {
  const it = await newSite();
  await begun(it);
  const [one, two] = await Promise.allSettled([begun(it), begun(it)]);
  expect([one?.status, two?.status].toSorted()).toEqual(['fulfilled', 'rejected']);
  await expect(begun(it)).rejects.toMatchObject({ kind: 'throttled' });
  await db.client.query(`update bulk_export set asked_at = asked_at - interval '11 minutes' where site_id = $1`, [
    it.site,
  ]);
  await begun(it);
  expect((await begun(await newSite())).id).toBeTruthy();
});

test('limits the resources and bytes of a file; finds changes by stored ids or by a scan', async () => {
  const it = await newSite();
  const ids = Array.from({ length: 12 }, () => uuidv7(Date.now()));
  for (const id of ids) await it.database.run(create(it.site, id, id));
  const [first] = await it.database.run<{ size: number; at: string }>({
    text: `select octet_length(body) + octet_length(meta) as size, to_char(last_updated - interval '1 ms', 'YYYY-MM-DD"T"HH24:MI:SS.MSOF') as at
             from resource where site_id = $1 and id = $2`,
    params: [it.site, ids[0] ?? ''],
  });
  const each = first?.size ?? 0;
  const cut = (of: Exporting, resources: number, bytes: number, few: number): Query => ({
    text: 'select bulk_export_step($1, $2, $3, $4, $5, $6, 1000)',
    params: [of.site, of.clientId, of.id, resources, bytes, few],
  });
  for (const [resources, bytes, since, few, counts] of [
    [5, 1e9, null, 0, [5, 5, 2]],
    [100, 4 * each + 1, null, 0, [4, 4, 4]],
    [100, 1, null, 0, ids.map(() => 1)],
    [5, 1e9, first?.at ?? '', 12, [5, 5, 2]],
    [5, 1e9, first?.at ?? '', 11, [5, 5, 2]],
  ] as const) {
    const of = await begun(it, ['Patient'], since);
    const row = await until('it is complete', async () => {
      const asked = await step(of, cut(of, resources, bytes, few));
      return asked.is_complete && asked;
    });
    expect(filesOf(row).map(({ count }) => count)).toEqual(counts);
    const all: string[] = [];
    for (const { number } of filesOf(row)) all.push(...(await read(of, 'Patient', number)));
    expect(all).toEqual(ids.map((id) => `${id} 1`));
    const { rows } = await db.client.query<{ kept: boolean }>(
      'select bool_and(ids is not null) as kept from bulk_export_file where export_id = $1',
      [of.id],
    );
    expect(rows[0]?.kept).toBe(since !== null && few >= 12);
  }
});

test('a request does not wait for another request on the export, and no resource is found twice', async () => {
  const it = await newSite();
  for (let n = 0; n < 5; n += 1) await it.database.run(create(it.site, uuidv7(Date.now()), String(n)));
  const of = await begun(it);
  await enter(holder, it.site);
  await holder.query('select from bulk_export where site_id = $1 for update', [it.site]);
  expect(await step(of)).toMatchObject({ is_complete: false, files: '[]' });
  await holder.query('rollback');
  expect(filesOf(await complete(of))).toEqual([{ type: 'Patient', number: 1, count: 5 }]);
});

test('a page is found by id, for any number of resources', async () => {
  const it = await newSite();
  await db.client.query(
    `insert into resource (site_id, type, id, version, last_updated, meta, body)
     select $1, 'Observation', ('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 1, '2026-01-01', '', '"status":"final"'
       from generate_series(1, 60000) i`,
    [it.site],
  );
  await db.client.query('analyze resource');
  const after = '01900000-0000-7000-8000-000000000100';
  for (const since of [null, '2025-01-01']) {
    const of = await begun(it, ['Observation'], since);
    await complete(of);
    const [file] = await it.database.run(openFile(of, 'Observation', 1, RESOURCE_TYPES));
    if (file?.upto_id == null) throw new Error('there is no file');
    expect(file.has_ids).toBe(since !== null);
    const opened = { ...file, upto_id: file.upto_id };
    const page = filePage({ ...of, type: 'Observation', number: 1, file: opened, after });
    const { whole: ends, indexes, functions, rowsOf } = await explain(writer, it.site, page);
    expect(ends).not.toContain('resource');
    expect(indexes).toContain('resource_pkey');
    // Inlined, and no look at versions that were.
    expect(functions).not.toContain('resource_version_at');
    expect([rowsOf('resource'), rowsOf('resource_history')]).toEqual([PAGE_RESOURCES + 1, 0]);
  }
});

test('a page looks up each resource among the patients of the export once', async () => {
  const it = await newSite();
  const [members, resources] = [10_000, 4_000];
  await db.client.query(
    `insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id)
     select $1, t, ('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 1, '2026-01-01', '', '"status":"final"',
            case when t = 'Observation' then ('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid end
       from unnest(array['Patient', 'Observation']) t cross join generate_series(1, case t when 'Patient' then $2::integer else $3::integer end) i`,
    [it.site, members, resources],
  );
  await db.client.query('analyze resource');
  const { rows } = await db.client.query<{ id: string }>(
    `select id from resource where site_id = $1 and type = 'Patient'`,
    [it.site],
  );
  const patients = rows.map(({ id }) => id);
  const of = await begun(it, ['Observation'], null, patients);
  await complete(of);
  const [file] = await it.database.run(openFile(of, 'Observation', 1, RESOURCE_TYPES));
  if (file?.upto_id == null || file.after_id === null) throw new Error('there is no file');
  const opened = { ...file, upto_id: file.upto_id };
  const page = filePage({ ...of, type: 'Observation', number: 1, file: opened, after: file.after_id });
  const { rows: most } = await explain(writer, it.site, page);
  expect(most).toBeLessThanOrEqual(members);
});
