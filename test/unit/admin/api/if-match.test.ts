import { expect, test } from 'vitest';

import { readIfMatch } from '../../../../edge/admin/api/if-match.ts';

test.each([
  ['"3"', [3]],
  ['W/"3"', [3]],
  ['"1", "2"', [1, 2]],
  ['*', []],
])('If-Match %s is %j', (header, versions) => {
  expect(readIfMatch(header)).toEqual(versions);
});

test.each(['', '3', '"a"', '"1" "2"', '"-1"', 'W/3'])('If-Match %s is malformed', (header) => {
  expect(() => readIfMatch(header)).toThrow(/not a list of ETags/);
});
