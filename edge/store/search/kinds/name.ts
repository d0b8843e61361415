/** A part of any name of a patient, case and accents folded (FHIR R4 search, 3.1.1.4.9 string; edge/README.md, FHIR). */
import type { Json } from '../../../../shared/json.ts';
import { objectsAt, text } from '../at-path.ts';
import { fold, spellNames } from '../fold.ts';
import type { Kind } from '../kind.ts';
import { PATIENT_SEARCH } from '../source.ts';

interface NameCriterion {
  readonly kind: 'name';
  /** Folded and spelt for the index (fold.ts). */
  readonly fragments: readonly string[];
}

/** A sort key is an index key, which PostgreSQL bounds; what is longer sorts by its beginning. */
const MAX_SORT_LENGTH = 200;

const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.map(text).filter((item) => item !== '') : [];

function likePattern(fragment: string): string {
  return `%${fragment.replace(/[\\%_]/g, '\\$&')}%`;
}

export const name = {
  type: 'string',
  read: (value) => {
    const folded = value.texts().map(fold);
    if (folded.includes('')) return { problem: 'must contain a letter or another visible character' };
    return { kind: 'name', fragments: folded.map(spellNames) };
  },
  rows: (resource, _, elements) => {
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
    };
  },
  meets: (write, { fragments }) => fragments.some((fragment) => write.search?.names.includes(fragment) === true),
  rank: 4,
  source: () => PATIENT_SEARCH,
  sql: ({ fragments }, alias, { bind }) =>
    `(${fragments.map((fragment) => `${alias}.names like ${bind(likePattern(fragment))}`).join(' or ')})`,
  sort: { source: PATIENT_SEARCH, column: 'name_sort', text: (column) => column, cast: 'text' },
} as const satisfies Kind<NameCriterion>;
