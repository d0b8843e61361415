/** Two combined records of one thing equal one record with all statements of both. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { sortedJson, type Json } from '../../../../shared/json.ts';
import { fixed, type Contribution } from '../../../../edge/hl7/precedence/contribution.ts';
import { applyStatement, supersede } from '../../../../edge/hl7/precedence/apply.ts';
import { combined } from '../../../../edge/hl7/precedence/combine.ts';
import { precedenceOf, precedenceOfWrite, type Precedence } from '../../../../edge/hl7/precedence/precedence.ts';
import { nothingRemembered } from '../../../../edge/hl7/precedence/registers.ts';
import type { Recorded } from '../../../../edge/hl7/precedence/stated-value.ts';

const WHOSE = { isPatient: false, names: new Map<string, string>() };
const at = (minute: number, tier: 0 | 1 = 1): Precedence =>
  precedenceOf({ tier, timeMs: minute * 60_000, rank: 50, sentMs: minute * 60_000, messageId: '' });
const EMPTY: Recorded = { content: {}, remembered: nothingRemembered };
const said = (
  record: Recorded,
  contributions: readonly Contribution[],
  precedence: Precedence,
  isWithdrawal = false,
): Recorded => applyStatement(record.content, record.remembered, contributions, precedence, { ...WHOSE, isWithdrawal });

const contribution: fc.Arbitrary<Contribution> = fc
  .oneof(
    fc.record({ element: fc.constantFrom('criticality', 'status'), value: fc.constantFrom('low', 'high', null) }),
    fc.record({
      element: fc.constant('onset[x]'),
      value: fc.constantFrom<Json>({ onsetDateTime: '2020' }, { onsetString: 'young' }, null),
    }),
    fc.record({
      element: fc.constant('extension http://x'),
      value: fc.constantFrom<Json>({ valueCode: 'a' }, { valueCode: 'b' }),
    }),
    fc.record({
      element: fc.constant('clinicalStatus'),
      value: fc.constantFrom('active'),
      isDefault: fc.constant(true),
    }),
    fc.record({ element: fc.constant('clinicalStatus'), value: fc.constantFrom(null, 'inactive') }),
    fc.record({
      element: fc.constant('relatesTo'),
      value: fc.constantFrom<Json[]>([{ code: 'appends' }], [{ code: 'replaces' }]),
      adds: fc.constant(true),
    }),
  )
  .map((each) => ({ field: '', ...each }));

test('the combination of two records equals one record of all statements', () => {
  const statement = fc.record({
    minute: fc.integer({ min: 0, max: 40 }),
    isFirst: fc.boolean(),
    kind: fc.constantFrom('final', 'below', 'withdrawal'),
    contributions: fc.uniqueArray(contribution, { selector: ({ element }) => element, minLength: 1 }),
    supersedes: fc.boolean(),
  });
  const statements = fc.uniqueArray(statement, { selector: ({ minute }) => minute, maxLength: 6 });
  fc.assert(
    fc.property(statements, fc.boolean(), (mixed, isResult) => {
      // Documents are superseded, results are below final or withdrawn.
      const all = mixed.map((each) => (isResult ? { ...each, supersedes: false } : { ...each, kind: 'final' }));
      const recordOf = (those: typeof all): Recorded =>
        those.reduce<Recorded>((record, { minute, kind, contributions, supersedes }) => {
          const isWithdrawal = kind === 'withdrawal';
          const status = isWithdrawal ? [fixed('status', 'withdrawn')] : [];
          const next = said(record, [...contributions, ...status], at(minute, kind === 'below' ? 0 : 1), isWithdrawal);
          return supersedes ? supersede(next.content, next.remembered, at(minute)) : next;
        }, EMPTY);
      const one = recordOf(all);
      const two = combined(
        recordOf(all.filter(({ isFirst }) => isFirst)),
        recordOf(all.filter(({ isFirst }) => !isFirst)),
      );
      const state = ({ content, remembered }: Recorded) => [
        sortedJson({ ...content, relatesTo: [content['relatesTo'] ?? []].flat().map(sortedJson).toSorted() }),
        [...remembered.registers].toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ];
      expect(state(two)).toEqual(state(one));
    }),
  );
});

test('a client’s change counts at its time, a client’s addition from the creation', () => {
  const kept = said(EMPTY, [fixed('status', 'completed'), fixed('onset[x]', { onsetDateTime: '2020' })], at(10));
  const changed: Recorded = {
    content: { status: 'stopped', onsetAge: { value: 3 }, note: [{ text: 'seen' }] },
    remembered: { ...nothingRemembered, base: at(5), stamps: new Map([['status', precedenceOfWrite(20 * 60_000)]]) },
  };
  expect(combined(kept, changed).content).toEqual({
    status: 'stopped',
    onsetDateTime: '2020',
    note: [{ text: 'seen' }],
  });
  const earlier = { ...changed.remembered, stamps: new Map([['status', precedenceOfWrite(60_000)]]) };
  expect(combined(kept, { ...changed, remembered: earlier }).content['status']).toBe('completed');
});

test('a combination keeps the patient of the first record', () => {
  const kept = said(EMPTY, [fixed('patient', { reference: 'Patient/a' })], at(1));
  const other = said(EMPTY, [fixed('patient', { reference: 'Patient/b' })], at(2));
  expect(combined(kept, other).content).toEqual({ patient: { reference: 'Patient/a' } });
});
