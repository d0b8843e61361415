/** The values of a search by name, as the index has names. */
import { fold, isFoldedWhole, MAX_FOLDED, spellNames } from '../fold.ts';
import type { Problem } from '../kind.ts';

/** @returns folded and spelt; or what no name could contain */
export function readFragments(texts: readonly string[]): readonly string[] | Problem {
  if (!texts.every(isFoldedWhole))
    return { problem: `may have ${MAX_FOLDED} characters in a value: only that much of a name is searched` };
  const fragments = texts.map((one) => spellNames(fold(one)));
  return fragments.includes('') ? { problem: 'must contain a letter or another visible character' } : fragments;
}

/** A trigram index finds three letters or digits in a row; for less, all names of a site are looked at. */
export const isIndexed = (fragment: string): boolean => /[a-z\d]{3}/i.test(fragment);
