/** The choice among known results, the times of collection, and the owners of order numbers: as tables. */
import { describe, expect, test } from 'vitest';

import { choose } from '../../../../edge/hl7/results/choose.ts';
import {
  collectionTime,
  daysAround,
  mayBeSameTime,
  minutesAround,
} from '../../../../edge/hl7/results/collection-time.ts';
import { authorityOf, isSameAuthority, ownAuthority } from '../../../../edge/hl7/results/order-number.ts';

const NOON = '2026-01-01T12:00Z';
const known = (text: string) =>
  text
    .split(' ')
    .filter(Boolean)
    .map((each, at) => {
      const [value = '', time = NOON] = each.split('@');
      return { ...STORED, value, at: time, place: at + 1, isMissing: value.endsWith('-') };
    });
const STORED = { isMissing: false, isFinal: false, isCorrected: false, precedence: '' };
const SENT = { isCorrection: false, isText: false, isFinal: true, precedence: '' };

describe('a message’s results match these known results', () => {
  test.each([
    ['no known result', 'a b', '', 'new new'],
    ['a correction without a known result', 'a!', '', 'unmatched'],
    ['one sent and one known', 'b', 'a', 'a'],
    ['a correction of the only known result', 'b!', 'a', 'a'],
    ['equal counts match in order', 'c d', 'a b', 'a b'],
    ['one more: equal values match, the rest is unclear', 'c a', 'a', 'unclear a'],
    ['fewer: equal values match', 'b', 'a b', 'b'],
    ['fewer, without an equal value', 'c', 'a b', 'unclear'],
    ['a correction of one of several', 'c!', 'a b', 'unmatched'],
    ['matches each known result once', 'a a a', 'a a', 'a a unclear'],
    ['as many: equal values first', 'b c', 'a b', 'b a'],
    ['a correction of all, with one more', 'a! c! d!', 'a b', 'a b unmatched'],
    ['a correction of some', 'c!', 'a b', 'unmatched'],
    ['a missing result leaves its place', 'c', 'a b-', 'a'],
    ['a missing result is sent again', 'a c', 'a b-', 'a b-'],
    ['an unknown time', 'c', 'a@', 'a'],
    ['equal counts with different times', 'c d', 'a@ b@2026-01-01', 'unclear unclear'],
  ])('%s', (_, sent, candidates, expected) => {
    const said = sent
      .split(' ')
      .map((value) => ({ ...SENT, value: value.replace('!', ''), isCorrection: value.endsWith('!') }));
    const chosen = choose(said, known(candidates), false);
    expect(chosen.map((choice) => (choice.status === 'known' ? choice.known.value : choice.status)).join(' ')).toBe(
      expected,
    );
  });

  test('only the value distinguishes results without an identifier', () => {
    const sent = [{ ...SENT, value: 'b' }];
    expect(choose(sent, known('a@'), true)).toEqual([{ status: 'unclear' }]);
    expect(choose(sent, known('b@'), true)).toMatchObject([{ status: 'known' }]);
  });
});

test('an older line fits the corrected group that replaced all lines', () => {
  const corrected = known('x y z').map((each, at) => ({ ...each, isCorrected: true, precedence: `1|2|${at}` }));
  const sent = ['x', 'old'].map((value) => ({ ...SENT, value, precedence: '1|1|1' }));
  expect(choose(sent, corrected, false).map(({ status }) => status)).toEqual(['known', 'known']);
});

describe('a final text', () => {
  const text = (lines: number) => JSON.stringify({ valueString: Array.from({ length: lines }, () => 'x').join('\n') });
  const at = (minute: number) => `1|00000000000000${minute}|60`;
  const stored = (lines: number, minute: number, more = {}) => ({
    ...STORED,
    value: text(lines).replace('x', 'stored'),
    at: NOON,
    place: lines,
    isFinal: true,
    precedence: at(minute),
    ...more,
  });
  const sent = (lines: number, minute: number, more = {}) => ({
    ...SENT,
    isText: true,
    value: text(lines),
    precedence: at(minute),
    ...more,
  });
  test.each([
    ['of half the lines replaces the older one', sent(5, 2), [stored(10, 1)], 'known'],
    ['of fewer lines is kept beside it', sent(4, 2), [stored(10, 1)], 'beside'],
    ['that is older and longer is kept beside an addendum', sent(10, 1), [stored(4, 2)], 'beside'],
    ['that is older and shorter is the same text', sent(5, 1), [stored(10, 2)], 'known'],
    ['that is much longer replaces the older one, and is listed', sent(10, 2), [stored(4, 1)], 'doubtful'],
    ['that is older and much shorter was replaced, and is listed', sent(4, 1), [stored(10, 2)], 'doubtful'],
    [
      'is corrected by any text, and listed if that is much shorter',
      sent(1, 2, { isCorrection: true }),
      [stored(10, 1)],
      'doubtful',
    ],
    ['that was corrected replaces an older one', sent(10, 1), [stored(1, 2, { isCorrected: true })], 'doubtful'],
    ['replaces a text below final', sent(1, 2), [stored(10, 1, { isFinal: false })], 'known'],
    ['replaces the one of several that is about as long', sent(9, 3), [stored(10, 1), stored(2, 2)], 'known'],
    ['replaces none of several that are as long', sent(9, 3), [stored(10, 1), stored(8, 2)], 'unclear'],
  ])('%s', (_, said, candidates, expected) => {
    const [choice] = choose([said], candidates, false);
    const isDoubtful = choice?.status === 'known' && choice.isDoubtful === true;
    expect(isDoubtful ? 'doubtful' : choice?.status).toBe(expected);
  });
});

describe('the collection time', () => {
  test.each([
    ['202601010900+0100', '2026-01-01T08:00Z'],
    ['20260101090059.9+0100', '2026-01-01T08:00Z'],
    ['202601010900', '2026-01-01T08:00Z'],
    ['2026010109', '2026-01-01T08:00Z'],
    ['20260101', '2026-01-01'],
    ['202601', ''],
    ['0800', ''],
    ['00000000', ''],
    [undefined, ''],
  ])('%s', (text, expected) => {
    expect(collectionTime(text, { timeZone: 'Europe/Vienna' })).toBe(expected);
  });

  test('a time with an unknown offset is compared as written', () => {
    expect(collectionTime('202601010900', {})).toBe('2026-01-01T09:00Z');
  });

  test.each([
    ['2026-01-01T08:00Z', '2026-01-01T08:00Z', true],
    ['2026-01-01T08:00Z', '2026-01-01T08:01Z', false],
    ['2026-01-01T08:00Z', '', true],
    ['2026-01-01T08:00Z', '2026-01-01', true],
    ['2026-01-01T23:30Z', '2026-01-02', true],
    ['2026-01-01T08:00Z', '2026-01-03', false],
    ['2026-01-01', '2026-01-02', false],
  ])('%s and %s are possibly the same time: %s', (a, b, expected) => {
    expect([mayBeSameTime(a, b), mayBeSameTime(b, a)]).toEqual([expected, expected]);
  });

  test('the days that a lookup asks for are those that may be of its time', () => {
    for (let hour = 0; hour < 24; hour += 1) {
      const minute = `2026-01-05T${String(hour).padStart(2, '0')}:00Z`;
      const days = Array.from({ length: 9 }, (_, at) => `2026-01-0${at + 1}`);
      const possible = days.filter((day) => mayBeSameTime(day, minute));
      expect(daysAround([minute, minute])).toEqual(['', ...possible]);
    }
  });

  test('the possible range of a time without a zone contains its final value', () => {
    for (const timeZone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Europe/Vienna']) {
      for (const text of ['202601010900', '20260101', '202601010900+0300']) {
        const [first = '', last = ''] = minutesAround(text, undefined) ?? [];
        const time = collectionTime(text, { timeZone });
        expect(time.length === 10 || (first <= time && time <= last), `${text} in ${timeZone}`).toBe(true);
      }
    }
    // The clock may have changed between the time and MSH-7.
    expect(minutesAround('202601010900', '+01:00')).toEqual(['2026-01-01T06:00Z', '2026-01-01T10:00Z']);
    expect(minutesAround('202601010900+0100', '+02:00')).toEqual(['2026-01-01T08:00Z', '2026-01-01T08:00Z']);
    expect(minutesAround('no time', '+01:00')).toBeNull();
  });
});

describe('two owners of a number are the same', () => {
  const named = new Map([['Lab', 'urn:oid:1.2.3']]);
  const none = new Map<string, string>();
  test.each([
    [authorityOf('LAB', undefined, none), authorityOf('lab', undefined, none), true],
    [authorityOf('LAB', undefined, none), authorityOf('RIS', undefined, none), false],
    [authorityOf('LAB', '1.2.3', none), authorityOf('LAB', undefined, none), true],
    [authorityOf('LAB', '1.2.3', none), authorityOf('LAB', '1.2.9', none), false],
    [authorityOf(undefined, '1.2.3', none), authorityOf('LAB', undefined, named), true],
    [ownAuthority(undefined, 'A', 'H', none), ownAuthority(undefined, 'B', 'H', none), false],
    [ownAuthority(undefined, 'A', 'H', none), authorityOf('A', undefined, none), false],
    [ownAuthority('LAB', 'A', 'H', none), authorityOf('LAB', undefined, none), true],
    [ownAuthority('urn:oid:1.2.3', 'A', 'H', none), authorityOf('LAB', undefined, named), true],
  ])('%j and %j: %s', (a, b, expected) => {
    if (a === undefined || b === undefined) throw new Error('each names one');
    expect([isSameAuthority(a, b), isSameAuthority(b, a)]).toEqual([expected, expected]);
  });
});
