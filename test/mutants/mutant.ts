/** A seeded defect: one text of one file replaced by another, and the tests that must notice. */
export interface Mutant {
  /** What goes wrong, for who reads that it survived. */
  readonly name: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Test files, of which at least one case must fail. */
  readonly tests: readonly string[];
  /** Names of the cases that are run of them, as a regular expression; default all. */
  readonly only?: string;
}

/** The file with the defect in it, or undefined where `find` does not occur exactly once. */
export function mutate(text: string, { find, replace }: Pick<Mutant, 'find' | 'replace'>): string | undefined {
  const [before, after, ...more] = text.split(find);
  return before === undefined || after === undefined || more.length > 0 ? undefined : before + replace + after;
}
