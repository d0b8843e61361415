import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { Fault } from '../../../shared/fault.ts';
import { JsonNumber, parseJson, printJson } from '../../../shared/json.ts';
import { inputs } from '../../stack/tools/size.ts';

describe('JSON without loss', () => {
  test.each(['1.50', '1e2', '123456789012345678', '-0.0', '0.10', '1E+2', '-0'])(
    '%s is printed unchanged',
    (source) => {
      expect(printJson(parseJson(`{"v":[${source}]}`))).toBe(`{"v":[${source}]}`);
    },
  );

  test('a canonical number is a plain number', () => {
    expect(parseJson('[1,1.5,-3,0]')).toEqual([1, 1.5, -3, 0]);
    expect(parseJson('1.0')).toEqual(new JsonNumber('1.0'));
  });

  test('agrees with JSON.parse on every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(printJson(parseJson(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('reads the escape of a character in either case', () => {
    expect(parseJson('"\\u00e4\\u00E4"')).toBe('ää');
  });

  test.each(['"\\u"', '"\\u12"', '"\\u12g4"', '"\\u 123"', '"\\u+123"', '"\\u0x1f"', '"\\u123'])(
    'refuses %s, whose escape is not four hexadecimal digits',
    (text) => {
      expect(() => parseJson(text)).toThrow(/a bad \\u escape at line 1, column 2/);
    },
  );

  test('rejects exactly the texts that JSON.parse rejects, with a position', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      'a',
      '\\',
      ',',
      ':',
      '1',
      '-',
      '.',
      'e',
      'true',
      'null',
      ' ',
      '\n',
    );
    const accepts = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        if (accepts(text)) return void parseJson(text);
        expect(() => parseJson(text)).toThrow(/at line \d+, column \d+/);
      }),
      { numRuns: inputs(2000) },
    );
  });

  test.each([
    ['a member twice', '{"a":1,"a":2}', 'given twice at line 1, column 11'],
    ['nesting', '['.repeat(65) + ']'.repeat(65), 'beyond 64 levels'],
    ['a byte order mark', '\ufeff{}', 'unexpected character at line 1, column 1'],
    ['text after the end', '{} {}', 'after the end of the document at line 1, column 4'],
    ['the second line', '{\n "a": tru }', 'line 2, column 7'],
  ])('rejects %s', (_, text, message) => {
    expect(() => parseJson(text)).toThrow(Fault);
    expect(() => parseJson(text)).toThrow(message);
  });

  test('reads __proto__ as an ordinary member', () => {
    const value = parseJson('{"__proto__":{"a":1}}');
    expect(Object.keys(value ?? {})).toEqual(['__proto__']);
    expect(printJson(value)).toBe('{"__proto__":{"a":1}}');
  });
});
