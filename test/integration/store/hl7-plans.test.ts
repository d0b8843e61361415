/**
 * The look-ups of a message in full tables. Each reads a limited number of pages, in a site of any size and with any statistics.
 * The message merges patients, absorbs a record, or names results, documents and allergies.
 */
import { beforeAll, describe, expect, test } from 'vitest';

import { parameter } from '../../../edge/platform/parameter.ts';
import type { Query } from '../../../edge/deps.ts';
import { EXCLUSION_KEYS } from '../../../edge/hl7/mapping/no-known-allergy.ts';
import { cancelledKey, numberedKey } from '../../../edge/hl7/mapping/key.ts';
import { ofMerge } from '../../../edge/hl7/message/outline.ts';
import type { LookupKeys } from '../../../edge/store/hl7-snapshot.ts';
import { createSite } from '../../stack/services/seed.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { explain } from '../../stack/tools/plan.ts';
import { sized } from '../../stack/tools/size.ts';
import { withoutGuards } from '../../stack/tools/without-guards.ts';

const PATIENTS = sized(10_000, 1_000_000);
/** Results of one order of the first patient. */
const SERIES = 3_000;
/** Patients that share one value. */
const SHARING = 150;

const db = await useTestDatabase();
/** Policies apply to this role. */
const application = await db.connect();
let large: string;
/** A site that the statistics do not know. */
let unknown: string;

const idSql = (kind: number, n: string): string =>
  `('0190000${kind}-0000-7000-8000-' || substr(md5(x.salt), 1, 4) || lpad(to_hex(${n}), 8, '0'))::uuid`;

/**
 * Each patient has an order with a result and a report, a report without a number, and a result of another order. Two patients
 * share an identifier, and the parent of their results of the other order. Every second of them is known from results alone.
 */
async function populate(site: string, patients: number): Promise<void> {
  const from = `from generate_series(1, $2::int) n cross join (select $1::text as salt) x`;
  const insert = (text: string): Promise<unknown> => db.client.query(text, [site, patients]);
  const [patient, first, second, report, loose, none] = [1, 2, 3, 4, 5, 6].map((kind) => idSql(kind, 'n'));
  await insert(
    `insert into patient_identity (site_id, value, authority, id, number_type, led, is_assumed, is_taught)
     select $1::uuid, v.value, 'urn:oid:1.2.3', ${patient}, 'MR', true, false, true ${from}
      cross join lateral (values ('M' || n), ('E' || n / 2), (case when n <= ${SHARING} then 'SHARED' end)) v(value)
      where v.value is not null`,
  );
  await insert(
    `insert into patient_trait (site_id, id, trait)
     select $1::uuid, ${patient}, t ${from} cross join lateral (values ('Doe 1980'), (case when n % 2 = 0 then '' end)) v(t)
      where t is not null`,
  );
  const resource = (type: string, id: string, body: string): Promise<unknown> =>
    insert(
      `insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id)
       select $1::uuid, '${type}', ${id}, 1, now(), '', ${body}, ${type === 'Patient' ? 'null' : patient} ${from}`,
    );
  await resource('Patient', patient ?? '', `'"active":true'`);
  for (const id of [first, second]) await resource('Observation', id ?? '', `'"status":"final"'`);
  await resource('AllergyIntolerance', none ?? '', `'"type":"allergy"'`);
  await resource('DiagnosticReport', report ?? '', `'"status":"final"'`);
  await resource(
    'DiagnosticReport',
    loose ?? '',
    `'"status":"final","result":[{"reference":"Observation/' || ${first} || '"}]'`,
  );
  const result = (type: string, id: string, numbers: readonly [filler: string, placer: string], parts = `'{}'`) =>
    insert(
      `insert into hl7_result (site_id, type, id, patient_id, what, filler, placer, at, place, numbers)
       select $1::uuid, '${type}', ${id}, ${patient}, '["what"]', ${numbers[0]}, ${numbers[1]}, '2026-01-01T00:00Z', 1, ${parts} ${from}`,
    );
  await result('Observation', first ?? '', [`'F' || n`, `'P' || n`]);
  await result(
    'Observation',
    second ?? '',
    [`'C' || n`, `''`],
    `'{"parent":{"value":"","placer":"","filler":"F' || n - n % 2 || '"}}'`,
  );
  await result('DiagnosticReport', report ?? '', [`'F' || n`, `'P' || n`]);
  await result('DiagnosticReport', loose ?? '', [`''`, `''`]);
  await insert(
    `insert into hl7_identity (site_id, type, key, id)
     select $1::uuid, 'AllergyIntolerance', '["none","any"]@' || ${patient}, ${none} ${from}`,
  );
  // The first patient has a long series in one order, and documents with one number.
  const salt = `cross join (select $1::text as salt) x`;
  await db.client.query(
    `insert into hl7_result (site_id, type, id, patient_id, what, filler, placer, at, place, numbers)
     select $1::uuid, 'Observation', gen_random_uuid(), ${idSql(1, '1')}, '["s"]', 'SERIES', '',
        to_char(timestamp '2026-01-01' + n * interval '1 min', 'YYYY-MM-DD"T"HH24:MI"Z"'), 1, '{}'
       from generate_series(1, $2::int) n ${salt}`,
    [site, SERIES],
  );
  await db.client.query(
    `with made as (
       insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id)
       select $1::uuid, 'DocumentReference', gen_random_uuid(), 1, now(), '', '"status":"current"', ${idSql(1, '1')}
         from generate_series(1, 50) n ${salt} returning *)
     insert into resource_identifier (site_id, type, value, system, id)
     select site_id, type, 'D' || row_number() over (), '', id from made`,
    [site],
  );
}

beforeAll(async () => {
  large = await createSite(db.client);
  unknown = await createSite(db.client);
  await withoutGuards(db.client, async () => {
    await populate(large, PATIENTS);
    await db.client.query('analyze');
    await populate(unknown, 2_000);
  });
}, 1_800_000);

const lookUp = (site: string, { identifierValues, keys }: LookupKeys): Query => ({
  text: 'select * from hl7_matches($1::uuid, $2::text[], $3::text[], $4::text[])',
  params: [site, [...identifierValues], keys.map(({ type }) => type), keys.map(({ key }) => key)],
});

const of = (value: string, ...keys: LookupKeys['keys'][number][]): LookupKeys => ({ identifierValues: [value], keys });
const observation = (...parts: readonly string[]) => ({ type: 'Observation', key: JSON.stringify(parts) }) as const;
const report = (...parts: readonly string[]) => ({ type: 'DiagnosticReport', key: JSON.stringify(parts) }) as const;
const DAY = ['2026-01-01T00:00Z', '2026-01-01T23:59Z', ''] as const;

/** @param roles rows of the look-up, by role */
const CASES: readonly (readonly [
  name: string,
  lookup: LookupKeys,
  roles: Readonly<Record<string, number>>,
  pages: number,
])[] = [
  ['two patients that share an identifier', of('E10'), { patient: 2, number: 2, trait: 3 }, 120],
  [
    'two patients of which one is absorbed',
    ofMerge(of('E10')) ?? of(''),
    { patient: 2, number: 2, trait: 3, result: 6, identity: 4 },
    600,
  ],
  [
    'many patients with one value, those of an authority first',
    of('SHARED', { type: 'Patient', key: JSON.stringify(['SHARED', 'urn:oid:1.2.3']) }),
    { patient: 100, number: 100, trait: 150 },
    4_000,
  ],
  ['an order, and results whose parent is of it', of('M8', observation('children', 'F8', 'P8')), { result: 2 }, 100],
  ['a parent’s order', of('M8', observation('', 'F8', '')), { result: 1 }, 100],
  ['the newest of a long series', of('M1', observation('', 'SERIES', '')), { result: 0 }, 900],
  [
    'one minute of a long series',
    of('M1', observation('', 'SERIES', '', ...DAY.slice(0, 1), ...DAY.slice(0, 1))),
    { result: 0 },
    150,
  ],
  ['a report without a number', of('M8', report('["what"]', '', '', ...DAY)), { result: 2 }, 120],
  [
    'a document by its number alone',
    of('M1', { type: 'DocumentReference', key: numberedKey('D7') }),
    { identity: 0 },
    700,
  ],
  ['a cancelled document', of('M1', { type: 'DocumentReference', key: cancelledKey('D7') }), { identity: 0 }, 100],
  ['no known allergies', of('M8', ...EXCLUSION_KEYS), { identity: 1 }, 150],
];

describe.each([
  ['a large site', () => large],
  ['a site without statistics', () => unknown],
])('in %s', (_, siteOf) => {
  test.each(CASES)('%s', async (_name, lookup, roles, pages) => {
    const site = siteOf();
    const query = lookUp(site, lookup);
    // The first call of a connection reads the catalog and makes the plans.
    await explain(application, site, query);
    expect((await explain(application, site, query)).pages).toBeLessThan(pages);
    const { rows } = await application.query<{ role: string }>(query.text, query.params.map(parameter));
    for (const [role, count] of Object.entries(roles))
      expect(
        rows.filter((row) => row.role === role),
        role,
      ).toHaveLength(count);
  });
});
