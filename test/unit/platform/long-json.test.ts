/** JSON with long texts is printed and read as JSON is, however it is divided. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Param } from '../../../edge/deps.ts';
import { createJsonReader, createLongParams } from '../../../edge/platform/long-json.ts';
import { parameter } from '../../../edge/platform/parameter.ts';

const PIECES = fc.constantFrom(
  '"',
  '\\',
  '\n',
  '\u0001',
  'a',
  'é',
  '\u2028',
  '😀',
  '\ud83d',
  '{"a":[1,2]}',
  'x'.repeat(700),
);
/** PostgreSQL has no NUL. */
const TEXT = fc.array(PIECES).map((pieces) => pieces.join(''));
const VALUE = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    TEXT,
    fc.constantFrom(null, true, false, 0, -12.5, 1e30),
    fc.array(tie('value')),
    fc.dictionary(TEXT, tie('value')),
  ),
})).value;

/** @param lengths the lengths of the pieces, repeated */
function read(json: string, lengths: readonly number[]): unknown {
  const reader = createJsonReader();
  for (let at = 0, n = 0; at < json.length; n += 1) {
    const length = lengths[n % lengths.length] ?? 1;
    reader.write(json.slice(at, at + length));
    at += length;
  }
  return reader.end();
}

const LENGTHS = fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1 });

test('reads JSON in pieces of any length', () => {
  fc.assert(
    fc.property(VALUE, LENGTHS, fc.constantFrom(undefined, 2), (value, lengths, space) => {
      const json = JSON.stringify(value, null, space);
      expect(read(json, lengths)).toEqual(JSON.parse(json));
    }),
  );
});

test('reads escape sequences that the pieces divide', () => {
  const text = String.raw`"\u00e9\ud83d\ude00\\\"\\n${'b'.repeat(2_000)}\\"`;
  for (let length = 1; length < 10; length += 1)
    expect(read(`[${text},12,{"${'k'.repeat(5)}":null}]`, [length])).toEqual(JSON.parse(`[${text},12,{"kkkkk":null}]`));
});

test.each([
  ['in a string', `{"rows":[["${'a'.repeat(3_000)}`],
  ['in an escape sequence', String.raw`["a\u00`],
  ['between values', '{"rows":[["a"],'],
  ['before it begins', ''],
])('rejects JSON that ends %s', (_, json) => {
  expect(() => read(json, [7])).toThrow(SyntaxError);
});

test('rejects what is not JSON', () => {
  expect(() => read(`["a\n${'b'.repeat(3_000)}"]`, [10_000])).toThrow(SyntaxError);
  expect(() => read(String.raw`["\x"]`, [10_000])).toThrow(SyntaxError);
  expect(() => read('<html>"quoted"</html>', [5])).toThrow(SyntaxError);
});

test('sends long parameters as it sends short ones', () => {
  const params: Param[] = [
    'short',
    '"\\\n\u0001é😀\ud83d'.repeat(20_000),
    `{"${'a'.repeat(300_000)}","😀"}`,
    null,
    true,
    12,
    new Uint8Array(70_000).fill(0xab),
    ['a"b', 'c'.repeat(2_000), `"\\${'d'.repeat(2_000)}`, 'e'.repeat(300_000), ''],
    [],
  ];
  const { print, fill } = createLongParams();
  const json = JSON.stringify({ query: 'select é', params: params.map(print) });
  // The item that an array literal escapes stays.
  expect(json.length).toBeLessThan(3_000);
  const bytes = fill(json);
  const text = typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes);
  expect(text).toBe(JSON.stringify({ query: 'select é', params: params.map(parameter) }));
});

test('leaves JSON without long parameters as it is', () => {
  const { print, fill } = createLongParams();
  const json = JSON.stringify([print('a'.repeat(64 * 1024)), print(['a'.repeat(1024)])]);
  expect(json).toBe(JSON.stringify(['a'.repeat(64 * 1024), parameter(['a'.repeat(1024)])]));
  expect(fill(json)).toBe(json);
});
