/** The search rows of resources. */
import { describe, expect, test } from 'vitest';

import { searchRows } from '../../../../edge/store/search/extract.ts';
import type { JsonObject } from '../../../../shared/json.ts';

describe('rows', () => {
  test.each([
    ['final', 'completed'],
    ['amended', 'completed'],
    ['corrected', 'completed'],
    ['appended', 'completed'],
    ['preliminary', 'draft'],
    ['registered', 'draft'],
    ['partial', 'draft'],
    ['cancelled', 'draft'],
    ['entered-in-error', 'draft'],
  ])('a DiagnosticReport that is %s is %s', (status, state) => {
    const rows = searchRows('DiagnosticReport', { resourceType: 'DiagnosticReport', status });
    expect(rows.report).toEqual({ accession: null, state });
  });

  test('extracts the rows of a Patient', () => {
    const rows = searchRows('Patient', {
      resourceType: 'Patient',
      identifier: [
        { system: 's', value: 'v' },
        { value: 'bare' },
        { system: 'only' },
        { use: 'usual' },
        { value: '\ud800' },
      ],
      name: [{ text: 'Peter J' }, { family: 'Müller', given: ['Jim', 'Bob'] }, { given: ['Jim'] }],
      birthDate: '1974',
      gender: 'male',
    });
    expect(rows.identifiers).toEqual([
      ['s', 'v'],
      ['', 'bare'],
      ['only', ''],
    ]);
    expect(rows.search).toEqual({
      names: ['peter j', 'muller', 'jim', 'bob', 'jim bob muller'].join('\n'),
      nameSort: 'peter j',
      birthDate: '1974',
      gender: 'male',
    });
    expect([rows.patient, rows.report, rows.tokens]).toEqual([null, null, []]);
    const anonymous = searchRows('Patient', { resourceType: 'Patient' });
    expect(anonymous.search).toEqual({ names: '', nameSort: '', birthDate: '', gender: null });
  });

  const id = '01900000-0000-7000-8000-000000000001';
  test.each<[JsonObject, string | null]>([
    [{ reference: `Patient/${id}` }, id],
    [{ reference: `Patient/${id}/_history/2` }, id],
    [{ reference: 'Patient/example' }, null],
    [{ reference: `Group/${id}` }, null],
    [{ reference: `https://elsewhere.test/Patient/${id}` }, null],
    [{ display: 'x' }, null],
  ])('patient of %o', (subject, expected) => {
    expect(searchRows('Observation', { resourceType: 'Observation', subject }).patient).toBe(expected);
  });

  test('tokens of an AllergyIntolerance', () => {
    const coding = (code: string) => ({ coding: [{ system: 's', code }, { code: `${code}2` }, { display: 'x' }] });
    const rows = searchRows('AllergyIntolerance', {
      resourceType: 'AllergyIntolerance',
      clinicalStatus: coding('active'),
      code: coding('nut'),
      reaction: [{ substance: coding('pea') }, { manifestation: [coding('no')] }],
      patient: { reference: `Patient/${id}` },
    });
    expect(rows.patient).toBe(id);
    expect(rows.tokens.filter(([param]) => param === 'clinical-status')).toEqual([
      ['clinical-status', 's', 'active'],
      ['clinical-status', '', 'active2'],
    ]);
    expect(rows.tokens.filter(([param]) => param === 'code').map(([, , code]) => code)).toEqual([
      'nut',
      'nut2',
      'pea',
      'pea2',
    ]);
  });

  test.each([
    ['final', 'completed'],
    ['amended', 'completed'],
    ['corrected', 'completed'],
    ['appended', 'completed'],
    ['partial', 'draft'],
    ['registered', 'draft'],
    ['cancelled', 'draft'],
  ])('a report that is %s is %s', (status, state) => {
    const identifier = [{ type: { coding: [{ code: 'ACSN' }] }, value: 'A1' }];
    const rows = searchRows('DiagnosticReport', { resourceType: 'DiagnosticReport', status, identifier });
    expect(rows.report).toEqual({ state, accession: 'A1' });
    expect(searchRows('DiagnosticReport', { resourceType: 'DiagnosticReport', status }).report?.accession).toBeNull();
  });
});
