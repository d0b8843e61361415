/** The limits of one message: too much is rejected without a lookup, and a message that is only large is accepted. */
import { expect, test } from 'vitest';

import { documentToken, documentTokens } from '../../../../shared/hl7/document-token.ts';
import { bytesOf, msh, readBytes } from '../../../stack/tools/hl7-text.ts';

const times = (n: number, one: (n: number) => string, separator: string): string =>
  Array.from({ length: n }, (_, at) => one(at)).join(separator);
const numbers = (n: number, from = 0) => times(n, (at) => `${from + at + 1000}^^^HOSP^MR`, '~');
const pid = (third: string, more = '') => `PID|1||${third}||Doe^Jane${more}`;
const pids = (n: number, each = 1) => times(n, (at) => pid(numbers(each, at * each)), '\n');
const observations = (n: number) => times(n, (at) => `OBX|${at + 1}|NM|n${at}^N^L||5||||||F`, '\n');
const oru = (n: number) => `${pid(numbers(1))}\nOBR|1||F1|1^Test^L|||20260101||||||||||||||||||F\n${observations(n)}`;

const OBR = 'OBR|1||F1|1^Test^L|||20260101||||||||||||||||||F';
const obx = (type: string, value: string) => `OBX|1|${type}|n^N^L||${value}||||||F`;
const lines = (n: number) => times(n, (at) => `line ${at}`, '~');
const ordered = (after: string) => `${pid(numbers(1))}\n${OBR}\n${after}`;
const culture = (organisms: number) =>
  times(
    organisms,
    (at) =>
      `OBR|${at}||F${at}|SUS^Susceptibility^L|||20260101||||||||||||||||||F|ORG&Organism&L^${at}\n${observations(20)}`,
    '\n',
  );

const scan = (at: number) =>
  `^AP^PDF^Base64^${documentToken({ sha256: String(at).padStart(43, 'A'), size: 3072, width: 0, separator: '' })}`;
const scans = (n: number, of: (at: number) => number = (at) => at) => times(n, (at) => obx('ED', scan(of(at))), '\n');

const read = (type: string, segments: string) => {
  const documents = documentTokens(segments);
  const { findings, lookup } = readBytes(bytesOf(`${msh(type)}\n${segments}`), 'utf-8', documents);
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
  ['a night’s results', 'ORU^R01', oru(1998)],
  ['a report of two thousand lines', 'ORU^R01', ordered(obx('FT', lines(2000)))],
  ['a report of two thousand lines of type ST', 'ORU^R01', ordered(obx('ST', lines(2000)))],
  ['a book as a report', 'ORU^R01', ordered(obx('TX', lines(500_000)))],
  [
    'a book as a report, a segment for each line',
    'ORU^R01',
    ordered(times(19_900, (at) => `OBX|${at + 1}|TX|R^Report^L||line ${at}||||||F`, '\n')).replace(
      '|||2026',
      `|||${'x'.repeat(3000)}2026`,
    ),
  ],
  ['a long comment', 'ORU^R01', ordered(`${obx('NM', '5')}\nNTE|1||${lines(30_000)}`)],
  [
    'an ECG, a row for each lead',
    'ORU^R01',
    ordered(
      obx(
        'NA',
        times(12, () => `1${'^-2'.repeat(4999)}`, '~'),
      ),
    ),
  ],
  [
    'an ECG, a row for each moment',
    'ORU^R01',
    ordered(
      obx(
        'MA',
        times(5000, () => `1${'^2'.repeat(11)}`, '~'),
      ),
    ),
  ],
  [
    'an ECG as numbers',
    'ORU^R01',
    ordered(
      obx(
        'NM',
        times(20_001, () => '1', '~'),
      ),
    ),
  ],
  ['cultures with ninety organisms', 'ORU^R01', `${pid(numbers(1))}\n${culture(90)}`],
  [
    'a paper record of a thousand scanned pages',
    'MDM^T02',
    `${pid('1')}\nTXA|1|OP|AP|||||||||D1|||||AU\n${scans(1000)}`,
  ],
  [
    'a thousand strips of an ECG, and nearly as many numbers',
    'ORU^R01',
    ordered(`${scans(1000)}\n${observations(990)}`),
  ],
  ['text with U+0001 that is not a document', 'ORU^R01', ordered(times(1200, () => obx('ST', '\u0001a\u0001'), '\n'))],
  ['a long order before many results', 'ORU^R01', oru(1950).replace('|||2026', `|||${'x'.repeat(6000)}2026`)],
])('%s are accepted', (_, type, segments) => {
  expect(read(type, segments)).toEqual({ refusals: [], looksUp: true });
});

test.each([
  ['101 patients', 'ORU^R01', pids(101), 'PID^101 too-many-pids'],
  [
    'one merge more',
    'ADT^A40',
    `${pid('1^^^HOSP')}\n${times(101, (at) => `MRG|${at}^^^HOSP`, '\n')}`,
    'MRG^101 too-many-mrgs',
  ],
  ['101 numbers', 'ADT^A08', pid(numbers(101)), 'PID^1^3 too-many-repetitions'],
  ['101 numbers in PID-4', 'ADT^A08', `PID|1||1|${numbers(101)}|Doe^Jane`, 'PID^1^4 too-many-repetitions'],
  ['101 numbers in MRG-1', 'ADT^A40', `${pid('1^^^HOSP')}\nMRG|${numbers(101)}`, 'MRG^1^1 too-many-repetitions'],
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
  ['1,001 documents', 'ORU^R01', ordered(scans(1001)), 'OBX^1001^5 too-many-documents'],
  ['one logo beside each of 1,001 results', 'ORU^R01', ordered(scans(1001, () => 1)), 'OBX^1001^5 too-many-documents'],
  [
    'as many repetitions with a document',
    'ORU^R01',
    ordered(
      obx(
        'ED',
        times(1001, (at) => scan(at), '~'),
      ),
    ),
    'OBX^1^5 too-many-documents',
  ],
  ['more results than are stored in time', 'ORU^R01', oru(2000), 'MSH^1 too-many-resources'],
  [
    'one number more as a value',
    'ORU^R01',
    ordered(obx('NM', '1' + '~1'.repeat(20_001))),
    'OBX^1^5 too-many-repetitions',
  ],
  ['values that are empty', 'ORU^R01', ordered(obx('NM', '~'.repeat(20_001))), 'OBX^1^5 too-many-repetitions'],
  [
    'as many flags of a text',
    'ORU^R01',
    ordered(`OBX|1|TX|n^N^L||a~b|||${'H~'.repeat(20_001)}`),
    'OBX^1^8 too-many-repetitions',
  ],
  [
    'as many of two fields',
    'ORU^R01',
    ordered(`${obx('NM', '1~'.repeat(9000))}\n${obx('CE', '1~'.repeat(11_001))}`),
    'OBX^2^5 too-many-repetitions',
  ],
  [
    'separators without a number, as many',
    'ADT^A08',
    pid(numbers(1) + '~'.repeat(20_001)),
    'PID^1^3 too-many-repetitions',
  ],
  ['more lines than a book', 'ORU^R01', ordered(obx('TX', lines(500_002))), 'OBX^1^5 too-many-repetitions'],
  [
    'more numbers than a book has lines',
    'ORU^R01',
    ordered(obx('NA', `1${'^1'.repeat(500_001)}`)),
    'OBX^1^5 too-many-repetitions',
  ],
  [
    'an order that is too long for its results',
    'ORU^R01',
    oru(1950).replace('|||2026', `|||${'x'.repeat(10_000)}2026`),
    'OBR^1 too-much-repeated',
  ],
  [
    'a header that is too long for its results',
    'ORU^R01',
    `${oru(1950)}\nPV1|1|${'x'.repeat(20)}`.replace('PID|1|', `PV1|1|${'x'.repeat(10_000)}\nPID|1|`),
    'PV1^1 too-much-repeated',
  ],
  [
    'a specimen after its results that is too long for them',
    'ORU^R01',
    `${oru(1950)}\nSPM|1|${'x'.repeat(10_000)}`,
    'SPM^1 too-much-repeated',
  ],
  [
    'a specimen before many orders',
    'OUL^R22',
    oru(1950).replace('\nOBR', `\nSPM|1|${'x'.repeat(10_000)}\nOBR`),
    'SPM^1 too-much-repeated',
  ],
  [
    'many short notes of a patient with many results',
    'ORU^R01',
    oru(1950).replace('\nOBR', `${'\nNTE|||a'.repeat(100)}\nOBR`),
    'PID^1 too-much-repeated',
  ],
  [
    'a code that is too long for its values',
    'ORU^R01',
    ordered(obx('NM', '1' + '~1'.repeat(20_000)).replace('^N^', `^${'x'.repeat(1000)}^`)),
    'OBX^1 too-much-repeated',
  ],
])('%s: rejected before any search', (_, type, segments, refusal) => {
  expect(read(type, segments)).toEqual({ refusals: [refusal], looksUp: false });
});
