/**
 * How names are compared: case and accents folded, so that `MÜLLER` is found by `muller` (FHIR R4 search, string). And
 * how folded names are spelt for the trigram index, so that a single Chinese character is an indexed search too.
 */

/** Letters that Unicode does not decompose into a base letter and a mark. */
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
};
const UNDECOMPOSED = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');

/**
 * Characters of a name that are compared and searched, before and after folding, in UTF-16 units. No name that tells people
 * apart is longer; an XPN of HL7 v2.5.1 has 250. NFKD makes eighteen characters of U+FDFA.
 */
export const MAX_FOLDED = 256;

/** With three combining marks for each, which do not count; no character decomposes into more. */
const MAX_MARKED = 4 * MAX_FOLDED;

const MARKS = /\p{M}+/gu;

/** The beginning of a text, without half a surrogate pair at its end. */
const beginning = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

function foldWhole(text: string): string {
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
 * Case, accents, width and runs of white space folded away. Marks go first: to put a run of them in order takes time by the
 * square of its length, and no mark decomposes into anything but marks.
 *
 * @returns of a longer text, its beginning
 */
export function fold(text: string): string {
  const bare = beginning(text, MAX_MARKED).replace(MARKS, '').trimStart();
  const decomposed = beginning(bare, MAX_FOLDED).normalize('NFKD');
  return beginning(foldWhole(beginning(decomposed, MAX_MARKED)), MAX_FOLDED).trimEnd();
}

/** Whether folding keeps all of a text. */
export const isFoldedWhole = (text: string): boolean =>
  text.length <= MAX_FOLDED && foldWhole(text.replace(MARKS, '')).length <= MAX_FOLDED;

/**
 * Folded text in ASCII: each UTF-16 unit beyond ASCII becomes `Z` and four of `A`–`P`. Upper case is free for that after
 * folding and `Z` only begins a unit, so one text contains another exactly when their spellings do. A trigram index
 * sees three letters in every character, and the same ones whatever the database's locale takes for a letter.
 */
export function spellNames(folded: string): string {
  // oxlint-disable-next-line no-control-regex
  return folded.replace(/[^\u0000-\u007f]/g, (unit) => {
    const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
    return `Z${hex.replace(/./g, (digit) => String.fromCharCode(0x41 + Number.parseInt(digit, 16)))}`;
  });
}
