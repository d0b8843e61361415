/** AL1, IAM, DG1, PR1 and TXA. */
import { describe, expect, test } from 'vitest';

import { mapped, pid, segment } from '../../inputs/hl7-mapped.ts';
import { createWorld } from '../../inputs/hl7-world.ts';

const adt = (line: string) => mapped('ADT^A01', [pid(), line]);

describe('allergies', () => {
  test('AL1 becomes an allergy with its reactions', () => {
    expect(adt('AL1|1|DA|PEN^Penicillin^L|SV|Rash~Nausea|20200101').resource('AllergyIntolerance')).toMatchObject({
      clinicalStatus: { coding: [{ code: 'active' }] },
      type: 'allergy',
      category: ['medication'],
      code: { coding: [{ code: 'PEN', display: 'Penicillin' }] },
      criticality: 'high',
      reaction: [{ manifestation: [{ text: 'Rash' }, { text: 'Nausea' }] }],
      onsetDateTime: '2020-01-01',
    });
  });

  test.each([
    ['C', 'active', 'confirmed'],
    ['I', 'inactive', 'confirmed'],
    ['U', 'active', 'unconfirmed'],
  ])('IAM-17 %s is %s and %s', (code, clinical, verification) => {
    const iam = segment('IAM', {
      1: '1',
      2: 'FA',
      3: 'NUT^Nuts^L',
      6: 'A',
      7: 'AL-1',
      12: 'as a child',
      13: '20260101',
      17: code,
    });
    expect(adt(iam).resource('AllergyIntolerance')).toMatchObject({
      clinicalStatus: { coding: [{ code: clinical }] },
      verificationStatus: { coding: [{ code: verification }] },
      identifier: [{ value: 'AL-1' }],
      onsetString: 'as a child',
      recordedDate: '2026-01-01',
    });
  });

  test('IAM-6 D is entered in error, and has no clinical status', () => {
    const found = adt('IAM|1|FA|NUT^Nuts^L|||D').resource('AllergyIntolerance');
    expect(found).toMatchObject({ verificationStatus: { coding: [{ code: 'entered-in-error' }] } });
    expect(found).not.toHaveProperty('clinicalStatus');
  });

  test('allergens that differ behind a & that is not escaped are different allergies', () => {
    const result = mapped('ADT^A01', [pid(), 'AL1|1|FA|^Nuts & seeds', 'AL1|2|FA|^Nuts & soy']);
    expect(result.json('AllergyIntolerance')).toContain('Nuts & seeds');
    expect(result.resources.filter(({ resourceType }) => resourceType === 'AllergyIntolerance')).toHaveLength(2);
  });

  test('AL1 and IAM of one allergen are one allergy', () => {
    const result = mapped('ADT^A01', [pid(), 'AL1|1|DA|PEN^Penicillin^L|MI', 'IAM|1|DA|PEN^Penicillin^L']);
    expect(result.resources.filter(({ resourceType }) => resourceType === 'AllergyIntolerance')).toHaveLength(1);
  });

  test('a code in two coding systems is two allergies', () => {
    const result = mapped('ADT^A01', [pid(), 'AL1|1|DA|1^Penicillin^99A', 'AL1|2|DA|1^Latex^99B', 'AL1|3|DA|1^L^99b']);
    expect(result.resources.filter(({ resourceType }) => resourceType === 'AllergyIntolerance')).toHaveLength(2);
  });
});

describe('identifiers without an authority belong to the sender', () => {
  test.each<[string, string, string, number]>([
    ['MDM^T02', 'TXA|1|R|TX|||||||||1001\nOBX|1|TX|t^T^L||text', 'DocumentReference', 2],
    ['MDM^T02', 'TXA|1|R|TX|||||||||1001^DOCS\nOBX|1|TX|t^T^L||text', 'DocumentReference', 1],
    ['ADT^A08', `DG1|1||I10^H^I10${'|'.repeat(17)}1`, 'Condition', 2],
    ['ADT^A08', `PR1|1||P1^P^L${'|'.repeat(16)}1`, 'Procedure', 2],
    ['ADT^A08', 'IAM|1|DA|PEN^P^L||||1', 'AllergyIntolerance', 2],
  ])('%s %s', (type, lines, resourceType, expected) => {
    const world = createWorld();
    const from = (sender: string, id: string) =>
      `MSH|^~\\&|${sender}|HOSP|G|S|20260102030405||${type}|${id}|P|2.5.1\n${pid()}\n${lines}`;
    for (const [at, sender] of ['RIS', 'PATH', 'ris'].entries()) world.send(from(sender, `C${at}`));
    expect(world.state().match(new RegExp(`^${resourceType} `, 'gm'))).toHaveLength(expected);
  });
});

describe('diagnoses', () => {
  test('DG1 becomes a condition', () => {
    const dg1 = segment('DG1', {
      1: '1',
      3: 'I10^Hypertension^I10',
      5: '20260101',
      6: 'F',
      16: '9^House^Greg',
      19: '20260102',
      20: 'D1^HOSP',
    });
    expect(adt(dg1).resource('Condition')).toMatchObject({
      code: { coding: [{ system: 'http://hl7.org/fhir/sid/icd-10', code: 'I10' }] },
      onsetDateTime: '2026-01-01',
      asserter: { display: 'Greg House' },
      recordedDate: '2026-01-02',
      identifier: [{ value: 'D1', system: 'urn:example:hosp' }],
      clinicalStatus: { coding: [{ code: 'active' }] },
    });
  });

  test.each([
    ['DG1|1|I9|428.0^Heart failure', 'Condition', 'http://hl7.org/fhir/sid/icd-9-cm'],
    ['DG1|1|I9|I50^Heart failure^Own', 'Condition', expect.stringMatching('/code-systems/OWN$')],
    ['PR1|1|C4|99213^Visit', 'Procedure', 'http://www.ama-assn.org/go/cpt'],
    ['PR1|1|Own|1^Visit', 'Procedure', expect.stringMatching('/code-systems/OWN$')],
  ])('%s: the coding method names the system of a code that names none', (line, type, system) => {
    expect(adt(line).resource(type)).toHaveProperty('code.coding.0.system', system);
  });

  test('a description alone is the text', () => {
    expect(adt('DG1|1|||High blood pressure').resource('Condition')).toMatchObject({
      code: { text: 'High blood pressure' },
    });
  });

  test('DG1-21 D is entered in error, without a clinical status', () => {
    const found = adt(segment('DG1', { 3: 'I10', 21: 'D' })).resource('Condition');
    expect(found).toMatchObject({ verificationStatus: { coding: [{ code: 'entered-in-error' }] } });
    expect(found).not.toHaveProperty('clinicalStatus');
  });
});

describe('procedures', () => {
  test('PR1 becomes a procedure with its period and performers', () => {
    const pr1 = segment('PR1', {
      1: '1',
      3: '99213^Visit^C4',
      5: '202601022330',
      6: 'D',
      7: '45',
      8: '1^Sleep^Ann',
      11: '2^Cut^Bob',
      15: 'I10',
      16: '25~57',
      19: 'PR-1',
    });
    expect(adt(pr1).resource('Procedure')).toMatchObject({
      status: 'completed',
      code: { coding: [{ code: '99213:25:57', system: 'http://www.ama-assn.org/go/cpt' }] },
      performedPeriod: { start: '2026-01-02T23:30:00+01:00', end: '2026-01-03T00:15:00+01:00' },
      performer: [
        { function: { coding: [{ code: '88189002' }] }, actor: { display: 'Ann Sleep' } },
        { function: { coding: [{ code: '304292004' }] }, actor: { display: 'Bob Cut' } },
      ],
      reasonCode: [{ coding: [{ code: 'I10' }] }],
      identifier: [{ value: 'PR-1' }],
    });
  });

  test('minutes without a time of day do not make a period', () => {
    expect(adt(segment('PR1', { 3: 'x', 5: '20260102', 7: '45' })).resource('Procedure')).toMatchObject({
      performedDateTime: '2026-01-02',
    });
  });
});

test.each([
  ['DG1', 21],
  ['PR1', 20],
])('%s: a withdrawn resource stays withdrawn with an action outside table 0206', (name, field) => {
  const { send, state } = createWorld();
  const say = (second: number, action: string) => {
    const header = `MSH|^~\\&|LAB|HOSP|GATEWAY|SITE|2026010203040${second}||ADT^A08^ADT_A01|C${second}|P|2.5.1`;
    return send([header, pid(), segment(name, { 1: '1', 3: 'I10', 5: '20260101', [field]: action })].join('\r'));
  };
  say(1, 'D');
  expect(say(2, 'Z')).toEqual([`W 103 ${name}^1^${field} unknown-code`]);
  expect(state()).toContain('entered-in-error');
  say(3, 'U');
  expect(state()).not.toContain('entered-in-error');
});

describe('documents', () => {
  const txa = (fields: Readonly<Record<number, string>> = {}) =>
    segment('TXA', {
      1: '1',
      2: 'OP^Operative^L',
      6: '20260102030405',
      9: '9^House^Greg',
      12: 'DOC1^HOSP',
      17: 'AU',
      18: 'R',
      19: 'AV',
      25: 'Title',
      ...fields,
    });
  const mdm = (event: string, lines: readonly string[]) => mapped(`MDM^${event}`, [pid(), ...lines]);

  test('TXA becomes a document reference', () => {
    expect(
      mdm('T02', [
        txa(),
        'OBX|1|TX|a^A^L||one||||||F',
        'OBX|2|TX|a^A^L||||||||F',
        'OBX|3|TX|a^A^L||two||||||F',
      ]).resource('DocumentReference'),
    ).toMatchObject({
      status: 'current',
      docStatus: 'final',
      type: { coding: [{ code: 'OP' }] },
      date: '2026-01-02T03:04:05+01:00',
      author: [{ display: 'Greg House' }],
      masterIdentifier: { value: 'DOC1', system: 'urn:example:hosp' },
      securityLabel: [{ coding: [{ code: 'R', system: 'http://terminology.hl7.org/CodeSystem/v2-0272' }] }],
      description: 'Title',
      content: [{ attachment: { contentType: 'text/plain; charset=utf-8', data: btoa('one\n\ntwo') } }],
    });
  });

  test.each([
    ['AV', 'current'],
    ['UN', 'current'],
    ['OB', 'superseded'],
    ['CA', 'entered-in-error'],
    ['', 'current'],
  ])('TXA-19 %s is %s', (code, status) => {
    expect(mdm('T02', [txa({ 19: code }), 'OBX|1|TX|a^A^L||x']).resource('DocumentReference')).toMatchObject({
      status,
    });
  });

  test.each([
    ['AU', 'final'],
    ['LA', 'final'],
    ['DO', 'preliminary'],
    ['IP', 'preliminary'],
  ])('TXA-17 %s is %s', (code, docStatus) => {
    expect(mdm('T02', [txa({ 17: code }), 'OBX|1|TX|a^A^L||x']).resource('DocumentReference')).toMatchObject({
      docStatus,
    });
  });

  test.each([
    ['ED', '^AP^PDF^Base64^SGVsbG8=', { contentType: 'application/pdf', data: 'SGVsbG8=' }],
    ['ED', '^TEXT^HTML^A^<p>', { contentType: 'text/html', data: btoa('<p>') }],
    ['ED', '^IM^PNG^Hex^00ff', { contentType: 'image/png', data: 'AP8=' }],
    [
      'ED',
      '^multipart^x-hl7-cda-level-one^Base64^SGVs\\.br\\bG8=',
      { contentType: 'application/xml', data: 'SGVsbG8=' },
    ],
    ['ED', '^AP^^Base64^SGVsbG8', { contentType: 'application/octet-stream', data: 'SGVsbG8=' }],
    ['RP', 'https://x.example/a b^^AP^PDF', { contentType: 'application/pdf', url: 'https://x.example/a%20b' }],
    ['FT', '\\H\\Head\\N\\', { data: btoa('Head') }],
  ])('%s %s', (type, value, attachment) => {
    expect(
      mdm('T02', [txa(), segment('OBX', { 2: type, 3: 'a^A^L', 5: value })]).resource('DocumentReference'),
    ).toMatchObject({
      content: [{ attachment }],
    });
  });

  test('lines keep the spaces at their start; a value has its name and unit', () => {
    const lines = [
      'OBX|1|TX|a^A^L||  one~~    two  ||||||F',
      'OBX|2|NM|w^Weight^L||72.5|kg^kilogram^UCUM|||||F',
      'OBX|3|ST|h^Height^L||181|cm|||||F',
      'OBX|4|CWE|s^Smoker^L||N^No^L||||||F',
      'OBX|5|SN|p^Pain^L||>=^5|/10|||||F',
      'OBX|6|ST|a^A^L||  three||||||F',
    ];
    const data = btoa('  one\n\n    two\nWeight: 72.5 kilogram\nHeight: 181 cm\nSmoker: No\nPain: >= 5 /10\n  three');
    expect(mdm('T02', [txa(), ...lines]).resource('DocumentReference')).toMatchObject({
      content: [{ attachment: { data } }],
    });
  });

  test('each section of a text has the name of OBX-3 above it', () => {
    const lines = [
      'OBX|1|TX|11348-0^History^LN||Cough.~Fever.||||||F',
      'OBX|2|TX|11348-0^History^LN||||||||F',
      'OBX|3|FT|11348-0^History^LN||No travel.||||||F',
      'OBX|4|NM|w^Weight^L||72.5|kg|||||F',
      'OBX|5|TX|29545-1^Examination^LN||Normal.||||||F',
    ];
    const data = btoa('History:\nCough.\nFever.\n\nNo travel.\nWeight: 72.5 kg\n\nExamination:\nNormal.');
    expect(mdm('T02', [txa(), ...lines]).resource('DocumentReference')).toMatchObject({
      content: [{ attachment: { data } }],
    });
  });

  test('T01 announces a document without its content', () => {
    expect(mdm('T01', [txa()]).resource('DocumentReference')).toMatchObject({
      content: [{ attachment: { title: 'Title' } }],
    });
  });

  test('a missing value that the event requires is reported: the content, the parent', () => {
    const findings = (event: string) => mdm(event, [txa(), 'OBX|1|TX|a^A^L||']).findings;
    for (const event of ['T02', 'T04', 'T08']) expect(findings(event), event).toEqual(['W 101 TXA^1']);
    for (const event of ['T06', 'T10']) expect(findings(event), event).toEqual(['W 101 TXA^1', 'W 101 TXA^1^13']);
    for (const event of ['T01', 'T03', 'T07']) expect(findings(event), event).toEqual([]);
    for (const event of ['T05', 'T09']) expect(findings(event), event).toEqual(['W 101 TXA^1^13']);
  });

  test('an unknown parent document is referenced by its identifier', () => {
    const result = mdm('T10', [txa({ 13: 'DOC0^HOSP' }), 'OBX|1|TX|a^A^L||x']);
    expect(result.findings).toEqual(['W 204 TXA^1^13']);
    expect(result.resource('DocumentReference')).toMatchObject({
      relatesTo: [{ code: 'replaces', target: { type: 'DocumentReference', identifier: { value: 'DOC0' } } }],
    });
  });
});

describe('codes outside their table', () => {
  test.each([
    ['IAM|1|FA|NUT^Nuts^L|||A|AL-1||||||||||Q', 'W 103 IAM^1^17'],
    ['DG1|1||I10^Pressure^I10||||||||||||||||||Q', 'W 103 DG1^1^21'],
    ['PR1|1||X1^Scan^L||20260101|||||||||||||||Q', 'W 103 PR1^1^20'],
  ])('%s returns a finding and has no other effect', (line, finding) => {
    const result = adt(line);
    expect(result.findings).toEqual([finding]);
    const plain = adt(line.replace(/\|Q$/, ''));
    expect(plain.findings).toEqual([]);
    const statuses = (of: typeof plain) =>
      ['clinicalStatus', 'verificationStatus', 'status'].map((member) => of.resources.at(-1)?.[member]);
    expect(statuses(result)).toEqual(statuses(plain));
  });

  test.each([
    [{ 5: 'Doe^Jane^^^^^ZZ' }, 'W 103 PID^1^5^1^7'],
    [{ 11: '1 Road^^Town^^^^ZZ' }, 'W 103 PID^1^11^1^7'],
    [{ 13: '5551234^ZZZ^PH' }, 'W 103 PID^1^13^1^2'],
    [{ 13: '5551234^PRN^ZZ' }, 'W 103 PID^1^13^1^3'],
  ])('the use of %j returns a finding, and the rest is accepted', (fields, finding) => {
    const result = mapped('ADT^A08', [pid(fields)]);
    expect([result.outcome, result.findings]).toEqual(['AA', [finding]]);
    expect(result.resource('Patient')).toHaveProperty(5 in fields ? 'name' : 11 in fields ? 'address' : 'telecom');
  });

  test.each(['L', 'U', 'NAV', 'l'])('a name of type %s has no finding', (type) => {
    expect(mapped('ADT^A08', [pid({ 5: `Doe^Jane^^^^^${type}` })]).findings).toEqual([]);
  });

  test('a coding system that is too long for the index is left out, with a warning', () => {
    const result = adt(`DG1|1||I10^Pressure^https://example.org/${'\u6f22'.repeat(700)}`);
    expect([result.outcome, result.findings]).toEqual(['AA', ['W 102 DG1^1^3^1^3']]);
    expect(result.resource('Condition')).toMatchObject({ code: { coding: [{ code: 'I10', display: 'Pressure' }] } });
  });
});
