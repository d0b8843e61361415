/** The stored patients that a PID-3 may match: the same number and authority; with an unknown authority, the same person. */
import { expect, test } from 'vitest';

import { mapped, pid } from '../../../inputs/hl7-mapped.ts';

const ID = '01890000-0000-7000-8000-00000000000a';
const MR = { coding: [{ code: 'MR' }] };
const PERSON = { name: [{ family: 'Doe', given: ['Jane'] }], birthDate: '1980-02-29' };
const STRANGER = { name: [{ family: 'Roe', given: ['Richard'] }], birthDate: '1951-03-30' };

/** True where the message is about the patient who is stored with this identifier. */
function isStoredPatient(sent: string, identifier: object, person: object): boolean {
  const { resources } = mapped('ADT^A08', [pid({ 3: sent, 7: '19800229' })], {
    found: [
      {
        role: 'patient',
        key: '',
        contributions: null,
        resource: {
          type: 'Patient',
          id: ID,
          version: 1,
          last_updated: '2026-01-01T00:00:00.000Z',
          meta: '',
          body: JSON.stringify({ identifier: [identifier], ...person }).slice(1, -1),
        },
      },
    ],
  });
  const patients = resources.filter(({ resourceType }) => resourceType === 'Patient');
  expect(patients).toHaveLength(1);
  return patients[0]?.['id'] === ID;
}

test.each<[string, string, object, boolean, boolean]>([
  ['the same system', '7^^^HOSP^MR', { system: 'urn:example:hosp', value: '7' }, true, true],
  ['the same system, the name in other case', '7^^^hosp^MR', { system: 'urn:example:hosp', value: '7' }, true, true],
  ['another type', '7^^^HOSP^PI', { system: 'urn:example:hosp', value: '7', type: MR }, true, true],
  ['another system', '7^^^HOSP^MR', { system: 'urn:example:other', value: '7' }, false, false],
  ['a & that is not escaped', '7&8^^^HOSP^MR', { system: 'urn:example:hosp', value: '7&8' }, true, true],
  ['another value behind a &', '7&8^^^HOSP^MR', { system: 'urn:example:hosp', value: '7' }, false, false],
  ['another value', '8^^^HOSP^MR', { system: 'urn:example:hosp', value: '7' }, false, false],
  ['leading zeros', '07^^^HOSP^MR', { system: 'urn:example:hosp', value: '7' }, false, false],
  ['the same namespace', '7^^^WARD^MR', { value: '7', assigner: { display: 'ward' } }, true, false],
  ['the assigning facility', '7^^^^MR^WARD', { value: '7', assigner: { display: 'WARD' } }, true, false],
  [
    'another namespace, where a FHIR client gave no system',
    '7^^^WARD^MR',
    { value: '7', assigner: { display: 'CLINIC' } },
    true,
    false,
  ],
  ['a namespace without a URI, against a system', '7^^^WARD^MR', { system: 'urn:x', value: '7' }, true, false],
  ['only a value, against a system', '7', { system: 'urn:x', value: '7' }, true, false],
  ['only a value, against the same value', '7^^^^MR', { value: '7', type: MR }, true, false],
  ['a namespace, against only a value', '7^^^WARD^MR', { value: '7' }, true, false],
  [
    'a social security number with the same value',
    '7^^^HOSP^MR',
    { value: '7', type: { coding: [{ code: 'SS' }] } },
    false,
    false,
  ],
])('%s: %s', (_, sent, identifier, samePerson, stranger) => {
  expect([isStoredPatient(sent, identifier, PERSON), isStoredPatient(sent, identifier, STRANGER)]).toEqual([
    samePerson,
    stranger,
  ]);
});
