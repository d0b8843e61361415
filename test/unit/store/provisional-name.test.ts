/** Names that hospitals give until they know a person's own, and people who are called nearly so. */
import { expect, test } from 'vitest';

import { isProvisionalGiven, mayBeProvisional } from '../../../edge/store/provisional-name.ts';

const name = (family: string | undefined, given?: string, more: { otherGiven?: string; prefix?: string } = {}) => ({
  family,
  given,
  text: undefined,
  ...more,
});

const PROVISIONAL = `BABY, GIRL, BOY, BABYGIRL, BABYBOY, BABY GIRL, Baby-Boy, MALE, FEMALE, NEWBORN, NEW BORN, INFANT, INFANTGIRL,
  NEWBORNGIRL, NEWBORNMALE, TWIN A, TWIN 2, TWIN II, NB, NB FEMALE, NBFEMALE, BB, BG, BB1, GIRL2, GIRL 2, BOY 1, BABY A, BABY 1,
  1 BOY, B/O MARY, B/O, BABY OF MARY, S/O RAMAN, SON OF MARY, DAUGHTER OF MARY, BABY BOY 1, UNNAMED, UNKNOWN FEMALE, UNNAMED 2,
  NEUGEBORENES, Säugling, Mädchen, MAEDCHEN, JUNGE, KNABE, SOHN VON MARIA, TOCHTER, Zwilling 1, NOUVEAU-NE, Nouveau-né, Bébé,
  GARÇON, FILLE, FILS DE MARIE, RN, RN 1, RECIEN NACIDO, Recién nacida, HIJO DE MARIA, HIJA DE MARIA, RECEM NASCIDO,
  FILHO DE MARIA, NEONATO, FIGLIA DI MARIA, MEISJE, ZOON VAN ANNA, Pojke, Flicka, BY NY SITI, BEBEK, Новорождённый, 新生児`;

test.each(PROVISIONAL.split(/,\s+/))('%s is a provisional given name', (given) => {
  expect(mayBeProvisional(name('Smith', given))).toBe(true);
  expect(isProvisionalGiven(given) || given.includes('新')).toBe(true);
});

test.each([
  'MARYGIRL',
  'MARYBOY',
  'MARYGIRL2',
  'MARY GIRL',
  "MARY'S BABY",
  'BABYMARY',
  'BABY MARY',
  'GIRL MARY',
  '花子ベビー',
])('%s may be one, and may be a name', (given) => {
  expect(mayBeProvisional(name('Smith', given))).toBe(true);
  expect(isProvisionalGiven(given)).toBe(false);
});

test.each([
  ['BABY GIRL', 'SMITH'],
  ['BABYGIRL', 'SMITH'],
  ['BABY', 'SMITH'],
  ['BOY 2', 'BABY'],
  ['B/O SMITH', 'MARY'],
  ['SMITH BABY GIRL', 'MARY'],
])('%s is a provisional family name', (family, given) => {
  expect(mayBeProvisional(name(family, given))).toBe(true);
});

test('the term is after the given name, or before it as a title', () => {
  expect(mayBeProvisional(name('Smith', 'Mary', { otherGiven: 'BABYGIRL' }))).toBe(true);
  expect(mayBeProvisional(name('Smith', 'Mary', { prefix: 'B/O' }))).toBe(true);
  expect(mayBeProvisional(name('Smith', 'Mary', { prefix: 'MRS' }))).toBe(false);
  expect(mayBeProvisional({ family: undefined, given: undefined, text: 'Baby of Mary Smith' })).toBe(true);
  expect(mayBeProvisional({ family: 'Smith', given: 'Mary', text: 'Mary Baby Smith' })).toBe(false);
});

test.each(
  `BOYD, MALEK, NBEKI, GIRLING, BOYCE, TWINKLE, TWINEY, INFANTE, MALENA, MALIK, BABETTE, BABAK, BEBETO, NINA, NINO, BGONYA, NEO,
  HARTWIN, RNA, KINDRA, SOHAIL, FILLEMON, BO, ANN, JUNGEUN, MUTHU S/O RAMAN, SON, ANAK, Мария, 花子, O, A`.split(
    /,\s+/,
  ),
)('%s is a given name', (given) => {
  expect(mayBeProvisional(name('Smith', given))).toBe(false);
  expect(isProvisionalGiven(given)).toBe(false);
});

test.each('BOY, MALE, JUNGE, KIND, SOHN, TWIN, BEBE, BABYAK, LOWBOY, INFANTE, GIRLING, S/O RAMAN, BOYD'.split(', '))(
  '%s is a family name',
  (family) => {
    expect(mayBeProvisional(name(family, 'ANN'))).toBe(false);
  },
);

test('a long name costs no more than its length', () => {
  expect(mayBeProvisional(name('Smith', `${'babygirl'.repeat(20_000)}x`))).toBe(true);
  expect(mayBeProvisional(name('Smith', `${'b'.repeat(200)}x`))).toBe(false);
  // Only the beginning of a longer name is compared.
  expect(mayBeProvisional(name('Smith', `${'b'.repeat(100_000)}x`))).toBe(true);
});
