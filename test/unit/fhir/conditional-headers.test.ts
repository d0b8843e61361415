import { describe, expect, test } from 'vitest';

import { ifMatchOf, isNotModified } from '../../../edge/fhir/conditional-headers.ts';

describe('If-Match', () => {
  test.each<[string, unknown]>([
    ['W/"3"', [3]],
    ['"3"', [3]],
    [' W/"12" ', [12]],
    ['*', 'any'],
    ['W/"0"', [-1]],
    ['W/"x"', [-1]],
    ['W/"99999999999"', [-1]],
    ['W/"1", "2"', [1, 2]],
    ['"1",W/"1" ,\t"3"', [1, 3]],
    [', "2",,', [2]],
    // A comma in a tag separates nothing.
    ['"1,2"', [-1]],
    ['"x,", "4"', [-1, 4]],
  ])('%s', (header, versions) => expect(ifMatchOf(new Headers({ 'if-match': header }))).toEqual(versions));

  test.each(['3', 'W/3', 'w/"3"', '"', 'x', '', ',', '"1" "2"', '"1", 2', '*, "1"', '"1", *', '"1", "2'])(
    'not %s',
    (header) => {
      expect(() => ifMatchOf(new Headers({ 'if-match': header }))).toThrow(/If-Match must be/);
    },
  );

  test('none', () => expect(ifMatchOf(new Headers())).toBeNull());
});

describe('If-None-Match and If-Modified-Since', () => {
  const at = '2026-01-01T12:00:00.999Z';
  test.each<[Record<string, string>, boolean]>([
    [{}, false],
    [{ 'if-none-match': 'W/"2"' }, true],
    [{ 'if-none-match': '"1", "2"' }, true],
    [{ 'if-none-match': '*' }, true],
    [{ 'if-none-match': '"1,2"' }, false],
    [{ 'if-none-match': '2' }, false],
    [{ 'if-none-match': '' }, false],
    [{ 'if-none-match': 'W/"3"', 'if-modified-since': 'Thu, 01 Jan 2026 12:00:00 GMT' }, false],
    [{ 'if-modified-since': 'Thu, 01 Jan 2026 12:00:00 GMT' }, true],
    [{ 'if-modified-since': 'Thu, 01 Jan 2026 11:59:59 GMT' }, false],
    [{ 'if-modified-since': 'soon' }, false],
  ])('%o', (headers, expected) => expect(isNotModified(new Headers(headers), 2, at)).toBe(expected));
});
