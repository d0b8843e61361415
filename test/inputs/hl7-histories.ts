/** Histories of messages about one patient, for properties: messages of a minute each, so that orders differ before arrival. */
import fc from 'fast-check';

import { segment } from './hl7-mapped.ts';

/** A minute of a day of January; the clock of the sender gives the same time. */
const at = (minute: number): string => `2026010208${String(minute).padStart(2, '0')}`;
const header = (type: string, minute: number, control: string): string =>
  `MSH|^~\\&|LAB|HOSP|GATEWAY|SITE|${at(minute)}||${type}|${control}|P|2.5.1`;
const message = (type: string, minute: number, ...lines: readonly string[]): string =>
  [header(type, minute, `${type}-${minute}`), ...lines].join('\n');

/** A message with distinct content at any minute. */
export type Utterance = (minute: number) => string;

/** @param said messages of a minute each */
export const historyOf = (said: fc.Arbitrary<Utterance>): fc.Arbitrary<string[]> =>
  fc
    .uniqueArray(fc.record({ minute: fc.integer({ min: 0, max: 40 }), make: said }), {
      selector: ({ minute }) => minute,
      minLength: 2,
      maxLength: 5,
    })
    .map((all) => all.map(({ minute, make }) => make(minute)));

/** A history and another order of it, with each of its messages twice. */
export const inTwoOrders = (
  said: fc.Arbitrary<Utterance>,
): fc.Arbitrary<{ all: readonly string[]; other: readonly string[] }> =>
  historyOf(said).chain((all) =>
    fc.record({ all: fc.constant(all), other: fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 }) }),
  );

/** `""` and empty among them. */
const value = fc.constantFrom('', '""', '5', '6.50');
const PID = 'PID|1||P1^^^HOSP^MR||Doe^Jane';

const STATUS = fc.constantFrom('', 'P', 'P', 'R', 'S', 'F', 'F', 'C', 'W', 'W', 'D', 'X', 'Q');

export const oru: fc.Arbitrary<Utterance> = fc
  .record({
    report: fc.constantFrom('', 'P', 'F', 'C', 'X'),
    code: fc.constantFrom('a', 'b'),
    status: STATUS,
    value,
    range: fc.constantFrom('', '1-5'),
    flag: fc.constantFrom('', 'H'),
    note: fc.constantFrom(undefined, 'NTE|1||seen'),
    sent: fc.constantFrom('none', 'local', 'offset'),
    // Two collections, the first also with its offset: windows of such times overlap.
    collected: fc.constantFrom('202601010800', '20260101070000+0000', '202601010900'),
  })
  .map(({ report, code, status, value: observed, range, flag, note, sent, collected }) => (minute: number): string => {
    const obr = segment('OBR', {
      1: '1',
      3: 'F1',
      4: '1^Panel^L',
      7: collected,
      22: sent === 'none' ? '' : `${at(minute)}${sent === 'offset' ? '00+0100' : ''}`,
      25: report,
    });
    const obx = segment('OBX', {
      1: '1',
      2: 'NM',
      3: `${code}^T^L`,
      5: observed,
      6: 'mg/dL',
      7: range,
      8: flag,
      11: status,
    });
    return message('ORU^R01', minute, PID, obr, obx, ...(note === undefined ? [] : [note]));
  });

const document: fc.Arbitrary<(minute: number, pid: string) => string> = fc
  .record({
    event: fc.constantFrom('T01', 'T02', 'T08'),
    number: fc.constantFrom('D1', 'D2'),
    status: fc.constantFrom('', 'DO', 'AU'),
    availability: fc.constantFrom('', 'AV', 'CA', 'OB'),
    replaces: fc.boolean(),
    text: fc.constantFrom('one', 'two'),
    isDated: fc.boolean(),
  })
  .map(({ event, number, status, availability, replaces, text, isDated }) => (minute: number, pid: string): string => {
    const parent = number === 'D2' && replaces ? 'D1' : '';
    const fields = {
      1: '1',
      2: 'OP',
      8: isDated ? at(minute) : '',
      12: number,
      13: parent,
      17: status,
      19: availability,
    };
    const evn = `EVN||${at(minute)}`;
    const obx = event === 'T01' ? [] : [`OBX|1|TX|t||${text}`];
    return message(`MDM^${parent === '' ? event : 'T10'}`, minute, evn, pid, segment('TXA', fields), ...obx);
  });

export const mdm: fc.Arbitrary<Utterance> = document.map((of) => (minute: number) => of(minute, PID));

/** Further statements of an ADT, about the same allergen, diagnosis and procedure. */
const mentioned = {
  allergy: fc.constantFrom(undefined, 'AL1|1|DA|PEN^Penicillin^L|SV', 'AL1|1|FA|PEN^Penicillin^L|MO|Rash'),
  diagnosis: fc.constantFrom(
    undefined,
    'DG1|1||I10^Hypertension^I10||20260101',
    `DG1|1||I10^Hypertension^I10||20260101${'|'.repeat(16)}D`,
  ),
  procedure: fc.constantFrom(
    undefined,
    'PR1|1||1^Appendectomy^L||20260101|C',
    `PR1|1||1^Appendectomy^L||20260101${'|'.repeat(15)}D`,
  ),
};
const linesOf = ({
  allergy,
  diagnosis,
  procedure,
}: Record<'allergy' | 'diagnosis' | 'procedure', string | undefined>) =>
  [allergy, diagnosis, procedure].filter((line) => line !== undefined);

export const adt: fc.Arbitrary<Utterance> = fc
  .record({
    event: fc.constantFrom('A08', 'A31', 'A29'),
    name: fc.constantFrom('Doe^Jane', 'Roe^Jane', 'Roe^Jane~Jo^^^^^^N'),
    birth: fc.constantFrom('', '19800229', '""'),
    home: fc.constantFrom('', '555-1', '555-2', '""'),
    business: fc.constantFrom('', '555-3'),
    ssn: fc.constantFrom('', '1', '2'),
    numbers: fc.constantFrom('P1^^^HOSP^MR', 'P1^^^HOSP^PI~7^^^LAB', 'P1^^^HOSP^MR~7^^^LAB^PI'),
    dead: fc.constantFrom('', 'Y', 'N'),
    ...mentioned,
  })
  .map((said) => (minute: number): string => {
    const pid = segment('PID', {
      1: '1',
      3: said.numbers,
      5: said.name,
      7: said.birth,
      13: said.home === '' || said.home === '""' ? said.home : `${said.home}^PRN^PH`,
      14: said.business,
      19: said.ssn,
      30: said.dead,
    });
    const more = said.event === 'A29' ? [] : linesOf(said);
    return message(`ADT^${said.event}`, minute, `EVN||${at(minute)}`, pid, ...more);
  });

/** An A29 of an unknown patient is rejected, so this message creates the patient. */
export const KNOWN = message('ADT^A04', 0, 'EVN||2025', PID);

export const admissionsAndResults = fc.oneof(adt, oru);

/** One person under two numbers, which a merge brings together at some minute, and results under both. */
export const merged: fc.Arbitrary<Utterance> = fc
  .record({
    event: fc.constantFrom('A04', 'A08', 'A31', 'A40', 'A40', 'R01', 'R01'),
    isSurvivor: fc.boolean(),
    name: fc.constantFrom('Doe^Jane', 'Roe^Jane'),
    birth: fc.constantFrom('', '19800229'),
    home: fc.constantFrom('', '555-1', '""'),
    more: fc.constantFrom('', '~7^^^LAB^PI'),
    type: fc.constantFrom('', '^MR'),
    status: fc.constantFrom('P', 'F', 'C'),
    value,
  })
  .map(({ event, isSurvivor, name, birth, home, more, type, status, value: observed }) => (minute: number): string => {
    const number = event === 'A40' || isSurvivor ? 'P1' : 'P2';
    // Numbers of the laboratory are each of one record.
    const listed = `${number}^^^HOSP${type}${more.replace('7', number === 'P1' ? '71' : '72')}`;
    const pid = segment('PID', {
      1: '1',
      3: listed,
      5: name,
      7: birth,
      13: home === '' || home === '""' ? home : `${home}^PRN^PH`,
    });
    const evn = `EVN||${at(minute)}`;
    if (event === 'A40') return message('ADT^A40', minute, evn, pid, 'MRG|P2^^^HOSP');
    if (event !== 'R01') return message(`ADT^${event}`, minute, evn, pid);
    const order = { 1: '1', 3: `F-${number}`, 4: '1^Panel^L', 7: '202601010800', 22: at(minute), 25: status };
    return message(
      'ORU^R01',
      minute,
      pid,
      segment('OBR', order),
      segment('OBX', { 1: '1', 2: 'NM', 3: 'a^T^L', 5: observed, 6: 'mg/dL', 11: status }),
    );
  });

/** The same result, filed under both numbers before, between or after their merge. */
export const resultsThatMeet: fc.Arbitrary<Utterance> = fc
  .record({
    isMerge: fc.boolean(),
    isSurvivor: fc.boolean(),
    status: STATUS,
    value,
  })
  .map(({ isMerge, isSurvivor, status, value: observed }) => (minute: number): string => {
    const pid = `PID|1||${isMerge || isSurvivor ? 'P1' : 'P2'}^^^HOSP||Doe^Jane`;
    if (isMerge) return message('ADT^A40', minute, `EVN||${at(minute)}`, pid, 'MRG|P2^^^HOSP');
    const order = { 1: '1', 3: 'F1', 4: '1^Panel^L', 7: '202601010800', 22: at(minute), 25: status };
    const result = { 1: '1', 2: 'NM', 3: 'a^T^L', 5: observed, 6: 'mg/dL', 11: status };
    return message('ORU^R01', minute, pid, segment('OBR', order), segment('OBX', result));
  });

/** The same allergy, diagnosis, procedure and documents, filed under both numbers before, between or after their merge. */
export const filedThatMeet: fc.Arbitrary<Utterance> = fc
  .record({
    type: fc.constantFrom('A40', 'A08', 'A08', 'MDM', 'MDM'),
    isSurvivor: fc.boolean(),
    document,
    ...mentioned,
  })
  .map(({ type, isSurvivor, document: of, ...said }) => (minute: number): string => {
    const pid = `PID|1||${type === 'A40' || isSurvivor ? 'P1' : 'P2'}^^^HOSP||Doe^Jane`;
    if (type === 'MDM') return of(minute, pid);
    const more = type === 'A40' ? ['MRG|P2^^^HOSP'] : linesOf(said);
    return message(`ADT^${type}`, minute, `EVN||${at(minute)}`, pid, ...more);
  });
