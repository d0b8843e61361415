/** Which stored patient a PID-3 may mean: the same value, and nothing that says it is another's. */
import { expect, test } from 'vitest';

import { mapped, pid } from './mapped.ts';

const ID = '01890000-0000-7000-8000-00000000000a';
const MR = { coding: [{ code: 'MR' }] };

/** True where the patient that is stored with this identifier is the one of the message. */
function isMeant(sent: string, identifier: object): boolean {
  const { resources } = mapped('ADT^A08', [pid({ 3: sent })], {
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
          body: `"identifier":[${JSON.stringify(identifier)}]`,
        },
      },
    ],
  });
  const patients = resources.filter(({ resourceType }) => resourceType === 'Patient');
  expect(patients).toHaveLength(1);
  return patients[0]?.['id'] === ID;
}

test.each<[string, string, object, boolean]>([
  ['the same system', '7^^^HOSP^MR', { system: 'urn:example:hosp', value: '7' }, true],
  ['another system', '7^^^HOSP^MR', { system: 'urn:example:other', value: '7' }, false],
  ['another value', '8^^^HOSP^MR', { system: 'urn:example:hosp', value: '7' }, false],
  ['the same namespace', '7^^^WARD^MR', { value: '7', assigner: { display: 'WARD' } }, true],
  ['another namespace', '7^^^WARD^MR', { value: '7', assigner: { display: 'CLINIC' } }, false],
  ['a namespace that nobody named, against a system', '7^^^WARD^MR', { system: 'urn:example:hosp', value: '7' }, false],
  ['nothing but the value, against a system', '7', { system: 'urn:example:hosp', value: '7' }, true],
  ['the same type', '7^^^^MR', { value: '7', type: MR }, true],
  ['another type', '7^^^^PI', { value: '7', type: MR }, false],
  ['a type against none', '7^^^^PI', { value: '7' }, true],
])('%s: %s', (_, sent, identifier, expected) => {
  expect(isMeant(sent, identifier)).toBe(expected);
});
