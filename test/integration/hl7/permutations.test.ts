/**
 * Any order of arrival ends in the same patient record, on a real database. The lookups, locks and rows of one message
 * are what the next one finds. Some messages are sent again unchanged, some under another control id.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { useTestDatabase } from '../../stack/tools/database.ts';
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
} from '../../inputs/hl7-histories.ts';
import { createHl7Site } from '../../stack/tools/hl7-site.ts';
import { stateOf } from './state.ts';

const db = await useTestDatabase();

/** @returns the final state of a site that accepted all messages */
async function after(messages: readonly string[]): Promise<readonly string[]> {
  const site = await createHl7Site({ database: db, timeZone: 'Europe/Vienna' });
  for (const message of messages) {
    const sent = await site.send(message);
    if (sent.outcome !== 'AA') throw new Error(`${sent.outcome}: ${sent.text}`);
  }
  return stateOf(db.client, site.site);
}

/** Some repeated messages have another control id the second time, as after a restart of their sender. */
function renumbered(messages: readonly string[], isRenumbered: readonly boolean[]): string[] {
  const seen = new Set<string>();
  return messages.map((message, at) => {
    const isAgain = seen.has(message);
    seen.add(message);
    return isAgain && isRenumbered[at] === true ? message.replace('|P|2.5.1', 'again|P|2.5.1') : message;
  });
}

/** After a merge of two equal resources one remains, and the other is entered-in-error. */
const isNoLeftover = (state: string): boolean => state.startsWith('Patient ') || !state.includes('"entered-in-error"');
const isAny = (): boolean => true;

test.each<readonly [string, fc.Arbitrary<Utterance>, readonly string[], (state: string) => boolean]>([
  ['results and their report', oru, [], isAny],
  ['documents and what replaces them', mdm, [], isAny],
  ['a patient with allergies, conditions, procedures', adt, [KNOWN], isAny],
  ['a patient with admissions and results', admissionsAndResults, [KNOWN], isAny],
  ['two numbers that are merged', merged, [], isAny],
  ['the same results of two numbers that are merged', resultsThatMeet, [], isNoLeftover],
  ['resources with equal keys under two merged identifiers', filedThatMeet, [], isNoLeftover],
])('%s', async (_, said, first, counts) => {
  const isRenumbered = fc.array(fc.boolean(), { minLength: 10, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(inTwoOrders(said), isRenumbered, async ({ all, other }, renumbers) => {
      const [one, two] = await Promise.all([
        after([...first, ...all]),
        after([...first, ...renumbered(other, renumbers)]),
      ]);
      expect(two.filter(counts)).toEqual(one.filter(counts));
    }),
    { numRuns: sized(4, 100) },
  );
});
