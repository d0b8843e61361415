/** NK1 as Patient.contact, and what PV1 and PID-18 say: VIP, and the visit to which results and diagnoses refer. */
import { describe, expect, test } from 'vitest';

import { mapped, OBR, pid, segment } from '../../inputs/hl7-mapped.ts';

const KIN = segment('NK1', {
  1: '1',
  2: 'Doe^John~Doe^Johnny^^^^^B',
  3: 'SPO^Spouse^HL70063',
  4: '1 Main St^^Vienna',
  5: '+43 1 234',
  6: '+43 1 999',
  7: 'C^Emergency Contact^HL70131',
  8: '20200101',
  13: 'Acme^^77',
  15: 'M',
});
const contacts = (...lines: readonly string[]) => mapped('ADT^A01', [pid(), ...lines]).resource('Patient')['contact'];

describe('NK1', () => {
  test('becomes a contact with all fields that the guide maps', () => {
    const result = mapped('ADT^A01', [pid(), KIN]);
    expect(result.findings).toEqual([]);
    expect(result.resource('Patient')['contact']).toEqual([
      {
        name: { text: 'John Doe', family: 'Doe', given: ['John'] },
        relationship: [
          {
            coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-RoleCode', code: 'SPS', display: 'spouse' }],
            text: 'Spouse',
          },
          {
            coding: [
              { system: 'http://terminology.hl7.org/CodeSystem/v2-0131', code: 'C', display: 'Emergency Contact' },
            ],
            text: 'Emergency Contact',
          },
        ],
        address: { text: '1 Main St, Vienna', line: ['1 Main St'], city: 'Vienna' },
        telecom: [
          { system: 'phone', value: '+43 1 234' },
          { system: 'phone', value: '+43 1 999', use: 'work' },
        ],
        period: { start: '2020-01-01' },
        organization: { type: 'Organization', identifier: { value: '77' }, display: 'Acme' },
        gender: 'male',
      },
    ]);
  });

  test('each segment becomes a contact, in the order of the message', () => {
    expect(contacts(KIN, 'NK1|2|Roe^Jim|FTH', 'NK1|3|Poe^Eve|COUSIN^Cousin^L')).toMatchObject([
      { name: { family: 'Doe' } },
      { name: { family: 'Roe' }, relationship: [{ coding: [{ code: 'FTH' }] }] },
      { name: { family: 'Poe' }, relationship: [{ coding: [{ code: 'COUSIN' }] }] },
    ]);
  });

  test('a contact with neither a name nor a telecom is skipped and reported: R4 does not accept it (pat-1)', () => {
    const result = mapped('ADT^A01', [pid(), 'NK1|1||SPO', KIN.replace('NK1|1', 'NK1|2')]);
    expect(result.findings).toEqual(['I 0 NK1^1']);
    expect(result.resource('Patient')['contact']).toHaveLength(1);
  });

  test('"" removes the contact', () => {
    expect(contacts('NK1|1|""')).toBeUndefined();
    expect(contacts('NK1|1|""', KIN)).toHaveLength(1);
  });

  test('with only a number or an organization becomes a contact', () => {
    expect(contacts('NK1|1||SPO||+43 1 234')).toMatchObject([{ telecom: [{ value: '+43 1 234' }] }]);
    expect(contacts('NK1|1||EMR||||||||||Acme')).toMatchObject([{ organization: { display: 'Acme' } }]);
  });
});

test('PV1-16 is the importance of the patient', () => {
  expect(mapped('ADT^A01', [pid(), segment('PV1', { 2: 'I', 16: 'VIP' })]).resource('Patient')).toMatchObject({
    extension: [
      {
        url: 'http://hl7.org/fhir/StructureDefinition/patient-importance',
        valueCodeableConcept: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0099', code: 'VIP' }] },
      },
    ],
  });
});

describe('the visit', () => {
  const PV1 = segment('PV1', { 2: 'I', 19: 'V7^^^HOSP^VN' });
  const VISIT = {
    type: 'Encounter',
    identifier: {
      type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'VN' }] },
      system: 'urn:example:hosp',
      assigner: { display: 'HOSP' },
      value: 'V7',
    },
  };

  test('is in results and reports', () => {
    const result = mapped('ORU^R01', [pid(), PV1, OBR, 'OBX|1|ST|a^A^L||x||||||F']);
    expect(result.findings).toEqual([]);
    expect(result.resource('Observation')).toMatchObject({ encounter: VISIT });
    expect(result.resource('DiagnosticReport')).toMatchObject({ encounter: VISIT });
  });

  test('is in diagnoses and procedures, not in allergies, which every visit repeats', () => {
    const result = mapped('ADT^A01', [
      pid(),
      PV1,
      'AL1|1|DA|PEN^Penicillin^L',
      'DG1|1||I10^Hypertension^I10||20260101|F',
      'PR1|1||99213^Visit^C4||202601010900',
    ]);
    expect(result.resource('Condition')).toMatchObject({ encounter: VISIT });
    expect(result.resource('Procedure')).toMatchObject({ encounter: VISIT });
    expect(result.resource('AllergyIntolerance')).not.toHaveProperty('encounter');
    expect(result.resource('Patient')).not.toHaveProperty('encounter');
  });

  test('is in the context of a document', () => {
    const txa = segment('TXA', { 1: '1', 2: 'OP^Operative^L', 3: 'TX', 12: 'D1', 17: 'AU' });
    const result = mapped('MDM^T02', [pid(), PV1, txa, 'OBX|1|TX|t^T^L||text||||||F']);
    expect(result.resource('DocumentReference')).toMatchObject({ context: { encounter: [VISIT] } });
  });

  test('has the identifier of PV1-19, else of PID-18', () => {
    const encounter = (fields: Readonly<Record<number, string>>, ...lines: readonly string[]) =>
      mapped('ORU^R01', [pid(fields), ...lines, OBR, 'OBX|1|ST|a^A^L||x||||||F']).resource('Observation')['encounter'];
    const account = { identifier: { value: 'A1', type: { coding: [{ code: 'AN' }] } } };
    expect(encounter({ 18: 'A1' })).toMatchObject(account);
    expect(encounter({ 18: 'A1' }, 'PV1|1|I')).toMatchObject(account);
    expect(encounter({ 18: 'A1' }, PV1)).toMatchObject({ identifier: { value: 'V7' } });
    expect(encounter({}, 'PV1|1|I')).toBeUndefined();
    expect(encounter({ 18: '""' })).toBeUndefined();
  });

  test('belongs only to the patient that it follows', () => {
    const { resources } = mapped('ORU^R01', [
      pid(),
      PV1,
      OBR,
      'OBX|1|ST|a^A^L||x||||||F',
      pid({ 1: '2', 3: '456^^^HOSP^MR' }),
      OBR,
      'OBX|1|ST|a^A^L||y||||||F',
    ]);
    const observations = resources.filter(({ resourceType }) => resourceType === 'Observation');
    expect(observations.map(({ encounter }) => encounter)).toEqual([VISIT, undefined]);
  });
});
