/**
 * Any order of arrival ends in the same chart, on a real database: what was looked up, locked, remembered and stored of one
 * message is what the next one finds. Some messages come again as they were, some under another control id.
 */
import { createHash } from 'node:crypto';

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { parseJson, sortedJson } from '../../../shared/json.ts';
import { createTestDatabase, type TestDatabase } from '../../stack/tools/database.ts';
import { sized } from '../../stack/tools/size.ts';
import {
  admissionsAndResults,
  adt,
  inTwoOrders,
  filedThatMeet,
  KNOWN,
  mdm,
  merged,
  oru,
  resultsThatMeet,
  type Utterance,
} from '../../unit/hl7/order/histories.ts';
import { withSets } from '../../unit/hl7/world.ts';
import { createHl7Site, type Hl7Site } from './site.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** @returns what a site has in the end of messages that all are accepted */
async function after(messages: readonly string[]): Promise<readonly string[]> {
  const site = await createHl7Site({ database: db, timeZone: 'Europe/Vienna' });
  for (const message of messages) {
    const sent = await site.send(message);
    if (sent.outcome !== 'AA') throw new Error(`${sent.outcome}: ${sent.text}`);
  }
  return stateOf(site);
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** A reference to what is referred to from elsewhere is told by then. */
const ROUNDS = 3;

/** All resources, and by which numbers the patients are known, with ids told by what the resources say. */
async function stateOf({ site }: Hl7Site): Promise<readonly string[]> {
  const { rows } = await db.client.query<{
    type: string;
    id: string;
    body: string;
    patient: string | null;
    numbers: string;
  }>(
    `select r.type, r.id, r.body, r.patient_id as patient,
            (select coalesce(json_agg(x order by x::text), '[]')::text
               from (select i.domain, i.value, bool_or(i.led) as led from patient_identity i
                      where i.site_id = r.site_id and i.id = r.id group by 1, 2) x) as numbers
       from resource r where r.site_id = $1`,
    [site],
  );
  let names: ReadonlyMap<string, string> = new Map(rows.map(({ type, id }) => [id, type]));
  const told = (text: string): string =>
    text.replaceAll(UUID, (id) => names.get(id) ?? (id === site ? 'this-site' : id));
  const printed = ({ type, body, patient, numbers }: (typeof rows)[number]): string =>
    `${type} of ${told(patient ?? 'nobody')} ${sortedJson(withSets(parseJson(told(`{${body}}`))))} ${numbers}`;
  for (let round = 0; round < ROUNDS; round += 1)
    names = new Map(rows.map((row) => [row.id, createHash('sha256').update(printed(row)).digest('hex').slice(0, 8)]));
  return rows.map(printed).toSorted();
}

/** Of messages that are there twice some have another control id the second time, as after a restart of their sender. */
function numberedAnew(messages: readonly string[], isAnew: readonly boolean[]): string[] {
  const seen = new Set<string>();
  return messages.map((message, at) => {
    const isAgain = seen.has(message);
    seen.add(message);
    return isAgain && isAnew[at] === true ? message.replace('|P|2.5.1', 'again|P|2.5.1') : message;
  });
}

/** Of what met in a merge one stands, the other has been entered in error. */
const isNoLeftover = (state: string): boolean => state.startsWith('Patient ') || !state.includes('"entered-in-error"');
const isAny = (): boolean => true;

test.each<readonly [string, fc.Arbitrary<Utterance>, readonly string[], (state: string) => boolean]>([
  ['results and their report', oru, [], isAny],
  ['documents and what replaces them', mdm, [], isAny],
  ['a patient with allergies, conditions, procedures', adt, [KNOWN], isAny],
  ['a patient of whom results speak too', admissionsAndResults, [KNOWN], isAny],
  ['two numbers that are merged', merged, [], isAny],
  ['the same results of two numbers that are merged', resultsThatMeet, [], isNoLeftover],
  ['what is filed by key under two numbers that are merged', filedThatMeet, [], isNoLeftover],
])('%s', async (_, said, first, counts) => {
  const isAnew = fc.array(fc.boolean(), { minLength: 10, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(inTwoOrders(said), isAnew, async ({ all, other }, anew) => {
      const [one, two] = await Promise.all([
        after([...first, ...all]),
        after([...first, ...numberedAnew(other, anew)]),
      ]);
      expect(two.filter(counts)).toEqual(one.filter(counts));
    }),
    { numRuns: sized(4, 100) },
  );
});
