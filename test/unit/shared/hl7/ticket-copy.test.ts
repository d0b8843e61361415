/** A copy for a ticket is without the patient, and has the verdict and the findings of the message. */
import { readBytes } from '../../../stack/tools/hl7-text.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { decide } from '../../../../edge/hl7/ingest/decide.ts';
import { fieldType } from '../../../../shared/hl7/field-types.ts';
import { latin1 } from '../../../../shared/hl7/charset.ts';
import { readMessage } from '../../../../shared/hl7/message.ts';
import { type Reading, ticketCopy } from '../../../../shared/hl7/ticket-copy.ts';
import { corpus } from '../../../inputs/hl7-corpus.ts';
import { RECEIVED, segment, SETTINGS } from '../../../inputs/hl7-mapped.ts';
import { simulateDay } from '../../../inputs/simulated-hospital.ts';
import { idAt } from '../../../stack/tools/id-at.ts';
import { inputs, sized } from '../../../stack/tools/size.ts';

/** mulberry32 */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) % below;
  };
}

const READING: Reading = { charset: null, placeholders: new Set() };
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const copyOf = (text: string, seed = 1): string =>
  new TextDecoder().decode(ticketCopy(bytesOf(text), READING, seeded(seed)));
const linesOf = (copy: string): string[] => copy.split('\r').filter((line) => line !== '');

/** The verdict and each finding with its place. */
function verdictOf(bytes: Uint8Array, placeholders: ReadonlySet<string> = new Set()) {
  const decision = decide({
    reading: readBytes(bytes, 'utf-8'),
    settings: { ...SETTINGS, placeholders },
    found: [],
    patients: [],
    ...RECEIVED,
    // A copy is older than its message, so it shows no clock that is ahead.
    messageId: idAt(Date.parse('2099-01-01')),
  });
  const findings = decision.findings.map(({ severity, code, at, reason }) => `${severity} ${code} ${reason} ${at}`);
  const resources = decision.effects.resources.map(({ resourceType }) => resourceType);
  return { outcome: decision.outcome, findings, resources };
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const termsIn = (text: string): string[] => (text.toLowerCase().match(WORD) ?? []).filter((word) => word.length > 2);

/** By type, the components that name a person or say where one lives; all of the other types. */
const PERSONAL: Readonly<Record<string, readonly number[]>> = {
  CX: [1],
  XPN: [1, 2, 3],
  XCN: [1, 2, 3, 4],
  XAD: [1, 2, 3, 4, 5, 8],
  XTN: [1, 4, 5, 6, 7, 8, 12],
  DLN: [1],
};
/** Terms of names, addresses, telephone numbers and identifiers, and dates: no ticket may have them. */
function secretsOf(text: string): Set<string> {
  const secrets = new Set<string>();
  for (const each of readMessage(text).segments) {
    const { component, repetition, subcomponent } = each.source.delimiters;
    each.fields().forEach((raw, field) => {
      const type = fieldType(each.id, field, '') ?? '';
      for (const value of raw.split(repetition)) {
        const components = value.split(component);
        const day = /^\s*(\d{8})/.exec(components[0] ?? '')?.[1];
        if (/^(?:TS|DT)$/.test(type) && day !== undefined && !/^(?:9|0|1[89]000101)/.test(day)) secrets.add(day);
        for (const number of PERSONAL[type] ?? []) {
          for (const leaf of (components[number - 1] ?? '').split(subcomponent || '&')) {
            for (const word of termsIn(leaf)) if (!/^\d{1,4}$|^0+$|^9+$/.test(word)) secrets.add(word);
          }
        }
      }
    });
  }
  return secrets;
}

/** Without the header, which is of the protocol, and the names of segments. */
const valuesIn = (copy: string): string =>
  copy
    .split(/[\r\n]+/)
    .slice(1)
    .map((line) => line.replace(/^[A-Z][A-Z0-9]{2}(?=[^A-Za-z0-9])/, ''))
    .join('\r');
const PLACEHOLDERS = new Set(['unknown', 'unk', 'none', 'null', 'temp', 'test', '123456789', '987654321']);

function leaksOf(text: string, copy: string): string[] {
  const secrets = secretsOf(text);
  const left = valuesIn(copy).toLowerCase().match(WORD) ?? [];
  return left.filter((word) => !PLACEHOLDERS.has(word) && (secrets.has(word) || secrets.has(word.slice(0, 8))));
}

const CORPUS = corpus();
describe('the corpus', () => {
  test.each(
    sized(
      CORPUS.filter((_, at) => at % 6 === 0),
      CORPUS,
    ),
  )('$name', ({ bytes }) => {
    const copy = ticketCopy(bytes, READING, seeded(bytes.length));
    expect(verdictOf(copy)).toEqual(verdictOf(bytes));
    let text: string;
    try {
      text = readMessage(bytes).text;
    } catch {
      text = latin1(bytes);
    }
    if (/^\s*MSH/.test(text)) expect(leaksOf(text, readable(copy))).toEqual([]);
  });
});
const readable = (bytes: Uint8Array): string => {
  try {
    return readMessage(bytes).lines;
  } catch {
    return latin1(bytes);
  }
};

test('a day of simulated hospitals', () => {
  for (const { text } of simulateDay(7, 1).messages.slice(0, inputs(12))) {
    const bytes = bytesOf(text);
    const copy = ticketCopy(bytes, READING, seeded(text.length));
    expect(verdictOf(copy)).toEqual(verdictOf(bytes));
    expect(leaksOf(text, readable(copy))).toEqual([]);
  }
});

const MSH = 'MSH|^~\\&|LAB|HOSP|GATEWAY|SITE|20260102030405+0100||ADT^A08|CTRL-77|P|2.5.1';

test('replaces a value alike everywhere: in a name, in a text, in capitals', () => {
  const copy = linesOf(
    copyOf(
      [
        MSH,
        'PID|1||4711-22^^^HOSP^MR||Huber^Anneliese||19620314|F|||Hauptstr. 5^^Graz^^8010^AT||0316/554433',
        'NTE|1||Fr. HUBER (4711-22), geb. 14.03.1962, ruft von 0316/554433 an',
        'ZPI|Anneliese|4711-22|19620314',
      ].join('\r'),
    ),
  );
  const [, pid = '', nte = '', zpi = ''] = copy;
  const fields = pid.split('|');
  const number = fields[3]?.split('^')[0] ?? '';
  const [family = '', given = ''] = fields[5]?.split('^') ?? [];
  expect(number).toMatch(/^[1-9]\d{3}-\d\d$/);
  expect(fields[3]).toBe(`${number}^^^HOSP^MR`);
  expect(family).toMatch(/^[A-Z][a-z]{4}$/);
  expect(nte).toContain(`${family.toUpperCase()} (${number})`);
  expect(nte).toContain(fields[13]);
  expect(zpi).toBe(`ZPI|${given}|${number}|${fields[7]}`);
  expect(fields[8]).toBe('F');
  expect(fields[11]?.split('^')[5]).toBe('AT');
  expect(copy.join()).not.toMatch(/huber|anneliese|4711|554433|19620314|1962|hauptstr|graz|8010/i);
});

test('moves all dates by one number of days; the time of day, the precision and an offset stay', () => {
  const sent = ['19620314', '202601020304', '20260102030405.123+0100', '1999', '199902'];
  const [, pid = '', ...rest] = linesOf(
    copyOf(
      [MSH, `PID|1||1^^^HOSP||A^B||${sent[0]}`, ...sent.map((date) => `PV1|1|I${'|'.repeat(42)}${date}`)].join('\r'),
    ),
  );
  const moved = rest.map((line) => line.split('|')[44] ?? '');
  const day = (text: string): number =>
    Date.UTC(Number(text.slice(0, 4)), Number(text.slice(4, 6)) - 1, Number(text.slice(6, 8))) / 86_400_000;
  expect(moved[0]).toBe(pid.split('|')[7]);
  expect(day(moved[1] ?? '') - day(sent[1] ?? '')).toBe(day(moved[0] ?? '') - day(sent[0] ?? ''));
  expect(moved[1]).toMatch(/^\d{8}0304$/);
  expect(moved[2]).toMatch(/^\d{8}030405\.123\+0100$/);
  expect(moved.map((date) => date.length)).toEqual(sent.map((date) => date.length));
});

test.each([
  ['a day that is not of the calendar', 'PID|1||1^^^HOSP||A^B||19800230'],
  ['a text in the place of a date', 'PID|1||1^^^HOSP||A^B||unbekannt'],
  ['an hour 25', 'PID|1||1^^^HOSP||A^B||1980010125'],
  ['a leap day', 'PID|1||1^^^HOSP||A^B||19810229'],
  ['a placeholder', 'PID|1||UNKNOWN||Test^Patient'],
  ['a number of zeros', 'PID|1||0000||Test^Patient'],
  ['a letter', 'PID|1||X||Test^Patient'],
  ['a doubtful number', 'PID|1||5555||Test^Patient'],
  ['a sequence of digits', 'PID|1||123456789||Test^Patient'],
  ['a social security number that is a placeholder', 'PID|1||999-99-9999^^^HOSP^SS||Test^Patient'],
  ['an unknown code', 'PID|1||1^^^HOSP||A^B|||Q'],
  ['an identifier that is too long', `PID|1||${'12'.repeat(150)}^^^HOSP||A^B`],
  ['a family name without a segment', 'PID|1||1^^^HOSP||A^B\rSmith, who lives in\rGraz'],
  ['no PID', 'PV1|1|I'],
])('keeps the fault of %s', (_name, lines) => {
  const text = `${MSH}\r${lines}`;
  expect(verdictOf(bytesOf(copyOf(text)))).toEqual(verdictOf(bytesOf(text)));
  expect(copyOf(text)).not.toMatch(/Smith|Graz|unbekannt/);
});

const ORU = MSH.replace('ADT^A08', 'ORU^R01');
test.each([
  ['a number with a comma', 'NM', '5,6'],
  ['a range', 'NR', '35^72'],
  ['a reversed range', 'NR', '72^35'],
  ['a time of day', 'TM', '2561'],
  ['base64', 'ED', 'A^AP^PDF^Base64^SGVsbG8gV29ybGQh'],
  ['broken base64', 'ED', 'A^AP^PDF^Base64^SGVsbG8*V29ybGQh'],
  ['hexadecimal data', 'ED', 'A^AP^PDF^Hex^48656C6C6F'],
  ['no hexadecimal data', 'ED', 'A^AP^PDF^Hex^4865XX6C6F'],
  ['a type that is not known', 'QQ', 'Anything at all'],
])('keeps the fault or the form of %s in OBX-5', (_name, type, value) => {
  const text = [
    ORU,
    'PID|1||1^^^HOSP||A^B',
    'OBR|1||F1|1^P^L|||20260101|||||||||||||||||F',
    `OBX|1|${type}|9^G^L||${value}|10^3/uL|||||F`,
  ].join('\r');
  expect(verdictOf(bytesOf(copyOf(text)))).toEqual(verdictOf(bytesOf(text)));
  expect(copyOf(text)).not.toMatch(/SGVsbG8|48656C|Anything/);
});

test('escape sequences stay, and what they hide is replaced', () => {
  const [, pid = ''] = linesOf(copyOf(`${MSH}\rPID|1||1^^^HOSP||O\\T\\Brien\\X0D\\\\X42\\\\X6F\\^C:\\temp\\Q\\`));
  expect(pid).toMatch(/^PID\|1\|\|[2-9]\^\^\^HOSP\|\|[A-Z]\\T\\[A-Z][a-z]{4}\\X0D\\\\X78\\\\X78\\\^[A-Z]:\\tzzz\\Q\\$/);
  expect(pid).not.toMatch(/O\\T|Brien/);
});

test('a code that repeats a name or an identifier of the message is replaced', () => {
  const copy = copyOf(
    `${MSH}\rPID|1||A471122^^^HOSP||Huber^Anna|||F\rPV1|1|I||||||||HUBER||||||||||A471122\rDG1|1|HUBER|A471122^x^L`,
  );
  expect(copy).not.toMatch(/huber|a471122/i);
});

test('the character set and other delimiters stay', () => {
  const text = 'MSH#*+!?#LAB#HOSP###20260102##ADT*A08#C1#P#2.5.1######8859/1\rPID#1##1***HOSP##Müller*Jürgen*ß';
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const copy = ticketCopy(bytes, READING, seeded(3));
  expect(latin1(copy)).toMatch(/##[A-Z][áâäéëíîóôöúü][a-z]{4}\*[A-Z][áâäéëíîóôöúü][a-z]{4}\*[áâäéëíîóôöúü]\r$/);
  expect(latin1(copy)).not.toContain('Müller');
  expect(verdictOf(copy)).toEqual(verdictOf(bytes));
});

test.each([
  ['Shift JIS', 'SHIFT_JIS', Uint8Array.of(0x8e, 0x52, 0x93, 0x63)],
  ['bytes that are not UTF-8', 'UNICODE UTF-8', Uint8Array.of(0x4d, 0xfc, 0x6c, 0x6c, 0x65, 0x72)],
  ['UTF-8 that is declared as Latin 1', '8859/1', bytesOf('Müller')],
  ['a set that is not known', 'EBCDIC', bytesOf('Müller')],
  ['NUL', 'UNICODE UTF-8', bytesOf('Mul\0ler')],
])('keeps the verdict on %s', (_name, charset, name) => {
  const bytes = Uint8Array.from([
    ...bytesOf(`${MSH}||||||${charset}\rPID|1||1^^^HOSP||`),
    ...name,
    ...bytesOf('^Jane\rNTE|1||Müllerin\r'.replaceAll('ü', 'u')),
  ]);
  const copy = ticketCopy(bytes, READING, seeded(5));
  expect(verdictOf(copy)).toEqual(verdictOf(bytes));
  expect(latin1(copy)).not.toContain(latin1(name));
  expect(latin1(copy)).not.toMatch(/Jane|Muller/);
});

test('a message without delimiters keeps only the names of its segments', () => {
  for (const text of [
    'PID|1||4711^^^HOSP||Huber^Anna',
    'MSH|^^\\&|LAB\rPID|1||4711||Huber',
    'Huber 4711',
    'MSHA^~\\&ALAB\rPID|Huber',
  ]) {
    const copy = copyOf(text);
    expect(copy).not.toMatch(/Huber|4711/);
    expect(copy.replaceAll(/\w/g, 'w').trim()).toBe(text.replaceAll(/\w/g, 'w'));
    expect(verdictOf(bytesOf(copy))).toEqual(verdictOf(bytesOf(text)));
  }
});

test('two copies have different values', () => {
  const text = `${MSH}\rPID|1||471122^^^HOSP||Huber^Anneliese||19620314`;
  expect(new Set([1, 2, 3, 4].map((seed) => copyOf(text, seed))).size).toBe(4);
  const own = new Set([1, 2, 3].map(() => new TextDecoder().decode(ticketCopy(bytesOf(text), READING))));
  expect(own.size).toBe(3);
});

test('a document that was cut out is replaced by zeros', () => {
  const token = `\u0001${'a'.repeat(43)}.90000.76.5c2e62725c\u0001`;
  const [, obx = ''] = linesOf(copyOf(`${MSH}\rOBX|1|ED|1^a^L||A^AP^PDF^Base64^${token}||||||F`));
  expect(obx).toBe(`OBX|1|ED|1^${obx.split('^')[1]}^L||A^AP^PDF^Base64^${'A'.repeat(1000)}||||||F`);
});

const secret = fc.stringMatching(/^[A-Z][a-z]{5,9}$/);
const number = fc.stringMatching(/^[1-9][0-9]{6,9}$/);
const values = fc.record({
  family: secret,
  given: secret,
  street: secret,
  city: secret,
  doctor: secret,
  mrn: number,
  phone: number,
  order: number,
});

test('no secret is left in any field', () => {
  fc.assert(
    fc.property(
      values,
      fc.integer({ min: 0, max: 1e6 }),
      fc.constantFrom('ADT^A08', 'ORU^R01', 'MDM^T02', 'ZZZ^Z01'),
      (of, seed, type) => {
        const { family, given, street, city, doctor, mrn, phone, order } = of;
        const text = [
          MSH.replace('ADT^A08', type).replace('CTRL-77', order),
          segment('PID', {
            1: '1',
            3: `${mrn}^^^HOSP^MR`,
            5: `${family}^${given}`,
            7: '19800229',
            11: `${street} 1^^${city}`,
            13: phone,
            19: mrn,
          }),
          segment('NK1', { 1: '1', 2: `${family}^${given}`, 3: 'SPO', 5: `^PRN^PH^^43^^${phone}`, 37: mrn }),
          segment('PV1', { 1: '1', 2: 'I', 3: `${city}^1^2`, 7: `${mrn}^${doctor}`, 10: family, 44: '202602291200' }),
          segment('ORC', { 1: 'RE', 2: order, 3: order }),
          segment('OBR', { 1: '1', 2: order, 3: order, 4: `1^${given}^L`, 25: 'F', 28: `${mrn}^${doctor}` }),
          segment('OBX', { 1: '1', 2: 'ST', 3: '1^x^L', 5: `${given} ${family}&${phone}^${street}`, 11: 'F' }),
          segment('OBX', { 1: '2', 2: 'NM', 3: '2^x^L', 5: phone, 11: 'F' }),
          segment('NTE', { 1: '1', 3: `${doctor}~${family.toUpperCase()}, ${city}` }),
          segment('ZZ1', { 1: mrn, 2: `${given}^${family}`, 9: `a@${city}.org` }),
          segment('IN2', { 2: mrn, 7: doctor }),
        ].join('\r');
        const copy = copyOf(text, seed);
        const found = copy.toLowerCase().match(WORD) ?? [];
        expect(found.filter((word) => Object.values(of).some((each) => each.toLowerCase() === word))).toEqual([]);
        expect(copy).not.toMatch(/19800229|20260229/);
        expect(shapeOf(copy)).toBe(shapeOf(`${text}\r`));
        expect(verdictOf(bytesOf(copy))).toEqual(verdictOf(bytesOf(text)));
      },
    ),
    { numRuns: inputs(20) },
  );
});
/** Each letter and digit by its class. */
const shapeOf = (text: string): string =>
  text
    .replaceAll(/\p{Lu}/gu, 'A')
    .replaceAll(/[\p{L}\p{M}]/gu, (letter) => (letter === 'A' ? 'A' : 'a'))
    .replaceAll(/\p{N}/gu, '9');

test('any text has a copy of the same form', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary', maxLength: 30 }), { maxLength: 5 }),
      fc.integer(),
      (lines, seed) => {
        const text = `${MSH}\r${lines.map((line) => `PID|${line.replaceAll(/[\\\0]/g, '')}`).join('\r')}`;
        const copy = copyOf(text.toWellFormed(), seed);
        const forms = [
          copy,
          readMessage(text.toWellFormed())
            .segments.map(({ raw }) => `${raw}\r`)
            .join(''),
        ].map((each) => shapeOf(each).replaceAll(/[^ -~\r]/gu, '?'));
        expect(forms[0]?.split(/[|^~&\r]/).length).toBe(forms[1]?.split(/[|^~&\r]/).length);
      },
    ),
    { numRuns: inputs(15) },
  );
});

test('keeps a placeholder of the site, so that its fault stays; a number beside it is replaced', () => {
  const reading = { charset: null, placeholders: new Set(['NOTFOUND77', '5550000', 'KEIN FALL']) };
  for (const value of ['NOTFOUND77', 'notfound77', ' 5550000', 'Kein Fall']) {
    const bytes = bytesOf(`${MSH}\rPID|1||${value}^^^HOSP^MR||Huber^Anneliese||19620314|F`);
    const copy = ticketCopy(bytes, reading, seeded(9));
    const verdict = verdictOf(bytes, reading.placeholders);
    expect(verdict.findings.join(), value).toContain('placeholder-identifier');
    expect(verdictOf(copy, reading.placeholders)).toEqual(verdict);
    expect(new TextDecoder().decode(copy)).toContain(`|${value}^^^HOSP^MR|`);
  }
  const both = bytesOf(`${MSH}\rPID|1||NOTFOUND77^^^HOSP^MR~4711-22^^^HOSP^PI||NOTFOUND77^Anneliese||19620314|F`);
  const text = new TextDecoder().decode(ticketCopy(both, reading, seeded(9)));
  expect(text).not.toContain('4711');
  // A name is replaced, even if it is equal to a placeholder.
  expect(text.match(/NOTFOUND77/g)).toHaveLength(1);
});
