/** The registers of a patient with the newest statements about another: merges and their undoing, and links. */
import type { Draft, Drafts } from '../mapping/drafts.ts';
import type { Precedence } from '../precedence/precedence.ts';
import { later } from '../precedence/registers.ts';

/** The register of a patient with the newest merge with another, or its undoing. */
const MERGED = 'merged ';
/** The register of a patient with the newest A24 or A37 about another. */
export const linkTo = ({ id }: Draft): string => `seealso ${id}`;

export const newestOf = (a: Draft, b: Draft, nameOf: (patient: Draft) => string): Precedence =>
  later(
    a.remembered.registers.get(nameOf(b))?.precedence ?? '',
    b.remembered.registers.get(nameOf(a))?.precedence ?? '',
  );

export const mergeName = ({ id }: { readonly id: string }): string => `${MERGED}${id}`;

/** The newest merge of the two, or its undoing; `''` for none. */
export const newestMerge = (a: Draft, b: Draft): Precedence => newestOf(a, b, mergeName);

/** Ids of patients that were merged with a patient at some time. */
export const mergedWith = ({ remembered }: Draft): string[] =>
  [...remembered.registers.keys()].filter((name) => name.startsWith(MERGED)).map((name) => name.slice(MERGED.length));

/** A renumbering shows that both have been one person's: statements about the merged patient count for the survivor too. */
export const isRenumbered = (a: Draft, b: Draft): boolean => a.remembered.registers.get(mergeName(b))?.held === true;

export function rememberMerge(
  a: Draft,
  b: Draft,
  precedence: Precedence,
  drafts: Drafts,
  isRenumbering = isRenumbered(a, b),
): void {
  const newest = later(precedence, newestMerge(a, b));
  drafts.remember(a, mergeName(b), newest, isRenumbering || null);
  drafts.remember(b, mergeName(a), newest, isRenumbering || null);
}
