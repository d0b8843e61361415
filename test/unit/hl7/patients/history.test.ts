/**
 * Any order of a history of ADT messages about one patient ends in the same set of charts, where every number leads a
 * message itself: which chart a message is about does not rest on which came first.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Person } from '../../../../edge/hl7/patients/person.ts';
import { resolve, type Chart, type KnownNumber, type SentNumber } from '../../../../edge/hl7/patients/resolve.ts';
import { inputs } from '../../../stack/tools/size.ts';

const ANN: Person = {
  names: [{ family: 'Smith', given: 'Ann', text: undefined }],
  birthDate: '1980-02-03',
  sex: 'female',
};
const NUMBERS = ['M', 'E', 'L'];

const sent = (value: string, at: number): SentNumber => ({
  value,
  domain: { id: `name:${value}`, ids: [`name:${value}`], isAssumed: false },
  identifies: true,
  type: 'MR',
  at: `PID^1^3^${at}`,
});

/** The charts that a history ends in, each as its numbers. */
function chartsAfter(history: readonly (readonly string[])[]): string[] {
  const known: KnownNumber[] = [];
  const charts = new Map<string, Chart>();
  for (const values of history) {
    const numbers = values.map((value, at) => sent(value, at + 1));
    const resolution = resolve({
      numbers,
      person: ANN,
      known,
      charts,
      isAdmission: true,
      check: 'refuse-results',
      placeholderDates: new Set(),
      namedUris: new Set(),
      rejected: new Set(),
    });
    if (resolution.kind === 'refused') throw new Error(resolution.findings[0]?.reason);
    const id = resolution.kind === 'known' ? resolution.patient : `chart-${charts.size + 1}`;
    if (resolution.kind === 'new')
      charts.set(id, { id, survivor: id, person: { ...ANN, pastNames: [], pastBirthDates: [] } });
    for (const [at, number] of numbers.entries()) {
      if (resolution.foreign.has(number)) continue;
      const row = { patient: id, domain: number.domain.id, value: number.value, identifies: true, isAssumed: false };
      known.push({ ...row, led: at === 0 });
    }
  }
  return [...charts.keys()]
    .map((id) =>
      [...new Set(known.filter(({ patient }) => patient === id).map(({ value }) => value))].toSorted().join(' '),
    )
    .toSorted();
}

/** Every message lists all the numbers, whichever leads. */
const message = fc.shuffledSubarray(NUMBERS, { minLength: NUMBERS.length });
const history = fc.array(message, { minLength: 1, maxLength: 6 });

test('whatever comes first, the charts are the same', () => {
  fc.assert(
    fc.property(
      history.chain((messages) =>
        fc.tuple(fc.constant(messages), fc.shuffledSubarray(messages, { minLength: messages.length })),
      ),
      ([messages, shuffled]) => {
        expect(chartsAfter(shuffled)).toEqual(chartsAfter(messages));
      },
    ),
    { numRuns: inputs(500) },
  );
});
