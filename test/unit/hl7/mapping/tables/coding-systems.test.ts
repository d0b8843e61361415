/** The name of a coding system (CWE.3): known, mapped by the site, or unmapped. */
import { describe, expect, test } from 'vitest';

import { mapped, OBR, pid, segment, SETTINGS } from '../../../../inputs/hl7-mapped.ts';

const LOCAL = `https://gateway.example/fhir/sites/${SETTINGS.site}/code-systems/`;

const result = (code: string, settings: Partial<typeof SETTINGS> = {}) =>
  mapped('ORU^R01', [pid(), OBR, segment('OBX', { 1: '1', 2: 'ST', 3: code, 5: 'x', 11: 'F' })], { settings });
const codings = (code: string, settings?: Partial<typeof SETTINGS>): unknown =>
  result(code, settings).resource('Observation')['code'];

describe('an unmapped name', () => {
  test.each([
    ['NA^Sodium^WINPATH', 'WINPATH'],
    ['NA^Sodium^Winpath', 'WINPATH'],
    ['NA^Sodium^ winpath ', 'WINPATH'],
    ['NA^Sodium^L', 'L'],
    ['NA^Sodium^99LAB', '99LAB'],
    ['NA^Sodium^ISO+', 'ISO%2B'],
    ['NA^Sodium^Lab A/B #1', 'LAB%20A%2FB%20%231'],
    ['NA^Sodium^\\T\\x|', '%26X'],
    ['NA^Sodium^Größe', 'GR%C3%96SSE'],
    ['NA^Sodium^LN2', 'LN2'],
  ])('%s', (code, name) => {
    expect(codings(code)).toEqual({ coding: [{ system: LOCAL + name, code: 'NA', display: 'Sodium' }] });
  });

  test('keeps the codes of two systems of one patient separate', () => {
    const { resources } = mapped('ORU^R01', [
      pid(),
      OBR,
      'OBX|1|ST|NA^Sodium^WINPATH||140||||||F',
      'OBX|2|ST|NA^Noradrenaline^ENDO||2||||||F',
    ]);
    const systems = resources.map(({ code }) => JSON.stringify(code)).filter((code) => code?.includes('"NA"'));
    expect(new Set(systems).size).toBe(2);
  });

  test('also names the system of an alternate code; the OID beside a name takes precedence over the gateway’s URI', () => {
    expect(codings('1^One^LN^NA^Sodium^WINPATH')).toMatchObject({
      coding: [{ system: 'http://loinc.org' }, { system: `${LOCAL}WINPATH` }],
    });
    const withOid = `NA^Sodium^WINPATH${'^'.repeat(11)}1.2.3`;
    expect(codings(withOid)).toMatchObject({ coding: [{ system: 'urn:oid:1.2.3', code: 'NA' }] });
  });

  test('is not made of a text that is too long for a name', () => {
    expect(codings(`NA^Sodium^${'x'.repeat(101)}`)).toEqual({ coding: [{ code: 'NA', display: 'Sodium' }] });
  });

  test('a code without a name has no system', () => {
    expect(codings('NA^Sodium')).toEqual({ coding: [{ code: 'NA', display: 'Sodium' }] });
  });

  test('is reported once, in capitals, with the namespaces of identifiers', () => {
    const { unmapped } = mapped('ORU^R01', [
      pid({ 3: '123^^^ELSEWHERE^MR' }),
      OBR,
      'OBX|1|ST|NA^Sodium^Winpath||140||||||F',
      'OBX|2|ST|K^Potassium^WINPATH||4||||||F',
      'OBX|3|ST|1^One^LN||4||||||F',
    ]);
    expect(unmapped).toEqual([
      { kind: 'authority', name: 'ELSEWHERE' },
      { kind: 'code-system', name: 'WINPATH' },
      { kind: 'code-system', name: 'L' },
    ]);
  });

  test('a name in a rejected message is not recorded', () => {
    const { outcome, unmapped } = mapped('ORU^R01', [pid(), 'OBX|1|ST|NA^Sodium^WINPATH||140||||||F']);
    expect({ outcome, unmapped }).toEqual({ outcome: 'AE', unmapped: [] });
  });
});

test('a name that the site has mapped has its URI, in any case', () => {
  const settings = { codeSystems: new Map([['WINPATH', 'https://lab.example/winpath']]) };
  const { unmapped } = result('NA^Sodium^winpath', settings);
  expect(codings('NA^Sodium^winpath', settings)).toMatchObject({ coding: [{ system: 'https://lab.example/winpath' }] });
  expect(unmapped).not.toContainEqual({ kind: 'code-system', name: 'WINPATH' });
});

test('a mapped assigning authority does not map a coding system of the same name', () => {
  const authorities = new Map([['LAB', 'urn:oid:1.2.3']]);
  expect(codings('NA^Sodium^LAB', { authorities })).toMatchObject({ coding: [{ system: `${LOCAL}LAB` }] });
});

describe('a well-known name', () => {
  test.each([
    ['LN', 'http://loinc.org'],
    ['ISO3166_1', 'urn:iso:std:iso:3166'],
    ['ISO3166-1', 'urn:iso:std:iso:3166'],
    ['ISO3166_2', 'urn:iso:std:iso:3166:-2'],
    ['ISO639-1', 'urn:ietf:bcp:47'],
    ['ISO4217', 'urn:iso:std:iso:4217'],
    ['HL70078', 'http://terminology.hl7.org/CodeSystem/v2-0078'],
    ['HL7_0078', 'http://terminology.hl7.org/CodeSystem/v2-0078'],
    ['1.2.840.1', 'urn:oid:1.2.840.1'],
    ['https://a.example/x', 'https://a.example/x'],
  ])('%s', (name, system) => {
    expect(codings(`1^One^${name}`)).toMatchObject({ coding: [{ system }] });
  });
});

describe('a code of a field that is bound to a table', () => {
  const interpretation = (sent: string): unknown =>
    mapped('ORU^R01', [pid(), OBR, segment('OBX', { 2: 'ST', 3: 'c^C^LN', 5: 'x', 8: sent, 11: 'F' })]).resource(
      'Observation',
    )['interpretation'];
  const TABLE = 'http://terminology.hl7.org/CodeSystem/v2-0078';
  const ABNORMAL = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: 'A' };

  test.each(['A', 'A^A^HL70078', 'A^A^HL7-0078', 'A^A^HL7nnnn', 'A^A^hl7NNNN'])('%s is abnormal', (sent) => {
    expect(interpretation(sent)).toMatchObject([{ coding: [ABNORMAL] }]);
  });

  test.each(['CRIT', 'CRIT^critical^HL70078', 'CRIT^critical^HL7nnnn'])('%s keeps the table', (sent) => {
    expect(interpretation(sent)).toMatchObject([{ coding: [{ system: TABLE, code: 'CRIT' }] }]);
  });

  test('a code of another system is not a code of the table', () => {
    expect(interpretation('A^Alert^99LAB')).toMatchObject([{ coding: [{ system: `${LOCAL}99LAB`, code: 'A' }] }]);
    expect(interpretation('A^Alert^HL70079')).toMatchObject([
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0079', code: 'A' }] },
    ]);
  });

  test('an American code of religion has the system of its table', () => {
    const sent = mapped('ADT^A08', [pid({ 17: 'AME' })]).json('Patient');
    expect(sent).toContain('"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v2-0006","code":"AME"}]');
  });
});
