/** No record has the data of two people, in any family and with any order of its messages (test/inputs/hl7-families.ts). */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { BORN, family, messagesOf, peopleByRecord, worldAfter } from '../../../inputs/hl7-families.ts';
import { seed, sized } from '../../../stack/tools/size.ts';

// A family takes about 10 ms of CPU. At full size, each part of 10,000 has its own time limit: a loaded machine exceeds that of
// one test for all families.
const PARTS = sized([1], [1, 2, 3, 4, 5]);
const tried = (part: number): Pick<fc.Parameters, 'numRuns' | 'seed'> => ({
  numRuns: sized(30, 10_000),
  ...(seed !== undefined && { seed: seed + part - 1 }),
});

test.each(PARTS)('no patient record has data of two people, part %i', (part) => {
  fc.assert(
    fc.property(family, (of) => {
      expect(
        peopleByRecord(worldAfter(messagesOf(of)))
          .values()
          .filter((people) => people.size > 1)
          .toArray(),
      ).toEqual([]);
    }),
    tried(part),
  );
});

test.each(PARTS)(
  'the data of one person with one number is in one record, or the records are listed, part %i',
  (part) => {
    fc.assert(
      fc.property(family, (of) => {
        const messages = of.messages
          .filter(({ event }) => event !== 'A40' && event !== 'A47')
          .map((each) => ({ ...each, own: 1, beside: [] }) as const);
        const world = worldAfter(messagesOf({ ...of, messages }));
        const listed = new Set(world.attention.flatMap(({ patients }) => patients));
        const people = peopleByRecord(world);
        for (const who of Object.keys(BORN)) {
          const records = [...people].filter(([, each]) => each.has(who)).map(([id]) => id);
          expect(records.length < 2 || records.every((id) => listed.has(id)), `${who} in ${records.join(' ')}`).toBe(
            true,
          );
        }
      }),
      tried(part),
    );
  },
);
