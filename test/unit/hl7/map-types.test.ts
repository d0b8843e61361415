/** Messages beside ADT, ORU^R01 and MDM: laboratory automation, problems, orders, acknowledgements and queries. */
import { describe, expect, test } from 'vitest';

import { mapped, OBR, pid, segment } from '../../inputs/hl7-mapped.ts';

const OBX = 'OBX|1|NM|GLU^Glucose^L||90|mg/dL|||||F';
const types = (result: ReturnType<typeof mapped>): string =>
  result.resources.flatMap(({ resourceType }) => (typeof resourceType === 'string' ? resourceType : [])).join(' ');
const ofType = (result: ReturnType<typeof mapped>, type: string) =>
  result.resources.filter(({ resourceType }) => resourceType === type);

describe('type and event', () => {
  test.each(['oru^r01', 'Oru^R01^ORU_R01', 'ORU^R30', 'ORU^R31', 'ORU^R32', 'ORU^R40', 'ORU^W01'])(
    '%s is a result',
    (type) => {
      const result = mapped(type, [pid(), OBR, OBX]);
      expect([result.outcome, result.findings]).toEqual(['AA', []]);
      expect(types(result)).toBe('Patient Observation DiagnosticReport');
    },
  );

  test.each<[string, readonly string[], string]>([
    ['ORU', [pid(), OBR, OBX], 'Patient Observation DiagnosticReport'],
    ['ADT', ['EVN|a29|2026', pid()], 'Patient'],
    ['MDM', ['EVN|T02', pid(), 'TXA|1|R|TX|||||||||D1', 'OBX|1|TX|a||x||||||F'], 'Patient DocumentReference'],
    ['PPR', [pid(), 'PRB|AD|20260101|E11^Diabetes^I10'], 'Patient Condition'],
    ['ORM', [pid(), 'ORC|NW|1'], 'Patient'],
  ])('%s alone has its event in EVN-1, else the usual one', (type, lines, expected) => {
    const result = mapped(type, lines);
    expect(result.outcome).toBe('AA');
    expect(result.findings[0]).toBe('W 101 MSH^1^9^1^2');
    expect(types(result)).toBe(expected);
    expect(mapped(type, lines, { settings: { hl7_strict: true } }).outcome).toBe('AE');
  });

  test('ADT and MDM without an event in EVN-1 are rejected, because their events differ too much', () => {
    expect(mapped('ADT', [pid()])).toMatchObject({ outcome: 'AE', findings: ['E 101 MSH^1^9^1^2'] });
    expect(mapped('MDM', ['EVN||2026', pid()]).outcome).toBe('AE');
  });

  test.each(['ORU^R99', 'OUL^R21', 'PPR^PC4', 'ORM^O02', 'OML^O33'])('%s is rejected', (type) => {
    expect(mapped(type, [pid()])).toMatchObject({ outcome: 'AR', findings: ['E 201 MSH^1^9^1^2'] });
  });
});

test('a part that continues another message is rejected; with its patient it is processed, with a warning', () => {
  const header = { 14: 'P1' };
  const parts = [
    ['OUL^R22', 'SPM|1|||SER', OBR, OBX],
    ['ORU^R01', OBX],
  ] as const;
  for (const [type, ...lines] of parts) {
    expect(mapped(type, lines, { header })).toMatchObject({ outcome: 'AE', findings: ['E 100 MSH^1^14'] });
  }
  const complete = mapped('ORU^R01', [pid(), OBR, OBX], { header });
  expect(complete).toMatchObject({ outcome: 'AA', findings: ['W 100 MSH^1^14'] });
  expect(mapped('ACK', ['MSA|AA|1'], { header }).outcome).toBe('AA');
});

describe('acknowledgements and queries', () => {
  test.each(['ACK', 'ACK^R01', 'ack^A08^ACK'])('%s is stored and never answered', (type) => {
    for (const header of [{}, { 10: '' }, { 11: 'X' }, { 12: '9' }, { 15: 'AL', 16: 'AL' }]) {
      expect(mapped(type, ['MSA|AA|1'], { header })).toMatchObject({ ack: '', resources: [] });
    }
    expect(mapped(type, ['MSA|AA|1'])).toMatchObject({ outcome: 'AA', findings: ['I 200 MSH^1^9^1^1'] });
  });

  test.each(['QRY^A19', 'QBP^Q22', 'qbp^q11', 'VXQ^V01'])('%s is rejected with any setting', (type) => {
    for (const kept of ['refuse', 'keep'] as const) {
      const result = mapped(type, ['QPD|x'], { settings: { hl7_unsupported_types: kept } });
      expect(result).toMatchObject({ outcome: 'AR', findings: ['E 200 MSH^1^9^1^1'] });
    }
  });
});

describe('laboratory automation', () => {
  const obr = (number: string) => segment('OBR', { 1: '1', 3: number, 4: '1^Panel^L', 7: '202601010800', 25: 'F' });
  const obx = (code: string) => `OBX|1|ST|${code}^x^L||1||||||F`;

  test.each(['OUL^R22', 'OUL^R23'])('%s: each order has the specimen before it, and the ORC after it', (type) => {
    const result = mapped(type, [
      pid(),
      'SPM|1|^S1||BLD^Blood^HL70487',
      obx('VOLUME'),
      'SAC|||C1',
      obr(''),
      'ORC|RE|P1|F1',
      obx('A'),
      obr('F2'),
      obx('B'),
      'SPM|2|^S2||UR^Urine^HL70487',
      obr('F3'),
      obx('C'),
    ]);
    expect(result.findings).toEqual(['I 0 SAC^1']);
    result.everyResourceIsValid();
    expect(
      ofType(result, 'Observation').map(({ code, specimen, basedOn }) =>
        JSON.stringify([code, specimen, basedOn])
          .match(/VOLUME|"[ABC]"|Blood|Urine|"P1"|"F\d"/g)
          ?.join(' '),
      ),
    ).toEqual(['VOLUME Blood "P1"', '"A" Blood "P1"', '"B" Blood "F2"', '"C" Urine "F3"']);
    expect(ofType(result, 'DiagnosticReport').map(({ specimen }) => specimen)).toMatchObject([
      [{ display: 'Blood' }],
      [{ display: 'Blood' }],
      [{ display: 'Urine' }],
    ]);
  });

  test('OUL^R24: the specimen follows its order', () => {
    const result = mapped('OUL^R24', [
      pid(),
      obr(''),
      'ORC|RE||F1',
      'SPM|1|^S1||BLD^Blood^HL70487',
      obx('A'),
      obr('F2'),
      obx('B'),
    ]);
    expect([result.outcome, result.findings]).toEqual(['AA', []]);
    expect(ofType(result, 'Observation').map(({ specimen, basedOn }) => [specimen, basedOn])).toMatchObject([
      [{ display: 'Blood' }, [{ identifier: { value: 'F1' } }]],
      [undefined, [{ identifier: { value: 'F2' } }]],
    ]);
  });

  test('results of a specimen without an order are named', () => {
    const lines = [pid(), 'SPM|1', obr('F1'), obx('A'), 'SPM|2', obx('B')];
    const result = mapped('OUL^R22', lines);
    expect(result.findings).toEqual(['I 0 OBX^2']);
    expect(ofType(result, 'Observation')).toHaveLength(1);
    expect(mapped('OUL^R22', [pid(), 'SPM|1', obx('A')])).toMatchObject({ outcome: 'AE' });
  });

  test.each<[string, readonly string[]]>([
    ['no PID', ['SPM|1|||CTRL^Control^L', obr('F1'), obx('A')]],
    ['only controls', [pid(), segment('SPM', { 1: '1', 11: 'Q^Control^HL70369' }), obr('F1'), obx('A')]],
  ])('quality control (%s) is accepted and becomes nothing', (_, lines) => {
    expect(mapped('OUL^R22', lines)).toMatchObject({ outcome: 'AA', findings: ['I 0 MSH^1^9'], resources: [] });
  });

  test('a patient’s specimen beside a control is a result; a PID without an identifier is an error', () => {
    const control = segment('SPM', { 1: '1', 11: 'Q' });
    expect(types(mapped('OUL^R22', [pid(), control, obr('F1'), obx('A'), 'SPM|2', obr('F2'), obx('B')]))).toContain(
      'Observation',
    );
    expect(mapped('OUL^R22', ['PID|1', 'SPM|1', obr('F1'), obx('A')])).toMatchObject({ outcome: 'AE' });
  });
});

describe('problems', () => {
  const prb = (fields: Readonly<Record<number, string>>) =>
    segment('PRB', { 1: 'AD', 2: '20260101', 3: 'E11^Diabetes^I10', 4: '77^HIS', ...fields });
  const problem = (fields: Readonly<Record<number, string>>, event = 'PC1') =>
    mapped(`PPR^${event}`, [pid(), prb(fields)]).resource('Condition');

  test('PC1 is a problem of the list', () => {
    expect(problem({ 7: '20260101', 13: 'confirmed', 14: 'Recurrence', 16: '20250601' })).toMatchObject({
      code: { coding: [{ code: 'E11', system: 'http://hl7.org/fhir/sid/icd-10' }] },
      identifier: [{ value: '77', assigner: { display: 'HIS' } }],
      category: [{ coding: [{ code: 'problem-list-item' }] }],
      clinicalStatus: { coding: [{ code: 'recurrence' }] },
      verificationStatus: { coding: [{ code: 'confirmed' }] },
      onsetDateTime: '2025-06-01',
      recordedDate: '2026-01-01',
    });
    expect(problem({ 17: 'in childhood' })).toMatchObject({
      clinicalStatus: { coding: [{ code: 'active' }] },
      onsetString: 'in childhood',
    });
  });

  test('a resolved problem has an end, a problem that is active again has none', () => {
    const resolved = problem({ 9: '20260105' }, 'PC2');
    expect(resolved).toMatchObject({
      clinicalStatus: { coding: [{ code: 'resolved' }] },
      abatementDateTime: '2026-01-05',
    });
    expect(problem({ 9: '20260105', 14: 'active' }, 'PC2')).not.toHaveProperty('abatementDateTime');
  });

  test.each([
    ['PC3', 'UP'],
    ['PC1', 'DE'],
  ])('%s with PRB-1 %s deletes the problem', (event, action) => {
    const deleted = problem({ 1: action, 9: '20260105', 14: 'resolved' }, event);
    expect(deleted).toMatchObject({ verificationStatus: { coding: [{ code: 'entered-in-error' }] } });
    expect(deleted).not.toHaveProperty('clinicalStatus');
  });

  test('a status that FHIR does not have is skipped with a warning', () => {
    const result = mapped('PPR^PC1', [pid(), prb({ 13: 'maybe', 14: 'chronic' })]);
    expect(result.findings).toEqual(['W 103 PRB^1^13', 'W 103 PRB^1^14']);
    expect(result.resource('Condition')).toMatchObject({ clinicalStatus: { coding: [{ code: 'active' }] } });
  });

  test('other segments of a problem message are named; without PRB it is an error', () => {
    const lines = [pid(), prb({}), 'NTE|1||x', OBX, OBX, 'ORC|RE', OBR];
    expect(mapped('PPR^PC1', lines).findings).toEqual(['I 0 NTE^1', 'I 0 OBX^1', 'I 0 ORC^1', 'I 0 OBR^1']);
    expect(mapped('PPR^PC1', [pid()])).toMatchObject({ outcome: 'AE', findings: ['E 101 PRB^1'] });
  });
});

describe('orders', () => {
  const order = [
    pid(),
    'AL1|1|DA|PEN^Penicillin^L',
    'ORC|NW|P1',
    OBR,
    'DG1|1||E11^Diabetes^I10',
    'PR1|1||1^Biopsy^L',
    OBX,
    'PID|1||OTHER^^^HOSP^MR||Prior^Name',
    'AL1|1|DA|LAT^Latex^L',
    OBR,
    OBX,
  ];

  test.each(['ORM^O01', 'OML^O21'])('%s: the patient, its allergies and provisional diagnoses', (type) => {
    const result = mapped(type, order);
    expect([result.outcome, result.findings]).toEqual(['AA', ['I 201 MSH^1^9^1^2']]);
    expect(types(result)).toBe('Patient AllergyIntolerance Condition');
    expect(result.resource('AllergyIntolerance')).toMatchObject({ code: { coding: [{ code: 'PEN' }] } });
    expect(result.resource('Condition')).toMatchObject({
      verificationStatus: { coding: [{ code: 'provisional' }] },
      clinicalStatus: { coding: [{ code: 'active' }] },
      category: [{ coding: [{ code: 'encounter-diagnosis' }] }],
    });
  });

  test('a diagnosis that an order deletes is in error, an added diagnosis is provisional', () => {
    const condition = (action: string) =>
      mapped('ORM^O01', [pid(), 'ORC|NW|P1', segment('DG1', { 1: '1', 3: 'E11^Diabetes^I10', 21: action })]).resource(
        'Condition',
      )['verificationStatus'];
    expect([condition('D'), condition('A')]).toMatchObject([
      { coding: [{ code: 'entered-in-error' }] },
      { coding: [{ code: 'provisional' }] },
    ]);
  });
});
