/** OBX, OBR, NTE and SPM as Observation and DiagnosticReport. */
import { describe, expect, test } from 'vitest';

import { isJsonObject } from '../../../shared/json.ts';
import { mapped, OBR, pid, segment } from '../../inputs/hl7-mapped.ts';

const oru = (obx: Readonly<Record<number, string>>, more: readonly string[] = []) =>
  mapped('ORU^R01', [pid(), OBR, segment('OBX', { 1: '1', 3: 'c^Code^L', 11: 'F', ...obx }), ...more]);

describe('OBX-5 by the type in OBX-2', () => {
  const UNIT = { unit: 'mg/dL', system: 'http://unitsofmeasure.org', code: 'mg/dL' };
  test.each([
    ['NM', '5.50', '"valueQuantity":{"value":5.50,'],
    ['nm', '5.50', '"valueQuantity":{"value":5.50,'],
    ['NM', '+007.0', '"valueQuantity":{"value":7.0,'],
    ['NM', '-.5', '"valueQuantity":{"value":-0.5,'],
    ['NM', '0', '"valueQuantity":{"value":0,'],
    ['SN', '<^5.0', '"valueQuantity":{"value":5.0,"comparator":"<"'],
    ['SN', '=^5', '"valueQuantity":{"value":5,'],
    ['SN', '^1^:^128', '"valueRatio":{"numerator":{"value":1,'],
    ['SN', '>^1^/^2', '"numerator":{"value":1,"comparator":">"'],
    ['SN', '^1^-^5', '"valueRange":{"low":{"value":1,'],
    ['SN', '<>^5', '"valueString":"<> 5 mg/dL"'],
    ['SN', '^1^+', '"valueString":"1 + mg/dL"'],
    ['ST', 'a & b ^ c', '"valueString":"a & b ^ c"'],
    ['TX', 'one\\.br\\two~three', '"valueString":"one\\ntwo\\nthree"'],
    ['FT', '\\H\\bold\\N\\', '"valueString":"bold"'],
    [
      'CE',
      'A^Alpha^LN',
      '"valueCodeableConcept":{"coding":[{"system":"http://loinc.org","code":"A","display":"Alpha"}]}',
    ],
    ['CWE', 'A^Alpha^L^B^Beta^SCT^^^original', '"text":"original"'],
    ['CWE', 'S. aureus & E. coli', '"code":"S. aureus & E. coli"'],
    ['CWE', '^Rods & cocci&^L', '"valueCodeableConcept":{"text":"Rods & cocci"}'],
    ['CWE^^HL70125', 'A^Alpha^L', '"valueCodeableConcept"'],
    ['CF', 'A^Alpha^L', '"valueCodeableConcept"'],
    ['IS', 'A', '"valueCodeableConcept":{"coding":[{"code":"A"}]}'],
    ['DT', '20260102', '"valueDateTime":"2026-01-02"'],
    ['TS', '202601020304', '"valueDateTime":"2026-01-02T03:04:00+01:00"'],
    ['DTM', '202601020304+0000', '"valueDateTime":"2026-01-02T03:04:00+00:00"'],
    ['TM', '0304', '"valueTime":"03:04:00"'],
    ['DR', '20260101^20260102', '"valuePeriod":{"start":"2026-01-01","end":"2026-01-02"}'],
    ['NR', '1^5', '"valueRange":{"low":{"value":1,'],
    ['VR', 'a^b', '"valueString":"a-b"'],
    ['NA', '1^2^3', '"valueString":"1 2 3"'],
    ['NA', '1^2~-3^4.50', '"valueString":"1 2\\n-3 4.50"'],
    ['MA', '0^1~0^2~""~0^3', '"valueString":"0 1\\n0 2\\n0 3"'],
    ['', 'text without a type', '"valueString":"text without a type"'],
  ])('%s %s', (type, value, expected) => {
    const result = oru({ 2: type, 5: value, 6: 'mg/dL^^UCUM' });
    expect(result.findings).toEqual([]);
    expect(result.json('Observation')).toContain(expected);
    if (expected.includes('Quantity')) expect(result.resource('Observation')).toMatchObject({ valueQuantity: UNIT });
  });

  test('a structured number with an unknown separator is kept as sent: a ^ was not escaped', () => {
    const result = oru({ 2: 'SN', 5: '>^10^5', 6: 'CFU/mL' });
    expect(result.findings).toEqual(['W 102 OBX^1^5^1']);
    expect(result.json('Observation')).toContain('"valueString":">^10^5"');
  });

  test('an array with an entry that is not a number becomes a text, with one warning', () => {
    const result = oru({ 2: 'NA', 5: '1^x~3^4' });
    expect(result.findings).toEqual(['W 102 OBX^1^5']);
    expect(result.json('Observation')).toContain('"valueString":"1^x\\n3^4"');
  });

  test.each([
    ['NM', 'high'],
    ['NM', '5 mg'],
    ['NM', '1e5'],
    ['NM', '10^5'],
    ['NM', '5&6'],
    ['DT', '20260231'],
    ['TM', '2560'],
    ['DR', 'x^y'],
    ['DR', '20260102^20260101'],
    ['DR', '20260101^y'],
    ['ED', '^AP^PDF^Base64^?'],
    ['XX', 'whatever'],
  ])('%s %s does not match its type and becomes a text with a warning', (type, value) => {
    const result = oru({ 2: type, 5: value });
    expect(result.outcome).toBe('AA');
    expect(result.findings).toHaveLength(1);
    expect(result.findings[0]).toMatch(/^W 10[23] OBX\^1/);
    expect(result.resource('Observation')).toMatchObject({ valueString: value });
  });

  describe('a unit is always kept', () => {
    const unit = { unit: 'mmol/L', system: 'http://unitsofmeasure.org', code: 'mmol/L' };
    const valued = (type: string, sent: string, obx6 = 'mmol/L^^UCUM') => oru({ 2: type, 5: sent, 6: obx6 });

    test.each([
      ['NM', '<5', { value: 5, comparator: '<' }],
      ['NM', '>=10', { value: 10, comparator: '>=' }],
      ['NM', '<= 0.5', { value: 0.5, comparator: '<=' }],
      ['NM', '>120', { value: 120, comparator: '>' }],
      ['ST', '5.6', { value: 5.6 }],
      ['ST', '-5', { value: -5 }],
      ['ST', '<5', { value: 5, comparator: '<' }],
      ['ST', '> 100', { value: 100, comparator: '>' }],
      ['ST', '≥10', { value: 10, comparator: '>=' }],
      ['ST', '≤10', { value: 10, comparator: '<=' }],
      ['TX', '5.6', { value: 5.6 }],
      ['FT', '<5', { value: 5, comparator: '<' }],
      ['', '5.6', { value: 5.6 }],
    ])('%s %s is a number', (type, sent, quantity) => {
      const result = valued(type, sent);
      expect(result.findings).toEqual([]);
      expect(result.resource('Observation')['valueQuantity']).toEqual({ ...quantity, ...unit });
    });

    test.each(['5.60', '<0.10', '140.000'])('the digits of %s are kept', (sent) => {
      expect(valued('ST', sent).json('Observation')).toContain(`"value":${sent.replace('<', '')},`);
    });

    test.each([
      ['ST', '1:128'],
      ['ST', '5-10'],
      ['ST', '5,6'],
      ['ST', '007'],
      ['ST', '+5'],
      ['ST', '5.'],
      ['ST', '<05'],
      ['ST', '1e5'],
      ['ST', '<>5'],
      ['ST', '5.6 H'],
      ['ST', 'positive'],
      ['ST', '120/80'],
      ['TX', 'one~two'],
      ['NM', 'high'],
      ['NA', '1^2^3'],
      ['VR', 'a^b'],
    ])('%s %s is a text that ends with the unit', (type, sent) => {
      const { valueString, _valueString, ...rest } = valued(type, sent).resource('Observation');
      expect(rest).not.toHaveProperty('valueQuantity');
      const valueRendered = typeof valueString === 'string' ? `${valueString} mmol/L` : '';
      const url = 'http://hl7.org/fhir/StructureDefinition/rendered-value';
      expect(_valueString).toEqual({ extension: [{ url, valueString: valueRendered }] });
    });

    test('a number that is sent as text without a unit stays a text: it may be an accession number', () => {
      expect(oru({ 2: 'ST', 5: '5.6' }).resource('Observation')).toMatchObject({ valueString: '5.6' });
      expect(oru({ 2: 'ST', 5: '<5' }).resource('Observation')).toMatchObject({ valueString: '<5' });
      expect(oru({ 2: 'NM', 5: '<5' }).resource('Observation')).toMatchObject({ valueQuantity: { comparator: '<' } });
    });

    test.each([
      ['NM', '10^3/uL'],
      ['NM', 'x10^9/L^^L'],
      ['ST', '10^-3'],
    ])('%s: a power of ten whose ^ is not escaped, %s, does not become another unit', (type, obx6) => {
      const result = valued(type, '5.60', obx6);
      expect(result.json('Observation')).toContain(
        `"valueQuantity":{"value":5.60,"unit":"${obx6.replace('^^L', '')}"}`,
      );
      expect(result.findings).toEqual(['W 102 OBX^1^6^1']);
      expect(oru({ 2: 'ST', 5: '1:8', 6: obx6 }).json('Observation')).toContain(`1:8 ${obx6.replace('^^L', '')}`);
    });

    test('a text that already ends with the unit has it once', () => {
      expect(valued('ST', 'about 5 mmol/L').resource('Observation')).not.toHaveProperty('_valueString');
    });

    test('the lines of a text do not become numbers', () => {
      const { resources } = mapped('ORU^R01', [
        pid(),
        OBR,
        'OBX|1|TX|t^T^L||5.6|mmol/L|||||F',
        'OBX|2|TX|t^T^L||7.1|mmol/L|||||F',
      ]);
      expect(resources[1]).toMatchObject({ valueString: '5.6\n7.1' });
    });

    test('a correction removes the comparator', () => {
      const stored = valued('NM', '<5').resource('Observation');
      expect(stored).toMatchObject({ valueQuantity: { comparator: '<' } });
      expect(valued('NM', '5').resource('Observation')['valueQuantity']).not.toHaveProperty('comparator');
    });

    test('components keep their units too', () => {
      expect(valued('ST', '5.6~high').resource('Observation')).toMatchObject({
        component: [
          { valueQuantity: { value: 5.6 } },
          { valueString: 'high', _valueString: { extension: [{ valueString: 'high mmol/L' }] } },
        ],
      });
    });
  });

  test('several values become components', () => {
    expect(oru({ 2: 'CE', 5: 'A^Alpha^L~B^Beta^L' }).resource('Observation')).toMatchObject({
      component: [
        { valueCodeableConcept: { coding: [{ code: 'A' }] } },
        { valueCodeableConcept: { coding: [{ code: 'B' }] } },
      ],
    });
  });

  test('a document is stored once, in its observation; the report links to it', () => {
    const result = oru({ 2: 'ED', 5: '^AP^PDF^Base64^SGVsbG8=' });
    const attachment = { contentType: 'application/pdf', data: 'SGVsbG8=' };
    const observation = result.resource('Observation');
    expect(observation).toMatchObject({ extension: [{ valueAttachment: attachment }] });
    const { id } = observation;
    expect(result.resource('DiagnosticReport')['presentedForm']).toEqual([
      {
        contentType: 'application/pdf',
        url: typeof id === 'string' ? `Observation/${id}` : '',
        size: 5,
        title: 'Code',
      },
    ]);
    expect(result.json('DiagnosticReport')).not.toContain('SGVsbG8=');
  });

  test.each([
    ['SGVsbG8', 'SGVsbG8='],
    ['SGVsbG8==', 'SGVsbG8='],
    ['SGVsbG8h==', 'SGVsbG8h'],
  ])('the base64 %s gets the right padding', (sent, data) => {
    expect(oru({ 2: 'ED', 5: `^AP^PDF^Base64^${sent}` }).resource('Observation')).toMatchObject({
      extension: [{ valueAttachment: { data } }],
    });
  });

  test('a document of plain text keeps separators that were not escaped', () => {
    const text = '<p>5&nbsp;mg ^ note</p>';
    expect(oru({ 2: 'ED', 5: `^TEXT^HTML^A^${text}` }).resource('Observation')).toMatchObject({
      extension: [{ valueAttachment: { contentType: 'text/html', data: btoa(text) } }],
    });
  });

  test('each document of a report is in a separate observation', () => {
    const result = oru({ 2: 'ED', 5: '^AP^PDF^Base64^SGVsbG8=' }, [
      'OBX|2|ED|d^Other^L||^AP^PDF^Base64^SGVsbA==||||||F',
    ]);
    const { presentedForm } = result.resource('DiagnosticReport');
    expect(presentedForm).toMatchObject([
      { size: 5, title: 'Code' },
      { size: 4, title: 'Other' },
    ]);
    const urls = [presentedForm ?? []].flat().map((item) => (isJsonObject(item) ? item['url'] : undefined));
    expect(new Set(urls).size).toBe(2);
    expect(JSON.stringify(result.resources).split('SGVsbA==')).toHaveLength(2);
  });

  test('a pointer becomes a link in the report', () => {
    expect(oru({ 2: 'RP', 5: 'https://pacs.example/1^^IM^JPEG' }).resource('DiagnosticReport')).toMatchObject({
      presentedForm: [{ contentType: 'image/jpeg', url: 'https://pacs.example/1' }],
    });
  });
});

describe('status', () => {
  /** Each code with its status. */
  const statuses = (codes: Readonly<Record<string, string>>) =>
    Object.entries(codes).flatMap(([status, letters]) => letters.split('').map((code) => [code, status] as const));

  test.each(
    statuses({
      amended: 'A',
      final: 'BFNUV',
      corrected: 'C',
      'entered-in-error': 'DW',
      registered: 'IO',
      preliminary: 'PRS',
      cancelled: 'X',
    }),
  )('OBX-11 %s is %s', (code, status) => {
    expect(oru({ 2: 'ST', 5: 'x', 11: code }).resource('Observation')).toMatchObject({ status });
  });

  test('OBX-11 N without a value has a reason for the absent value', () => {
    expect(oru({ 2: 'ST', 11: 'N' }).resource('Observation')).toMatchObject({
      dataAbsentReason: { coding: [{ code: 'not-asked' }] },
    });
  });

  test('a missing or unknown OBX-11 is unknown, with a warning', () => {
    const missing = oru({ 2: 'ST', 5: 'x', 11: '' });
    expect(missing.resource('Observation')).toMatchObject({ status: 'unknown' });
    expect(missing.findings).toEqual(['W 101 OBX^1^11']);
    expect(oru({ 2: 'ST', 5: 'x', 11: 'Q' }).findings).toEqual(['W 103 OBX^1^11']);
  });

  test.each(
    statuses({ partial: 'AR', corrected: 'C', final: 'F', registered: 'INOS', preliminary: 'MP', cancelled: 'X' }),
  )('OBR-25 %s is %s', (code, status) => {
    const obr = segment('OBR', { 3: 'F1', 4: '1^Panel^L', 25: code });
    expect(mapped('ORU^R01', [pid(), obr]).resource('DiagnosticReport')).toMatchObject({ status });
  });

  test.each(['Y', 'Z'])('OBR-25 %s is rejected', (code) => {
    const result = mapped('ORU^R01', [pid(), segment('OBR', { 3: 'F1', 4: '1', 25: code })]);
    expect(result).toMatchObject({ outcome: 'AE', findings: ['E 103 OBR^1^25'], resources: [] });
  });
});

test('the other fields of OBX become elements of the observation', () => {
  const found = oru({
    2: 'NM',
    4: '1',
    5: '6',
    6: 'mmol/L',
    7: '3.5-5.0',
    8: 'H~A',
    14: '20260101',
    15: 'L1^Lab^CLIA',
    16: '9^House^Greg',
    17: 'm^Method^L',
    18: 'DEV1',
    19: '20260102',
    20: 'arm^Arm^L',
    21: 'I1',
    23: 'Lab Inc',
    29: 'RSLT',
  }).resource('Observation');
  expect(found).toMatchObject({
    effectiveDateTime: '2026-01-01',
    referenceRange: [{ text: '3.5-5.0', low: { unit: 'mmol/L' } }],
    interpretation: [{ coding: [{ code: 'H' }] }, { coding: [{ code: 'A' }] }],
    performer: [{ display: 'Greg House' }, { display: 'Lab' }, { display: 'Lab Inc' }],
    method: { coding: [{ code: 'm' }] },
    device: { type: 'Device', identifier: { value: 'DEV1' } },
    bodySite: { coding: [{ code: 'arm' }] },
    identifier: [{ value: 'I1', type: { coding: [{ code: 'FILL' }] } }],
    category: [{ coding: [{ code: 'RSLT' }] }],
  });
});

test('a code in small letters is one of its table', () => {
  expect(oru({ 2: 'NM', 5: '6', 8: 'hh' }).resource('Observation')).toMatchObject({
    interpretation: [{ coding: [{ code: 'HH', display: 'Critical high' }] }],
  });
});

test('numbers of orders and documents keep a & that the sender forgot to escape', () => {
  const lines = ['A1', 'A2'].flatMap((number) => [
    segment('OBR', { 2: `P&${number}^HIS`, 3: `L&${number}^LAB`, 4: '1^Panel^L', 7: '202601010800', 25: 'F' }),
    'OBX|1|NM|GLU^Glucose^L||1||||||F',
  ]);
  const result = mapped('ORU^R01', [pid(), ...lines]);
  const reports = result.resources.filter(({ resourceType }) => resourceType === 'DiagnosticReport');
  expect(reports).toMatchObject(
    ['A1', 'A2'].map((number) => ({ identifier: [{ value: `P&${number}` }, { value: `L&${number}` }] })),
  );
  expect(result.resources.filter(({ resourceType }) => resourceType === 'Observation')).toHaveLength(2);
  const documents = ['D&1', 'D&2'].flatMap((number) => [`TXA|1|R|TX|||||||||${number}^DOCS`, 'OBX|1|TX|t^T^L||x']);
  const { resources } = mapped('MDM^T02', [pid(), ...documents]);
  expect(resources.filter(({ resourceType }) => resourceType === 'DocumentReference')).toMatchObject([
    { masterIdentifier: { value: 'D&1' } },
    { masterIdentifier: { value: 'D&2' } },
  ]);
});

test('a plain text keeps separators that the sender forgot to escape', () => {
  const found = oru({
    2: 'RP',
    3: 'T&S^Type & screen^L',
    5: 'http://pacs/v?a=1&b=2^^PDF',
    7: '<10^5 & no growth~see note',
  });
  expect(found.resource('Observation')).toMatchObject({
    code: { coding: [{ code: 'T&S', display: 'Type & screen' }] },
    referenceRange: [{ text: '<10^5 & no growth\nsee note' }],
    extension: expect.arrayContaining([
      expect.objectContaining({ valueAttachment: { contentType: 'application/pdf', url: 'http://pacs/v?a=1&b=2' } }),
    ]),
  });
});

test('a result without OBX-14 has the time of the order', () => {
  expect(oru({ 2: 'ST', 5: 'x' }).resource('Observation')).toMatchObject({
    effectiveDateTime: '2026-01-01T08:00:00+01:00',
  });
});

test('a note belongs to the segment that it follows', () => {
  const result = mapped('ORU^R01', [
    pid(),
    OBR,
    'NTE|1||of the report',
    'OBX|1|ST|a^A^L||x||||||F',
    'NTE|1||of the result~line two',
    'OBX|2|ST|b^B^L||y||||||F',
  ]);
  expect(result.resource('Observation')).toMatchObject({ note: [{ text: 'of the result\nline two' }] });
  expect(result.resources[2]).not.toHaveProperty('note');
  expect(result.json('DiagnosticReport')).toContain('"valueAnnotation":{"text":"of the report"}');
});

test('a note of a segment without notes in FHIR is reported', () => {
  const result = mapped('ORU^R01', [
    pid(),
    'NTE|1||of the patient',
    'NTE|2||and more',
    OBR,
    'ORC|RE',
    'NTE|1||of the next order',
    OBR.replace('F1', 'F2'),
    'NTE|1||of the report',
    'OBX|1|ST|a^A^L||x||||||F',
    'SPM|1',
    'NTE|1||of the specimen',
  ]);
  expect(result.findings).toEqual(['I 0 NTE^3']);
  const [first, second] = result.resources.filter(({ resourceType }) => resourceType === 'DiagnosticReport');
  const ofPatient = [{ valueAnnotation: { text: 'of the patient' } }, { valueAnnotation: { text: 'and more' } }];
  expect(first).toMatchObject({ extension: ofPatient });
  expect(second).toMatchObject({ extension: [...ofPatient, { valueAnnotation: { text: 'of the report' } }] });
  const note = [{ text: 'of the patient' }, { text: 'and more' }];
  const contained = [{ resourceType: 'Specimen', id: 'specimen', note: [{ text: 'of the specimen' }] }];
  expect(result.resource('Observation')).toMatchObject({ note, contained, specimen: { reference: '#specimen' } });
  expect(mapped('ADT^A08', [pid(), 'NTE|1||x', 'AL1|1|DA|PEN^P^L', 'NTE|1||y']).findings).toEqual([
    'I 0 NTE^1',
    'I 0 NTE^2',
  ]);
  expect(mapped('MDM^T01', [pid(), 'NTE|1||x', 'TXA|1|R|TX|||||||||D1']).findings).toContain('I 0 NTE^1');
});

test('the lines of one text are one observation; other repetitions are separate observations', () => {
  const result = mapped('ORU^R01', [
    pid(),
    OBR,
    'OBX|1|TX|t^T^L||one||||||F',
    'OBX|2|TX|t^T^L||||||||F',
    'OBX|3|TX|t^T^L||two||||||F',
    'OBX|3|ST|s^S^L||one||||||F',
    'OBX|4|ST|s^S^L||two||||||F',
    'OBX|5|ST|s^S^L|2|three||||||F',
  ]);
  const values = result.resources
    .filter(({ resourceType }) => resourceType === 'Observation')
    .map(({ valueString }) => valueString);
  expect(values).toEqual(['one\n\ntwo', 'one', 'two', 'three']);
  expect(result.resource('DiagnosticReport')).toMatchObject({ result: { length: 4 } });
});

test('a text keeps the spaces at the start of its lines and its blank lines', () => {
  const table = '  Drug      MIC\n\n  Ampi\\T\\Sulb  <=2\n    (oral)';
  const said = table.replaceAll('\\T\\', '&');
  const valued = (...lines: readonly string[]) => {
    const report = mapped('ORU^R01', [pid(), OBR, ...lines]);
    expect(report.resource('DiagnosticReport')).toMatchObject({
      conclusion: report.resource('Observation')['valueString'],
    });
    return report.resource('Observation')['valueString'];
  };
  const obx = (text: string, at = 1) => `OBX|${at}|TX|t^T^L||${text}||||||F`;
  expect(valued(obx(table.replaceAll('\n', '~')))).toBe(said);
  expect(valued(obx(`~${table.replaceAll('\n', '\\.br\\')}  ~ ~`))).toBe(said);
  expect(valued(...table.split('\n').map((line, at) => obx(line, at + 1)))).toBe(said);
  expect(valued(obx('  one line '))).toBe('one line');
  const notes = ['NTE|1||  Drug  MIC~~  Ampi  <=2', 'NTE|2||', 'NTE|3||    (oral)'];
  expect(mapped('ORU^R01', [pid(), OBR, obx('x'), ...notes]).resource('Observation')).toMatchObject({
    note: [{ text: '  Drug  MIC\n\n  Ampi  <=2' }, { text: '    (oral)' }],
  });
});

test('a note of a result may follow the details of its measurement or its participants', () => {
  for (const between of ['TCD|1^T^L', 'SID|R^Reagent^L', 'PRT|1|AD', 'TCD|1^T^L\rSID|R']) {
    const lines = [pid(), OBR, 'OBX|1|NM|a^A^L||1||||||F', ...between.split('\r'), 'NTE|1||hemolyzed'];
    const result = mapped('ORU^R01', lines);
    expect(result.resource('Observation'), between).toMatchObject({ note: [{ text: 'hemolyzed' }] });
    expect(result.findings.filter((finding) => finding.includes('NTE'))).toEqual([]);
  }
});

test('a line break that is not escaped does not cut off a text or a document', () => {
  const valued = (type: string, value: string) => {
    const result = mapped('ORU^R01', [pid(), OBR, `OBX|1|${type}|t^T^L||${value}||||||F`, 'NTE|1||one\ntwo']);
    expect(result.findings).toEqual([]);
    const observation = result.resource('Observation');
    expect(observation).toMatchObject({ status: 'final', note: [{ text: 'one\ntwo' }] });
    return observation;
  };
  expect(valued('TX', 'FINDINGS:\n  clear\n\nEND')).toMatchObject({ valueString: 'FINDINGS:\n  clear\n\nEND' });
  expect(JSON.stringify(valued('ED', '^AP^PDF^Base64^AAAA\nBBBB\nCCCC'))).toContain('"AAAABBBBCCCC"');
  const rest = mapped('ORU^R01', [pid(), OBR, 'OBX|1|NM|a^A^L||1||||||F', 'lost']);
  expect(rest).toMatchObject({ outcome: 'AA', findings: ['W 100 ???^1'] });
});

test('a control character is replaced, with one warning: it separated words', () => {
  const paged = oru({ 2: 'TX', 5: 'page\f\fone\vtwo\u001fthree \u007f' });
  expect(paged).toMatchObject({ outcome: 'AA', findings: ['W 102 OBX^1^5'] });
  expect(paged.resource('Observation')).toMatchObject({ valueString: 'page\n\none\ntwo three' });
  const named = mapped('ADT^A08', [pid({ 5: 'Doe\vSmith^Jane\u0007' })]);
  expect(named.findings).toEqual(['W 102 PID^1^5']);
  expect(named.resource('Patient')).toMatchObject({ name: [{ family: 'Doe\nSmith', given: ['Jane'] }] });
  const unmapped = mapped('ADT^A08', [pid(), 'ZZZ|\u001c']);
  expect(unmapped.findings).toEqual(['W 102 ZZZ^1^1', 'I 0 ZZZ^1']);
});

test('a report has the time of issue to the minute; a date alone is reported', () => {
  const obr = (at: string) => segment('OBR', { 3: 'F1', 4: '1^Panel^L', 22: at, 25: 'F' });
  const minutes = mapped('ORU^R01', [pid(), obr('202601011200')]);
  expect(minutes.resource('DiagnosticReport')).toMatchObject({ issued: '2026-01-01T12:00:00+01:00' });
  expect(minutes.findings).toEqual([]);
  const day = mapped('ORU^R01', [pid(), obr('20260101')]);
  expect(day.resource('DiagnosticReport')).not.toHaveProperty('issued');
  expect(day.findings).toEqual(['I 0 OBR^1^22^1^1']);
});

test.each([
  ['BLD&Blood&HL70070', 'Blood'],
  ['BLD', 'BLD'],
  ['BLD^Blood^HL70070', 'Blood'],
  ['440500007^Blood spot specimen^SCT', 'Blood spot specimen'],
  ['SWB&Swab^BOUIN&Solution^with a brush^LN&Left naris', 'Swab, Left naris'],
  ['^^^LA&Left arm', 'Left arm'],
])('the specimen of older versions, OBR-15 %s, is kept', (source, display) => {
  const obr = segment('OBR', { 3: 'F1', 4: '1^Panel^L', 7: '202601010800', 15: source, 25: 'F' });
  const result = mapped('ORU^R01', [pid(), obr, 'OBX|1|ST|a^A^L||x||||||F']);
  expect(result.resource('Observation')).toMatchObject({ specimen: { type: 'Specimen', display } });
  expect(result.resource('DiagnosticReport')).toMatchObject({ specimen: [{ type: 'Specimen', display }] });
  const withSpm = mapped('ORU^R01', [pid(), obr, 'OBX|1|ST|a^A^L||x||||||F', 'SPM|1|^S1']);
  expect(withSpm.resource('DiagnosticReport')['specimen']).toEqual([{ type: 'Specimen', identifier: { value: 'S1' } }]);
});

describe('the specimen of SPM', () => {
  const SPM = segment('SPM', {
    1: '1',
    2: 'P1&HIS^S1&LAB',
    4: '122555007^Venous blood^SCT^BLDV^Blood venous^HL70487',
    6: 'EDTA^Ethylenediaminetetraacetic acid^HL70371~HEPL^Heparin lithium^HL70371',
    7: 'VENIP^Venipuncture^HL70488',
    8: '368208006^Arm^SCT',
    9: 'L^Left^HL70495',
    14: 'Shipped on ice~Two tubes',
    17: '202601010800^202601010810',
    18: '202601010900',
    24: 'HEM^Hemolyzed^HL70493~COOL^Cool^HL70493',
  });
  const OBX = 'OBX|1|ST|a^A^L||x||||||F';
  const site = { coding: [{ code: '368208006', display: 'Arm' }], text: 'Arm, Left' };
  const specimen = {
    resourceType: 'Specimen',
    identifier: [{ value: 'S1' }],
    type: {
      coding: [
        { system: 'http://snomed.info/sct', code: '122555007', display: 'Venous blood' },
        { code: 'BLDV', display: 'Blood venous' },
      ],
    },
    receivedTime: '2026-01-01T09:00:00+01:00',
    collection: {
      collectedPeriod: { start: '2026-01-01T08:00:00+01:00', end: '2026-01-01T08:10:00+01:00' },
      method: { coding: [{ code: 'VENIP' }] },
      bodySite: site,
    },
    container: [
      { additiveCodeableConcept: { coding: [{ code: 'EDTA' }] } },
      { additiveCodeableConcept: { coding: [{ code: 'HEPL' }] } },
    ],
    condition: [{ coding: [{ code: 'HEM' }] }, { coding: [{ code: 'COOL' }] }],
    note: [{ text: 'Shipped on ice' }, { text: 'Two tubes' }, { text: 'of the specimen' }],
  };
  const reference = { type: 'Specimen', identifier: { value: 'S1' }, display: 'Venous blood' };

  test('is contained in its results and reports, valid, with all codes', () => {
    const result = mapped('ORU^R01', [pid(), OBR, OBX, SPM, 'NTE|1||of the specimen']);
    expect(result.findings).toEqual([]);
    result.everyResourceIsValid();
    expect(result.resource('Observation')).toMatchObject({
      contained: [{ id: 'specimen', ...specimen }],
      specimen: { reference: '#specimen', ...reference },
      bodySite: site,
    });
    expect(result.resource('DiagnosticReport')).toMatchObject({
      contained: [{ id: 'specimen-1', ...specimen }],
      specimen: [{ reference: '#specimen-1', ...reference }],
    });
  });

  test('the body site of OBX precedes that of the specimen, and an unreadable time is skipped', () => {
    const obx = segment('OBX', { 1: '1', 2: 'ST', 3: 'a^A^L', 5: 'x', 11: 'F', 20: 'HAND^Hand^L' });
    const result = mapped('ORU^R01', [pid(), OBR, obx, SPM.replace('202601010900', 'x')]);
    expect(result.findings).toEqual(['W 102 SPM^1^18^1^1']);
    expect(result.resource('Observation')).toMatchObject({ bodySite: { coding: [{ code: 'HAND' }] } });
  });

  test('OBX-33 names the specimen of the group, or another specimen, which is not contained', () => {
    const obx = (id: string) => segment('OBX', { 1: '1', 2: 'ST', 3: 'a^A^L', 5: 'x', 11: 'F', 33: id });
    const contained = (id: string) =>
      mapped('ORU^R01', [pid(), OBR, obx(id), SPM]).resource('Observation')['contained'];
    expect(contained('^S1')).toMatchObject([{ id: 'specimen' }]);
    expect(contained('S9')).toBeUndefined();
  });

  test('each of several specimens is contained in the report, each result has the one before it', () => {
    const result = mapped('ORU^R01', [
      pid(),
      OBR,
      'SPM|1|^S1||BLD^Blood^HL70487',
      OBX,
      'SPM|2|^S2||UR^Urine^HL70487',
      'OBX|2|ST|b^B^L||y||||||F',
    ]);
    result.everyResourceIsValid();
    const ids = (type: string) =>
      result.resources.filter(({ resourceType }) => resourceType === type).map(({ specimen: found }) => found);
    expect(ids('Observation')).toMatchObject([{ display: 'Blood' }, { display: 'Urine' }]);
    expect(ids('DiagnosticReport')).toMatchObject([[{ reference: '#specimen-1' }, { reference: '#specimen-2' }]]);
  });
});

test('a report has the specimen of its group, and the order numbers of ORC', () => {
  const result = mapped('ORU^R01', [
    pid(),
    'ORC|RE|P1|F1',
    segment('OBR', {
      4: '1^Panel^L',
      7: '202601010800',
      8: '202601010900',
      22: '20260102030405',
      24: 'LAB',
      25: 'F',
      32: '7&House&Greg',
    }),
    'OBX|1|ST|a^A^L||x||||||F',
    'SPM|1|^S1||BLD^Blood^HL70487',
  ]);
  const specimen = { type: 'Specimen', identifier: { value: 'S1' }, display: 'Blood' };
  expect(result.resource('Observation')).toMatchObject({ specimen });
  expect(result.resource('DiagnosticReport')).toMatchObject({
    identifier: [
      { value: 'P1', type: { coding: [{ code: 'PLAC' }] } },
      { value: 'F1', type: { coding: [{ code: 'FILL' }] } },
    ],
    effectivePeriod: { start: '2026-01-01T08:00:00+01:00', end: '2026-01-01T09:00:00+01:00' },
    issued: '2026-01-02T03:04:05+01:00',
    category: [{ coding: [{ code: 'LAB', system: 'http://terminology.hl7.org/CodeSystem/v2-0074' }] }],
    resultsInterpreter: [{ type: 'Practitioner', display: 'Greg House' }],
    specimen: [specimen],
  });
});

describe('categories of the section in OBR-24', () => {
  const LAB = { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'LAB' }] };
  const category = (code: string) => ({
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code }],
  });
  const type = { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0936', code: 'RSLT' }] };
  const radiology = { coding: [{ system: 'http://loinc.org', code: 'LP29684-5' }] };
  test.each<[section: string, type: string, result: unknown, besideSection: unknown]>([
    ['LAB', '', [category('laboratory')], []],
    ['lab', '', [category('laboratory')], []],
    ['CH', '', [category('laboratory')], [LAB]],
    ['MB', 'RSLT', [category('laboratory'), type], [LAB]],
    ['RAD', '', [category('imaging')], [radiology]],
    ['CUS', '', [category('imaging')], []],
    // Nursing measures vital signs, but counts and scores too.
    ['NRS', '', undefined, []],
    ['ICU', 'RSLT', [type], []],
    ['EC', '', undefined, []],
    ['HEMA', '', undefined, []],
    ['LAB^Labour ward^L', '', undefined, []],
    ['""', 'RSLT', [type], undefined],
    ['', '', undefined, undefined],
  ])('%s with OBX-29 %s', (section, observationType, result, besideSection) => {
    const obr = segment('OBR', { 1: '1', 3: 'F1', 4: 'c^Code^L', 24: section });
    const { resources } = mapped('ORU^R01', [
      pid(),
      obr,
      segment('OBX', { 1: '1', 2: 'NM', 3: 'c^Code^L', 5: '1', 11: 'F', 29: observationType }),
    ]);
    const [observation, report] = ['Observation', 'DiagnosticReport'].map((name) =>
      resources.find(({ resourceType }) => resourceType === name),
    );
    expect(observation?.['category']).toEqual(result);
    const categories = report?.['category'];
    expect(Array.isArray(categories) ? categories.slice(1) : categories).toEqual(besideSection);
  });
});
