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

/** Case, accents, width and runs of white space folded away. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(UNDECOMPOSED, (letter) => LETTERS[letter] ?? letter)
    .replace(/\s+/g, ' ')
    .trim();
}

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
