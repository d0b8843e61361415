/** Times of the console: shown in the site's time zone with its name, and read from a form. */
import { describe, expect, test } from 'vitest';

import { clockOf, fieldValue, readInstant, wallTime } from '../../../../edge/admin/web/wall-clock.ts';

describe('an instant in the time zone of a site', () => {
  test.each([
    ['2026-01-01T11:59:59Z', 'UTC', '2026-01-01 11:59:59 UTC'],
    ['2026-01-01T11:59:59.987654Z', 'Europe/Berlin', '2026-01-01 12:59:59 CET'],
    ['2026-07-01T22:30:05Z', 'Europe/Berlin', '2026-07-02 00:30:05 CEST'],
    ['2026-07-01T12:00:00Z', 'Europe/London', '2026-07-01 13:00:00 BST'],
    ['2026-01-01T02:00:00Z', 'America/New_York', '2025-12-31 21:00:00 EST'],
    ['2026-01-01T00:00:00Z', 'Asia/Kolkata', '2026-01-01 05:30:00 IST'],
    ['2026-01-01T00:00:00Z', 'Australia/Sydney', '2026-01-01 11:00:00 AEDT'],
    ['2026-01-01T00:00:00Z', 'Asia/Tokyo', '2026-01-01 09:00:00 UTC+09:00'],
    ['2026-01-01T00:00:00Z', 'America/St_Johns', '2025-12-31 20:30:00 UTC-03:30'],
    // The hour that occurs twice: the zone’s name distinguishes it.
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25 02:30:00 CEST'],
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25 02:30:00 CET'],
    // A runtime that has no such zone says which clock it shows instead.
    ['2026-01-01T00:00:00Z', 'Mars/Olympus', '2026-01-01 00:00:00 UTC'],
  ])('%s in %s', (at, timeZone, shown) => {
    expect(Object.values(wallTime(at, timeZone)).join(' ')).toBe(shown);
  });
});

describe('an instant in a form', () => {
  test.each([
    ['2026-07-02T00:30', 'Europe/Berlin', '2026-07-01T22:30:00.000Z'],
    ['2026-07-02T00:30:05', 'America/New_York', '2026-07-02T04:30:05.000Z'],
    ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    // A link says when it is by itself.
    ['2026-07-01T22:30:00Z', 'Europe/Berlin', '2026-07-01T22:30:00.000Z'],
    ['2026-07-01T22:30:00.5+02:00', 'Asia/Tokyo', '2026-07-01T20:30:00.500Z'],
    // The schema of the filter rejects these.
    ['2026-02-30T25:00', 'UTC', '2026-02-30T25:00'],
    ['2026-13-01T00:00Z', 'UTC', '2026-13-01T00:00Z'],
    ['yesterday', 'UTC', 'yesterday'],
    ['', 'UTC', ''],
    [undefined, 'UTC', ''],
  ])('by %s in %s', (given, timeZone, meant) => {
    expect(readInstant(given, timeZone)).toBe(meant);
  });

  test('is local time in its field', () => {
    expect(fieldValue('2026-07-01T22:30:00.000Z', 'Europe/Berlin')).toBe('2026-07-02T00:30');
    expect(fieldValue('2026-07-01T22:30:05Z', 'Europe/Berlin')).toBe('2026-07-02T00:30:05');
    expect(fieldValue('2026-07-02T00:30', 'Europe/Berlin')).toBe('2026-07-02T00:30');
    expect(fieldValue('2026-13-01T00:00Z', 'UTC')).toBe('2026-13-01T00:00Z');
  });

  test('has a label with its zone', () => {
    expect(['UTC', 'Europe/Berlin', 'America/New_York'].map(clockOf)).toEqual(['UTC', 'Berlin time', 'New York time']);
  });
});
