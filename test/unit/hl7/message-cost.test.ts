/** What one message may be about: what is too much is refused with nothing looked up, and what is only large is not. */
import { expect, test } from 'vitest';

import { readBytes } from '../../../edge/hl7/ingest/reading.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';

const times = (n: number, one: (n: number) => string, separator: string): string =>
  Array.from({ length: n }, (_, at) => one(at)).join(separator);
const numbers = (n: number, from = 0) => times(n, (at) => `${from + at + 1000}^^^HOSP^MR`, '~');
const pid = (third: string, more = '') => `PID|1||${third}||Doe^Jane${more}`;
const pids = (n: number, each = 1) => times(n, (at) => pid(numbers(each, at * each)), '\n');
const observations = (n: number) => times(n, (at) => `OBX|${at + 1}|NM|n${at}^N^L||5||||||F`, '\n');
const oru = (n: number) => `${pid(numbers(1))}\nOBR|1||F1|1^Test^L|||20260101||||||||||||||||||F\n${observations(n)}`;

const read = (type: string, segments: string) => {
  const { findings, lookup } = readBytes(bytesOf(`${msh(type)}\n${segments}`), 'utf-8');
  const refusals = findings.filter(({ severity }) => severity === 'E').map(({ at, reason }) => `${at} ${reason}`);
  return { refusals, looksUp: lookup.identifierValues.length + lookup.keys.length > 0 };
};

test.each([
  ['a hundred patients', 'ADT^A08', pids(100)],
  ['a hundred merges', 'ADT^A40', `${pid('1^^^HOSP')}\n${times(100, (at) => `MRG|${at}^^^HOSP`, '\n')}`],
  ['a hundred numbers', 'ADT^A08', pid(numbers(100))],
  ['a thousand numbers in all', 'ADT^A08', pids(100, 10)],
  ['a thousand separators without a number', 'ADT^A08', pid(numbers(1) + '~'.repeat(1000))],
  ['a thousand names', 'ADT^A08', `PID|1||${numbers(1)}||${times(1000, (at) => `Doe^J${at}`, '~')}`],
  ['segments with names of every kind', 'ADT^A08', `${pid('1^^^HOSP')}\nconstructor|1\n__proto__|1`],
  ['a night’s results', 'ORU^R01', oru(4000)],
])('%s are taken', (_, type, segments) => {
  expect(read(type, segments)).toEqual({ refusals: [], looksUp: true });
});

test.each([
  ['one patient more', 'ORU^R01', pids(101), 'PID^101 too-many-pids'],
  [
    'one merge more',
    'ADT^A40',
    `${pid('1^^^HOSP')}\n${times(101, (at) => `MRG|${at}^^^HOSP`, '\n')}`,
    'MRG^101 too-many-mrgs',
  ],
  ['one number more', 'ADT^A08', pid(numbers(101)), 'PID^1^3 too-many-repetitions'],
  ['as many of PID-4', 'ADT^A08', `PID|1||1|${numbers(101)}|Doe^Jane`, 'PID^1^4 too-many-repetitions'],
  ['as many of MRG-1', 'ADT^A40', `${pid('1^^^HOSP')}\nMRG|${numbers(101)}`, 'MRG^1^1 too-many-repetitions'],
  ['a thousand numbers and one', 'ORU^R01', `${pids(100, 10)}\nMRG|77777`, 'MSH^1 too-many-numbers'],
  [
    'one name more',
    'ADT^A08',
    `PID|1||1||${times(1000, (at) => `Doe^J${at}`, '~')}||||Roe^Jane`,
    'PID^1^5 too-many-repetitions',
  ],
  [
    'a thousand addresses and one',
    'ADT^A08',
    pid('1', `||||||${times(1001, (at) => `S${at}`, '~')}`),
    'PID^1^11 too-many-repetitions',
  ],
  ['more results than are stored in time', 'ORU^R01', oru(5000), 'MSH^1 too-many-resources'],
])('%s: refused, and nothing is looked up', (_, type, segments, refusal) => {
  expect(read(type, segments)).toEqual({ refusals: [refusal], looksUp: false });
});
