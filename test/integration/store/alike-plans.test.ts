/**
 * A step of the comparison of patient records finds changed records, and those of their birth dates and names, by index. The sites
 * are a large one, a small site among many, and a site without statistics. A common birth date costs no more.
 */
import { beforeAll, describe, expect, test } from 'vitest';

import { alikeDue, type AlikePosition, findAlike } from '../../../edge/store/alike.ts';
import { STEP_RECORDS } from '../../../edge/hl7/alike/job.ts';
import { createSite } from '../../stack/services/seed.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { explain, planKept } from '../../stack/tools/plan.ts';
import { sized } from '../../stack/tools/size.ts';
import { withoutGuards } from '../../stack/tools/without-guards.ts';

const RECORDS = sized(50_000, 1_000_000);
const SMALL_SITES = sized(50, 500);
const UNKNOWN_RECORDS = 10_000;
const START: AlikePosition = { after_at: '-infinity', after_id: '00000000-0000-0000-0000-000000000000' };
const END = '2030-01-01T00:00:00Z';

const db = await useTestDatabase();
/** Plans are made for the application's role: policies count. */
const application = await db.connect();
let large: string;
let small: string;
let unknown: string;

/** A record a second; every fourth has one birth date, and every hundredth of these one name. */
async function populate(site: string, count: number): Promise<void> {
  await db.client.query(
    `insert into resource (site_id, type, id, version, last_updated, meta, body)
     select $1, 'Patient', ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 1,
            timestamptz '2026-01-01' + n * interval '1 s', '', '"gender":"female"'
       from generate_series(1, $2::int) n`,
    [site, count],
  );
  await db.client.query(
    `insert into patient_search (site_id, id, names, name_sort, birth_date, gender, families, givens)
     select $1, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'x', f.name || ' anna',
            case when n % 4 = 0 then '1970-01-01' else (date '1930-01-01' + n % 20000)::text end, 'female',
            E'\\n' || f.name || E'\\n', E'\\nanna\\n'
       from generate_series(1, $2::int) n cross join lateral (select case when n % 400 = 0 then 'doe' else 'family' || n % 5000 end as name) f`,
    [site, count],
  );
  await db.client.query(
    `insert into issue (site_id, issue_id, kind, patient_a, patient_b)
     select $1, gen_random_uuid(), 'possible-duplicate', ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
            ('00000000-0000-7000-8000-' || lpad(to_hex(n + 400), 12, '0'))::uuid
       from generate_series(1, $2::int, 10) n`,
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
    large = await siteWith(RECORDS);
    for (let n = 0; n < SMALL_SITES; n += 1) small = await siteWith(100);
  });
  unknown = await siteWith(UNKNOWN_RECORDS);
}, 900_000);

const middle = (count: number): AlikePosition => ({
  after_at: new Date(Date.parse('2026-01-01T00:00:00Z') + (count / 2) * 1000).toISOString(),
  after_id: START.after_id,
});

describe.each<[string, () => string, number]>([
  [`a site of ${RECORDS} records`, () => large, RECORDS],
  [`a site of a hundred among ${SMALL_SITES}`, () => small, 100],
  ['a site that the statistics do not know', () => unknown, UNKNOWN_RECORDS],
])('%s', (_, site, count) => {
  test.each([
    ['the first records', START],
    ['records in the middle', middle(count)],
    ['no record', { ...START, after_at: END }],
  ])('%s', async (__, after) => {
    for (const planned of [undefined, planKept]) {
      const query = findAlike(site(), after, END, STEP_RECORDS, []);
      const { whole, rows, rowsOf, pages } = await explain(application, site(), query, planned);
      expect(whole.filter((table) => table === 'resource' || table === 'patient_search' || table === 'issue')).toEqual(
        [],
      );
      // For each record, the step reads at most 200 of its birth date and 50 of its name.
      expect(rowsOf('patient_search')).toBeLessThanOrEqual(STEP_RECORDS * 251);
      expect(rows).toBeLessThanOrEqual(STEP_RECORDS * 251);
      expect(pages).toBeLessThan(STEP_RECORDS * 1000);
    }
  });
});

test.each([
  ['without a complete birth date', `birth_date = case when name_sort < 'family5' then '' else '1970-01' end`, 0],
  // Entered for patients whose birth date is unknown.
  [
    'with a placeholder for the birth date',
    `birth_date = case when name_sort < 'family5' then '1900-01-01' else '1901-02-03' end`,
    0,
  ],
  // For a person with one name. Records of the day are read, but none of them has the name.
  ['with a family name of punctuation', `families = E'\\n.\\n', name_sort = id::text`, 200],
])('a record %s is compared with none', async (_, change, most) => {
  const site = await siteWith(1_000);
  await db.client.query(`update patient_search set ${change} where site_id = $1`, [site]);
  await db.client.query(`update site set placeholder_birth_dates = '{1901-02-03}' where site_id = $1`, [site]);
  const query = findAlike(site, START, END, STEP_RECORDS, ['1900-01-01']);
  const { rowsOf } = await explain(application, site, query);
  // Its own row, and those of the day.
  expect(rowsOf('patient_search')).toBeLessThanOrEqual(STEP_RECORDS * (1 + most));
  const { rows } = await application.query<{ other: string | null }>(query.text, [...query.params]);
  expect(new Set(rows.map(({ other }) => other))).toEqual(new Set([null]));
});

test('the next site is found by index', async () => {
  await db.client.query(
    `insert into alike_check (site_id, after_at) select site_id, '2029-01-01' from site where site_id <> $1 on conflict do nothing`,
    [unknown],
  );
  const { rows } = await application.query<{ site_id: string }>(alikeDue().text);
  expect(rows).toMatchObject([{ site_id: unknown, until_at: null }]);
  const { pages } = await explain(application, unknown, alikeDue());
  expect(pages).toBeLessThan((SMALL_SITES + 2) * 10);
});
