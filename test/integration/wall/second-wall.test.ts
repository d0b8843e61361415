/**
 * The rights of the application's role if the gateway sets no site. The test queries each table and view of the catalog
 * from another site without a `where`. So a new table without a policy fails here (migrations/README.md, Rights).
 */
import { randomUUID } from 'node:crypto';

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { APPLICATION_ROLE } from '../../../migrations/role.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';

const OURS = randomUUID();
const THEIRS = randomUUID();

/**
 * The tables without a site, and the application's rights on them. A new table without a site is a decision: list it
 * here.
 */
const OF_NO_SITE: Readonly<Record<string, string>> = {
  audit_minimum_age: '',
  signing_key_seen: 'SELECT',
  jti_claim: '',
  schema_function: 'SELECT',
  schema_migration: 'SELECT',
  sidecar_refused: 'INSERT SELECT UPDATE',
  sidecar_seen: 'INSERT SELECT UPDATE',
};

/** Tables that are only inserted into, or only read: the gateway's rights beside select. */
const KEPT: Readonly<Record<string, string>> = {
  alert: 'SELECT',
  alert_notice: 'SELECT',
  api_key_change: 'INSERT SELECT',
  api_key_thumbprint: '',
  audit: 'INSERT SELECT',
  authority_alias_decision: 'INSERT SELECT',
  change: 'INSERT SELECT',
  change_position: 'INSERT SELECT UPDATE',
  hl7_attempt: 'DELETE INSERT SELECT',
  hl7_message_resource: 'INSERT SELECT',
  key_usage: 'SELECT',
  mllp_connection: 'SELECT',
  patient_merge: 'INSERT SELECT',
  patient_trait: 'DELETE INSERT SELECT',
  refusal: 'SELECT',
  resource: 'INSERT SELECT UPDATE',
  resource_history: 'INSERT SELECT',
  resource_erased: 'SELECT',
  revoked_token: 'SELECT',
  site: 'SELECT UPDATE',
  site_address: 'SELECT',
  site_change: 'INSERT SELECT',
  subscription_deleted: 'INSERT SELECT UPDATE',
  subscription_event: 'INSERT SELECT UPDATE',
  usage: 'SELECT',
  usage_total: '',
  answer_total: '',
  feed: 'SELECT',
  hl7_message: 'INSERT SELECT',
};

/** Functions that run as the owner, each for a reason that its file gives. */
const FOR_THE_OWNER = [
  'alert_facts',
  'alert_notices_due',
  'alert_notices_tried',
  'alert_write',
  'alike_due',
  'audit_forget',
  'change_ask',
  'change_sites',
  'client_find',
  'console_session_logout',
  'console_session_sites',
  'console_session_to_site',
  'job_claim',
  'jti_claim_add',
  'key_kids_note',
  'metrics_now',
  'metrics_sites',
  'metrics_subscriptions',
  'mllp_candidates',
  'mllp_connections_note',
  'mllp_ranges',
  'refusals_note',
  'retention_ask',
  'retention_step',
  'thumbprints_foreign',
  'thumbprints_write',
  'token_revoke',
  'usage_noted',
];

interface Relation {
  readonly name: string;
  readonly isView: boolean;
  /** Columns that a row needs, by name, with their types. */
  readonly needed: Readonly<Record<string, string>>;
  readonly hasSite: boolean;
  /** Rights of the application on the complete relation. */
  readonly may: string;
  /** A column that the application may update. */
  readonly updatable: string | null;
}

let relations: readonly Relation[];

const db = await useTestDatabase();
const application = await db.connect();
beforeAll(async () => {
  const { rows } = await db.client.query<Relation>(
    `select c.relname as name, c.relkind = 'v' as "isView",
            exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'site_id') as "hasSite",
            (select coalesce(json_object_agg(a.attname, format_type(a.atttypid, a.atttypmod)), '{}')
               from pg_attribute a
              where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                and (a.attname = 'site_id' or a.attnotnull and not a.atthasdef)) as needed,
            (select coalesce(string_agg(p, ' ' order by p), '') from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) p
              where has_table_privilege($1, c.oid, p)) as may,
            (select min(a.attname) from pg_attribute a
              where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                and has_column_privilege($1, c.oid, a.attnum, 'UPDATE')) as updatable
       from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
      order by 1`,
    [APPLICATION_ROLE],
  );
  relations = rows;
  // Rows of any content will do.
  const { rows: constraints } = await db.client.query<{ drop: string }>(
    `select case when conrelid <> 0 then format('alter table %s drop constraint %I', conrelid::regclass, conname)
                 else format('alter domain %s drop constraint %I', contypid::regtype, conname) end as drop
       from pg_constraint where contype in ('f', 'c') and connamespace = 'public'::regnamespace
     union all select format('drop policy %I on %s', polname, polrelid::regclass) from pg_policy where not polpermissive`,
  );
  for (const { drop } of constraints) await db.client.query(drop);
  for (const site of [OURS, THEIRS])
    for (const table of tablesOfSites()) await db.client.query(...insertOf(table, site));
});

const ofSites = () => relations.filter(({ hasSite }) => hasSite);
const tablesOfSites = () => ofSites().filter(({ isView }) => !isView);
const isReadable = ({ may }: Relation) => may.includes('SELECT');

/** Some value of a type. */
function valueOf(type: string): string {
  if (type === 'uuid') return randomUUID();
  if (type.endsWith('[]')) return '{}';
  if (type.startsWith('timestamp')) return '2026-01-01T00:00:00Z';
  if (type.startsWith('json')) return '{}';
  if (type === 'boolean') return 'true';
  if (type === 'smallint' || type === 'integer' || type === 'bigint') return '1';
  return `x${randomUUID()}`;
}

function insertOf({ name, needed }: Relation, site: string): [text: string, values: string[]] {
  const columns = Object.keys(needed);
  const values = Object.entries(needed).map(([column, type]) => (column === 'site_id' ? site : valueOf(type)));
  return [
    `insert into ${name} (${columns.join(', ')}) values (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
    values,
  ];
}

/** As the gateway, in a transaction that leaves nothing, about a site; null: it forgot to say of which. */
async function from<T>(site: string | null, ask: () => Promise<T>): Promise<T> {
  await application.query('begin');
  try {
    if (site !== null) await application.query(`select set_config('gateway.site', $1, true)`, [site]);
    return await ask();
  } finally {
    await application.query('rollback');
  }
}

/** How many rows a statement concerned, or the SQLSTATE by which it was refused. */
async function rowsOrRefusal(text: string, values: string[] = []): Promise<number | string> {
  try {
    return (await application.query(text, values)).rowCount ?? 0;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

/** By relation what it is, where that is not what is expected. */
async function others(
  which: readonly Relation[],
  expected: readonly (number | string)[],
  ask: (relation: Relation) => Promise<number | string>,
): Promise<Record<string, number | string>> {
  const found: Record<string, number | string> = {};
  for (const relation of which) {
    const answer = await ask(relation);
    if (!expected.includes(answer)) found[relation.name] = answer;
  }
  return found;
}

const DENIED = '42501';

describe('lists rows of two sites', () => {
  test('each table has some', async () => {
    expect(tablesOfSites().length).toBeGreaterThan(25);
    const counted = await others(
      tablesOfSites(),
      [2],
      async ({ name }) => (await db.client.query(`select from ${name}`)).rowCount ?? 0,
    );
    expect(counted).toEqual({});
  });

  test('a site sees only its rows, without a where', async () => {
    const seen = await others(ofSites().filter(isReadable), [1], ({ name }) =>
      from(OURS, () => rowsOrRefusal(`select from ${name}`)),
    );
    expect(seen).toEqual({});
  });

  test('one sees none of the other, also by name', async () => {
    const seen = await others(ofSites(), [0, DENIED], ({ name }) =>
      from(OURS, () => rowsOrRefusal(`select from ${name} where site_id = $1`, [THEIRS])),
    );
    expect(seen).toEqual({});
  });

  test.each([
    ['no site', null],
    ['an empty one', ''],
  ])('a session that names %s sees no rows', async (_, site) => {
    const seen = await others(ofSites(), [0, DENIED], ({ name }) =>
      from(site, () => rowsOrRefusal(`select from ${name}`)),
    );
    expect(seen).toEqual({});
  });

  test('one changes none of the other', async () => {
    const changed = await others(
      tablesOfSites().filter(({ updatable }) => updatable !== null),
      [0],
      ({ name, updatable }) =>
        from(OURS, async () => {
          const all = await rowsOrRefusal(`update ${name} set ${updatable} = ${updatable}`);
          const own = await rowsOrRefusal(`select from ${name}`);
          return typeof all === 'number' && typeof own === 'number' ? all - own : String(all);
        }),
    );
    expect(changed).toEqual({});
  });

  test('one deletes none of the other', async () => {
    const deleted = await others(tablesOfSites(), [DENIED, 1], ({ name }) =>
      from(OURS, () => rowsOrRefusal(`delete from ${name}`)),
    );
    expect(deleted).toEqual({});
  });

  test('one adds none to the other', async () => {
    const added = await others(tablesOfSites(), [DENIED], (relation) =>
      from(OURS, () => rowsOrRefusal(...insertOf(relation, THEIRS))),
    );
    expect(added).toEqual({});
  });

  test('a site cannot give its rows away', async () => {
    const given = await others(tablesOfSites(), [DENIED], ({ name }) =>
      from(OURS, () => rowsOrRefusal(`update ${name} set site_id = $1`, [THEIRS])),
    );
    expect(given).toEqual({});
  });
});

describe('the role', () => {
  test('owns nothing, and does not administer anything', async () => {
    const { rows } = await db.client.query(
      `select rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication as "isAdministrator",
              exists (select from pg_shdepend where refobjid = r.oid and deptype = 'o') as "ownsSomething",
              pg_has_role(r.oid, (select relowner from pg_class where oid = 'resource'::regclass), 'member') as "isOwner",
              has_schema_privilege(r.oid, 'public', 'create') as "makesTables"
         from pg_roles r where rolname in ($1, $2) order by rolname`,
      [APPLICATION_ROLE, new URL(db.url).username],
    );
    const nothing = { isAdministrator: false, ownsSomething: false, isOwner: false, makesTables: false };
    expect(rows).toEqual([nothing, nothing]);
  });

  test('has only the required rights on tables without a site and on append-only tables', () => {
    const found = Object.fromEntries(relations.map(({ name, may }) => [name, may]));
    expect(Object.fromEntries(relations.filter(({ hasSite }) => !hasSite).map(({ name, may }) => [name, may]))).toEqual(
      OF_NO_SITE,
    );
    expect(Object.fromEntries(Object.keys(KEPT).map((name) => [name, found[name]]))).toEqual(KEPT);
    expect(relations.filter(({ may }) => may.includes('TRUNCATE'))).toEqual([]);
  });

  test('changes the decision of a message, never its bytes', async () => {
    const { rows } = await db.client.query<{ name: string }>(
      `select attname as name from pg_attribute
        where attrelid = 'hl7_message'::regclass and attnum > 0 and has_column_privilege($1, attrelid, attnum, 'UPDATE') order by 1`,
      [APPLICATION_ROLE],
    );
    expect(rows.map(({ name }) => name)).toEqual(['errors', 'has_failed', 'outcome']);
  });

  test.each([
    'drop table audit',
    'truncate audit',
    'alter table resource disable row level security',
    'drop policy of_site on resource',
    'alter table audit owner to gateway_app',
    'update audit_minimum_age set days = 365',
    'create table mine ()',
    'set role gateway',
    `select table_of_site('resource')`,
    `create or replace function assert_caller(p_site uuid, p_client text, p_jti text) returns void language sql as ''`,
  ])('may not: %s', async (statement) => {
    expect(await from(OURS, () => rowsOrRefusal(statement))).toBe(DENIED);
  });
});

describe('functions that act for the owner', () => {
  interface Function {
    readonly name: string;
    readonly settings: readonly string[];
    readonly isForAll: boolean;
  }
  let functions: readonly Function[];
  beforeEach(async () => {
    const { rows } = await db.client.query<Function>(
      `select p.proname as name, coalesce(p.proconfig, '{}') as settings,
              p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee = 0) as "isForAll"
         from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prosecdef order by 1`,
    );
    functions = rows;
  });

  test('are these', () => {
    expect(functions.map(({ name }) => name)).toEqual(FOR_THE_OWNER);
  });

  test('find tables and functions only in the gateway’s schema', () => {
    const elsewhere = functions.filter(({ settings }) => !settings.includes('search_path=public, pg_temp'));
    expect(elsewhere.map(({ name }) => name)).toEqual([]);
  });

  test('are called by the application and no other role', () => {
    expect(functions.filter(({ isForAll }) => isForAll).map(({ name }) => name)).toEqual([]);
  });
});
