/** A part of any name of a patient, case and accents folded (FHIR R4 search, 3.1.1.4.9 string; edge/docs/behaviour.md, FHIR). */
import { objectsAt } from '../at-path.ts';
import { fold } from '../fold.ts';
import type { Kind } from '../kind.ts';
import { containing, containingMarkedLine } from '../like.ts';
import { PATIENT_SEARCH } from '../source.ts';
import { asLines, exactLine, hasExactName } from './exact-name.ts';
import { indexedNames, shownName } from './indexed-names.ts';
import { readFragments } from './name-fragments.ts';

interface NameCriterion {
  readonly kind: 'name';
  /** Folded and spelt for the index (fold.ts). */
  readonly fragments: readonly string[];
  /** With `:exact`, each complete name, on one line. */
  readonly exact?: readonly string[];
}

/** PostgreSQL bounds the size of an index key, so a longer name sorts by its beginning. */
const MAX_SORT_LENGTH = 200;

export const name = {
  type: 'string',
  read: (value, _, modifier) => {
    const texts = value.texts();
    const fragments = readFragments(texts);
    if ('problem' in fragments) return fragments;
    return { kind: 'name', fragments, ...(modifier === 'exact' ? { exact: texts.map(exactLine) } : {}) };
  },
  rows: (resource) => {
    const lines = indexedNames(resource);
    const [first] = objectsAt(resource, 'name');
    return {
      search: {
        names: [...new Set(lines.map(({ spelt }) => spelt))].filter((line) => line !== '').join('\n'),
        // In the order in which names are listed.
        nameSort: first === undefined ? '' : fold(shownName(first)).slice(0, MAX_SORT_LENGTH).toWellFormed(),
      },
      parts: {
        exact: asLines(
          lines.flatMap(({ marker, exact }) => (marker === null || exact === null ? [] : [`${marker}${exact}`])),
        ),
      },
    };
  },
  meets: (write, { fragments, exact }) =>
    exact === undefined
      ? fragments.some((fragment) => write.search?.names.includes(fragment) === true)
      : exact.some((line) => hasExactName(write.parts, null, line)),
  rank: 4,
  planAnew: true,
  source: () => PATIENT_SEARCH,
  sql: ({ fragments, exact = [] }, alias, { bind }) => {
    const each = fragments.map((fragment, n) => {
      const line = exact[n];
      const exactSql =
        line === undefined
          ? ''
          : ` and case when ${alias}.exact like ${bind(containingMarkedLine(line))} then true else false end`;
      return `${alias}.names like ${bind(containing(fragment))}${exactSql}`;
    });
    return `(${each.join(' or ')})`;
  },
  fragments: ({ fragments }) => fragments,
  since: ({ exact }) => (exact === undefined ? 1 : 2),
  sort: { source: PATIENT_SEARCH, column: 'name_sort', text: (column) => column, cast: 'text' },
} as const satisfies Kind<NameCriterion>;
