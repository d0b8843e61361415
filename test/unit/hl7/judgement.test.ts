/** Errors, warnings and information: a harmless fault does not block a feed. */
import { describe, expect, test } from 'vitest';

import { readHeader } from '../../../shared/hl7/header.ts';
import { readMessage } from '../../../shared/hl7/message.ts';
import { printMembers, type JsonObject } from '../../../shared/json.ts';
import { acceptAckOf } from '../../../edge/hl7/ingest/answer.ts';
import type { Found } from '../../../edge/hl7/mapping/drafts.ts';
import { mapped, pid } from '../../inputs/hl7-mapped.ts';

/** A patient that the site has, under the number of `pid()`. */
function known(more: JsonObject = {}): Found[] {
  const body = printMembers({ identifier: [{ system: 'urn:example:hosp', value: '123' }], active: true, ...more });
  const id = '01890000-0000-7000-8000-00000000000a';
  const resource = { type: 'Patient', id, version: 1, last_updated: '2026-01-01T00:00:00.000Z', meta: '', body };
  return [{ role: 'patient', key: '', contributions: null, resource }];
}

const OBR = 'OBR|1||F1|1^Test^L|||20260101||||||||||||||||||F';
const obx = (fields: Readonly<Record<number, string>> = {}) => {
  const all: Record<number, string> = { 1: '1', 2: 'NM', 3: 'n^N^L', 5: '5', 11: 'F', ...fields };
  return ['OBX', ...Array.from({ length: 14 }, (_, at) => all[at + 1] ?? '')].join('|');
};
const txa = (fields: Readonly<Record<number, string>> = {}) => {
  const all: Record<number, string> = { 1: '1', 2: 'OP', 3: 'TX', 12: 'D1', 17: 'AU', 19: 'AV', ...fields };
  return ['TXA', ...Array.from({ length: 19 }, (_, at) => all[at + 1] ?? '')].join('|');
};

interface Row {
  readonly what: string;
  readonly type: string;
  readonly lines: readonly string[];
  readonly findings: readonly string[];
  /** The resource that lacks the unreadable value. */
  readonly lacks?: readonly [type: string, element: string];
}

/** Fields that cannot be read: each is left out at its place, and the rest is stored. */
const UNREADABLE: readonly Row[] = [
  {
    what: 'a birth date of zeros in a result',
    type: 'ORU^R01',
    lines: [pid({ 7: '00000000' }), OBR, obx()],
    findings: ['W 102 PID^1^7^1^1'],
    lacks: ['Patient', 'birthDate'],
  },
  {
    what: 'a birth date with dashes',
    type: 'ADT^A08',
    lines: [pid({ 7: '1980-02-29' })],
    findings: ['W 102 PID^1^7^1^1'],
    lacks: ['Patient', 'birthDate'],
  },
  {
    what: 'a letter in the time of collection',
    type: 'ORU^R01',
    lines: [pid(), OBR, obx({ 14: '2O260101' })],
    findings: ['W 102 OBX^1^14^1^1'],
    lacks: ['Observation', 'effectiveDateTime'],
  },
  {
    what: 'an onset that is a text',
    type: 'ADT^A01',
    lines: [pid(), 'AL1|1|DA|PEN^Penicillin^L|||since childhood'],
    findings: ['W 102 AL1^1^6^1^1'],
    lacks: ['AllergyIntolerance', 'onsetDateTime'],
  },
  {
    what: 'the 31st of February in a diagnosis',
    type: 'ADT^A01',
    lines: [pid(), 'DG1|1||I10^Hypertension^I10||20260231'],
    findings: ['W 102 DG1^1^5^1^1'],
    lacks: ['Condition', 'onsetDateTime'],
  },
  {
    what: 'the beginning of an observation, with its end: half of a period is another period',
    type: 'ORU^R01',
    lines: [pid(), 'OBR|1||F1|1^Test^L|||0|20260101|||||||||||||||||F', obx()],
    findings: ['W 102 OBR^1^7^1^1'],
    lacks: ['DiagnosticReport', 'effectivePeriod'],
  },
  {
    what: 'a sex of no table',
    type: 'ADT^A08',
    lines: [pid({ 8: 'Q' })],
    findings: ['W 103 PID^1^8'],
    lacks: ['Patient', 'gender'],
  },
  {
    what: 'a kind of allergy of no table',
    type: 'ADT^A08',
    lines: [pid(), 'AL1|1|drug|PEN^Penicillin^L'],
    findings: ['W 103 AL1^1^2'],
    lacks: ['AllergyIntolerance', 'category'],
  },
  {
    what: 'a completion status of no table',
    type: 'MDM^T02',
    lines: [pid(), txa({ 17: 'SIGNED' }), obx({ 2: 'TX', 5: 'text' })],
    findings: ['W 103 TXA^1^17'],
    lacks: ['DocumentReference', 'docStatus'],
  },
  {
    what: 'an availability of no table',
    type: 'MDM^T02',
    lines: [pid(), txa({ 19: 'YES' }), obx({ 2: 'TX', 5: 'text' })],
    findings: ['W 103 TXA^1^19'],
  },
  {
    what: 'a second number that is longer than any',
    type: 'ADT^A08',
    lines: [pid({ 3: `123^^^HOSP^MR~${'9'.repeat(300)}^^^X^PI` })],
    findings: ['W 102 PID^1^3^2^1'],
  },
  {
    what: 'an order number that is longer than any',
    type: 'ORU^R01',
    lines: [pid(), OBR.replace('F1', 'F'.repeat(300)), obx()],
    findings: ['W 102 OBR^1^3^1^1'],
    lacks: ['DiagnosticReport', 'identifier'],
  },
  {
    what: 'an allergy whose text is a novel',
    type: 'ADT^A08',
    lines: [pid(), `AL1|1|DA|^${'word '.repeat(300)}`],
    findings: ['W 102 AL1^1'],
  },
];

describe('a field that the gateway cannot read', () => {
  test.each(UNREADABLE)('$what', ({ type, lines, findings, lacks }) => {
    const made = mapped(type, lines);
    expect({ outcome: made.outcome, findings: made.findings }).toEqual({ outcome: 'AA', findings });
    made.everyResourceIsValid();
    if (lacks !== undefined) expect(made.resource(lacks[0])).not.toHaveProperty(lacks[1]);
  });

  test.each(UNREADABLE)('$what: the findings are equal when the patient is known', ({ type, lines, findings }) => {
    expect(mapped(type, lines, { found: known() })).toMatchObject({ outcome: 'AA', findings });
  });

  test.each(UNREADABLE)('$what: a strict key rejects the message', ({ type, lines, findings }) => {
    const refused = mapped(type, lines, { settings: { hl7_strict: true } });
    expect(refused).toMatchObject({ outcome: 'AE', findings: findings.map((found) => found.replace('W', 'E')) });
  });

  test('leaves stored data unchanged', () => {
    const birth = {
      birthDate: '1980-02-29',
      _birthDate: {
        extension: [
          { url: 'http://hl7.org/fhir/StructureDefinition/patient-birthTime', valueDateTime: '1980-02-29T10:00:00Z' },
        ],
      },
    };
    const made = mapped('ADT^A08', [pid({ 7: '00000000' })], { found: known(birth) });
    expect(made.resource('Patient')).toMatchObject(birth);
  });

  test('a birth date with a wrong time of day stays, and a stored time of another day is removed', () => {
    const made = mapped('ADT^A08', [pid({ 7: '198002292400' })], {
      found: known({
        birthDate: '1980-02-28',
        _birthDate: {
          extension: [
            { url: 'http://hl7.org/fhir/StructureDefinition/patient-birthTime', valueDateTime: '1980-02-28T10:00:00Z' },
          ],
        },
      }),
    });
    expect(made.findings).toEqual(['W 102 PID^1^7^1^1']);
    const patient = made.resource('Patient');
    expect([patient['birthDate'], patient['_birthDate']]).toEqual(['1980-02-29', undefined]);
    expect(mapped('ADT^A08', [pid({ 7: '198002301000' })]).resource('Patient')['birthDate']).toBeUndefined();
  });

  test('a code that is too long for the search index is kept as text', () => {
    const made = mapped('ORU^R01', [pid(), OBR, obx({ 3: `${'c'.repeat(500)}^^L` })]);
    expect(made.findings).toEqual(['W 102 OBX^1^3^1^1']);
    expect(made.resource('Observation')['code']).toEqual({ text: 'c'.repeat(500) });
  });

  test('a death with an unreadable time is kept as a death', () => {
    const made = mapped('ADT^A08', [pid({ 29: '00000000', 30: 'Y' })]);
    expect(made.findings).toEqual(['W 102 PID^1^29^1^1']);
    expect(made.resource('Patient')).toMatchObject({ deceasedBoolean: true });
  });
});

describe('a message without an identifiable subject is rejected', () => {
  test.each<[what: string, type: string, lines: string[], error: string]>([
    ['a patient without an identifier', 'ADT^A08', ['PID|1||||Doe^Jane'], 'E 101 PID^1^3^1^1'],
    ['a patient whose identifier is too long', 'ADT^A08', [pid({ 3: '9'.repeat(300) })], 'E 102 PID^1^3^1^1'],
    ['no patient', 'ADT^A08', ['EVN|A08'], 'E 101 PID^1'],
    ['a report without a code', 'ORU^R01', [pid(), OBR.replace('1^Test^L', ''), obx()], 'E 101 OBR^1^4'],
    ['a result without a code', 'ORU^R01', [pid(), OBR, obx({ 3: '' })], 'E 101 OBX^1^3'],
    ['an order with an unknown status', 'ORU^R01', [pid(), OBR.replace(/F$/, 'Z'), obx()], 'E 103 OBR^1^25'],
    ['a document without an identifier', 'MDM^T02', [pid(), txa({ 12: '' })], 'E 101 TXA^1^12^1^1'],
    ['no document', 'MDM^T02', [pid(), obx()], 'E 101 TXA^1'],
  ])('%s', (_, type, lines, error) => {
    const { outcome, findings } = mapped(type, lines);
    expect(outcome).toBe('AE');
    expect(findings).toContain(error);
  });
});

describe('MSH-11', () => {
  const settings = { processingIds: new Set(['T', 'P']) };

  test('an empty MSH-11 has the first processing id of the key or the site', () => {
    const { outcome, findings, ack } = mapped('ADT^A08', [pid()], { settings, header: { 11: '' } });
    expect({ outcome, findings }).toEqual({ outcome: 'AA', findings: ['W 101 MSH^1^11'] });
    expect(ack).toContain('was processed as T');
  });

  test.each([
    ['an empty MSH-11 with a strict key', '', { ...settings, hl7_strict: true }, 'AE', 'E 101 MSH^1^11'],
    ['an MSH-11 that the key does not allow', 'D', settings, 'AR', 'E 202 MSH^1^11'],
  ])('%s: rejected', (_, id, more, outcome, error) => {
    const judged = mapped('ADT^A08', [pid()], { settings: more, header: { 11: id } });
    expect(judged).toMatchObject({ outcome, findings: [error] });
  });
});

test.each(['9', '10', '12'])('MSH-%s is required', (field) => {
  const judged = mapped('ADT^A08', [pid()], { header: { [Number(field)]: '' } });
  expect(judged.outcome).toMatch(/^A[ER]$/);
  expect(judged.resources).toEqual([]);
});

describe('a deletion of an unknown resource', () => {
  test.each([
    ['A23', ['W 204 PID^1^3^1^1', 'I 201 MSH^1^9^1^2']],
    ['A29', ['W 204 PID^1^3^1^1']],
  ])('ADT^%s', (event, findings) => {
    const { outcome, findings: found } = mapped(`ADT^${event}`, [pid()]);
    expect(outcome).toBe('AA');
    expect([...found].sort()).toEqual([...findings].sort());
  });

  test('MDM^T11 is stored as cancelled, so that a late T02 does not restore the document', () => {
    const judged = mapped('MDM^T11', [pid(), txa()]);
    expect(judged).toMatchObject({ outcome: 'AA', findings: ['W 204 TXA^1^12'] });
    expect(judged.resource('DocumentReference')).toMatchObject({ status: 'entered-in-error' });
  });
});

describe('events of ADT', () => {
  const EVENTS = Array.from({ length: 62 }, (_, at) => `A${String(at + 1).padStart(2, '0')}`);

  test.each([...EVENTS, 'A99', 'ZZ1'])('%s with a PID is accepted', (event) => {
    const lines = [pid(), 'MRG|9^^^HOSP^MR'];
    expect(mapped(`ADT^${event}`, lines)).toMatchObject({ outcome: 'AA' });
    expect(mapped(`ADT^${event}`, lines, { found: known() })).toMatchObject({ outcome: 'AA' });
  });

  test.each(['A11', 'A12', 'A21', 'A38', 'A54', 'A62', 'A99'])(
    '%s updates demographics and returns an information',
    (event) => {
      const judged = mapped(`ADT^${event}`, [pid({ 5: 'Roe^Jane' })], { found: known() });
      expect(judged.findings).toEqual(['I 201 MSH^1^9^1^2']);
      expect(judged.resource('Patient')).toMatchObject({ active: true, name: [{ family: 'Roe' }] });
    },
  );

  test('A20 is about a bed and has no patient', () => {
    expect(mapped('ADT^A20', ['EVN|A20', 'NPU|1|K'])).toMatchObject({ outcome: 'AA', resources: [] });
  });

  test('A23 deletes a visit and leaves the patient unchanged', () => {
    const active = (event: string, before: boolean) =>
      mapped(`ADT^${event}`, [pid()], { found: known({ active: before }) }).resource('Patient')['active'];
    expect(active('A23', true)).toBe(true);
    expect(active('A23', false)).toBe(false);
    expect(active('A29', true)).toBe(false);
    expect(active('A08', false)).toBe(true);
  });

  test('A60 creates allergies', () => {
    const made = mapped('ADT^A60', [pid(), 'IAM|1|DA|PEN^Penicillin^L|SV||A|I1']);
    expect(made).toMatchObject({ outcome: 'AA', findings: [] });
    expect(made.resource('AllergyIntolerance')).toMatchObject({ criticality: 'high' });
  });
});

describe('types that are not mapped', () => {
  const siu = ['SCH|1', pid()];

  test('are rejected', () => {
    expect(mapped('SIU^S12', siu)).toMatchObject({ outcome: 'AR', findings: ['E 200 MSH^1^9^1^1'] });
  });

  test('are stored without effects when the key allows them', () => {
    const kept = mapped('SIU^S12', siu, { settings: { hl7_unsupported_types: 'keep' } });
    expect(kept).toMatchObject({ outcome: 'AA', findings: ['I 200 MSH^1^9^1^1'], resources: [] });
  });

  test('are rejected with a broken envelope, even when the key allows them', () => {
    const broken = mapped('SIU^S12', siu, { settings: { hl7_unsupported_types: 'keep' }, header: { 10: '' } });
    expect(broken.outcome).toBe('AR');
  });
});

describe('OBX before any OBR', () => {
  const lines = [pid(), obx({ 3: 'h^Height^L' })];

  test.each(['2.7', '2.7.1', '2.8', '2.8.2'])('%s: the results belong to the patient', (version) => {
    const made = mapped('ORU^R01', [...lines, OBR, obx()], { header: { 12: version } });
    expect(made).toMatchObject({ outcome: 'AA', findings: [] });
    expect(made.resources.map((resource) => JSON.stringify(resource['resourceType'])).sort()).toEqual([
      '"DiagnosticReport"',
      '"Observation"',
      '"Observation"',
      '"Patient"',
    ]);
    expect(mapped('ORU^R01', lines, { header: { 12: version } })).toMatchObject({ outcome: 'AA', findings: [] });
  });

  test.each(['2.3', '2.5.1', '2.6'])('%s: the segment is misplaced', (version) => {
    expect(mapped('ORU^R01', [...lines, OBR], { header: { 12: version } })).toMatchObject({ outcome: 'AE' });
  });
});

test('HTTP always answers a rejection, with any MSH-15 and MSH-16', () => {
  for (const never of ['NE', 'SU']) {
    const header = { 15: never, 16: never };
    expect(mapped('ADT^A08', ['PID|1'], { header }).ack).toContain('\rMSA|AE|');
  }
  expect(mapped('ADT^A08', [pid()], { header: { 15: 'NE', 16: 'NE' } }).ack).toBe('');
});

test.each([
  ['AL', 'AL', true, 'CA'],
  ['ER', 'AL', true, undefined],
  ['AL', 'NE', true, undefined],
  ['', '', true, undefined],
  ['AL', 'AL', false, undefined],
])(
  'MSH-15 %j, MSH-16 %j, accept ACK wanted %s: it is sent before the other %s',
  (accept, application, acceptAck, code) => {
    const header = readHeader(readMessage(`MSH|^~\\&|A|B|C|D|2026||ADT^A08|1|P|2.5.1|||${accept}|${application}`));
    const ack = acceptAckOf(header, { hl7_accept_ack: acceptAck }, 'AA', 'request-1', 0);
    expect(ack && /\rMSA\|(..)/.exec(new TextDecoder().decode(ack))?.[1]).toBe(code);
  },
);

test('information is reported unless the key suppresses it', () => {
  const lines = [pid({ 8: 'Q' }), 'ZPD|1|Roe', 'ZPI|1'];
  const silent = mapped('ADT^A08', lines, { settings: { hl7_information: false } });
  expect(silent.ack.match(/\rERR/g)).toHaveLength(1);
  expect(mapped('ADT^A08', lines).ack.match(/\rERR/g)).toHaveLength(3);
  // It is kept with the message.
  expect(silent.findings).toContain('I 0 ZPI^1');
});

test('the names of all patients of a message count together: more than 150,000 characters are an error', () => {
  const lines = (characters: number) =>
    Array.from({ length: 100 }, (_, at) => [
      pid({
        3: `N${at}^^^HOSP^MR`,
        5: ['n', 'm', 'o', 'p'].map((letter) => `${letter.repeat(characters)}^Jane`).join('~'),
      }),
      OBR,
      obx(),
    ]).flat();
  expect(mapped('ORU^R01', lines(100)).outcome).toBe('AA');
  const { outcome, findings, resources } = mapped('ORU^R01', lines(450));
  expect({ outcome, findings, resources }).toEqual({ outcome: 'AE', findings: ['E 207 PID^1^5'], resources: [] });
});
