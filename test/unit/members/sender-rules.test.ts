import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { senderRules } from '../../../edge/members/sender-rules.ts';
import { compileDateFormat, dateFormatFault } from '../../../edge/members/sender-rules/date-format.ts';
import { compilePattern, MAX_MATCHED_CHARACTERS } from '../../../edge/members/sender-rules/pattern.ts';

/** `0.path …` of each fault. */
function faultsOf(rules: unknown): string[] {
  const { error } = senderRules.safeParse(rules);
  return error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [];
}

const VALUES = { set: { value: 'x' }, default: { value: 'x' }, map: { values: { a: 'b' } }, date: { format: 'YYYY' } };
const MORE: Readonly<Record<string, object>> = {
  ...VALUES,
  copy: { from: 'PID-30' },
  split: { by: ',', into: 'components' },
  join: { by: ' ' },
  authority: { namespace: 'A' },
};
const VERBS = ['set', 'default', 'copy', 'clear', 'drop', 'map', 'split', 'join', 'trim', 'date', 'authority'];
const allowedVerbs = (path: string): string[] =>
  VERBS.filter((verb) => {
    const faults = faultsOf([{ verb, path: verb === 'drop' ? `${path}[1]` : path, ...MORE[verb] }]);
    return !faults.some((fault) => fault.includes('No rule may change it') || / Use [a-z]+/.test(fault));
  });

describe('the fields of a rule', () => {
  test.each<[paths: string, verbs: string[]]>([
    ['MSH-1 MSH-2 MSH-3 MSH-4 MSH-7 MSH-9 MSH-10 MSH-11 MSH-12 MSH-15 MSH-18 EVN-1 EVN-2 OBR-22 TXA-8 PRB-2', []],
    ['OBX-11 OBR-25 ORC-1 ORC-5 TXA-17 TXA-19 IAM-6 IAM-17 PRB-1 PRB-13 PRB-14 DG1-21 PR1-20 SPM-11', ['map']],
    [
      'PID-2 PID-3 PID-4 PID-18 PID-21 MRG-1 MRG-4 MRG-7 PV1-19 ORC-2 ORC-3 ORC-8 OBR-2 OBR-3 OBR-4 OBR-26 OBR-29',
      ['copy', 'drop', 'map', 'trim', 'authority'],
    ],
    [
      'OBX-3 OBX-4 OBX-21 TXA-12 TXA-13 SPM-2 AL1-3 IAM-3 IAM-7 DG1-3 DG1-20 PR1-3 PR1-19 PRB-3 PRB-4',
      ['copy', 'drop', 'map', 'trim', 'authority'],
    ],
    ['OBR-7 OBX-14 DG1-5 PR1-5', ['copy', 'map', 'trim', 'date']],
    ['PID-7', ['copy', 'clear', 'map', 'trim', 'date']],
    ['OBX-2', ['set', 'default', 'map', 'trim']],
    ['PID-5 PID-8 PID-13 PV1-2 OBX-5 OBX-6 NTE-3 ZPI-1', VERBS],
  ])('%s may be changed by %j', (paths, verbs) => {
    for (const path of paths.split(' ')) expect([path, ...allowedVerbs(path)]).toEqual([path, ...verbs]);
  });

  test.each('MSH EVN PID MRG ORC OBR TXA SPM'.split(' '))('the segment %s is never dropped', (path) => {
    expect(faultsOf([{ verb: 'drop', path }])[0]).toMatch(/^0\.path \w+ must not be dropped/);
  });

  test.each(['OBX', 'NTE[2]', 'PV1', 'ZPI', 'DG1[DG1-3.1=X]'])('the segment %s may be dropped', (path) => {
    expect(faultsOf([{ verb: 'drop', path }])).toEqual([]);
  });

  test.each([
    ['OBX-3', 'PID-8', 'OBX does not precede PID'],
    ['OBR-3', 'ORC-3', 'OBR does not precede ORC'],
    ['EVN-5', 'PID-30', 'EVN does not precede PID'],
    ['MSH-2', 'PID-30', 'MSH-2 has the delimiters'],
    ['MSH-4', 'PID-3', 'MSH does not identify PID-3'],
    ['MSH-4', 'OBR-3.1', 'MSH does not identify OBR-3'],
    ['PID[1]-3', 'PID-30', 'must not select a segment'],
    ['PID', 'PID-30', 'must name a field'],
  ])('%s is not copied to %s', (from, path, fault) => {
    expect(faultsOf([{ verb: 'copy', from, path }]).join()).toContain(`0.from ${fault}`);
  });

  test('an authority may be copied from the header', () => {
    expect(faultsOf([{ verb: 'copy', from: 'MSH-4', path: 'PID-3.4' }])).toEqual([]);
  });
});

describe('a rule is rejected', () => {
  test.each<[rule: object, fault: string]>([
    [{ verb: 'run', path: 'PID-8' }, '0.verb must be one of set, default,'],
    [{ verb: 'set', path: 'PID-8' }, '0.value must be a text'],
    [{ verb: 'set', path: 'PID', value: 'x' }, '0.path must name a field, such as PID-3'],
    [{ verb: 'set', path: 'PID-8', value: 'x', more: 1 }, '0 Unrecognized key: "more"'],
    [{ verb: 'set', path: 'PID-8', value: '\r' }, '0.value must not have control characters'],
    [{ verb: 'set', path: 'PID-8', value: '\u0001' }, '0.value must not have control characters'],
    [{ verb: 'set', path: 'PID-8', value: '\ud800' }, '0.value must not have half a surrogate pair'],
    [{ verb: 'set', path: 'PID-8', value: 'x'.repeat(1001) }, '0.value at most 1000 characters'],
    [{ verb: 'drop', path: 'PID-13' }, '0.path must be a segment or repetitions'],
    [{ verb: 'drop', path: 'PID-13[1].2' }, '0.path must be a segment or repetitions'],
    [{ verb: 'map', path: 'PID-8', values: {} }, '0.values needs a value'],
    [{ verb: 'map', path: 'OBX-11', values: { x: '' } }, '0.values must not empty OBX-11'],
    [{ verb: 'map', path: 'PID-3', values: { x: '""' } }, '0.values must not empty PID-3'],
    [{ verb: 'map', path: 'PID-3', values: { x: 'y' }, otherwise: 'clear' }, '0.otherwise must not empty PID-3'],
    [
      { verb: 'map', path: 'PID-8', values: Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`v${n}`, ''])) },
      '0.values at most 500 values',
    ],
    [{ verb: 'split', path: 'PID-5.1', by: ',', into: 'components' }, '0.into PID-5.1 cannot be split into components'],
    [{ verb: 'split', path: 'PID-5', by: ',', into: 'subcomponents' }, '0.into PID-5 cannot be split'],
    [{ verb: 'join', path: 'PID-5.1.1', by: ',' }, '0.path must be a field, a repetition or a component'],
    [{ verb: 'date', path: 'PID-7', format: 'DD.MM.YY' }, '0.format Y is not a part of a date'],
    [{ verb: 'date', path: 'PID-7', format: 'DD.YYYY' }, '0.format must have YYYY, and before each part'],
    [{ verb: 'authority', path: 'PID-5', namespace: 'A' }, '0.path must be a field of CX'],
    [{ verb: 'authority', path: 'PID-3.4', namespace: 'A' }, '0.path must be a field of CX'],
    [{ verb: 'authority', path: 'SPM-2', namespace: 'A' }, '0.path must name a component, such as SPM-2.1'],
    [{ verb: 'ignore', sender: {} }, '0.sender needs an application or a facility'],
    [{ verb: 'ignore', when: { types: ['ADT-A01'] } }, '0.when.types.0 must be a message type, such as ADT or ADT^A08'],
    [{ verb: 'ignore', when: { all: [{ path: 'PID-8' }] } }, '0.when.all.0 needs one of is, equals and like'],
    [{ verb: 'ignore', when: { all: [{ path: 'PID', like: '*' }] } }, '0.when.all.0.path must name a field'],
    [{ verb: 'ignore', when: { all: [{ path: 'PID-8', like: '*'.repeat(101) }] } }, '0.when.all.0.like at most 100'],
    [{ verb: 'reject' }, '0.text must be a text'],
  ])('%j', (rule, fault) => {
    expect(faultsOf([rule]).join('\n')).toContain(fault);
  });

  test('with more than 50 others, or more than 64 KiB', () => {
    const rule = { verb: 'ignore' };
    expect(faultsOf(Array.from({ length: 50 }, () => rule))).toEqual([]);
    expect(faultsOf(Array.from({ length: 51 }, () => rule))).toEqual([' at most 50 rules']);
    const long = { verb: 'set', path: 'PID-8', value: 'ü'.repeat(1000), name: 'ü'.repeat(200) };
    expect(faultsOf(Array.from({ length: 40 }, () => long))).toEqual([' at most 65536 bytes']);
  });
});

describe('a pattern', () => {
  test.each<[pattern: string, text: string, matches: boolean]>([
    ['TEST', 'TEST', true],
    ['TEST', 'TESTS', false],
    ['TEST*', 'TESTS', true],
    ['*TEST', 'A TEST', true],
    ['*a*b*', 'xxaxxbxx', true],
    ['*a*b*', 'xxbxxaxx', false],
    ['a*a', 'a', false],
    ['###-##', '123-45', true],
    ['###-##', '12x-45', false],
    ['?', '', false],
    ['?', '*', true],
    ['*', '', true],
    ['.*[a-z]+', 'abc', false],
  ])('%s fits %s: %s', (pattern, text, matches) => {
    expect(compilePattern(pattern)(text).matches).toBe(matches);
  });

  test('matches as a regular expression would', () => {
    const letter = fc.constantFrom('a', 'b', '1', '*', '?', '#');
    const pattern = fc.array(letter, { maxLength: 8 }).map((letters) => letters.join(''));
    const text = fc.array(fc.constantFrom('a', 'b', '1', '2'), { maxLength: 10 }).map((letters) => letters.join(''));
    const meanings: Readonly<Record<string, string>> = { '*': '.*', '?': '.', '#': '[0-9]' };
    fc.assert(
      fc.property(pattern, text, (glob, sent) => {
        const expression = new RegExp(`^${Array.from(glob, (each) => meanings[each] ?? each).join('')}$`);
        expect(compilePattern(glob)(sent).matches).toBe(expression.test(sent));
      }),
    );
  });

  test.each([
    ['*a*a*a*a*a*a*a*a*a*a*a*a*b', 'a'],
    [`*${'a'.repeat(98)}b`, 'a'],
    [`*${'a'.repeat(97)}b*`, 'a'],
    [`${'*?'.repeat(49)}b*`, 'a'],
    ['*'.repeat(100), 'a'],
    [`*${'#'.repeat(97)}x*`, '1'],
    ['a*'.repeat(50), 'a'],
  ])('%s compares at most the product of both lengths', (pattern, letter) => {
    const { compared } = compilePattern(pattern)(letter.repeat(MAX_MATCHED_CHARACTERS));
    expect(compared).toBeLessThanOrEqual(pattern.length * MAX_MATCHED_CHARACTERS);
  });

  test('fits no text beyond the limit', () => {
    expect(compilePattern('*')('a'.repeat(MAX_MATCHED_CHARACTERS + 1))).toEqual({ matches: false, compared: 0 });
  });
});

describe('a date format', () => {
  test.each([
    ['DD.MM.YYYY', '01.02.2026', '20260201'],
    ['DD.MM.YYYY HH:mm', '01.02.2026 03:04', '202602010304'],
    ['YYYY-MM-DDTHH:mm:ss', '2026-02-01T03:04:05', '20260201030405'],
    ['MM/YYYY', '02/2026', '202602'],
    ['YYYY', '2026', '2026'],
    ['DD.MM.YYYY', '29.02.2024', '20240229'],
    ['DD.MM.YYYY', '29.02.2023', undefined],
    ['DD.MM.YYYY', '29.02.0096', '00960229'],
    ['DD.MM.YYYY', '1.2.2026', undefined],
    ['DD.MM.YYYY', '01.13.2026', undefined],
    ['DD.MM.YYYY', '00.01.2026', undefined],
    ['DD.MM.YYYY', '01.01.0000', undefined],
    ['YYYY-MM-DD HH:mm', '2026-01-01 24:00', undefined],
    ['YYYY', '٢٠٢٦', undefined],
  ])('%s reads %s', (format, text, expected) => {
    expect(dateFormatFault(format)).toBeUndefined();
    expect(compileDateFormat(format)(text)).toBe(expected);
  });

  test.each(['', 'DD', 'MM.DD', 'YYYY HH', 'YYYYYYYY', 'DD.M.YYYY', 'YYYY'.padEnd(51)])('%j is rejected', (format) => {
    expect(dateFormatFault(format)).toBeTypeOf('string');
  });
});
