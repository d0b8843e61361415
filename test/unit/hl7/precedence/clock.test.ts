/** The precedence of a message's statements: which times count, and which statement wins. */
import { describe, expect, test } from 'vitest';

import { clockOf, instantMs, isAhead, timed } from '../../../../edge/hl7/precedence/clock.ts';
import {
  asDefault,
  precedenceOf,
  precedenceOfCreation,
  precedenceOfWrite,
  timeOfId,
} from '../../../../edge/hl7/precedence/precedence.ts';
import { standingOfReport, standingOfResult } from '../../../../edge/hl7/precedence/standing.ts';
import { createWorld } from '../../../inputs/hl7-world.ts';
import { idAt } from '../../../stack/tools/id-at.ts';

const RECEIVED = '2026-01-02T12:00:00Z';
const standingOf = ({ result, report, order }: Readonly<Partial<Record<'result' | 'report' | 'order', string>>>) =>
  standingOfResult(result, standingOfReport(report, order));
const VIENNA = { timeZone: 'Europe/Vienna' };

describe('a time of a message', () => {
  const read = (text: string | undefined, zone: object = VIENNA, received = RECEIVED): string | undefined => {
    const ms = instantMs(text, zone, Date.parse(received));
    return ms === undefined ? undefined : new Date(ms).toISOString();
  };

  test.each([
    ['with its own offset', '20260102100000+0000', {}, '2026-01-02T10:00:00.000Z'],
    ['to the minute', '202601021000', VIENNA, '2026-01-02T09:00:00.000Z'],
    ['with the offset of MSH-7, too far ahead', '20260102100000', { offset: '-05:00' }, undefined],
    ['with the offset of MSH-7, before now', '20260102060000', { offset: '-05:00' }, '2026-01-02T11:00:00.000Z'],
    ['of another year', '20190102100000', VIENNA, '2019-01-02T09:00:00.000Z'],
    ['fifteen minutes ahead', '20260102131500', VIENNA, '2026-01-02T12:15:00.000Z'],
  ])('is read %s', (_, text, zone, instant) => expect(read(text, zone)).toBe(instant));

  test.each<[string, string | undefined, object, boolean]>([
    ['sixteen minutes ahead', '20260102131600', VIENNA, true],
    ['of a zone without an offset in MSH-7', '20260102140000', { timeZone: 'Europe/London' }, true],
    ['fifteen minutes ahead', '20260102131500', VIENNA, false],
    ['of a day to come', '20260103', VIENNA, false],
    ['without a known offset', '20260103100000', {}, false],
    ['that cannot be read', '2026-01-03', VIENNA, false],
    ['that is absent', undefined, VIENNA, false],
  ])('%s is reported as ahead or not', (_, text, zone, expected) =>
    expect(isAhead(text, zone, idAt(Date.parse(RECEIVED)))).toBe(expected),
  );

  test('in the hour that a clock shows twice is not ahead', () => {
    expect(isAhead('20261025023000', VIENNA, idAt(Date.parse('2026-10-25T00:31:00Z')))).toBe(false);
  });

  test.each([
    ['without a known offset', '20260102100000', {}],
    ['to the hour', '2026010210', VIENNA],
    ['to the day', '20260102', VIENNA],
    ['that is not a time', 'yesterday', VIENNA],
    ['of a clock that is an hour ahead', '20260102140000', VIENNA],
    ['of a clock that is a second too far ahead', '20260102131501', VIENNA],
    ['that was not sent', undefined, VIENNA],
  ])('does not count %s', (_, text, zone) => expect(read(text, zone)).toBeUndefined());

  test.each([
    ['02:50 of the first pass, on arrival', '20261025025000', '2026-10-25T00:50:01Z', '2026-10-25T00:50:00.000Z'],
    ['02:10 of the second pass, on arrival', '20261025021000', '2026-10-25T01:10:01Z', '2026-10-25T01:10:00.000Z'],
    ['02:30 of either, a day later', '20261025023000', '2026-10-26T12:00:00Z', '2026-10-25T01:30:00.000Z'],
  ])('in the hour that a clock shows twice: %s', (_, text, received, instant) => {
    expect(read(text, VIENNA, received)).toBe(instant);
  });
});

describe('the precedence', () => {
  const id = idAt(Date.parse(RECEIVED));
  const clock = clockOf(id, '20260102125000', VIENNA);

  test('a message id gives the time of receipt', () => {
    expect(timeOfId('019b7d3e-7000-7000-8000-000000000000')).toBe(Number.parseInt('019b7d3e7000', 16));
  });

  test('has the first time that counts, else MSH-7, else the receipt', () => {
    const timeOf = (order: string): string => new Date(Number(order.split('|')[1])).toISOString();
    expect(timeOf(clock.precedenceOf(timed('202601021100', '202601021200')))).toBe('2026-01-02T10:00:00.000Z');
    expect(timeOf(clock.precedenceOf(timed('20260102', '202601021200')))).toBe('2026-01-02T11:00:00.000Z');
    expect(timeOf(clock.precedenceOf(timed(undefined)))).toBe('2026-01-02T11:50:00.000Z');
    expect(timeOf(clockOf(id, '2027', VIENNA).precedenceOf(timed(undefined)))).toBe('2026-01-02T12:00:00.000Z');
  });

  const status = (result: string, time: string): string =>
    clock.precedenceOf({ times: [time], standing: standingOf({ result }) });

  test.each([
    ['final before preliminary, at any time', status('F', '202601010000'), status('P', '202601021200')],
    ['the later of two final values', status('F', '202601021200'), status('C', '202601021100')],
    ['a new value after W, by its time', status('F', '202601021200'), status('W', '202601021159')],
    ['at the same time, a correction before a final value', status('C', '202601021200'), status('F', '202601021200')],
    ['at the same time, a withdrawal before a correction', status('W', '202601021200'), status('C', '202601021200')],
    ['at the same time, preliminary before registered', status('P', '202601021200'), status('I', '202601021200')],
    [
      'an ADT before the patient data of a result',
      clock.precedenceOf(timed('2019010100')),
      clock.lowPrecedenceOf(timed()),
    ],
    [
      'a FHIR client at the same time',
      precedenceOfWrite(Date.parse(RECEIVED)),
      clock.precedenceOf(timed('202601021300')),
    ],
    [
      'every statement before a default',
      clock.lowPrecedenceOf(timed('197001010000')),
      asDefault(clock.precedenceOf(timed())),
    ],
    ['a default before no statement', asDefault(clock.precedenceOf(timed())), ''],
  ])('%s', (_, later, earlier) => expect(later > earlier).toBe(true));

  test('compares MSH-7 for equal times, then the arrival', () => {
    const parts = { tier: 1, timeMs: 5, rank: 50, sentMs: 5, messageId: 'b' } as const;
    expect(precedenceOf({ ...parts, sentMs: 6, messageId: 'a' }) > precedenceOf(parts)).toBe(true);
    expect(precedenceOf({ ...parts, messageId: 'c' }) > precedenceOf(parts)).toBe(true);
    // Before 1970, and numbers of other lengths.
    expect(precedenceOf({ ...parts, timeMs: -5 }) < precedenceOf(parts)).toBe(true);
    expect(precedenceOf({ ...parts, timeMs: 10 }) > precedenceOf(parts)).toBe(true);
  });

  test('a value in a resource is as old as its id; for any other id its age is unknown', () => {
    expect(precedenceOfCreation(id)).toBe(precedenceOfWrite(Date.parse(RECEIVED)));
    expect(precedenceOfCreation('00000000-0000-4000-8000-000000000000')).toBe('');
  });
});

test.each([
  [{ result: 'F', report: 'P' }, true],
  [{ result: 'p', report: 'F' }, false],
  [{ report: 'F' }, true],
  [{ report: 'P', order: 'CM' }, false],
  [{ order: 'CM' }, true],
  [{ result: 'Q', report: 'f' }, true],
  [{}, false],
])('the status is of OBX-11, else OBR-25, else ORC-5: %j', (sent, isFinal) =>
  expect(standingOf(sent)).toMatchObject({ isFinal }),
);

test.each([
  [{ result: 'C' }, false],
  [{ result: 'W' }, true],
  [{ result: 'd' }, true],
  [{ result: 'X' }, true],
  // The report is cancelled; of the result nothing is stated.
  [{ report: 'X' }, false],
  [{ order: 'CA' }, false],
])('%j is a correction or a withdrawal', (sent, isWithdrawal) => {
  expect(standingOf(sent)).toMatchObject({ isFinal: true, isCorrection: true, isWithdrawal });
});

test('OBR-25 X withdraws a report, ORC-5 alone does not', () => {
  expect(standingOfReport('X', undefined)).toMatchObject({ isWithdrawal: true });
  expect(standingOfReport(undefined, 'CA')).toMatchObject({ isWithdrawal: false });
});

test.each([
  ['202601010800', '202601010800', []],
  ['202606010300', '202606010300+0000', ['W 207 MSH^1^7 clock-ahead', 'W 207 EVN^1^2 clock-ahead']],
  ['202606010010+0000', '202606010010+0000', []],
  ['202601010800', '', []],
])('the sender learns which of MSH-7 %s and EVN-2 %s is ahead of 2026-06-01 00:00 UTC', (sent, recorded, findings) => {
  const header = `MSH|^~\\&|A|B|C|D|${sent}||ADT^A04|1|P|2.5.1`;
  const message = `${header}\nEVN||${recorded}\nPID|1||P1^^^HOSP^MR||Doe^Jane`;
  expect(createWorld().send(message)).toEqual(findings);
});
