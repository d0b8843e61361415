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
  ])('%s', (text, folded) => expect(fold(text)).toBe(folded));

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

  test('is ASCII, and contains exactly what the text contains', () => {
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
