/** With any text in the fields, the result is valid FHIR, nothing throws, and no ERR repeats what was sent. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { leaf } from '../../inputs/hl7-leaf.ts';
import { mapped } from '../../inputs/hl7-mapped.ts';
import { inputs } from '../../stack/tools/size.ts';

const list = (item: fc.Arbitrary<string>, separator: string, maxLength: number) =>
  fc.array(item, { minLength: 1, maxLength }).map((parts) => parts.join(separator));
const component = fc.oneof({ weight: 6, arbitrary: leaf }, list(leaf, '&', 4));
const repetition = fc.oneof(leaf, list(component, '^', 15));
const field = fc.oneof({ weight: 3, arbitrary: fc.constant('') }, repetition, list(repetition, '~', 3));

const segment = (id: string, fixed: Readonly<Record<number, string>> = {}) =>
  fc.array(field, { maxLength: 42 }).map((fields) => {
    const all = [...fields];
    for (const [number, value] of Object.entries(fixed)) {
      while (all.length < Number(number)) all.push('');
      all[Number(number) - 1] = value;
    }
    return [id, ...all].join('|');
  });

// Enough is right that the message is not refused at once.
const PID = segment('PID', { 3: 'P1^^^HOSP^MR' }).map((line) => withoutDates(line, [7, 29]));
const withoutDates = (line: string, fields: readonly number[]): string =>
  line
    .split('|')
    .map((value, at) => (fields.includes(at) ? '20260101' : value))
    .join('|');

const MESSAGES: readonly (readonly [string, fc.Arbitrary<readonly string[]>])[] = [
  [
    'ADT^A01',
    fc.tuple(
      PID,
      segment('PD1'),
      segment('NK1'),
      segment('PV1'),
      segment('AL1'),
      segment('IAM'),
      segment('DG1'),
      segment('PR1'),
      segment('OBX'),
    ),
  ],
  ['ADT^A40', fc.tuple(PID, segment('MRG'))],
  [
    'ORU^R01',
    fc.tuple(
      PID,
      segment('ORC'),
      segment('OBR', { 4: 'c^C^L', 7: '20260101' }),
      segment('OBX', { 3: 'p^P^L' }),
      segment('OBR', { 4: 'd^D^L', 26: 'p&P&L' }),
      segment('NTE'),
      segment('OBX', { 3: 'a^A^L', 14: '' }),
      segment('NTE'),
      segment('OBX', { 3: 'b', 19: '' }),
      segment('SPM'),
    ),
  ],
  [
    'MDM^T02',
    fc.tuple(
      PID,
      segment('TXA', { 6: '20260101', 12: 'D1' }),
      segment('OBX', { 2: 'TX' }),
      segment('OBX'),
      segment('NTE'),
    ),
  ],
];

test.each(MESSAGES)('%s', (type, lines) => {
  let accepted = 0;
  fc.assert(
    fc.property(lines, (segments) => {
      const result = mapped(type, segments);
      if (result.outcome === 'AA') accepted += 1;
      result.everyResourceIsValid();
    }),
    { numRuns: inputs(100) },
  );
  expect(accepted).toBeGreaterThan(20);
});
