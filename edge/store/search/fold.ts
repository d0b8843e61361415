/**
 * Folds case and accents of names, so that `muller` finds `MÜLLER` (FHIR R4 search, string). It also spells folded names for the
 * trigram index, so that a search for a single Chinese character uses the index too.
 */

/** Letters that Unicode does not decompose into a base letter and a mark, and typographic apostrophes and hyphens. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŋ: 'ng',
  þ: 'th',
  ŧ: 't',
  ς: 'σ',
  '’': "'",
  '‘': "'",
  '‛': "'",
  ʼ: "'",
  ʹ: "'",
  '′': "'",
  '`': "'",
  '‐': '-',
  '‒': '-',
  '–': '-',
  '−': '-',
};
// oxlint-disable-next-line gateway/linear-expression -- one character of a fixed set
const UNDECOMPOSED = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');

/**
 * The characters of a name that are compared and indexed, in UTF-16 units. An XPN of HL7 v2.5.1 has at most 250. The limit
 * holds before and after folding, because NFKD turns U+FDFA into eighteen characters.
 */
export const MAX_FOLDED = 256;

/** Combining marks do not count. No character decomposes into more than three of them. */
const MAX_MARKED = 4 * MAX_FOLDED;

const MARKS = /\p{M}+/gu;

/** The beginning of a text. It never ends with half a surrogate pair. */
const beginning = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

function foldAll(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(MARKS, '')
    .replace(UNDECOMPOSED, (letter) => LETTERS[letter] ?? letter)
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Folds case, accents, width and white space of the first 256 characters. Marks are removed before `normalize`, which sorts
 * each run of marks in quadratic time. The result is the same: every mark decomposes into marks only.
 */
export function fold(text: string): string {
  // NFKD makes a space of the acute accent.
  const bare = beginning(text, MAX_MARKED).replaceAll('´', "'").replace(MARKS, '').trimStart();
  const decomposed = beginning(bare, MAX_FOLDED).normalize('NFKD');
  return beginning(foldAll(beginning(decomposed, MAX_MARKED)), MAX_FOLDED).trimEnd();
}

/** True where `fold` keeps every character of a text. */
export const fitsFold = (text: string): boolean =>
  text.length <= MAX_FOLDED && foldAll(text.replace(MARKS, '')).length <= MAX_FOLDED;

/**
 * Folded text in ASCII: each UTF-16 unit beyond ASCII becomes `Z` and four of `A`–`P`. Upper case is free for that after
 * folding and `Z` only begins a unit, so one text contains another exactly when their spellings do. A trigram index
 * sees three letters in every character, independent of the database's locale.
 */
export function spellNames(folded: string): string {
  // oxlint-disable-next-line no-control-regex
  return folded.replace(/[^\u0000-\u007f]/g, (unit) => {
    const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
    return `Z${hex.replace(/./g, (digit) => String.fromCharCode(0x41 + Number.parseInt(digit, 16)))}`;
  });
}
