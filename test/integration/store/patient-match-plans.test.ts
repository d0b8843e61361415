/**
 * Patient/$match finds its candidates by index, in a large site, a small site among many and a site without statistics. A common
 * birth date and a common identifier cost no more.
 */
import { beforeAll, describe, expect, test } from 'vitest';

import { matchCandidates, MAX_COMPARED } from '../../../edge/store/patient-match.ts';
import { createSite } from '../../stack/services/seed.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { explain, planKept } from '../../stack/tools/plan.ts';
import { sized } from '../../stack/tools/size.ts';
import { withoutGuards } from '../../stack/tools/without-guards.ts';

const PATIENTS = sized(20_000, 1_000_000);
const SMALL_SITES = sized(30, 500);
const UNKNOWN_PATIENTS = 5000;

const db = await useTestDatabase();
/** Plans are made for the application's role: policies count. */
const application = await db.connect();
let large: string;
let small: string;
let unknown: string;

/** Every fourth patient has one birth date, every hundredth of these one name, and every tenth patient one value beside its own. */
async function populate(site: string, count: number): Promise<void> {
  const id = `('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
  await db.client.query(
    `insert into resource (site_id, type, id, version, last_updated, meta, body)
     select $1, 'Patient', ${id}, 1, timestamptz '2026-01-01' + n * interval '1 s', '', '"gender":"female"'
       from generate_series(1, $2::int) n`,
    [site, count],
  );
  await db.client.query(
    `insert into patient_search (site_id, id, names, name_sort, birth_date, gender, families, givens)
     select $1, ${id}, 'x', 'anna ' || f.name,
            case when n % 4 = 0 then '1970-01-01' else (date '1930-01-01' + n % 20000)::text end, 'female',
            E'\\n' || f.name || E'\\n', E'\\nanna\\n'
       from generate_series(1, $2::int) n cross join lateral (select case when n % 400 = 0 then 'doe' else 'family' || n % 5000 end as name) f`,
    [site, count],
  );
  await db.client.query(
    `insert into patient_identity (site_id, value, authority, id, number_type, led, is_assumed, is_taught)
     select $1, v.value, 'urn:' || v.authority, ${id}, 'MR', true, false, true
       from generate_series(1, $2::int) n
      cross join lateral (values (n::text, 0), (case when n % 10 = 0 then 'common' end, n % 1000)) v (value, authority)
      where v.value is not null`,
    [site, count],
  );
  await db.client.query(
    `insert into hl7_precedence (site_id, type, id) select $1, 'Patient', ${id} from generate_series(1, $2::int) n`,
    [site, count],
  );
  await db.client.query(
    `insert into patient_trait (site_id, id, trait) select $1, ${id}, '["doe","anna","","1970-01-01"]' from generate_series(1, $2::int) n`,
    [site, count],
  );
}

const siteWith = async (count: number): Promise<string> => {
  const site = await createSite(db.client);
  await populate(site, count);
  return site;
};

beforeAll(async () => {
  await withoutGuards(db.client, async () => {
    large = await siteWith(PATIENTS);
    for (let n = 0; n < SMALL_SITES; n += 1) small = await siteWith(100);
  });
  unknown = await siteWith(UNKNOWN_PATIENTS);
}, 900_000);

const TABLES = ['resource', 'patient_search', 'patient_identity', 'patient_trait', 'hl7_precedence'];
const COMMON = { birthDate: '1970-01-01', nameSort: 'anna doe', families: '\ndoe\n' };
const NO_PERSON = { birthDate: '', nameSort: '', families: '' };

describe.each<[string, () => string]>([
  [`a site of ${PATIENTS} patients`, () => large],
  [`a site of a hundred among ${SMALL_SITES}`, () => small],
  ['a site that the statistics do not know', () => unknown],
])('%s', (_, site) => {
  test.each([
    ['one identifier', { identifiers: [['77', 'urn:0']], ...NO_PERSON }],
    ['ten identifiers', { identifiers: Array.from({ length: 10 }, (_, n) => [`${n + 7}`, null]), ...NO_PERSON }],
    ['an identifier of many, without an authority', { identifiers: [['common', null]], ...NO_PERSON }],
    ['an identifier of many authorities', { identifiers: [['common', 'urn:500']], ...NO_PERSON }],
    ['a common name and birth date', { identifiers: [], ...COMMON }],
    ['both', { identifiers: [['common', null]], ...COMMON }],
    ['no match', { identifiers: [['no such', null]], birthDate: '1999-09-09', nameSort: 'x', families: '\nx\n' }],
  ] as const)('%s', async (__, asked) => {
    const query = matchCandidates({
      site: site(),
      ...asked,
      identifiers: asked.identifiers as [string, string | null][],
    });
    for (const planned of [undefined, planKept]) {
      const { whole, rows, pages, rowsOf } = await explain(application, site(), query, planned);
      expect(whole.filter((table) => TABLES.includes(table ?? ''))).toEqual([]);
      // 101 with the authority and 500 others of each value; 200 of the birth date and 50 of the name.
      expect(rowsOf('patient_identity')).toBeLessThanOrEqual(asked.identifiers.length * 1202);
      expect(rowsOf('patient_search')).toBeLessThanOrEqual(251);
      expect(rows).toBeLessThanOrEqual(3000);
      expect(pages).toBeLessThan(20_000);
    }
    const { rows: found } = await application.query(query.text, [...query.params]);
    expect(found.length).toBeLessThanOrEqual(MAX_COMPARED + 1);
  });
});

test('an identifier with its authority is found among many patients with its value', async () => {
  await application.query(`select set_config('gateway.site', $1, false)`, [large]);
  const { text, params } = matchCandidates({ site: large, identifiers: [['common', 'urn:990']], ...NO_PERSON });
  const { rows } = await application.query<{ sort_key: string | null }>(text, [...params]);
  expect(rows.length).toBeGreaterThan(1);
  for (const { sort_key: known } of rows) expect(known).toContain('["urn:990", "common", "MR", true, false]');
});
