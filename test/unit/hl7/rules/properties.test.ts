import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { senderRules, type SenderRule } from '../../../../edge/members/sender-rules.ts';
import { Fault } from '../../../../shared/fault.ts';
import { readMessage, type Message } from '../../../../shared/hl7/message.ts';
import { locate, locatePart, rawAt, repetitions } from '../../../../shared/hl7/value.ts';
import { corpus } from '../../../inputs/hl7-corpus.ts';
import { inputs } from '../../../stack/tools/size.ts';
import { ruledMessage } from './ruled.ts';

const MESSAGES: readonly Message[] = corpus().flatMap(({ bytes }) => {
  try {
    const message = readMessage(bytes);
    return message.named('MSH').length === 1 ? [message] : [];
  } catch (error) {
    if (error instanceof Fault) return [];
    throw error;
  }
});

const number = (max: number) => fc.integer({ min: 1, max });
const part = fc.oneof(
  fc.constant(''),
  number(5).map((component) => `.${component}`),
  fc.tuple(number(5), number(3)).map(([component, subcomponent]) => `.${component}.${subcomponent}`),
);
const path = fc
  .record({
    segment: fc.constantFrom('PID', 'PV1', 'OBR', 'OBX', 'NTE', 'ORC', 'NK1', 'DG1', 'AL1', 'MRG', 'ZPI'),
    segments: fc.constantFrom('', '', '', '[1]', '[2]', '=F', '='),
    field: number(30),
    repetitions: fc.constantFrom('', '', '', '[1]', '[2]', '=MR', '='),
    part,
  })
  .map(({ segment, segments, field, repetitions, part: below }) => {
    const ofSegment = segments.startsWith('=') ? `[${segment}-${(field % 12) + 1}.1${segments}]` : segments;
    const ofField = repetitions.startsWith('=') ? `[${segment}-${field}.5${repetitions}]` : repetitions;
    return { segment: segment + ofSegment, field: `${segment}${ofSegment}-${field}${ofField}${below}` };
  });
const value = fc.oneof(
  fc.constantFrom('F', 'x y', '""', '^', '|a~b', '\\F\\', '&', 'ü'),
  fc.string({ unit: fc.constantFrom(...Array.from('|^~\\&aX"')), minLength: 1, maxLength: 5 }),
);
const code = fc.constantFrom('M', 'F', 'U', 'ST', 'NM', '1', 'MR', '""', 'O', 'R');
const when = fc.option(
  fc.record({
    all: fc.array(
      path.map(({ field }) => ({ path: field, is: 'present' })),
      { maxLength: 1 },
    ),
  }),
  { nil: undefined },
);
const at = path.map(({ field }) => field);
const dropped = fc.constantFrom(
  'OBX[1]',
  'OBX[2]',
  'OBX[OBX-2=ST]',
  'NTE[1]',
  'NTE[2]',
  'NK1[1]',
  'PID-3[1]',
  'PID-3[PID-3.5=MR]',
  'PID-13[1]',
);
const changing = fc.oneof(
  fc.record({ verb: fc.constant('drop'), path: dropped }),
  fc.record({ verb: fc.constant('trim'), path: dropped.filter((each) => each.startsWith('PID')) }),
  fc.record({ verb: fc.constant('set'), path: at, value, when }),
  fc.record({ verb: fc.constant('default'), path: at, value, when }),
  fc.record({ verb: fc.constant('copy'), path: at, from: at, when }),
  fc.record({ verb: fc.constant('clear'), path: at, when }),
  fc.record({
    verb: fc.constant('drop'),
    path: fc.oneof(
      at,
      path.map(({ segment }) => segment),
    ),
    when,
  }),
  fc.record({
    verb: fc.constant('map'),
    path: at,
    values: fc.dictionary(code, value, { minKeys: 1, maxKeys: 3 }),
    otherwise: fc.constantFrom('keep', 'clear'),
  }),
  fc.record({
    verb: fc.constant('split'),
    path: at,
    by: fc.constantFrom(' ', ',', 'e', '-'),
    into: fc.constantFrom('repetitions', 'components', 'subcomponents'),
  }),
  fc.record({ verb: fc.constant('join'), path: at, by: fc.constantFrom(' ', ', ', '^') }),
  fc.record({ verb: fc.constant('trim'), path: at }),
  fc.record({ verb: fc.constant('date'), path: at, format: fc.constantFrom('DD.MM.YYYY', 'YYYYMMDD', 'YYYY-MM-DD') }),
  fc.record({ verb: fc.constant('authority'), path: at, namespace: value }),
);
/** Only rules that the schema accepts. */
const rules = (most: number): fc.Arbitrary<readonly SenderRule[]> =>
  fc
    .array(
      changing.filter((rule) => senderRules.safeParse([rule]).success),
      { minLength: 1, maxLength: most },
    )
    .map((list) => senderRules.parse(list));

const message = fc.constantFrom(...MESSAGES);
const RUNS = { numRuns: inputs(300) };

/** The raw text of each field and repetition that a message has, by its location. */
function* placesOf(read: Message): Generator<readonly [at: string, raw: string]> {
  for (const segment of read.segments) {
    const count = segment.fields().length;
    for (let field = 1; field < count; field += 1) {
      yield [locate(segment, field), rawAt(segment, field) ?? ''];
      for (const part of repetitions(segment, field)) yield [locatePart(part), part.raw];
    }
  }
}

describe('rules on real messages', () => {
  test('change only what they report, and report where it was', () => {
    fc.assert(
      fc.property(message, rules(5), (sent, given) => {
        const { message: read, changes, placeOf, tooCostly } = ruledMessage(given, sent);
        expect(tooCostly).toBe(false);
        expect(read === sent).toBe(read.lines === sent.lines);
        expect(read.segments[0]?.raw).toBe(sent.segments[0]?.raw);
        expect([read.charset, read.delimiters]).toEqual([sent.charset, sent.delimiters]);
        const rawOf = new Map(placesOf(sent));
        const isWithin = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(`${outer}^`);
        const isReported = (place: string): boolean =>
          changes.some(({ at: changed }) => isWithin(changed, place) || isWithin(place, changed));
        for (const [place, raw] of placesOf(read)) {
          const before = placeOf(place);
          // A location is shortened where positions no longer correspond.
          const isPlaced = before.split('^').length === place.split('^').length;
          if (isPlaced && (rawOf.get(before) ?? '') !== raw) expect([place, isReported(before)]).toEqual([place, true]);
        }
        const kept = new Set(read.segments.map((segment) => placeOf(locate(segment))));
        for (const segment of sent.segments) {
          const place = locate(segment);
          if (!kept.has(place) && !place.startsWith('?')) expect(changes.map((change) => change.at)).toContain(place);
        }
      }),
      RUNS,
    );
  });

  test('say the same with other delimiters', () => {
    const [from, to] = ['|^~\\&', '\u00a1\u00a2\u00a3\u00a4\u00a5'].map((text) => Array.from(text));
    // The message keeps these characters apart while its delimiters change.
    const other = Array.from('!$;%?');
    const exchanged = (text: string): string =>
      Array.from(text, (character) => {
        const role = (from ?? []).indexOf(character);
        const back = other.indexOf(character);
        return role >= 0 ? other[role] : back >= 0 ? (to ?? [])[back] : character;
      }).join('');
    const usual = MESSAGES.filter(
      ({ lines, delimiters }) =>
        lines.startsWith('MSH|^~\\&|') && delimiters.truncation === '' && !other.some((each) => lines.includes(each)),
    );
    expect(usual.length).toBeGreaterThan(50);
    // A rule's values have the characters of both notations otherwise.
    const isPlain = (rule: SenderRule): boolean =>
      !/[|^~\\&!$;%?]/.test(JSON.stringify('value' in rule ? rule.value : '')) &&
      !['split', 'join', 'map', 'authority'].includes(rule.verb);
    const plain = rules(5).map((list) => list.filter(isPlain));
    fc.assert(
      fc.property(fc.constantFrom(...usual), plain, (sent, given) => {
        const translated = readMessage(exchanged(sent.lines));
        expect(ruledMessage(given, translated).message.lines).toBe(exchanged(ruledMessage(given, sent).message.lines));
      }),
      { numRuns: inputs(100) },
    );
  });

  test('that fit nothing return the message itself', () => {
    const never = '\u2603';
    const nothing = [
      { verb: 'map', path: 'PID-8', values: { [never]: 'F' } },
      { verb: 'drop', path: `OBX[OBX-3.1=${never}]` },
      { verb: 'drop', path: `PID-3[PID-3.5=${never}]` },
      { verb: 'set', path: 'PID-8', value: 'F', when: { all: [{ path: 'PID-5.1', equals: never }] } },
      { verb: 'set', path: 'ZZZ-1', value: 'F' },
      { verb: 'split', path: 'PID-5', by: never, into: 'components' },
      { verb: 'authority', path: 'ZZZ-3', namespace: 'X', replaces: never },
      { verb: 'date', path: 'PID-7', format: `YYYY${never}MM` },
    ].filter((rule) => senderRules.safeParse([rule]).success);
    expect(nothing).toHaveLength(7);
    for (const sent of MESSAGES) {
      const { message: read, changes } = ruledMessage(nothing, sent);
      expect(read).toBe(sent);
      expect(changes).toEqual([]);
    }
  });
});
