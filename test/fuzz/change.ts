/** One random change of any text: a token, an address, a form, a message, JSON. */
import fc from 'fast-check';

/** Texts that programs often fail on, in one format or another. */
const ODD: readonly string[] = [
  '',
  ' ',
  '\0',
  '%00',
  '%',
  '%zz',
  '%2F..%2F',
  '\\u0000',
  '\\ud800',
  '\ud800',
  "'",
  '"',
  '\\',
  '/',
  '../',
  '?',
  '#',
  '$',
  ':',
  ';',
  ',',
  '&',
  '=',
  '|',
  '^',
  '~',
  '*',
  '.',
  '-',
  '+',
  '\r',
  '\n',
  '\t',
  '\u000b',
  '\u001c\r',
  'é',
  '𝛼',
  '\u202e',
  '\ufeff',
  '-1',
  '0',
  '1e400',
  '99999999999999999999',
  'null',
  '[]',
  '{}',
  '<b>',
  'true',
  '__proto__',
  '0001-01-01',
  '9999-12-31T23:59:60Z',
  '00000000-0000-7000-8000-000000000000',
  'x'.repeat(300),
  '9'.repeat(400),
  '['.repeat(100),
  'é'.repeat(500),
];

/** The change and its place, counted over all characters. */
const change = fc.record({
  kind: fc.constantFrom('insert', 'replace', 'cut', 'drop', 'double'),
  place: fc.nat(),
  length: fc.integer({ min: 1, max: 40 }),
  odd: fc.constantFrom(...ODD),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function changed(text: string, { kind, place, length, odd }: Change): string {
  const at = place % (text.length + 1);
  const [before, part, after] = [text.slice(0, at), text.slice(at, at + length), text.slice(at + length)];
  switch (kind) {
    case 'insert':
      return before + odd + part + after;
    case 'replace':
      return before + odd + after;
    case 'cut':
      return before;
    case 'drop':
      return before + after;
    case 'double':
      return before + part + part + after;
  }
}

/** Makes none, one or two changes of a text; none as often as any. */
export const textChange: fc.Arbitrary<(text: string) => string> = fc
  .oneof(fc.constant([]), fc.array(change, { minLength: 1, maxLength: 2 }))
  .map((changes) => (text: string) => changes.reduce(changed, text));

/** An odd value alone, where a value is asked for. */
export const oddValue = fc.constantFrom(...ODD);

/** For most requests nothing, for some another of these. */
export const seldom = <T>(usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
