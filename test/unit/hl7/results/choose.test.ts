/** The choice among known results, the times of collection, and the owners of order numbers: as tables. */
import { describe, expect, test } from 'vitest';

import { choose } from '../../../../edge/hl7/results/choose.ts';
import { collectionTime, mayBeSameTime, minutesAround } from '../../../../edge/hl7/results/collection-time.ts';
import { authorityOf, isSameAuthority, ownAuthority } from '../../../../edge/hl7/results/order-number.ts';

const NOON = '2026-01-01T12:00Z';
const known = (text: string) =>
  text
    .split(' ')
    .filter(Boolean)
    .map((each, at) => {
      const [value = '', time = NOON] = each.split('@');
      return { value, at: time, place: at + 1 };
    });

describe('a message’s results match these known results', () => {
  test.each([
    ['nothing is known', 'a b', '', 'new new'],
    ['a correction of nothing', 'a!', '', 'unmatched'],
    ['one of one', 'b', 'a', 'a'],
    ['a correction of one', 'b!', 'a', 'a'],
    ['as many: in order', 'c d', 'a b', 'a b'],
    ['one more: what is equal, the rest beside', 'c a', 'a', 'unclear a'],
    ['fewer: what is equal', 'b', 'a b', 'b'],
    ['fewer, and none is equal', 'c', 'a b', 'unclear'],
    ['a correction of one of several', 'c!', 'a b', 'unmatched'],
    ['each is meant once', 'a a a', 'a a', 'a a unclear'],
    ['its own time before an unknown one', 'c', `a@ b@${NOON}`, 'b'],
    ['an unknown time', 'c', 'a@', 'a'],
    ['as many, but of several times', 'c d', 'a@ b@2026-01-01', 'unclear unclear'],
  ])('%s', (_, sent, candidates, expected) => {
    const said = sent.split(' ').map((value) => ({ value: value.replace('!', ''), isCorrection: value.endsWith('!') }));
    const chosen = choose(said, known(candidates), NOON, false);
    expect(chosen.map((choice) => (choice.status === 'known' ? choice.known.value : choice.status)).join(' ')).toBe(
      expected,
    );
  });

  test('only the value distinguishes results without an identifier', () => {
    const sent = [{ value: 'b', isCorrection: false }];
    expect(choose(sent, known('a@'), '', true)).toEqual([{ status: 'unclear' }]);
    expect(choose(sent, known('b@'), '', true)).toMatchObject([{ status: 'known' }]);
  });
});

describe('when', () => {
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

  test('the possible range of a time without a zone contains its final value', () => {
    for (const timeZone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Europe/Vienna']) {
      for (const text of ['202601010900', '20260101', '202601010900+0300']) {
        const [first = '', last = ''] = minutesAround(text, undefined) ?? [];
        const meant = collectionTime(text, { timeZone });
        expect(meant.length === 10 || (first <= meant && meant <= last), `${text} in ${timeZone}`).toBe(true);
      }
    }
    expect(minutesAround('202601010900', '+01:00')).toEqual(['2026-01-01T08:00Z', '2026-01-01T08:00Z']);
    expect(minutesAround('no time', '+01:00')).toBeNull();
  });
});

describe('the owner of a number', () => {
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
