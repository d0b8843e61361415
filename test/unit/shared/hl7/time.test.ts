import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fhirDate,
  fhirDateTime,
  fhirInstant,
  fhirTime,
  readTimestamp,
  zoneOf,
  type ZoneFallback,
} from '../../../../shared/hl7/time.ts';
import { isTimeZone, offsetInZone, offsetsInZone } from '../../../../shared/hl7/zone.ts';
import { inputs } from '../../../stack/tools/size.ts';

const vienna: ZoneFallback = { timeZone: 'Europe/Vienna' };

describe('fhirDateTime keeps the precision that was sent', () => {
  it.each<[string, ZoneFallback, string]>([
    ['2026', {}, '2026'],
    ['202602', {}, '2026-02'],
    ['20260203', vienna, '2026-02-03'],
    ['2026020304', vienna, '2026-02-03T04:00:00+01:00'],
    ['202602030405', vienna, '2026-02-03T04:05:00+01:00'],
    ['20260203040506', vienna, '2026-02-03T04:05:06+01:00'],
    ['20260203040506.7000', vienna, '2026-02-03T04:05:06.7000+01:00'],
    ['20260203040506.1234567-0500', vienna, '2026-02-03T04:05:06.1234567-05:00'],
    ['20260703040506', vienna, '2026-07-03T04:05:06+02:00'],
    ['20260203040506-0330', vienna, '2026-02-03T04:05:06-03:30'],
    ['20260203040506+0000', vienna, '2026-02-03T04:05:06+00:00'],
    ['20260203040506-0000', vienna, '2026-02-03T04:05:06+00:00'],
    ['20260203040506', { offset: '-05:00' }, '2026-02-03T04:05:06-05:00'],
    ['20260203040506', { offset: '+02:00', timeZone: 'Europe/Vienna' }, '2026-02-03T04:05:06+01:00'],
    ['20261025023000', { offset: '+02:00', timeZone: 'Europe/Vienna' }, '2026-10-25T02:30:00+02:00'],
    ['20261025023000', { offset: '+01:00', timeZone: 'Europe/Vienna' }, '2026-10-25T02:30:00+01:00'],
    // The offset is unknown: only the date is kept.
    ['20260203040506', {}, '2026-02-03'],
    ['20240229', {}, '2024-02-29'],
    ['20000229', {}, '2000-02-29'],
    ['20260203+0100', {}, '2026-02-03'],
    [' 2026 ', {}, '2026'],
  ])('%s with %j is %s', (text, fallback, expected) => {
    expect(fhirDateTime(readTimestamp(text, 'PID^1^7'), fallback)).toBe(expected);
  });

  it('as a date drops the time, as an instant needs the minute and an offset', () => {
    expect(fhirDate(readTimestamp('20260203040506', ''))).toBe('2026-02-03');
    expect(fhirInstant(readTimestamp('202602030405+0100', ''))).toBe('2026-02-03T04:05:00+01:00');
    expect(fhirInstant(readTimestamp('202602030405', ''), { timeZone: 'Europe/Vienna' })).toBe(
      '2026-02-03T04:05:00+01:00',
    );
    expect(fhirInstant(readTimestamp('2026020304+0100', ''))).toBeUndefined();
    expect(fhirInstant(readTimestamp('20260203+0100', ''))).toBeUndefined();
    expect(fhirInstant(readTimestamp('202602030405', ''))).toBeUndefined();
    expect(fhirInstant(readTimestamp('20260203040506', ''))).toBeUndefined();
    expect(fhirInstant(readTimestamp('20260203040506+0100', ''))).toBe('2026-02-03T04:05:06+01:00');
  });
});

describe('an invalid time is rejected with its location', () => {
  it.each([
    '20260231',
    '20250229',
    '19000229',
    '20261301',
    '20260100',
    '20260001',
    '00000101',
    '202',
    '20260',
    '2026020324',
    '202602030460',
    '20260203040560',
    '20260203040506.',
    '20260203040506.1234567890',
    '20260203040506+1401',
    '20260203040506+0160',
    '2026-02-03',
    '2026-02-03T04:05:06Z',
    'yesterday',
    '',
    '٢٠٢٦',
  ])('%j', (text) => {
    expect(() => readTimestamp(text, 'PID^1^7')).toThrow(
      expect.objectContaining({ issues: [expect.objectContaining({ code: '102', at: 'PID^1^7' })] }),
    );
  });

  it('never quotes the sent value', () => {
    expect(() => readTimestamp('Jane Doe', 'PID^1^7')).toThrow(expect.not.stringContaining('Jane'));
  });
});

describe('fhirTime', () => {
  it.each([
    ['13', '13:00:00'],
    ['1345', '13:45:00'],
    ['134500.5', '13:45:00.5'],
    ['134500+0100', '13:45:00'],
  ])('%s is %s', (text, time) => {
    expect(fhirTime(text, 'OBX^1^5')).toBe(time);
  });

  it.each(['24', '1360', '13:45', '', '134500+9900'])('rejects %j', (text) => {
    expect(() => fhirTime(text, 'OBX^1^5')).toThrow(expect.objectContaining({ code: 'bad-time' }));
  });
});

it.each([
  ['20260702120000+0200', { offset: '+02:00', timeZone: 'Europe/Vienna' }],
  ['20261025023000+0100', { offset: '+01:00', timeZone: 'Europe/Vienna' }],
  // The sender is in another zone than its site.
  ['20260702120000+0100', { offset: '+01:00' }],
  ['20260702120000', { timeZone: 'Europe/Vienna' }],
])('the zone of a message sent at %s is %j', (sent, zone) => {
  expect(zoneOf(readTimestamp(sent, ''), 'Europe/Vienna')).toEqual(zone);
});

describe('offsetInZone', () => {
  const at = (year: number, month: number, day: number, hour: number, minute = 0) => ({
    year,
    month,
    day,
    hour,
    minute,
    second: 0,
  });

  it.each([
    ['before the clock is set forward', at(2026, 3, 29, 1, 59), '+01:00'],
    ['a time that the clock skips', at(2026, 3, 29, 2, 30), '+01:00'],
    ['after it', at(2026, 3, 29, 3), '+02:00'],
    ['a time that is shown twice: the first', at(2026, 10, 25, 2, 30), '+02:00'],
    ['after the clock is set back', at(2026, 10, 25, 3), '+01:00'],
    ['a year before 100', at(30, 6, 1, 12), '+01:05'],
  ])('%s', (_, time, offset) => {
    expect(offsetInZone(time, 'Europe/Vienna')).toBe(offset);
  });

  it.each([
    ['UTC', '+00:00'],
    ['Asia/Kolkata', '+05:30'],
    ['America/St_Johns', '-03:30'],
    ['Pacific/Chatham', '+13:45'],
  ])('%s in January is %s', (zone, offset) => {
    expect(offsetInZone(at(2026, 1, 15, 12), zone)).toBe(offset);
  });

  it('has both offsets of an ambiguous local time, and one offset of every other time', () => {
    expect(offsetsInZone(at(2026, 10, 25, 2, 30), 'Europe/Vienna')).toEqual(['+02:00', '+01:00']);
    expect(offsetsInZone(at(2026, 3, 29, 2, 30), 'Europe/Vienna')).toEqual(['+01:00']);
    expect(offsetsInZone(at(2026, 7, 1, 12), 'Europe/Vienna')).toEqual(['+02:00']);
  });

  it('names of zones are checked before', () => {
    expect([isTimeZone('Europe/Vienna'), isTimeZone('Europe/Nowhere'), isTimeZone('')]).toEqual([true, false, false]);
  });
});

describe('any text', () => {
  it('with a valid time becomes a FHIR dateTime on the same day', () => {
    const dateTime = /^\d{4}(-\d{2}(-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]((0\d|1[0-3]):[0-5]\d|14:00)))?)?)?$/;
    const days = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(
        days,
        fc.integer({ min: 4, max: 14 }),
        fc.constantFrom('', '+0100', '-1345'),
        (day, length, offset) => {
          const cut = length - (length % 2);
          const text = day.toISOString().replaceAll(/[-:T]/g, '').slice(0, cut);
          const written = fhirDateTime(readTimestamp(text + offset, 'PID^1^7'), vienna);
          expect(written).toMatch(dateTime);
          expect(day.toISOString().startsWith(written.slice(0, 10))).toBe(true);
        },
      ),
      { numRuns: inputs(200) },
    );
  });
});
