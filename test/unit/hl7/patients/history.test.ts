/**
 * Any order of a history of ADT messages about one patient ends in the same set of patient records, if a message leads
 * each number. So the order of arrival does not decide which record a message is about.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Person } from '../../../../edge/hl7/patients/person.ts';
import type {
  StoredPatient,
  StoredIdentifier,
  SentIdentifier,
} from '../../../../edge/hl7/patients/identifier-holders.ts';
import { resolve } from '../../../../edge/hl7/patients/resolve.ts';
import { inputs } from '../../../stack/tools/size.ts';

const ANN: Person = {
  names: [{ family: 'Smith', given: 'Ann', text: undefined }],
  birthDate: '1980-02-03',
  sex: 'female',
};
const NUMBERS = ['M', 'E', 'L'];

const sent = (value: string, at: number): SentIdentifier => ({
  value,
  authority: { id: `name:${value}`, ids: [`name:${value}`], isAssumed: false },
  identifies: true,
  type: 'MR',
  at: `PID^1^3^${at}`,
});

/** The patient records after a history, each as its identifiers. */
function identifiersAfter(history: readonly (readonly string[])[]): string[] {
  const stored: StoredIdentifier[] = [];
  const patients = new Map<string, StoredPatient>();
  for (const values of history) {
    const identifiers = values.map((value, at) => sent(value, at + 1));
    const resolution = resolve({
      identifiers,
      person: ANN,
      stored,
      patients,
      isAdmission: true,
      check: 'refuse-results',
      placeholderDates: new Set(),
      namedUris: new Set(),
      rejected: new Set(),
      today: '2026-01-02',
    });
    if (resolution.kind === 'refused') throw new Error(resolution.findings[0]?.reason);
    const id = resolution.kind === 'known' ? resolution.patient : `patient-${patients.size + 1}`;
    if (resolution.kind === 'new')
      patients.set(id, {
        id,
        survivor: id,
        identifiers: [],
        mergedWith: [],
        person: { ...ANN, said: [], isDescribed: true },
      });
    for (const [at, number] of identifiers.entries()) {
      if (resolution.foreign.has(number)) continue;
      const row = {
        patient: id,
        authority: number.authority.id,
        value: number.value,
        identifies: true,
        isAssumed: false,
      };
      stored.push({ ...row, led: at === 0 });
    }
  }
  return [...patients.keys()]
    .map((id) =>
      [...new Set(stored.filter(({ patient }) => patient === id).map(({ value }) => value))].toSorted().join(' '),
    )
    .toSorted();
}

/** Every message lists all the numbers, led by any of them. */
const message = fc.shuffledSubarray(NUMBERS, { minLength: NUMBERS.length });
const history = fc.array(message, { minLength: 1, maxLength: 6 });

test('the patient records are equal in any order of arrival', () => {
  fc.assert(
    fc.property(
      history.chain((messages) =>
        fc.tuple(fc.constant(messages), fc.shuffledSubarray(messages, { minLength: messages.length })),
      ),
      ([messages, shuffled]) => {
        expect(identifiersAfter(shuffled)).toEqual(identifiersAfter(messages));
      },
    ),
    { numRuns: inputs(500) },
  );
});
