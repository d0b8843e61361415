/**
 * Any order of arrival ends in the same patient record. The histories are messages about one patient, through the real
 * mapping, in any permutation and with any of them again (edge/docs/behaviour.md, HL7 v2).
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { sized } from '../../../stack/tools/size.ts';
import { createWorld } from '../../../inputs/hl7-world.ts';
import { admissionsAndResults, adt, inTwoOrders, KNOWN, mdm, oru } from '../../../inputs/hl7-histories.ts';

const after = (messages: readonly string[]): string => {
  const world = createWorld();
  for (const each of messages) world.send(each);
  return world.state();
};

describe('messages in any order and with repetitions end in the same state', () => {
  test.each([
    ['results and their report', oru, []],
    ['documents', mdm, []],
    ['a patient with allergies, conditions, procedures', adt, [KNOWN]],
    ['a patient with admissions and results', admissionsAndResults, [KNOWN]],
  ] as const)('%s', (_, each, first) => {
    fc.assert(
      fc.property(inTwoOrders(each), ({ all, other }) => {
        expect(after([...first, ...other])).toBe(after([...first, ...all]));
      }),
      { numRuns: sized(5, 2_000) },
    );
  });
});
