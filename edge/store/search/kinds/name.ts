/** A part of any name of a patient, case and accents folded (FHIR R4 search, 3.1.1.4.9 string; edge/README.md, FHIR). */
import type { Json } from '../../../../shared/json.ts';
import { objectsAt, text } from '../at-path.ts';
import { fold, spellNames } from '../fold.ts';
import type { Kind } from '../kind.ts';
import { containing, containingMarkedLine } from '../like.ts';
import { PATIENT_SEARCH } from '../source.ts';
import { asLines, exactLine, hasExactName } from './exact-name.ts';

interface NameCriterion {
  readonly kind: 'name';
  /** Folded and spelt for the index (fold.ts). */
  readonly fragments: readonly string[];
  /** With `:exact`, the whole of each name, on one line. */
  readonly exact?: readonly string[];
}

export const EMPTY_NAME = { problem: 'must contain a letter or another visible character' } as const;

/** A sort key is an index key, which PostgreSQL bounds; what is longer sorts by its beginning. */
const MAX_SORT_LENGTH = 200;

const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.map(text).filter((item) => item !== '') : [];

export const name = {
  type: 'string',
  read: (value, _, modifier) => {
    const texts = value.texts();
    const fragments = texts.map(fold).map(spellNames);
    if (fragments.includes('')) return EMPTY_NAME;
    return { kind: 'name', fragments, ...(modifier === 'exact' ? { exact: texts.map(exactLine) } : {}) };
  },
  rows: (resource, _, { elements }) => {
    const names = elements
      .flatMap((path) => objectsAt(resource, path))
      .map((one) => ({ text: text(one['text']), family: text(one['family']), given: texts(one['given']) }));
    const lines = names.flatMap(({ text, family, given }) => [
      text,
      family,
      ...given,
      // A name without a text is found by its parts in a row too.
      ...(text === '' ? [[...given, family].join(' ')] : []),
    ]);
    const folded = new Set(lines.map(fold).filter((line) => line !== ''));
    const first = names[0];
    // A name as it is shown: its text, else family and given in the order in which names are listed.
    const shown = first === undefined ? '' : first.text || [first.family, ...first.given].join(' ');
    return {
      search: {
        names: [...folded].map(spellNames).join('\n'),
        nameSort: fold(shown).slice(0, MAX_SORT_LENGTH).toWellFormed(),
      },
      parts: {
        exact: asLines(
          names
            .flatMap(({ text, family, given }) => [['T', text], ['F', family], ...given.map((one) => ['G', one])])
            .flatMap(([marker, one = '']) => (one === '' ? [] : [`${marker}${exactLine(one)}`])),
        ),
      },
    };
  },
  meets: (write, { fragments, exact }) =>
    exact === undefined
      ? fragments.some((fragment) => write.search?.names.includes(fragment) === true)
      : exact.some((line) => hasExactName(write.parts, null, line)),
  rank: 4,
  source: () => PATIENT_SEARCH,
  sql: ({ fragments, exact = [] }, alias, { bind }) => {
    const each = fragments.map((fragment, n) => {
      const line = exact[n];
      const whole =
        line === undefined
          ? ''
          : ` and case when ${alias}.exact like ${bind(containingMarkedLine(line))} then true else false end`;
      return `${alias}.names like ${bind(containing(fragment))}${whole}`;
    });
    return `(${each.join(' or ')})`;
  },
  since: ({ exact }) => (exact === undefined ? 1 : 2),
  sort: { source: PATIENT_SEARCH, column: 'name_sort', text: (column) => column, cast: 'text' },
} as const satisfies Kind<NameCriterion>;
