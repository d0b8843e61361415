import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RECOMMENDED, type Delimiters } from '../../../../shared/hl7/delimiters.ts';
import { escape, unescape, type Syntax } from '../../../../shared/hl7/escapes.ts';
import { inputs } from '../../../stack/tools/size.ts';

const utf8: Syntax = { delimiters: RECOMMENDED, charset: 'utf-8' };
const latin1: Syntax = { delimiters: RECOMMENDED, charset: 'iso-8859-1' };
const truncating: Syntax = { delimiters: { ...RECOMMENDED, truncation: '#' }, charset: 'utf-8' };

describe('unescape (HL7 v2.5.1 §2.7)', () => {
  it.each<[string, Syntax, string, string]>([
    ['the delimiters', utf8, '\\F\\\\S\\\\T\\\\R\\\\E\\', '|^&~\\'],
    ['the truncation character', truncating, 'a\\P\\b', 'a#b'],
    ['no truncation character in this message', utf8, 'a\\P\\b', 'a\\P\\b'],
    ['line breaks', utf8, 'a\\.br\\b\\.sp\\c\\.sp2\\d\\.ce\\e', 'a\nb\nc\n\nd\ne'],
    ['commands in capitals', utf8, 'a\\.BR\\b\\.SK2\\c', 'a\nb  c'],
    ['spaces', utf8, 'a\\.sk3\\b\\.ti+2\\c\\.ti-2\\d', 'a   b  cd'],
    ['a space before a number', utf8, 'a\\.sp 2\\b\\.in +4\\c', 'a\n\nbc'],
    ['an escape for printers', utf8, '\\.fi\\a\\.nf\\b\\.in+4\\c', 'abc'],
    ['highlighting', utf8, '\\H\\high\\N\\ low', 'high low'],
    ['hexadecimal', utf8, '\\X41\\\\X0D0A\\\\X4a4B\\', 'A\r\nJK'],
    ['hexadecimal in UTF-8', utf8, '\\XC3A4\\', 'ä'],
    ['hexadecimal in ISO 8859-1', latin1, '\\XE4\\', 'ä'],
    ['hexadecimal that is not of the set', utf8, '\\XE4\\', '\\XE4\\'],
    ['NUL cannot be text', utf8, 'a\\X00\\b', 'a\\X00\\b'],
    ['an odd number of digits', utf8, '\\X414\\', '\\X414\\'],
    ['a local escape', utf8, '\\Z12\\', '\\Z12\\'],
    ['an unknown one', utf8, '\\Q\\', '\\Q\\'],
    ['an unknown command', utf8, '\\.zz\\', '\\.zz\\'],
    ['a number that would make a gigabyte', utf8, '\\.sk999999999\\', '\\.sk999999999\\'],
    ['a mark that nothing closes', utf8, 'C:\\temp', 'C:\\temp'],
    ['a path that looks like a sequence', utf8, 'C:\\a\\F\\b', 'C:\\a|b'],
    ['nothing between the marks', utf8, 'a\\\\b', 'a\\\\b'],
    ['a name of Object.prototype', utf8, '\\constructor\\', '\\constructor\\'],
    ['a switch to ISO 8859-2 and back', latin1, 'x\\C2D42\\\u00b1\\C2842\\y', 'xąy'],
    ['a switch to JIS X 0208', latin1, '\\M2442\\$"\\C2842\\', 'あ'],
    ['a switch to a set we do not know', latin1, '\\C2D7E\\a', '\\C2D7E\\a'],
  ])('%s', (_, syntax, raw, text) => {
    expect(unescape(raw, syntax)).toBe(text);
  });
});

const delimiters = fc
  .shuffledSubarray(Array.from('|^~\\&#*:!%$@;+'), { minLength: 6, maxLength: 6 })
  .map(
    ([
      field = '',
      component = '',
      repetition = '',
      escapeMark = '',
      subcomponent = '',
      truncation = '',
    ]): Delimiters => ({
      field,
      component,
      repetition,
      escape: escapeMark,
      subcomponent,
      truncation,
    }),
  );
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom(...Array.from('|^~\\&#*:!%XFSTREP.br"\r\n0Dé')) }),
);

describe('escape', () => {
  it('is undone by unescape, for any delimiters', () => {
    fc.assert(
      fc.property(delimiters, text, (delimiters, text) => {
        const syntax: Syntax = { delimiters, charset: 'utf-8' };
        const raw = escape(text, syntax);
        expect(unescape(raw, syntax)).toBe(text);
        expect(raw).not.toMatch(/[\r\n]/);
        for (const separator of [delimiters.field, delimiters.component, delimiters.repetition]) {
          expect(raw).not.toContain(separator);
        }
      }),
      { numRuns: inputs(500) },
    );
  });

  it('never writes the null value for the text of two quotes', () => {
    expect(escape('""', utf8)).toBe('\\X2222\\');
  });

  it('leaves any input unescapable without a throw', () => {
    fc.assert(
      fc.property(text, (raw) => typeof unescape(raw, utf8) === 'string'),
      { numRuns: inputs(500) },
    );
  });
});
