/** Two patient records of one person with different identifiers are found in the background, and listed as possible duplicates. */
import { beforeEach, describe, expect, test } from 'vitest';

import { COMPARE_ALIKE, STEP_RECORDS } from '../../../edge/hl7/alike/job.ts';
import { tick } from '../../../edge/jobs/tick.ts';
import { askForAlike } from '../../../edge/store/alike.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';

let site: Hl7Site;
const other = await createHl7Site();
beforeEach(async () => {
  site = await createHl7Site({ database: other.db });
});

const deps = () => ({ ...site.deps, log: () => undefined });

async function compareOnce(): Promise<void> {
  await deps().database.run(askForAlike());
  await other.db.client.query(`update job set run_after = now() where kind = 'alike'`);
  await tick(deps(), [COMPARE_ALIKE], 60_000);
}

/** Until no site has changed records. A moment is not settled while a transaction of another test runs. */
async function compareAll(): Promise<void> {
  const isUnsettled = async () => {
    await compareOnce();
    const { rows } = await other.db.client.query('select from alike_check where until_at is not null');
    return rows.length > 0;
  };
  await expect.poll(isUnsettled, { timeout: 30_000 }).toBe(false);
}

let numbers = 0;
/** A new record. @param pid PID-5 to PID-11 @returns its identifier */
async function admit(pid: string, of = site): Promise<string> {
  const number = `N${(numbers += 1)}`;
  expect((await of.send(`${msh('ADT^A04')}\nPID|1||${number}^^^HOSP^MR||${pid}`)).outcome).toBe('AA');
  return number;
}

/** The identifiers of each listed pair, the older record first. */
async function pairs(of = site): Promise<string[]> {
  const { rows } = await of.db.client.query<{ pair: string; reason: string }>(
    `select (select string_agg(p.value, ' ' order by p.id) from patient_identity p
              where p.site_id = i.site_id and p.id in (i.patient_a, i.patient_b)) as pair, f.detail ->> 'reason' as reason
       from issue i join attention f using (site_id, issue_id) where i.site_id = $1 order by 1`,
    [of.site],
  );
  expect(rows.every(({ reason }) => reason === 'alike')).toBe(true);
  return rows.map(({ pair }) => pair);
}

const DOE = 'Doe^Jane||19800203|F|||12 Main Street^^Springfield^^12345';

describe('lists two records', () => {
  test.each([
    ['that are equal', DOE, DOE],
    [
      'with other spellings',
      'Müller^Jörg||19700101|M|||Hauptstraße 12^^Köln^^50667',
      'MUELLER^JOERG||19700101|M|||Hauptstr. 12^^KOELN^^50667',
    ],
    [
      'with and without punctuation',
      "O'Neill^Ann||19700101|F|||1 Oak Rd^^Cork^^T12",
      'ONEILL^ANN||19700101|F|||1 Oak Road^^Cork^^T12',
    ],
    [
      'of a person with one name',
      '.^Siti||19800203|F|||12 Main St^^Town^^12345',
      '.^Siti||19800203|F|||12 Main St^^Town^^12345',
    ],
    ['with and without a middle name', DOE, DOE.replace('Jane', 'Jane^Mary')],
    [
      'with and without the apartment and ZIP+4',
      DOE,
      DOE.replace('12 Main Street', '12 Main St Apt 4').replace('12345', '12345-6789'),
    ],
    ['one of them without sex', DOE, DOE.replace('|F|', '||')],
    ['one of them with a maiden name first', DOE, DOE.replace('Doe^Jane', 'Roe^Jane^^^^^M~Doe^Jane')],
  ])('%s', async (_, one, two) => {
    const [a, b] = [await admit(one), await admit(two)];
    await compareAll();
    expect(await pairs()).toEqual([`${a} ${b}`]);
  });
});

describe('does not list', () => {
  test.each([
    ['twins', DOE, DOE.replace('Jane', 'June')],
    ['twins with one first name', DOE.replace('Jane', 'Mary^Ann'), DOE.replace('Jane', 'Mary^Sue')],
    [
      'newborn twins without names',
      'Doe^BABYGIRL||20260301|F|||12 Main St^^Springfield^^12345',
      'Doe^BABYGIRL||20260301|F|||12 Main St^^Springfield^^12345',
    ],
    ['father and son', DOE.replace('|F|', '|M|'), DOE.replace('|F|', '|M|').replace('1980', '2005')],
    ['husband and wife', DOE, DOE.replace('Jane', 'John').replace('|F|', '|M|')],
    ['persons of one name and birth date who live elsewhere', DOE, DOE.replace('12 Main Street', '12 Oak Street')],
    ['records without an address', 'Doe^Jane||19800203|F', 'Doe^Jane||19800203|F'],
    [
      'records with a placeholder for the birth date',
      DOE.replace('19800203', '19000101'),
      DOE.replace('19800203', '19000101'),
    ],
    ['persons without a name', DOE.replace('Doe^Jane', 'UNKNOWN^UNKNOWN'), DOE.replace('Doe^Jane', 'UNKNOWN^UNKNOWN')],
  ])('%s', async (_, one, two) => {
    await admit(one);
    await admit(two);
    await compareAll();
    expect(await pairs()).toEqual([]);
  });

  test.each([
    ['merged', 'ADT^A40', (a: string, b: string) => `PID|1||${a}^^^HOSP^MR||${DOE}\nMRG|${b}^^^HOSP^MR`],
    ['linked', 'ADT^A24', (a: string, b: string) => `PID|1||${a}^^^HOSP^MR||${DOE}\nPID|2||${b}^^^HOSP^MR||${DOE}`],
    ['deleted', 'ADT^A29', (a: string) => `PID|1||${a}^^^HOSP^MR||${DOE}`],
  ])('records that were %s', async (_, type, segments) => {
    const [a, b] = [await admit(DOE), await admit(DOE)];
    expect((await site.send(`${msh(type)}\n${segments(a, b)}`)).outcome).toBe('AA');
    await compareAll();
    expect(await pairs()).toEqual([]);
  });

  test('records of two sites', async () => {
    await admit(DOE);
    await admit(DOE, other);
    await compareAll();
    expect([await pairs(), await pairs(other)]).toEqual([[], []]);
  });
});

test('compares what was changed since, and a dismissed pair stays dismissed', async () => {
  const a = await admit(DOE);
  const b = await admit(DOE.replace('12345', '99999'));
  await compareAll();
  expect(await pairs()).toEqual([]);
  const correct = async (n: number) =>
    expect((await site.send(`${msh('ADT^A08')}\nPID|1||${b}^^^HOSP^MR||${DOE}|||55${n}`)).outcome).toBe('AA');
  await correct(1);
  await compareAll();
  expect(await pairs()).toEqual([`${a} ${b}`]);
  await site.db.client.query(
    `update issue set dismissed_at = now(), dismissed_by = 'ada', dismissed_reason = 'two persons' where site_id = $1`,
    [site.site],
  );
  await correct(2);
  await compareAll();
  const { rows } = await site.db.client.query('select dismissed_by from issue where site_id = $1', [site.site]);
  expect(rows).toEqual([{ dismissed_by: 'ada' }]);
  const count = async () =>
    (await site.db.client.query<{ n: string }>(`select progress_done as n from job where kind = 'alike'`)).rows[0]?.n;
  const before = await count();
  await compareAll();
  expect(await count()).toBe(before);
});

test('many equal records are pairs with the oldest, 20 at most, and no more when they are sent again', async () => {
  const all: string[] = [];
  for (let n = 0; n < 5; n += 1) all.push(await admit(DOE));
  await compareAll();
  const [oldest = '', ...others] = all;
  const expected = others.map((each) => `${oldest} ${each}`);
  expect((await pairs()).toSorted()).toEqual(expected.toSorted());
  for (const each of all) await site.send(`${msh('ADT^A08')}\nPID|1||${each}^^^HOSP^MR||${DOE}|||555`);
  await compareAll();
  expect(await pairs()).toHaveLength(4);
  for (let n = 0; n < 20; n += 1) await admit(DOE);
  await compareAll();
  expect(await pairs()).toHaveLength(20);
});

test('compares more records than a step takes, and a record whose transaction ends late', async () => {
  const a = await admit(DOE);
  const late = await site.db.connect();
  await late.query(`select set_config('gateway.site', $1, false)`, [site.site]);
  await late.query('begin');
  await late.query(
    `update resource set version = 2, last_updated = write_time() where site_id = $1 and type = 'Patient'`,
    [site.site],
  );
  await site.db.client.query(
    `insert into resource (site_id, type, id, version, last_updated, meta, body)
     select $1, 'Patient', gen_random_uuid(), 1, write_time(), '', '' from generate_series(1, $2::int)`,
    [site.site, STEP_RECORDS * 2],
  );
  await site.db.client.query(
    `insert into patient_search (site_id, id, names, name_sort, birth_date)
     select site_id, id, '', '', '' from resource r where site_id = $1 and version = 1 and body = ''`,
    [site.site],
  );
  const b = await admit(DOE);
  await compareOnce();
  expect(await pairs()).toEqual([]);
  await late.query('commit');
  await compareAll();
  expect(await pairs()).toEqual([`${a} ${b}`]);
  const { rows } = await site.db.client.query(
    "select until_at, after_at > now() - interval '1 hour' as is_ahead from alike_check where site_id = $1",
    [site.site],
  );
  expect(rows).toEqual([{ until_at: null, is_ahead: true }]);
});
