/** The catalog of the migrated database agrees with the files and the code. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toWrite } from '../../edge/store/resource.ts';
import { GENERATION, INDEXED_PARAMETERS } from '../../edge/store/search/parameters.ts';
import { OWN_STATES } from '../../edge/store/sqlstate.ts';
import { readFunctions } from '../../migrations/files.ts';
import { ALL_RESOURCE_TYPES, isStored } from '../../shared/resource-type.ts';
import { useTestDatabase } from '../stack/tools/database.ts';
import { explain, planKept } from '../stack/tools/plan.ts';

const MIGRATIONS = join(import.meta.dirname, '../../migrations');

/** Settings that replacing a function would drop, were they not in its file. */
const STORES_BY_KEPT_PLAN = ['plan_cache_mode=force_generic_plan', 'enable_seqscan=off'];
const MUST_HAVE: Readonly<Record<string, readonly string[]>> = {
  resource_write: STORES_BY_KEPT_PLAN,
  resource_reindex: STORES_BY_KEPT_PLAN,
  hl7_matches: STORES_BY_KEPT_PLAN,
  hl7_store: STORES_BY_KEPT_PLAN,
};

const database = await useTestDatabase();

test('each function has the settings of its file, and those that must have some have them', async () => {
  const { rows } = await database.client.query<{ name: string; settings: string[] | null }>(
    "select proname as name, proconfig as settings from pg_proc where pronamespace = 'public'::regnamespace",
  );
  const inDatabase = new Map(rows.map(({ name, settings }) => [name, settings ?? []]));
  const files = await readFunctions(MIGRATIONS);
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const [beforeBody = ''] = file.sql.split('$$');
    const settings = Array.from(beforeBody.matchAll(/^set (\w+) = (.+)$/gm), ([, name, value]) => `${name}=${value}`);
    expect([file.function, inDatabase.get(file.function)]).toEqual([file.function, settings]);
  }
  for (const [name, settings] of Object.entries(MUST_HAVE)) expect(inDatabase.get(name)).toEqual(settings);
});

test('migrations/README.md names the query of each index that a write pays for', async () => {
  const { rows } = await database.client.query<{ table: string; name: string; is_key: boolean }>(
    `select tablename as table, indexname as name, indexname = tablename || '_pkey' as is_key from pg_indexes where schemaname = 'public'`,
  );
  const text = await readFile(join(MIGRATIONS, 'README.md'), 'utf8');
  const lines = text.split('\n').filter((line) => line.startsWith('| `'));
  const named = lines.flatMap((line) =>
    Array.from((line.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g), ([, name = '']) => name),
  );
  const tables = new Set(rows.filter(({ name }) => named.includes(name)).map(({ table }) => table));
  expect(tables.size).toBeGreaterThan(15);
  const indexes = rows.filter(({ table, name, is_key }) => tables.has(table) && (!is_key || named.includes(name)));
  expect(named.toSorted()).toEqual(indexes.map(({ name }) => name).toSorted());
});

// A connection keeps the plan that it makes while a table is empty until there are statistics.
test('in an empty database, foreign keys and the look-up of a sent message are served by an index that has all columns', async () => {
  const { client } = database;
  const { rows } = await client.query<{ table: string; index: string; columns: string[] }>(
    `select distinct confrelid::regclass::text as table, conindid::regclass::text as index,
            (select array_agg(a.attname::text) from pg_attribute a where a.attrelid = confrelid and a.attnum = any (confkey)) as columns
       from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
  );
  const sent = ['client_id', 'sending_application', 'sending_facility', 'control_id', 'sha256'];
  rows.push({ table: 'hl7_message', index: 'hl7_message_sent', columns: ['site_id', ...sent] });
  // A site has few of these.
  const large = rows.filter(({ table }) => table !== 'api_key' && table !== 'subscription');
  expect(large.length).toBeGreaterThan(8);
  for (const { table, index, columns } of large) {
    const all = columns.map((column, n) => `x.${column} = $${n + 1}`).join(' and ');
    const text = `select 1 from only ${table} x where ${all} for key share of x`;
    const { indexes } = await explain(client, randomUUID(), { text, params: columns.map(() => null) }, planKept);
    expect([table, ...indexes]).toEqual([table, index]);
  }
});

test('the table of resources accepts exactly the resource types', async () => {
  const { rows } = await database.client.query<{ definition: string }>(
    "select pg_get_constraintdef(oid) as definition from pg_constraint where conname = 'resource_type_check'",
  );
  const types = Array.from(rows[0]?.definition.matchAll(/'(\w+)'/g) ?? [], ([, type]) => type);
  expect(types).toHaveLength(ALL_RESOURCE_TYPES.filter(isStored).length);
  expect(new Set(types)).toEqual(new Set(ALL_RESOURCE_TYPES.filter(isStored)));
});

test('resource_write reads the members that a write has, and no others', async () => {
  const { rows } = await database.client.query<{ name: string }>(
    "select attname as name from pg_attribute where attrelid = 'resource_row'::regclass order by 1",
  );
  // Only a request with If-Unmodified-Since, a patch, or a Group adds these.
  const more = { unmodifiedSince: null, noted: 'patch', members: [] };
  const write = { ...toWrite({ resourceType: 'Patient' }, randomUUID(), 'create'), ...more };
  expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(write).toSorted());
});

test('resource_write has the newest generation of the search index', async () => {
  const text = (await readFunctions(MIGRATIONS)).find((file) => file.function === 'resource_write')?.sql ?? '';
  expect(/x\.indexed < (\d+)/.exec(text)?.[1]).toBe(String(GENERATION));
});

test('each date parameter of a type has another key, and date_keys has them', async () => {
  const dates = [...INDEXED_PARAMETERS].flatMap(([type, parameters]) =>
    parameters.filter(([, { kind }]) => kind === 'date').map(([name]) => [type, name] as const),
  );
  const { rows } = await database.client.query<{ key: number | null; is_listed: boolean }>(
    `select date_key(t, p) as key, date_key(t, p) = any (date_keys(t)) as is_listed from unnest($1::text[], $2::text[]) u(t, p)`,
    [dates.map(([type]) => type), dates.map(([, name]) => name)],
  );
  expect(new Set(rows.map(({ key }) => key)).size).toBe(dates.length);
  expect(rows.filter(({ key, is_listed }) => key === null || !is_listed)).toEqual([]);
});

test('each type of resources has another token_type', async () => {
  const { rows } = await database.client.query<{ of: string | null }>(
    'select token_type(t) as of from unnest($1::text[]) t',
    [ALL_RESOURCE_TYPES.filter(isStored)],
  );
  expect(new Set(rows.map((row) => Number(row.of) % 16)).size).toBe(rows.length);
  expect(rows.filter((row) => row.of === null)).toEqual([]);
});

/** The SQLSTATEs of class GW in the text of functions. */
const statesIn = (pattern: RegExp, files: readonly { readonly sql: string }[]) =>
  new Set(files.flatMap(({ sql }) => Array.from(sql.matchAll(pattern), ([, state]) => state)));
const RAISED = /errcode = '(GW\d{3})'/g;

test('each SQLSTATE of the gateway that a function raises has a meaning, and each meaning is raised', async () => {
  const files = await readFunctions(MIGRATIONS);
  expect(statesIn(RAISED, files)).toEqual(new Set(OWN_STATES));
});

test('a transaction handles the errors of its writes', async () => {
  const files = await readFunctions(MIGRATIONS);
  const called = (...names: string[]) => files.filter((file) => names.includes(file.function));
  const caught = statesIn(/sqlstate '(GW\d{3})'/g, called('fhir_conditional_write'));
  expect(caught).toEqual(statesIn(RAISED, called('fhir_write', 'resource_write', 'require_resource')));
});

test('a version has its time from write_time, in every function that makes one', async () => {
  const files = await readFunctions(MIGRATIONS);
  const makers = files.filter(({ sql }) =>
    /update resource \w+\s+set[^;]*last_updated\s*=|insert into resource \(/.test(sql),
  );
  expect(makers.map((file) => file.function)).toContain('resource_write');
  for (const { function: name, sql } of makers) {
    expect([name, sql.includes('write_time()')]).toEqual([name, true]);
    // The change feed would miss it otherwise (change_number).
    const updates = sql.match(/update resource \w+\s+set[^;]*last_updated\s*=[^;]*/g) ?? [];
    expect(updates.filter((update) => !/written_by = greatest\(/.test(update))).toEqual([]);
  }
});

test('the minute of an audit row is that of its time', async () => {
  const { rows } = await database.client.query(
    `with row as (
       insert into audit (site_id, at, actor_kind, request_id, action, parts, types, ids, patients, parameters)
       select gen_random_uuid(), '2026-01-01'::timestamptz + n * interval '7.999999 s', 'gateway', 'r', 'read', '{}', '{}', '{}', '{}', '{}'
         from generate_series(-50, 50) n
       returning at, minute)
     select count(*)::int as rows, count(*) filter (where minute = audit_minute(at))::int as equal from row`,
  );
  expect(rows).toEqual([{ rows: 101, equal: 101 }]);
});

describe('policies for inserts, in place of checks', () => {
  const VIOLATION = '42501';
  const site = randomUUID();
  const AUDIT = `insert into audit (site_id, actor_kind, actor, request_id, action, parts, types, ids, patients, parameters, versions)
    values ($1, $2, $3, 'r', 'read', '{}', $4, $5, '{}', '{}', $6)`;
  const ATTEMPT = `insert into hl7_attempt (site_id, message_id, number, why, actor, comment, request_id, outcome)
    values ($1, $1, 1, $2, $3, $4, 'r', 'AA')`;
  const refusalOf = async (text: string, values: readonly unknown[]): Promise<unknown> => {
    const client = await database.connect();
    try {
      await client.query('begin');
      await client.query(`select set_config('gateway.site', $1, true)`, [site]);
      return (await client.query(text, [site, ...values])).rowCount;
    } catch (error) {
      return (error as { code?: string }).code;
    } finally {
      await client.query('rollback');
    }
  };

  test.each([
    ['a key without an actor', ['key', null, ['Patient'], [site], [1]], 1],
    ['a person with an actor', ['person', 'ann', [], [], null], 1],
    ['a key with an actor', ['key', 'ann', [], [], null], VIOLATION],
    ['a person without an actor', ['person', null, [], [], null], VIOLATION],
    ['a type without an id', ['key', null, ['Patient'], [], null], VIOLATION],
    ['a version without an id', ['key', null, [], [], [1]], VIOLATION],
  ])('an audit row of %s', async (_, values, expected) => {
    expect(await refusalOf(AUDIT, values)).toBe(expected);
  });

  test.each([
    // The message does not exist, so the foreign key rejects the row behind the policy.
    ['of a sender', ['received', null, null], '23503'],
    ['of a person with a comment', ['replayed', 'ann', 'why'], '23503'],
    ['of a sender with an actor', ['received', 'ann', null], VIOLATION],
    ['of a person without an actor', ['forced', null, null], VIOLATION],
    ['with a comment of nobody', ['received', null, 'why'], VIOLATION],
  ])('an attempt %s', async (_, values, expected) => {
    expect(await refusalOf(ATTEMPT, values)).toBe(expected);
  });
});
