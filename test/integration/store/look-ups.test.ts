/**
 * An index that covers all conditions serves each lookup of a message and each search for one patient, also behind row
 * security. The tests count the pages that PostgreSQL reads among many rows of one sender, one patient and the audit.
 */
import { randomUUID } from 'node:crypto';

import { beforeAll, describe, expect, test } from 'vitest';

import { parameter } from '../../../edge/platform/parameter.ts';
import type { Query } from '../../../edge/deps.ts';
import { type AuditFilter, listAudit } from '../../../edge/store/admin-audit.ts';
import { findByIdOrIdentifier, type FoundThing } from '../../../edge/store/console-search.ts';
import { searchPage } from '../../../edge/store/search/search.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { idAt } from '../../stack/tools/id-at.ts';
import { explain } from '../../stack/tools/plan.ts';
import { withoutGuards } from '../../stack/tools/without-guards.ts';

const MANY = 5_000;
const SITES = 100;
const RESOURCES = 60_000;

const db = await useTestDatabase();
const application = await db.connect();
let site: string;
let clientId: string;
/** A site with more resources than a search sorts by their time of change. */
let busy: string;
/** A site whose ids have the time of creation. One resource in a thousand has changed since. */
let fresh: string;
const FRESH = 12_000;
const patient = idAt(1);
/** A patient with many audit events. */
const often = idAt(2);

beforeAll(async () => {
  const { client } = db;
  site = await createSite(client);
  ({ clientId } = await createApiKey(client, { site, protocols: ['hl7'] }));
  busy = await createSite(client);
  fresh = await createSite(client);
  await withoutGuards(client, async () => {
    await client.query(
      `insert into resource (site_id, type, id, version, last_updated, meta, body)
       select $1, 'Patient', ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 1,
          timestamptz '2026-01-01' + n * interval '1 s', '', '"active":true' from generate_series(1, $2::int) n`,
      [busy, RESOURCES],
    );
    await client.query(
      `insert into resource (site_id, type, id, version, last_updated, meta, body)
       select $1, 'Patient', (lpad(to_hex(extract(epoch from at)::bigint * 1000), 12, '0') || lpad(to_hex(n), 20, '0'))::uuid, 1,
          case when n % 1000 = 0 then timestamptz '2026-01-02' else at end, '', '"active":true'
         from generate_series(1, $2::int) n, lateral (select timestamptz '2026-01-01' + n * interval '1 s' as at) t`,
      [fresh, FRESH],
    );
    // One sender has nearly all messages, and each of a hundred others a few, so that the planner expects one row.
    await client.query(
      `insert into hl7_message (site_id, message_id, client_id, source, source_address, sending_application,
          sending_facility, control_id, sha256, message_type, raw, outcome)
       select case when n <= $3 then $1 else md5((n % $4)::text)::uuid end, gen_random_uuid(),
          case when n <= $3 then $2 else 'svc-' || md5((n % $4)::text)::uuid end, 'http', '192.0.2.1', 'ADT', 'EAST', 'MSG' || n,
          md5(n::text), 'ADT^A08', ''::bytea, 'AA'
         from generate_series(1, $3::int + 3 * $4::int) n`,
      [site, clientId, MANY, SITES],
    );
    await client.query(
      `insert into patient_identity (site_id, value, authority, id, number_type, led, is_assumed, is_taught)
       select $1, 'MRN' || n, '', case n when 1 then $2 else gen_random_uuid() end, 'MR', true, false, true from generate_series(1, 1000) n`,
      [site, patient],
    );
    await client.query(
      `insert into hl7_result (site_id, type, id, patient_id, what, filler, placer, at, place, numbers)
       select case when n <= $3 then $1 else md5((n % $4)::text)::uuid end, 'Observation', gen_random_uuid(),
          case when n <= $3 then $2 else md5((n / 10)::text)::uuid end, '["' || n % 200 || '","LN",""]', 'F' || n, 'P' || n,
          '2026-01-01T00:00Z', 1, '{}' from generate_series(1, 3 * $3::int) n`,
      [site, patient, MANY, SITES],
    );
    await client.query(
      `insert into hl7_identity (site_id, type, key, id)
       select $1, 'DocumentReference', 'key' || n || '@' || gen_random_uuid(), gen_random_uuid() from generate_series(1, $2::int) n`,
      [site, MANY],
    );
    await client.query(
      `insert into audit (site_id, actor_kind, client_id, request_id, action, parts, types, ids, patients, parameters)
       select case when n % 2 = 0 then $1 else gen_random_uuid() end, 'key', $2, 'r', 'transaction',
          array['create', case when n % 1000 = 0 then 'update' else 'read' end], '{}', '{}', array[case n when 4 then $4 else gen_random_uuid() end], '{}'
         from generate_series(1, 4 * $3::int) n`,
      [site, clientId, MANY, patient],
    );
    await client.query(
      `insert into audit (site_id, at, actor_kind, client_id, request_id, action, parts, types, ids, patients, parameters)
       select $1, timestamptz '2026-01-01' + n * interval '1 s', 'key', $2, 'r', case n % 500 when 8 then 'update' else 'read' end,
          '{}', '{}', '{}', case n % 500 when 9 then array[gen_random_uuid(), $4] else array[$4::uuid] end, '{}'
         from generate_series(1, $3::int) n`,
      [site, clientId, MANY, often],
    );
  });
  // The leaves of an index are half empty where the second site's random id sorts before the first one's.
  await client.query('reindex table resource');
}, 120_000);

/** The pages of 8 kB that PostgreSQL reads, and the rows that it returns. */
async function cost(query: Query): Promise<{ readonly pages: number; readonly rows: number }> {
  const { pages } = await explain(application, site, query);
  const { rows } = await application.query(query.text, query.params.map(parameter));
  return { pages, rows: rows.length };
}
/** The cost of the second call, whose plan is cached. */
async function costAgain(query: Query) {
  await cost(query);
  return cost(query);
}

const known = (types: readonly string[], keys: readonly string[]): Query => ({
  text: 'select * from hl7_matches($1::uuid, $2::text[], $3::text[], $4::text[])',
  params: [site, ['MRN1'], types, keys],
});
const result = (filler: string, placer: string): string =>
  JSON.stringify(['["7","LN",""]', filler, placer, '2026-01-01T00:00Z', '2026-01-01T00:00Z']);

const MAX_PAGES = 100;

describe('a message', () => {
  test('is searched among the messages of its sender', async () => {
    const sender = {
      text: 'select hl7_sender($1::uuid, $2, $3, $4, $5, $6)',
      params: [site, clientId, 'ADT', 'EAST', 'NEW', 'new'],
    };
    expect((await costAgain(sender)).pages).toBeLessThan(MAX_PAGES);
  });

  test('finds its patient', async () => {
    expect(await costAgain(known([], []))).toMatchObject({ rows: 1 });
  });

  test('finds a result by either order number for a patient with many results', async () => {
    for (const key of [result('F7', ''), result('new', 'P7')]) {
      const { pages } = await costAgain(known(['Observation'], [key]));
      expect(pages).toBeLessThan(MAX_PAGES);
    }
  });

  test('finds a document by its key', async () => {
    const { pages } = await costAgain(known(['DocumentReference'], ['key7']));
    expect(pages).toBeLessThan(MAX_PAGES);
  });
});

describe('the audit', () => {
  const ANY: AuditFilter = {
    patient: '',
    patientIdentifier: '',
    clientId: '',
    actor: '',
    actions: [],
    from: '',
    to: '',
  };
  const list = (filter: Partial<AuditFilter>): Query => listAudit(site, { ...ANY, ...filter }, 'newest', null, 51);

  test('is found by a patient', async () => {
    const { pages, rows } = await costAgain(list({ patient }));
    expect(rows).toBe(1);
    expect(pages).toBeLessThan(MAX_PAGES);
  });

  test('is read in the order of time for a patient with many audit events', async () => {
    const seconds = async (filter: Partial<AuditFilter>, order: 'newest' | 'oldest') => {
      const query = listAudit(site, { ...ANY, patient: often, ...filter }, order, null, 600);
      expect((await explain(application, site, query)).pages).toBeLessThan(20 * MAX_PAGES);
      const { rows } = await application.query<{ at: string }>(query.text, query.params.map(parameter));
      return rows.map(({ at }) => (Date.parse(at) - Date.UTC(2026, 0, 1)) / 1000);
    };
    // Some of the events concern other patients too.
    const all = Array.from({ length: MANY }, (_, n) => n + 1);
    expect(await seconds({}, 'oldest')).toEqual(all.slice(0, 600));
    expect(await seconds({}, 'newest')).toEqual(all.toReversed().slice(0, 600));
    expect(await seconds({ actions: ['update'] }, 'oldest')).toEqual(all.filter((n) => n % 500 === 8));
    const { pages, rows } = await costAgain(list({ patient: often }));
    expect(rows).toBe(51);
    expect(pages).toBeLessThan(2 * MAX_PAGES);
  });

  test.each<[string, Partial<AuditFilter>, (n: number) => boolean]>([
    ['a key', {}, () => true],
    ['an action of a key', { actions: ['update'] }, (n) => n % 500 === 8],
    ['a key and a time', { from: '2026-01-01T00:10:30Z', to: '2026-01-01T00:20:30Z' }, (n) => n >= 630 && n < 1230],
  ])('has each event of %s once in its pages, in the order of time', async (_, filter, isFound) => {
    const all = Array.from({ length: MANY }, (__, n) => n + 1).filter(isFound);
    for (const [order, expected] of [
      ['oldest', all],
      ['newest', all.toReversed()],
    ] as const) {
      const found: number[] = [];
      let after: string[] | null = null;
      for (;;) {
        // Before the other events, which are of now.
        const query: Query = listAudit(site, { ...ANY, clientId, to: '2026-02-01', ...filter }, order, after, 130);
        // Two of them for the name of each row's API key.
        expect((await explain(application, site, query)).pages).toBeLessThan(4 * MAX_PAGES);
        const { rows } = await application.query<{ at: string; audit_id: string }>(
          query.text,
          query.params.map(parameter),
        );
        const last = rows.at(-1);
        if (last === undefined || found.length >= 1_500) break;
        found.push(...rows.map(({ at }) => (Date.parse(at) - Date.UTC(2026, 0, 1)) / 1000));
        after = [last.at, last.audit_id];
      }
      expect(found).toEqual(expected.slice(0, found.length));
      expect(found.length).toBeGreaterThanOrEqual(Math.min(expected.length, 1_500));
    }
  });

  test('accepts any year', async () => {
    const years = { from: '0001-01-01', to: '9999-12-31T23:59:59Z' };
    expect((await cost(list({ clientId, ...years }))).rows).toBe(51);
  });

  test('is found by an identifier', async () => {
    const { pages, rows } = await costAgain(list({ patientIdentifier: 'MRN1' }));
    expect(rows).toBe(1);
    expect(pages).toBeLessThan(MAX_PAGES);
  });

  test('is found by an action that few or no bundles have', async () => {
    const few = await costAgain(list({ actions: ['update'] }));
    expect(few.rows).toBe((4 * MANY) / 1000 + MANY / 500);
    // The name of the API key of each row is read too.
    expect(few.pages).toBeLessThan(MAX_PAGES + 2 * few.rows);
    const none = await costAgain(list({ actions: ['history'] }));
    expect(none).toMatchObject({ rows: 0 });
    expect(none.pages).toBeLessThan(MAX_PAGES);
  });

  test('does not contain events of a patient of another site', async () => {
    expect((await cost(list({ patient: randomUUID() }))).rows).toBe(0);
  });
});

test('the search box finds an id and an identifier by their indexes', async () => {
  const { client } = db;
  await withoutGuards(client, async () => {
    await client.query(
      `insert into resource_identifier (site_id, type, value, system, id)
       select r.site_id, r.type, 'B' || row_number() over (order by r.id) % 100, '', r.id from resource r where r.site_id = $1`,
      [busy],
    );
  });
  const ofBusy = async (query: Query) => {
    await explain(application, busy, query);
    const { pages } = await explain(application, busy, query);
    await application.query(`select set_config('gateway.site', $1, false)`, [busy]);
    const { rows } = await application.query<FoundThing>(query.text, query.params.map(parameter));
    return { pages, ids: rows.map(({ id }) => id) };
  };
  const id = '01900000-0000-7000-8000-000000000007';
  for (const [query, rows] of [
    [findByIdOrIdentifier(busy, id, id, 11), 1],
    [findByIdOrIdentifier(busy, null, 'B7', 11), 11],
    [findByIdOrIdentifier(busy, null, 'nothing', 11), 0],
    [findByIdOrIdentifier(busy, randomUUID(), 'nothing', 11), 0],
  ] as const) {
    const found = await ofBusy(query);
    expect(found.ids).toHaveLength(rows);
    expect(found.pages).toBeLessThan(3 * MAX_PAGES);
  }
});

describe('a search for changed resources', () => {
  const since = (seconds: number, at = busy, after: string | null = null): Query =>
    searchPage({
      site: at,
      type: 'Patient',
      criteria: [
        {
          kind: 'last-updated',
          any: [{ from: new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString(), before: null, outside: false }],
        },
      ],
      sort: { by: 'id', descending: false },
      after: after === null ? null : { key: null, id: after },
      limit: 20,
    });
  const idsOf = async (query: Query, at = busy): Promise<string[]> => {
    await application.query(`select set_config('gateway.site', $1, false)`, [at]);
    const { rows } = await application.query<{ id: string }>(query.text, query.params.map(parameter));
    return rows.map(({ id }) => id);
  };
  const numbered = (n: number): string => `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
  const from = (first: number): string[] => Array.from({ length: 21 }, (_, n) => numbered(first + n));

  test('finds late changes without reading older resources', async () => {
    const query = since(RESOURCES - 99);
    expect(await idsOf(query)).toEqual(from(RESOURCES - 99));
    expect((await explain(application, busy, query)).pages).toBeLessThan(2 * MAX_PAGES);
  });

  test('walks all resources by id for an early time, without sorting them', async () => {
    const query = since(5);
    expect(await idsOf(query)).toEqual(from(5));
    expect((await explain(application, busy, query)).pages).toBeLessThan(20 * MAX_PAGES);
  });

  test('finds new resources and changed older ones in a time with many changes', async () => {
    const numbersOf = async (query: Query) =>
      (await idsOf(query, fresh)).map((id) => Number.parseInt(id.replaceAll('-', '').slice(-8), 16));
    const older = [1000, 2000, 3000, 4000, 5000];
    const rest = Array.from({ length: 40 }, (_, n) => 6000 + n);
    const first = since(6000, fresh);
    expect(await numbersOf(first)).toEqual([...older, ...rest].slice(0, 21));
    expect((await explain(application, fresh, first)).pages).toBeLessThan(2 * MAX_PAGES);
    const ids = await idsOf(first, fresh);
    expect(await numbersOf(since(6000, fresh, ids[2]))).toEqual([...older, ...rest].slice(3, 24));
    expect(await numbersOf(since(6000, fresh, ids[19]))).toEqual([...older, ...rest].slice(20, 41));
  });
});
