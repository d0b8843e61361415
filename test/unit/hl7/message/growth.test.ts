/** The cost of reading and mapping a message grows in proportion to it, with any content. */
import { expect, test } from 'vitest';

import { cpuGrowthOf, LINEAR } from '../../../stack/tools/growth.ts';
import { mapped, pid } from '../../../inputs/hl7-mapped.ts';

const times = (n: number, one: (n: number) => readonly string[]): string[] =>
  Array.from({ length: n }, (_, at) => one(at)).flat();
const obx = (at: number, value = '1') => `OBX|${at}|ST|ISO^iso^L|${at}|${value}||||||F`;
const obr = (at: number, more = '') => `OBR|${at}||F${at}|1^P^L|||20260101|||||||||||||||20260101||F${more}`;
/** Behind an OBR the parent of its results: their sub-id is 1 for all, so that many fit but for their text. */
const child = (at: number, value: string) => [obr(at, `|ISO&iso&L^1^${value}`), obx(at)];
const isolates = (n: number, repetitions: number) =>
  times(n, (at) => [`OBX|${at}|ST|ISO^iso^L|1|${'a~'.repeat(repetitions - 1)}b||||||F`]);

const CASES: readonly (readonly [what: string, size: number, lines: (size: number) => readonly string[]])[] = [
  [
    'isolates with many values, and susceptibilities of a missing isolate',
    100,
    (n) => [obr(0), ...isolates(n, 150), ...times(n, (at) => child(at + 1, 'zz'))],
  ],
  [
    'susceptibilities that each have their isolate',
    200,
    (n) => [
      obr(0),
      ...times(n, (at) => [obx(at, `v${at}`)]),
      ...times(n, (at) => [obr(at + 1, `|ISO&iso&L^${at}^v${at}|||^F0`), obx(at)]),
    ],
  ],
  ['orders with two results', 300, (n) => times(n, (at) => [obr(at), obx(at), obx(at + 1)])],
  ['orders that are parts of each other', 300, (n) => times(n, (at) => [obr(at, `||||P^F${at + 1}`), obx(at)])],
  ['one report in many parts', 300, (n) => times(n, (at) => [obr(1), obx(at)])],
  [
    'one report in many parts, the newest first',
    150,
    (n) =>
      times(n, (at) => [
        obr(1).replace(
          '|20260101||F',
          `|20260101${String(2359 - at)
            .padStart(4, '0')
            .replace(/[6-9](.)$/, '5$1')}||F`,
        ),
        obx(at),
      ]),
  ],
  ['identical results', 500, (n) => [obr(1), ...times(n, (at) => [obx(1, `v${at}`)])]],
  [
    'specimens behind their results',
    500,
    (n) => [obr(1), ...times(n, (at) => [obx(at)]), ...times(n, (at) => [`SPM|${at}|S${at}`])],
  ],
  ['a waveform', 20_000, (n) => [obr(1), `OBX|1|NA|W^w^L||1${'^2'.repeat(n)}||||||F`]],
  ['a long text', 20_000, (n) => [obr(1), `OBX|1|TX|T^t^L||${'a line~'.repeat(n)}||||||F`]],
  ['values', 2_000, (n) => [obr(1), `OBX|1|NM|T^t^L||${'1~'.repeat(n)}||||||F`]],
  [
    'an orderer who is named often before many results',
    300,
    (n) => [
      obr(1).replace('|||||||||||||||2026', `|||||||||${'1^A~'.repeat(n)}||||||2026`),
      ...times(n, (at) => [obx(at)]),
    ],
  ],
];

test.each(CASES)('%s', (_, size, lines) => {
  const small = mapped('ORU^R01', [pid(), ...lines(size)]);
  expect(small.outcome).toBe('AA');
  const growth = cpuGrowthOf(
    (n) => [pid(), ...lines(n)],
    (message) => void mapped('ORU^R01', message),
    size,
  );
  expect(growth).toBeLessThanOrEqual(LINEAR);
});
