/** How names are folded for comparison, and spelt for the index. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { fold, spellNames } from '../../../../edge/store/search/fold.ts';
import { inputs } from '../../../stack/tools/size.ts';

describe('folding', () => {
  test.each<[string, string]>([
    ['Müller', 'muller'],
    ['STRAẞE straße', 'strasse strasse'],
    ['Łukasz Ørsted Æsir', 'lukasz orsted aesir'],
    ['  a \t\n b ', 'a b'],
    ['ΣΊΣΥΦΟΣ', 'σισυφοσ'],
    ['İstanbul ısı', 'istanbul isi'],
    ['ｆｕｌｌ', 'full'],
    ['王伟', '王伟'],
    ['Nguyễn', 'nguyen'],
    ['O’Brien', "o'brien"],
    ['O´Brien', "o'brien"],
    ['Oʼ`‘′Brien', "o''''brien"],
    ['Müller‐Lüdenscheidt–Weiß', 'muller-ludenscheidt-weiss'],
  ])('%s', (text, folded) => expect(fold(text)).toBe(folded));

  // Hebrew with points and accents, Arabic with vowels, decomposed Vietnamese, with marks in any order.
  test.each<[string, string]>([
    ['שָׁלוֹם', 'שלום'],
    ['בְּרֵאשִׁ֖ית', 'בראשית'],
    ['مُحَمَّدٌ', 'محمد'],
    ['Nguye\u0302\u0303n', 'nguyen'],
    ['Nguye\u0303\u0302n', 'nguyen'],
    ['ร\u0e49\u0e33', 'ร\u0e32'],
    ['ﷺ', 'صلى الله عليه وسلم'],
    ['김', '\u1100\u1175\u11b7'],
  ])('marks away: %s', (text, folded) => expect(fold(text)).toBe(folded));

  test('the order of removing marks has no effect', () => {
    const last = (text: string) => text.normalize('NFKD').toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '');
    const mark = fc.constantFrom(
      '\u0300',
      '\u0315',
      '\u0323',
      '\u0345',
      '\u05b8',
      '\u064b',
      '\u0e49',
      '\u3099',
      '\u{1d165}',
    );
    const letter = fc.constantFrom('a', 'I', 'İ', 'Σ', 'ế', 'ﷺ', 'ｶﾞ', 'ำ', 'ﬃ', '한', 'ש', '\u{1d15e}');
    fc.assert(
      fc.property(fc.string({ unit: fc.oneof(mark, letter), maxLength: 12 }), (text) => {
        expect(fold(text)).toBe(fold(last(text)));
      }),
      { numRuns: inputs(2_000) },
    );
  });

  test('again changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(fold(fold(text))).toBe(fold(text));
      }),
    );
  });
});

describe('spelling', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'p', 'z', ' ', '1', 'ж', '王', '伟', '😀', 'Ā'), maxLength: 8 });

  test('is ASCII, and contains a part exactly if the text contains it', () => {
    fc.assert(
      fc.property(word, word, (text, part) => {
        const [a, b] = [fold(text), fold(part)];
        // oxlint-disable-next-line no-control-regex
        expect(spellNames(a)).toMatch(/^[\u0000-\u007f]*$/);
        expect(spellNames(a).includes(spellNames(b))).toBe(a.includes(b));
      }),
      { numRuns: inputs(2_000) },
    );
  });
});
