import { describe, expect, test } from 'vitest';

import { ruled } from './ruled.ts';

/** The cases of each verb: the other members of the rule, and the segments before and after it. `|{9}` is nine separators. */
type Case = readonly [name: string, rule: object, before: string, after: string];

const CASES: Readonly<Record<string, readonly Case[]>> = {
  set: [
    ['replaces a field', { path: 'PID-8', value: 'F' }, 'PID|||||||^x|M~O|9', 'PID|||||||^x|F|9'],
    ['adds fields', { path: 'PID-8', value: 'F' }, 'PID|1', 'PID|1|||||||F'],
    ['fills no missing segment', { path: 'PV1-2', value: 'I' }, 'PID|1', 'PID|1'],
    [
      'writes a component in each repetition with a value',
      { path: 'PID-5.7', value: 'L' },
      'PID|||||A^B~~C',
      'PID|||||A^B^^^^^L~~C^^^^^^L',
    ],
    [
      'writes no component beyond the first of an empty field or of ""',
      { path: 'OBX-6.3', value: 'UCUM' },
      'OBX|1|NM|X||5||\nOBX|2|NM|X||5|""|',
      'OBX|1|NM|X||5||\nOBX|2|NM|X||5|""|',
    ],
    [
      'writes the first component of an empty field',
      { path: 'OBX-6.1', value: 'mmol/L' },
      'OBX|1|NM|X||5',
      'OBX|1|NM|X||5|mmol/L',
    ],
    ['writes a subcomponent', { path: 'PID-5[1].1.2', value: 'von' }, 'PID|||||A&&x^B~C', 'PID|||||A&von&x^B~C'],
    ['writes one repetition', { path: 'PID-13[2]', value: '2' }, 'PID|{13}a~b~c', 'PID|{13}a~2~c'],
    ['adds no repetition', { path: 'PID-13[2]', value: '2' }, 'PID|{13}a', 'PID|{13}a'],
    [
      'escapes delimiters',
      { path: 'NTE-3', value: 'a|b^c&d~e\\f' },
      'NTE|1||x',
      'NTE|1||a\\F\\b\\S\\c\\T\\d\\R\\e\\E\\f',
    ],
    ['writes the null of HL7', { path: 'PID-8', value: '""' }, 'PID|||||||^x|M', 'PID|||||||^x|""'],
    [
      'selects segments by a value',
      { path: 'OBX[OBX-3.1=B]-6', value: 'g' },
      'OBX|1|NM|A\nOBX|2|NM|X~B^y\nOBX|3|NM|BB',
      'OBX|1|NM|A\nOBX|2|NM|X~B^y|||g\nOBX|3|NM|BB',
    ],
    ['selects a segment by its number', { path: 'NTE[2]-3', value: 'b' }, 'NTE|1||x\nNTE|2||x', 'NTE|1||x\nNTE|2||b'],
  ],
  default: [
    ['fills an empty field', { path: 'OBX-2', value: 'ST' }, 'OBX|1||A\nOBX|2|NM|A', 'OBX|1|ST|A\nOBX|2|NM|A'],
    ['fills a field of separators', { path: 'PID-9', value: 'x' }, 'PID|{9}^& ~', 'PID|{9}x'],
    ['keeps ""', { path: 'PID-8', value: 'F' }, 'PID|{8}""', 'PID|{8}""'],
    [
      'fills a component beside a value',
      { path: 'PID-11.6', value: 'DEU' },
      'PID|{11}a^b~^^c^^^FRA~',
      'PID|{11}a^b^^^^DEU~^^c^^^FRA~',
    ],
  ],
  copy: [
    ['within a segment', { from: 'OBR-20', path: 'OBR-3' }, 'OBR|1||old|{17}new^LAB', 'OBR|1||new^LAB|{17}new^LAB'],
    ['of nothing changes nothing', { from: 'OBR-20', path: 'OBR-3' }, 'OBR|1||old', 'OBR|1||old'],
    [
      'where there is no value yet',
      { from: 'OBR-20', path: 'OBR[OBR-3=]-3' },
      'OBR|1||old|{17}n1\nOBR|2|{19}n2',
      'OBR|1||old|{17}n1\nOBR|2||n2|{17}n2',
    ],
    [
      'reduces a value to the level of its target',
      { from: 'PID-2', path: 'PID-5.1.2' },
      'PID||a&b^c~d|||F^G',
      'PID||a&b^c~d|||F&a^G',
    ],
    [
      'of a repetition',
      { from: 'PID-3[PID-3.5=SS].1', path: 'PID-19' },
      'PID|||1^^^A^MR~2^^^B^SS',
      'PID|||1^^^A^MR~2^^^B^SS|{16}2',
    ],
    ['of the header', { from: 'MSH-4.1', path: 'OBX-15.1' }, 'OBX|1|NM|A', 'OBX|1|NM|A|{12}HOSP'],
    [
      'from the order before',
      { from: 'ORC-3', path: 'OBR[OBR-3=]-3' },
      'PID|1\nORC|RE||F1\nOBR|1\nORC|RE||F2\nOBR|2',
      'PID|1\nORC|RE||F1\nOBR|1||F1\nORC|RE||F2\nOBR|2||F2',
    ],
  ],
  clear: [
    ['empties a field', { path: 'PID-19' }, 'PID|{19}x|y', 'PID|{20}y'],
    ['empties a component', { path: 'PID-5.7' }, 'PID|||||A^B^^^^^L~C^^^^^^D', 'PID|||||A^B^^^^^~C^^^^^^'],
  ],
  drop: [
    ['of segments', { path: 'NTE' }, 'PID|1\nNTE|1||a\nOBX|1|NM|A\nNTE|1||b', 'PID|1\nOBX|1|NM|A'],
    [
      'of a segment with its notes',
      { path: 'OBX[OBX-3=A]' },
      'OBX|1|ST|B\nOBX|2|ST|A\nNTE|1||a\nOBX|3|ST|C',
      'OBX|1|ST|B\nOBX|3|ST|C',
    ],
    ['of repetitions', { path: 'PID-3[PID-3.5=SS]' }, 'PID|||1^^^A^MR~2^^^B^SS~3', 'PID|||1^^^A^MR~3'],
    ['of all repetitions', { path: 'PID-13[PID-13.1=0]' }, 'PID|{13}0~0|x', 'PID|{14}x'],
  ],
  map: [
    [
      'replaces a text',
      { path: 'PID-8', values: { U: '', W: 'F' } },
      'PID|{8}W\nPID|{8}U\nPID|{8}M',
      'PID|{8}F\nPID|{8}\nPID|{8}M',
    ],
    [
      'clears other texts',
      { path: 'PID-8', values: { W: 'F' }, otherwise: 'clear' },
      'PID|{8}W\nPID|{8}X\nPID|{8}""',
      'PID|{8}F\nPID|{8}\nPID|{8}""',
    ],
    ['keeps the other components', { path: 'PID-16', values: { L: 'S' } }, 'PID|{16}L^x~L&y', 'PID|{16}S^x~S&y'],
    [
      'compares unescaped texts',
      { path: 'OBX-6', values: { 'g|l': 'g/l' } },
      'OBX|1|NM|A||1|g\\F\\l',
      'OBX|1|NM|A||1|g/l',
    ],
    ['of the null', { path: 'PID-8', values: { '""': 'U' } }, 'PID|{8}""', 'PID|{8}U'],
  ],
  split: [
    [
      'into components',
      { path: 'PID-5', by: ', ', into: 'components' },
      'PID|||||Meier, Hans~A^B',
      'PID|||||Meier^Hans~A^B',
    ],
    ['into repetitions', { path: 'PID-13', by: ';', into: 'repetitions' }, 'PID|{13}1;2~3', 'PID|{13}1~2~3'],
    ['into subcomponents', { path: 'PID-11.1', by: '/', into: 'subcomponents' }, 'PID|{11}a/b^c/d', 'PID|{11}a&b^c/d'],
    ['escapes its pieces', { path: 'PID-5', by: ',', into: 'components' }, 'PID|||||a\\T\\b,c', 'PID|||||a\\T\\b^c'],
  ],
  join: [
    ['of components', { path: 'NTE-3', by: ' ^ ' }, 'NTE|1||a^^b&c', 'NTE|1||a \\S\\ b\\T\\c'],
    ['of one component', { path: 'NTE-3', by: ' ' }, 'NTE|1||\\.br\\a', 'NTE|1||\\.br\\a'],
    ['of subcomponents', { path: 'PID-11.1', by: ' ' }, 'PID|{11}a&b^c', 'PID|{11}a b^c'],
  ],
  trim: [
    ['of a composite', { path: 'PID-5' }, 'PID||||| Meier & x ^Hans ~ ^B', 'PID|||||Meier&x^Hans~^B'],
    ['of a text', { path: 'NTE-3' }, 'NTE|1|| Smith & Jones ^ x ', 'NTE|1||Smith & Jones ^ x'],
  ],
  date: [
    [
      'of a day',
      { path: 'PID-7', format: 'DD.MM.YYYY' },
      'PID|||||||28.02.1960\nPID|||||||30.02.1960\nPID|||||||19600228',
      'PID|||||||19600228\nPID|||||||30.02.1960\nPID|||||||19600228',
    ],
    [
      'with a time',
      { path: 'OBX-14', format: 'YYYY-MM-DD HH:mm:ss' },
      'OBX|1|NM|A|{11}2026-01-02 03:04:05',
      'OBX|1|NM|A|{11}20260102030405',
    ],
  ],
  authority: [
    [
      'of a CX',
      { path: 'PID-3', namespace: 'HOSP', universalId: '1.2.3', universalIdType: 'ISO' },
      'PID|||1~2^^^OTHER~^^^^MR~3^^^""~""',
      'PID|||1^^^HOSP&1.2.3&ISO~2^^^OTHER~^^^^MR~3^^^""~""',
    ],
    [
      'that replaces another',
      { path: 'PID-3', namespace: 'HOSP', replaces: 'OLD' },
      'PID|||1^^^OLD&x^MR~2^^^NEW',
      'PID|||1^^^HOSP^MR~2^^^NEW',
    ],
    [
      'of an EI',
      { path: 'OBR-3', namespace: 'LAB', universalId: '1.2', universalIdType: 'ISO' },
      'OBR|1||F1\nOBR|2||F2^X\nOBR|3',
      'OBR|1||F1^LAB^1.2^ISO\nOBR|2||F2^X\nOBR|3',
    ],
    ['of an EIP', { path: 'SPM-2.2', namespace: 'LAB' }, 'SPM|1|P^F', 'SPM|1|P^F&LAB'],
  ],
};

const linesIn = (segments: string): string[] =>
  segments.replaceAll(/\|\{(\d+)\}/g, (_, count) => '|'.repeat(Number(count))).split('\n');

describe.each(Object.entries(CASES))('%s', (verb, cases) => {
  test.each(cases)('%s', (_name, rule, before, after) => {
    expect(ruled([{ verb, ...rule }], linesIn(before)).lines).toEqual(linesIn(after));
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
