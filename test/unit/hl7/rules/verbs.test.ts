import { describe, expect, test } from 'vitest';

import { ruled } from './ruled.ts';

/** A rule, and the segments before and after it. */
type Case = [name: string, rule: object, before: string[], after: string[]];

const CASES: readonly Case[] = [
  // set
  ['set replaces a field', { verb: 'set', path: 'PID-8', value: 'F' }, ['PID|||||||^x|M~O|9'], ['PID|||||||^x|F|9']],
  ['set adds fields', { verb: 'set', path: 'PID-8', value: 'F' }, ['PID|1'], ['PID|1|||||||F']],
  ['set fills no missing segment', { verb: 'set', path: 'PV1-2', value: 'I' }, ['PID|1'], ['PID|1']],
  [
    'set writes a component in each repetition with a value',
    { verb: 'set', path: 'PID-5.7', value: 'L' },
    ['PID|||||A^B~~C'],
    ['PID|||||A^B^^^^^L~~C^^^^^^L'],
  ],
  [
    'set writes no component beyond the first of an empty field or of ""',
    { verb: 'set', path: 'OBX-6.3', value: 'UCUM' },
    ['OBX|1|NM|X||5||', 'OBX|2|NM|X||5|""|'],
    ['OBX|1|NM|X||5||', 'OBX|2|NM|X||5|""|'],
  ],
  [
    'set writes the first component of an empty field',
    { verb: 'set', path: 'OBX-6.1', value: 'mmol/L' },
    ['OBX|1|NM|X||5'],
    ['OBX|1|NM|X||5|mmol/L'],
  ],
  [
    'set writes a subcomponent',
    { verb: 'set', path: 'PID-5[1].1.2', value: 'von' },
    ['PID|||||A&&x^B~C'],
    ['PID|||||A&von&x^B~C'],
  ],
  [
    'set writes one repetition',
    { verb: 'set', path: 'PID-13[2]', value: '2' },
    ['PID' + '|'.repeat(13) + 'a~b~c'],
    ['PID' + '|'.repeat(13) + 'a~2~c'],
  ],
  [
    'set adds no repetition',
    { verb: 'set', path: 'PID-13[2]', value: '2' },
    ['PID' + '|'.repeat(13) + 'a'],
    ['PID' + '|'.repeat(13) + 'a'],
  ],
  [
    'set escapes delimiters',
    { verb: 'set', path: 'NTE-3', value: 'a|b^c&d~e\\f' },
    ['NTE|1||x'],
    ['NTE|1||a\\F\\b\\S\\c\\T\\d\\R\\e\\E\\f'],
  ],
  ['set writes the null of HL7', { verb: 'set', path: 'PID-8', value: '""' }, ['PID|||||||^x|M'], ['PID|||||||^x|""']],
  [
    'set selects segments by a value',
    { verb: 'set', path: 'OBX[OBX-3.1=B]-6', value: 'g' },
    ['OBX|1|NM|A', 'OBX|2|NM|X~B^y', 'OBX|3|NM|BB'],
    ['OBX|1|NM|A', 'OBX|2|NM|X~B^y|||g', 'OBX|3|NM|BB'],
  ],
  [
    'set selects a segment by its number',
    { verb: 'set', path: 'NTE[2]-3', value: 'b' },
    ['NTE|1||x', 'NTE|2||x'],
    ['NTE|1||x', 'NTE|2||b'],
  ],
  // default
  [
    'default fills an empty field',
    { verb: 'default', path: 'OBX-2', value: 'ST' },
    ['OBX|1||A', 'OBX|2|NM|A'],
    ['OBX|1|ST|A', 'OBX|2|NM|A'],
  ],
  [
    'default fills a field of separators',
    { verb: 'default', path: 'PID-9', value: 'x' },
    ['PID|||||||||^& ~'],
    ['PID|||||||||x'],
  ],
  ['default keeps ""', { verb: 'default', path: 'PID-8', value: 'F' }, ['PID||||||||""'], ['PID||||||||""']],
  [
    'default fills a component beside a value',
    { verb: 'default', path: 'PID-11.6', value: 'DEU' },
    ['PID' + '|'.repeat(11) + 'a^b~^^c^^^FRA~'],
    ['PID' + '|'.repeat(11) + 'a^b^^^^DEU~^^c^^^FRA~'],
  ],
  // copy
  [
    'copy within a segment',
    { verb: 'copy', from: 'OBR-20', path: 'OBR-3' },
    [`OBR|1||old${'|'.repeat(17)}new^LAB`],
    [`OBR|1||new^LAB${'|'.repeat(17)}new^LAB`],
  ],
  ['copy of nothing changes nothing', { verb: 'copy', from: 'OBR-20', path: 'OBR-3' }, ['OBR|1||old'], ['OBR|1||old']],
  [
    'copy where there is no value yet',
    { verb: 'copy', from: 'OBR-20', path: 'OBR[OBR-3=]-3' },
    [`OBR|1||old${'|'.repeat(17)}n1`, `OBR|2||${'|'.repeat(17)}n2`],
    [`OBR|1||old${'|'.repeat(17)}n1`, `OBR|2||n2${'|'.repeat(17)}n2`],
  ],
  [
    'copy reduces a value to the level of its target',
    { verb: 'copy', from: 'PID-2', path: 'PID-5.1.2' },
    ['PID||a&b^c~d|||F^G'],
    ['PID||a&b^c~d|||F&a^G'],
  ],
  [
    'copy of a repetition',
    { verb: 'copy', from: 'PID-3[PID-3.5=SS].1', path: 'PID-19' },
    ['PID|||1^^^A^MR~2^^^B^SS'],
    [`PID|||1^^^A^MR~2^^^B^SS${'|'.repeat(16)}2`],
  ],
  [
    'copy of the header',
    { verb: 'copy', from: 'MSH-4.1', path: 'OBX-15.1' },
    ['OBX|1|NM|A'],
    [`OBX|1|NM|A${'|'.repeat(12)}HOSP`],
  ],
  [
    'copy from the order before',
    { verb: 'copy', from: 'ORC-3', path: 'OBR[OBR-3=]-3' },
    ['PID|1', 'ORC|RE||F1', 'OBR|1', 'ORC|RE||F2', 'OBR|2'],
    ['PID|1', 'ORC|RE||F1', 'OBR|1||F1', 'ORC|RE||F2', 'OBR|2||F2'],
  ],
  // clear
  [
    'clear empties a field',
    { verb: 'clear', path: 'PID-19' },
    ['PID' + '|'.repeat(19) + 'x|y'],
    ['PID' + '|'.repeat(20) + 'y'],
  ],
  [
    'clear empties a component',
    { verb: 'clear', path: 'PID-5.7' },
    ['PID|||||A^B^^^^^L~C^^^^^^D'],
    ['PID|||||A^B^^^^^~C^^^^^^'],
  ],
  // drop
  [
    'drop of segments',
    { verb: 'drop', path: 'NTE' },
    ['PID|1', 'NTE|1||a', 'OBX|1|NM|A', 'NTE|1||b'],
    ['PID|1', 'OBX|1|NM|A'],
  ],
  [
    'drop of a segment with its notes',
    { verb: 'drop', path: 'OBX[OBX-3=A]' },
    ['OBX|1|ST|B', 'OBX|2|ST|A', 'NTE|1||a', 'OBX|3|ST|C'],
    ['OBX|1|ST|B', 'OBX|3|ST|C'],
  ],
  [
    'drop of repetitions',
    { verb: 'drop', path: 'PID-3[PID-3.5=SS]' },
    ['PID|||1^^^A^MR~2^^^B^SS~3'],
    ['PID|||1^^^A^MR~3'],
  ],
  [
    'drop of all repetitions',
    { verb: 'drop', path: 'PID-13[PID-13.1=0]' },
    ['PID' + '|'.repeat(13) + '0~0|x'],
    ['PID' + '|'.repeat(14) + 'x'],
  ],
  // map
  [
    'map replaces a text',
    { verb: 'map', path: 'PID-8', values: { U: '', W: 'F' } },
    ['PID||||||||W', 'PID||||||||U', 'PID||||||||M'],
    ['PID||||||||F', 'PID||||||||', 'PID||||||||M'],
  ],
  [
    'map clears other texts',
    { verb: 'map', path: 'PID-8', values: { W: 'F' }, otherwise: 'clear' },
    ['PID||||||||W', 'PID||||||||X', 'PID||||||||""'],
    ['PID||||||||F', 'PID||||||||', 'PID||||||||""'],
  ],
  [
    'map keeps the other components',
    { verb: 'map', path: 'PID-16', values: { L: 'S' } },
    ['PID' + '|'.repeat(16) + 'L^x~L&y'],
    ['PID' + '|'.repeat(16) + 'S^x~S&y'],
  ],
  [
    'map compares unescaped texts',
    { verb: 'map', path: 'OBX-6', values: { 'g|l': 'g/l' } },
    ['OBX|1|NM|A||1|g\\F\\l'],
    ['OBX|1|NM|A||1|g/l'],
  ],
  ['map of the null', { verb: 'map', path: 'PID-8', values: { '""': 'U' } }, ['PID||||||||""'], ['PID||||||||U']],
  // split and join
  [
    'split into components',
    { verb: 'split', path: 'PID-5', by: ', ', into: 'components' },
    ['PID|||||Meier, Hans~A^B'],
    ['PID|||||Meier^Hans~A^B'],
  ],
  [
    'split into repetitions',
    { verb: 'split', path: 'PID-13', by: ';', into: 'repetitions' },
    ['PID' + '|'.repeat(13) + '1;2~3'],
    ['PID' + '|'.repeat(13) + '1~2~3'],
  ],
  [
    'split into subcomponents',
    { verb: 'split', path: 'PID-11.1', by: '/', into: 'subcomponents' },
    ['PID' + '|'.repeat(11) + 'a/b^c/d'],
    ['PID' + '|'.repeat(11) + 'a&b^c/d'],
  ],
  [
    'split escapes its pieces',
    { verb: 'split', path: 'PID-5', by: ',', into: 'components' },
    ['PID|||||a\\T\\b,c'],
    ['PID|||||a\\T\\b^c'],
  ],
  ['join of components', { verb: 'join', path: 'NTE-3', by: ' ^ ' }, ['NTE|1||a^^b&c'], ['NTE|1||a \\S\\ b\\T\\c']],
  ['join of one component', { verb: 'join', path: 'NTE-3', by: ' ' }, ['NTE|1||\\.br\\a'], ['NTE|1||\\.br\\a']],
  [
    'join of subcomponents',
    { verb: 'join', path: 'PID-11.1', by: ' ' },
    ['PID' + '|'.repeat(11) + 'a&b^c'],
    ['PID' + '|'.repeat(11) + 'a b^c'],
  ],
  // trim
  [
    'trim of a composite',
    { verb: 'trim', path: 'PID-5' },
    ['PID||||| Meier & x ^Hans ~ ^B'],
    ['PID|||||Meier&x^Hans~^B'],
  ],
  ['trim of a text', { verb: 'trim', path: 'NTE-3' }, ['NTE|1|| Smith & Jones ^ x '], ['NTE|1||Smith & Jones ^ x']],
  // date
  [
    'date of a day',
    { verb: 'date', path: 'PID-7', format: 'DD.MM.YYYY' },
    ['PID|||||||28.02.1960', 'PID|||||||30.02.1960', 'PID|||||||19600228'],
    ['PID|||||||19600228', 'PID|||||||30.02.1960', 'PID|||||||19600228'],
  ],
  [
    'date with a time',
    { verb: 'date', path: 'OBX-14', format: 'YYYY-MM-DD HH:mm:ss' },
    [`OBX|1|NM|A${'|'.repeat(11)}2026-01-02 03:04:05`],
    [`OBX|1|NM|A${'|'.repeat(11)}20260102030405`],
  ],
  // authority
  [
    'authority of a CX',
    { verb: 'authority', path: 'PID-3', namespace: 'HOSP', universalId: '1.2.3', universalIdType: 'ISO' },
    ['PID|||1~2^^^OTHER~^^^^MR~3^^^""~""'],
    ['PID|||1^^^HOSP&1.2.3&ISO~2^^^OTHER~^^^^MR~3^^^""~""'],
  ],
  [
    'authority that replaces another',
    { verb: 'authority', path: 'PID-3', namespace: 'HOSP', replaces: 'OLD' },
    ['PID|||1^^^OLD&x^MR~2^^^NEW'],
    ['PID|||1^^^HOSP^MR~2^^^NEW'],
  ],
  [
    'authority of an EI',
    { verb: 'authority', path: 'OBR-3', namespace: 'LAB', universalId: '1.2', universalIdType: 'ISO' },
    ['OBR|1||F1', 'OBR|2||F2^X', 'OBR|3'],
    ['OBR|1||F1^LAB^1.2^ISO', 'OBR|2||F2^X', 'OBR|3'],
  ],
  ['authority of an EIP', { verb: 'authority', path: 'SPM-2.2', namespace: 'LAB' }, ['SPM|1|P^F'], ['SPM|1|P^F&LAB']],
];

describe('a verb', () => {
  test.each(CASES)('%s', (_name, rule, before, after) => {
    expect(ruled([rule], before).lines).toEqual(after);
  });
});

describe('rules', () => {
  test('are applied in order, each to the result of the one before', () => {
    const rules = [
      { verb: 'trim', path: 'PID-8' },
      { verb: 'map', path: 'PID-8', values: { W: 'F' } },
      { verb: 'set', path: 'PID-16', value: 'x', when: { all: [{ path: 'PID-8', equals: 'F' }] } },
    ];
    const { lines, changed } = ruled(rules, ['PID||||||||W ']);
    expect(lines).toEqual(['PID||||||||F||||||||x']);
    expect(changed).toEqual(['1 PID^1^8 W >W', '2 PID^1^8 W>F', '3 PID^1^16 >x']);
  });

  test('that change nothing return the message itself', () => {
    const { message, changes } = ruled([{ verb: 'map', path: 'PID-8', values: { W: 'F' } }], ['PID||||||||M']);
    expect(message.lines).toContain('PID||||||||M');
    expect(changes).toEqual([]);
  });

  test.each([
    [{ sender: { application: 'lab' } }, true],
    [{ sender: { application: 'LAB', facility: 'HOSP' } }, true],
    [{ sender: { application: 'LAB', facility: 'OTHER' } }, false],
    [{ when: { types: ['ORU'] } }, true],
    [{ when: { types: ['ADT', 'ORU^R01'] } }, true],
    [{ when: { types: ['ORU^R30'] } }, false],
    [{ when: { all: [{ path: 'PID-8', is: 'present' }] } }, true],
    [{ when: { all: [{ path: 'PID-19', is: 'absent' }] } }, true],
    [
      {
        when: {
          all: [
            { path: 'PV1', is: 'absent' },
            { path: 'PID', is: 'present' },
          ],
        },
      },
      true,
    ],
    [{ when: { all: [{ path: 'PV1-19', is: 'present' }] } }, false],
    [{ when: { all: [{ path: 'PID-3.5', equals: 'SS' }] } }, true],
    [{ when: { all: [{ path: 'PID-3[1].5', equals: 'SS' }] } }, false],
    [{ when: { all: [{ path: 'PID-3[PID-3.5=SS].1', equals: '2' }] } }, true],
    [{ when: { all: [{ path: 'PID-5.1', like: 'T?st*#' }] } }, true],
    [{ when: { all: [{ path: 'PID-5.2', like: '*' }] } }, false],
    [{ when: { all: [{ path: 'MSH-9.2', equals: 'R01' }] } }, true],
  ])('with %j: applied is %s', (condition, isApplied) => {
    const { changes } = ruled(
      [{ ...condition, verb: 'set', path: 'PID-16', value: 'x' }],
      ['PID|||1^^^A^MR~2^^^B^SS||Test 1|||M'],
    );
    expect(changes.length).toBe(isApplied ? 1 : 0);
  });

  test('end with the first verdict', () => {
    const reject = { verb: 'reject', text: 'No visit number', when: { all: [{ path: 'PV1-19', is: 'absent' }] } };
    const { verdict } = ruled([reject, { verb: 'ignore' }], ['PID|||1']);
    expect(verdict).toEqual({ kind: 'reject', rule: 1, text: 'No visit number' });
  });
});

describe('the location of a change and of an error', () => {
  test('is one of the sent message', () => {
    const rules = [
      { verb: 'drop', path: 'PID-3[PID-3.5=SS]' },
      { verb: 'set', path: 'PID-3[2].5', value: 'MR' },
    ].slice(0, 1);
    const { changed, placeOf } = ruled(
      [
        ...rules,
        { verb: 'trim', path: 'PID-3' },
        { verb: 'drop', path: 'NTE[NTE-3=x]' },
        { verb: 'set', path: 'PID-8', value: 'F' },
      ],
      ['PID|||9^^^A^SS~1^^^A^MR~2 ^^^B', 'NTE|1||x', 'NTE|2||y'],
    );
    expect(changed).toEqual([
      '1 PID^1^3 9^^^A^SS~1^^^A^MR~2 ^^^B>1^^^A^MR~2 ^^^B',
      '2 PID^1^3^3^1 2 >2',
      '3 NTE^1 NTE|1||x>',
      '4 PID^1^8 >F',
    ]);
    const places = ['PID^1^3^2^1', 'NTE^1^3', 'PID^1^8^1^1', 'PID^1', 'PID^1^5^1^2', 'OBX^1^5', '???^2'];
    expect(places.map(placeOf)).toEqual([
      'PID^1^3^3^1',
      'NTE^2^3',
      'PID^1^8',
      'PID^1',
      'PID^1^5^1^2',
      'OBX^1^5',
      '???^2',
    ]);
  });
});
