/** PID, PD1 and the datatypes under them as Patient. */
import { describe, expect, test } from 'vitest';

import { mapped, pid, segment } from '../../inputs/hl7-mapped.ts';

const patient = (fields: Readonly<Record<number, string>>, more: readonly string[] = [], options = {}) =>
  mapped('ADT^A01', [pid(fields), ...more], options).resource('Patient');

const STRUCTURE = 'http://hl7.org/fhir/StructureDefinition';

describe('identifiers', () => {
  test.each([
    [
      'a namespace the site names',
      'A1^^^HOSP^MR',
      { system: 'urn:example:hosp', value: 'A1', assigner: { display: 'HOSP' } },
    ],
    ['a namespace without a URI', 'A1^^^OTHER^MR', { value: 'A1', assigner: { display: 'OTHER' } }],
    ['an OID', 'A1^^^&1.2.3&ISO', { system: 'urn:oid:1.2.3', value: 'A1' }],
    ['an OID before the namespace', 'A1^^^HOSP&1.2.3&ISO', { system: 'urn:oid:1.2.3', assigner: { display: 'HOSP' } }],
    [
      'a UUID',
      'A1^^^&5D6F3E6C-0B5C-4F0E-8E5B-1D2C3B4A5F60&UUID',
      { system: 'urn:uuid:5d6f3e6c-0b5c-4f0e-8e5b-1d2c3b4a5f60' },
    ],
    [
      'check digit and period',
      'A1^7^M10^HOSP^PI^^20200101^20210101',
      { period: { start: '2020-01-01', end: '2021-01-01' } },
    ],
    ['a value alone', 'A1', { value: 'A1' }],
  ])('%s', (_, field, expected) => {
    expect(patient({ 3: field })).toMatchObject({ identifier: [expected] });
  });

  test('identifiers of PID-3 are first, in their order; PID-2, PID-4, SSN and licence follow', () => {
    const found = patient({
      2: 'E1',
      3: 'X1^^^HOSP^PI~M1^^^HOSP^MR',
      4: 'L1',
      19: '123-45-6789',
      20: 'D1^NY^20300101',
    });
    const [first, ...rest] = found['identifier'] as { value: string }[];
    expect([first?.value, ...rest.map(({ value }) => value)]).toEqual(['X1', 'M1', 'E1', 'L1', '123-45-6789', 'D1']);
    expect(rest[3]).toEqual({
      type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'SS' }] },
      system: 'http://hl7.org/fhir/sid/us-ssn',
      value: '123-45-6789',
    });
  });

  test('a period that ends before its start keeps its start, with a warning', () => {
    const result = mapped('ADT^A01', [pid({ 3: 'A1^^^HOSP^MR^^20210101^20200101' })]);
    expect(result.resource('Patient')).toMatchObject({ identifier: [{ period: { start: '2021-01-01' } }] });
    expect(result.findings).toEqual(['W 102 PID^1^3^1^8']);
  });
});

describe('names', () => {
  test.each([
    [
      'all parts',
      'Doe^Jane^Q^Jr^Dr^PhD^L^^^^^^^MBA',
      {
        use: 'official',
        family: 'Doe',
        given: ['Jane', 'Q'],
        prefix: ['Dr'],
        suffix: ['Jr', 'PhD', 'MBA'],
        text: 'Dr Jane Q Doe Jr PhD',
      },
    ],
    ['a maiden name', 'Doe^Jane^^^^^M', { use: 'maiden' }],
    ['a code in lower case', 'Doe^Jane^^^^^m', { use: 'maiden' }],
    ['a type that FHIR has no use for', 'Doe^Jane^^^^^C', { family: 'Doe' }],
    [
      'family parts',
      'van Dam&van&Dam',
      {
        family: 'van Dam',
        _family: {
          extension: [
            { url: `${STRUCTURE}/humanname-own-prefix`, valueString: 'van' },
            { url: `${STRUCTURE}/humanname-own-name`, valueString: 'Dam' },
          ],
        },
      },
    ],
    ['family parts alone', '&van&Dam^Jane', { family: 'van Dam', given: ['Jane'], text: 'Jane van Dam' }],
    ['a partner’s name alone', '&&&de&Vries', { family: 'de Vries', text: 'de Vries' }],
    ['a & that is not escaped', 'Doe^Jane & Joan^Q&R', { given: ['Jane & Joan', 'Q&R'], text: 'Jane & Joan Q&R Doe' }],
    ['escapes', 'O\\T\\Neill^Ja\\F\\ne', { family: 'O&Neill', given: ['Ja|ne'] }],
    [
      'assembly order and period',
      'Doe^Jane^^^^^L^^^^F^20200101^20210101',
      {
        period: { start: '2020-01-01', end: '2021-01-01' },
        extension: [{ url: `${STRUCTURE}/humanname-assembly-order`, valueCode: 'F' }],
      },
    ],
  ])('%s', (_, field, expected) => {
    expect(patient({ 5: field })).toMatchObject({ name: [expected] });
  });

  test('a patient has the names of PID-5, a nickname and the alias of PID-9', () => {
    expect(patient({ 5: 'Doe^Jane^^^^^L^^^^^^^^Janie', 9: 'Dee^Jay' })).toMatchObject({
      name: [{ family: 'Doe' }, { use: 'nickname', given: ['Janie'] }, { use: 'nickname', family: 'Dee' }],
    });
  });
});

describe('contact points', () => {
  test.each([
    [13, '555-1^PRN^PH', { system: 'phone', value: '555-1', use: 'home' }],
    [13, '555-1', { system: 'phone', value: '555-1', use: 'home' }],
    [14, '555-1', { system: 'phone', value: '555-1', use: 'work' }],
    [14, '555-1^prn^ph', { system: 'phone', value: '555-1', use: 'home' }],
    [13, '^^CP^^43^664^1234567', { system: 'phone', value: '+43 664 1234567', use: 'mobile' }],
    [13, '^PRN^PH^^^201^5551212^99', { value: '201 5551212 X99', use: 'home' }],
    [13, '^NET^Internet^a@b.example', { system: 'email', value: 'a@b.example' }],
    [13, '^^^a@b.example', { system: 'email', value: 'a@b.example' }],
    [13, '^WPN^FX^^^^^^^^^+1 201 5550', { system: 'fax', value: '+1 201 5550', use: 'work' }],
    [40, '^^BP^^^^777', { system: 'pager', value: '777' }],
  ])('PID-%i %s', (field, text, expected) => {
    expect(patient({ [field]: text })).toMatchObject({ telecom: [expected] });
  });
});

describe('addresses', () => {
  test.each([
    [
      { 11: '1 Main St^Apt 2^Wien^W^1010^AUT^H' },
      {
        use: 'home',
        line: ['1 Main St', 'Apt 2'],
        city: 'Wien',
        state: 'W',
        postalCode: '1010',
        country: 'AUT',
        text: '1 Main St, Apt 2, Wien, W 1010, AUT',
      },
    ],
    [{ 11: '1 Main St&Main St&1' }, { line: ['1 Main St', 'Main St', '1'] }],
    [{ 11: '1 Main^^Wien^^^^M' }, { type: 'postal' }],
    [{ 11: '1 Main^^Wien^^^^BA' }, { use: 'old' }],
    [{ 11: '1 Main^^Wien^^^^ba' }, { use: 'old' }],
    [
      { 11: '1 Main^^Wien', 12: 'County' },
      { city: 'Wien', district: 'County' },
    ],
    [{ 12: 'County' }, { district: 'County' }],
  ])('%j', (fields, expected) => {
    const found = patient(fields)['address'] as unknown[];
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject(expected);
  });
});

describe('dates', () => {
  test.each([
    ['19800229', { birthDate: '1980-02-29' }],
    ['198002', { birthDate: '1980-02' }],
    [
      '198002290905',
      { birthDate: '1980-02-29', _birthDate: { extension: [{ valueDateTime: '1980-02-29T09:05:00+01:00' }] } },
    ],
    ['198007010905', { _birthDate: { extension: [{ valueDateTime: '1980-07-01T09:05:00+02:00' }] } }],
    ['198002290905-0500', { _birthDate: { extension: [{ valueDateTime: '1980-02-29T09:05:00-05:00' }] } }],
  ])('PID-7 %s', (field, expected) => {
    expect(patient({ 7: field })).toMatchObject(expected);
  });

  test('the offset of MSH-7 takes precedence over the time zone of the site', () => {
    expect(patient({ 29: '202601010000' }, [], { at: '20260102030405-0330' })).toMatchObject({
      deceasedDateTime: '2026-01-01T00:00:00-03:30',
    });
  });

  test('without offset and time zone only the date is kept', () => {
    expect(patient({ 29: '202601010000' }, [], { settings: { timeZone: undefined } })).toMatchObject({
      deceasedDateTime: '2026-01-01',
    });
  });
});

describe('codes', () => {
  test.each([
    [{ 8: 'F' }, { gender: 'female' }],
    [{ 8: 'a' }, { gender: 'other' }],
    [
      { 16: 'M' },
      { maritalStatus: { coding: [{ code: 'M', system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus' }] } },
    ],
    [{ 16: 'U^^HL70002' }, { maritalStatus: { coding: [{ code: 'UNK' }] } }],
    [{ 16: 'X^Own^L' }, { maritalStatus: { coding: [{ code: 'X', display: 'Own' }] } }],
    [
      { 15: 'de^German^ISO639' },
      { communication: [{ language: { coding: [{ system: 'urn:ietf:bcp:47', code: 'de' }] } }] },
    ],
    [{ 24: 'Y' }, { multipleBirthBoolean: true }],
    [{ 24: 'Y', 25: '2' }, { multipleBirthInteger: 2 }],
    [{ 30: 'N' }, { deceasedBoolean: false }],
    [{ 29: '20250101', 30: 'Y' }, { deceasedDateTime: '2025-01-01' }],
  ])('%j', (fields, expected) => {
    expect(patient(fields)).toMatchObject(expected);
  });

  test('a code outside its table is left out, with a warning', () => {
    const result = mapped('ADT^A01', [pid({ 8: 'QQ' })]);
    expect(result.resource('Patient')).not.toHaveProperty('gender');
    expect(result.findings).toEqual(['W 103 PID^1^8']);
  });
});

test('PID fields without an element of R4 become extensions', () => {
  const found = patient({ 6: 'Smith^Ann', 17: 'BUD~', 23: 'Graz', 26: 'AUT^Austria^ISO3166', 28: 'AUT', 39: 'NAV' });
  const urls = (found['extension'] as { url: string }[]).map(({ url }) => url.replace(`${STRUCTURE}/patient-`, ''));
  expect(urls.sort()).toEqual(
    ['birthPlace', 'citizenship', 'citizenship', 'mothersMaidenName', 'nationality', 'religion'].sort(),
  );
});

test('PD1 gives the general practitioners', () => {
  const pd1 = segment('PD1', { 3: 'Practice^^77^^^HOSP', 4: '99^House^Greg^^^Dr^^^HOSP', 14: 'Church' });
  expect(patient({}, [pd1])).toMatchObject({
    generalPractitioner: [
      { type: 'Organization', display: 'Practice', identifier: { value: '77', system: 'urn:example:hosp' } },
      { type: 'Practitioner', display: 'Dr Greg House', identifier: { value: '99' } },
    ],
  });
});

test('meta.source names the message', () => {
  expect(patient({})).toMatchObject({ meta: { source: 'urn:uuid:019b7ca9-8c88-7000-8000-000000000003#C1' } });
});

describe('race and ethnicity', () => {
  const US_CORE = 'http://hl7.org/fhir/us/core/StructureDefinition';
  const CDC = 'urn:oid:2.16.840.1.113883.6.238';
  const sent = (fields: Readonly<Record<number, string>>, usCore = true) =>
    mapped('ADT^A08', [pid(fields)], { settings: { usCore } });
  const race = (text: string): unknown => sent({ 10: text }).resource('Patient')['extension'];
  const ethnicity = (text: string): unknown => sent({ 22: text }).resource('Patient')['extension'];

  test('a race has a category, a detailed code and a text', () => {
    expect(race('2106-3^White^HL70005~1004-1^American Indian^CDCREC')).toEqual([
      {
        url: `${US_CORE}/us-core-race`,
        extension: [
          { url: 'ombCategory', valueCoding: { system: CDC, code: '2106-3', display: 'White' } },
          { url: 'detailed', valueCoding: { system: CDC, code: '1004-1', display: 'American Indian' } },
          { url: 'text', valueString: 'White, American Indian' },
        ],
      },
    ]);
  });

  test.each([
    ['H', '2135-2'],
    ['N^Not Hispanic^HL70189', '2186-5'],
    ['2135-2^Hispanic^CDCREC', '2135-2'],
  ])('the ethnic group %s becomes a category', (text, code) => {
    expect(ethnicity(text)).toMatchObject([
      {
        url: `${US_CORE}/us-core-ethnicity`,
        extension: [{ url: 'ombCategory', valueCoding: { system: CDC, code } }, {}],
      },
    ]);
  });

  test('a local code becomes a text, not a CDC code', () => {
    expect(race('W^White^L')).toEqual([
      { url: `${US_CORE}/us-core-race`, extension: [{ url: 'text', valueString: 'White' }] },
    ]);
    expect(race('2106-3^Other^L')).toMatchObject([{ extension: [{ url: 'text', valueString: 'Other' }] }]);
  });

  test('a category beside it replaces unknown; an ethnicity has one category', () => {
    expect(ethnicity('U')).toMatchObject([
      { extension: [{ valueCoding: { code: 'UNK' } }, { valueString: 'Unknown' }] },
    ]);
    expect(race('U~2106-3')).toMatchObject([{ extension: [{ valueCoding: { code: '2106-3' } }, {}] }]);
    expect(ethnicity('H~N')).toMatchObject([
      {
        extension: [{ url: 'ombCategory' }, { url: 'text', valueString: 'Hispanic or Latino, Not Hispanic or Latino' }],
      },
    ]);
  });

  test('a site without US Core stores neither, and the message returns an information', () => {
    const result = sent({ 10: '2106-3^White', 22: 'H' }, false);
    expect(result.findings).toEqual(['I 0 PID^1^10', 'I 0 PID^1^22']);
    expect(result.resource('Patient')).not.toHaveProperty('extension');
  });
});

test('UTF-8 bytes under another MSH-18 return a warning', () => {
  const findings = (name: string, set: string) =>
    mapped('ADT^A08', [pid({ 5: name })], { header: { 18: set } }).findings;
  for (const set of ['8859/1', '8859/15']) expect(findings('Müller', set)).toEqual(['W 102 MSH^1^18']);
  expect(findings('Muller', '8859/1')).toEqual([]);
  expect(findings('Müller', 'UNICODE UTF-8')).toEqual([]);
});
