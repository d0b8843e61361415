/** The values of a search by name, folded and spelt as the index spells names. */
import { fold, fitsFold, MAX_FOLDED, spellNames } from '../fold.ts';
import type { Problem } from '../kind.ts';

/** @returns a Problem for a value that is empty or longer than an indexed name */
export function readFragments(texts: readonly string[]): readonly string[] | Problem {
  if (!texts.every(fitsFold))
    return {
      problem: `may have ${MAX_FOLDED} characters in a value, because names are indexed up to that length: send the beginning`,
    };
  const fragments = texts.map((one) => spellNames(fold(one)));
  return fragments.includes('') ? { problem: 'must contain a letter or another visible character' } : fragments;
}

/** The trigram index needs three letters or digits in a row. Without them, a search reads all names of a site. */
export const isIndexed = (fragment: string): boolean => /[a-z\d]{3}/i.test(fragment);
