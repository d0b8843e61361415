/** Instants of the search index as text and as numbers. */
import { expect, test } from 'vitest';

import { isoOf, msOf } from '../../../../edge/store/search/date-range.ts';

test.each([
  '2026-03-10T03:30:00.000Z',
  '1970-01-01',
  '0001-01-01',
  '0000-12-31',
  '0000-02-29',
  '-000001-12-31',
  '-000003-03-01T12:00:00Z',
  '+010000-01-01',
])('the text of %s is read as the same instant', (text) => {
  const ms = Date.parse(text);
  expect(msOf(isoOf(ms))).toBe(ms);
});

test('infinite bounds are infinite', () => {
  expect([msOf('-infinity'), msOf('infinity')]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
});
