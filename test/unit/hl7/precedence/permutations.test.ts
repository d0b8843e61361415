/** In any order, and with any repetition, the statements end in the same content and registers. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { fixed, type Contribution } from '../../../../edge/hl7/precedence/contribution.ts';
import { applyStatement } from '../../../../edge/hl7/precedence/apply.ts';
import { precedenceOf, precedenceOfWrite } from '../../../../edge/hl7/precedence/precedence.ts';
import { nothingRemembered } from '../../../../edge/hl7/precedence/registers.ts';
import type { Recorded } from '../../../../edge/hl7/precedence/stated-value.ts';
import { sortedJson, type Json, type JsonObject } from '../../../../shared/json.ts';
import { inputs } from '../../../stack/tools/size.ts';

interface Statement {
  readonly minute: number;
  readonly kind: 'final' | 'below' | 'withdrawal';
  readonly said: readonly Contribution[];
}

/** A statement of another minute each: orders differ before arrival. */
const history = (said: fc.Arbitrary<readonly Contribution[]>): fc.Arbitrary<Statement[]> =>
  fc
    .uniqueArray(
      fc.record({
        minute: fc.integer({ min: 0, max: 20 }),
        kind: fc.constantFrom('final' as const, 'below' as const, 'withdrawal' as const),
        said,
      }),
      { selector: ({ minute }) => minute, minLength: 1, maxLength: 6 },
    )
    // A message that withdraws says so.
    .map((all) =>
      all.map((each) =>
        each.kind === 'withdrawal' ? { ...each, said: [...each.said, fixed('status', 'withdrawn')] } : each,
      ),
    );

/** A history and another order of it, with some of it again. */
const inTwoOrders = (said: fc.Arbitrary<readonly Contribution[]>) =>
  history(said).chain((all) =>
    fc.record({
      one: fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 }),
      other: fc.shuffledSubarray([...all, ...all, ...all], { minLength: all.length * 3 }),
    }),
  );

const BASE = precedenceOfWrite(10 * 60_000);

function after(statements: readonly Statement[], content: JsonObject, isPatient: boolean) {
  let state: Recorded = { content, remembered: { ...nothingRemembered, base: BASE } };
  for (const { minute, kind, said } of statements) {
    const tier = kind === 'below' ? 0 : 1;
    const precedence = precedenceOf({ tier, timeMs: minute * 60_000, rank: 50, sentMs: 0, messageId: `m${minute}` });
    const isWithdrawal = kind === 'withdrawal' && !isPatient;
    state = applyStatement(state.content, state.remembered, said, precedence, {
      isPatient,
      isWithdrawal,
      names: new Map(),
    });
  }
  return {
    content: settledLists(state.content),
    registers: [...state.remembered.registers].sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}

/** The order of extensions and of what is only added means nothing. */
function settledLists(content: JsonObject): Json {
  const sorted = (list: Json | undefined): Json => (Array.isArray(list) ? list.map(sortedJson).sort() : null);
  return { ...content, extension: sorted(content['extension']), result: sorted(content['result']) };
}

const value = fc.constantFrom('a', 'b', 'c');
const elements = fc
  .array(
    fc.oneof(
      fc
        .tuple(fc.constantFrom('status', 'note', 'extension a', 'extension b'), fc.option(value))
        .map(([element, text]): Contribution => {
          const isExtension = element.startsWith('extension');
          return fixed(element, text !== null && isExtension ? { valueString: text } : text);
        }),
      fc
        .option(value)
        .map((text) => fixed('value[x]', text === null ? null : { [`value${text.toUpperCase()}`]: text })),
      value.map((text): Contribution => ({ ...fixed('result', [text]), adds: true })),
      value.map((text): Contribution => ({ ...fixed('status', text), isDefault: true })),
    ),
    { maxLength: 4 },
  )
  // One message values an element once.
  .map((said) => [...new Map(said.map((each) => [`${each.element}${each.isDefault}`, each])).values()]);

const telecom = fc.record({ use: fc.constantFrom('home', 'work', 'mobile'), value });
const FIELDS = ['PID-13', 'PID-14', 'PID-40'] as const;
const lists = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...FIELDS), fc.array(telecom, { minLength: 1, maxLength: 2 })), {
    selector: ([field]) => field,
  })
  .map((said) => said.map(([field, items]): Contribution => fixed('telecom', items, field)));

const identifier = fc.record(
  { system: fc.constantFrom('s', 't'), value: fc.constantFrom('1', '2'), type: fc.constantFrom('MR', 'PI') },
  { requiredKeys: ['value'] },
);
const identifiers = fc
  .array(identifier, { minLength: 1, maxLength: 3 })
  .map((items): Contribution[] => [{ ...fixed('identifier', items, 'PID-3'), keeps: true }]);

test.each<[string, fc.Arbitrary<readonly Contribution[]>, fc.Arbitrary<JsonObject>, boolean]>([
  // No client creates what messages withdraw: messages own its status.
  ['elements', elements, fc.record({ note: value }, { requiredKeys: [] }), false],
  ['lists of a patient', lists, fc.record({ telecom: fc.uniqueArray(telecom, { selector: sortedJson }) }), true],
  [
    'identifiers of a patient',
    identifiers,
    fc.record({
      identifier: fc.uniqueArray(fc.record({ system: fc.constantFrom('s', 'u'), value: fc.constantFrom('1', '2') }), {
        selector: sortedJson,
      }),
    }),
    true,
  ],
])('%s', (_, said, stored, isPatient) => {
  fc.assert(
    fc.property(inTwoOrders(said), stored, ({ one, other }, content) => {
      expect(after(other, content, isPatient)).toEqual(after(one, content, isPatient));
    }),
    { numRuns: inputs(100) },
  );
});
