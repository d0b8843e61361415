/**
 * A family or a given name: its beginning, or with `:contains` any part of it, with case and accents folded. With `:exact` the
 * complete name as sent (FHIR R4 search, 3.1.1.4.9 string, 3.1.1.4.6 modifiers).
 */
import type { Kind, TextModifier } from '../kind.ts';
import { BEHIND_ALL, containing } from '../like.ts';
import { PATIENT_SEARCH } from '../source.ts';
import { asLines, exactLine, hasExactName } from './exact-name.ts';
import { indexedNames } from './indexed-names.ts';
import { readFragments } from './name-fragments.ts';

type Part = 'family' | 'given';

interface NamePartCriterion {
  readonly kind: 'name-part';
  readonly part: Part;
  readonly match: TextModifier | 'beginning';
  /** Folded and spelt for the index, and as sent. */
  readonly any: readonly { readonly fragment: string; readonly line: string }[];
}

const COLUMNS = { family: 'families', given: 'givens' } as const;
const MARKERS = { family: 'F', given: 'G' } as const;

/** Characters of a name in its index. */
export const MAX_NAME = 200;

/** The parameters of this kind have the names of elements of HumanName. */
const partOf = (parameter: string): Part => (parameter === 'family' ? 'family' : 'given');

export const namePart = {
  type: 'string',
  read: ({ texts }, parameter, modifier) => {
    const all = texts();
    const fragments = readFragments(all);
    if ('problem' in fragments) return fragments;
    const any = fragments.map((fragment, n) => ({ fragment, line: exactLine(all[n] ?? '') }));
    return { kind: 'name-part', part: partOf(parameter), match: modifier ?? 'beginning', any };
  },
  rows: (resource, parameter) => {
    const part = partOf(parameter);
    const names = indexedNames(resource).flatMap(({ marker, spelt }) =>
      marker === MARKERS[part] && spelt !== '' ? [spelt] : [],
    );
    return { parts: { [COLUMNS[part]]: asLines([...new Set(names)]) } };
  },
  meets: ({ parts }, { part, match, any }) =>
    any.some(({ fragment, line }) =>
      match === 'exact'
        ? hasExactName(parts, MARKERS[part], line)
        : parts?.[COLUMNS[part]].includes(match === 'beginning' ? `\n${fragment}` : fragment) === true,
    ),
  rank: 4,
  planAnew: true,
  source: () => PATIENT_SEARCH,
  // Each part is also in the names, which have the index. The `case` keeps the planner from multiplying the two estimates as if
  // they were independent.
  sql: ({ part, match, any }, alias, { bind }) => {
    const each = any.map(({ fragment, line }) => {
      const [column, pattern] =
        match === 'exact'
          ? ['exact', containing(`\n${MARKERS[part]}${line}\n`)]
          : [COLUMNS[part], containing(match === 'beginning' ? `\n${fragment}` : fragment)];
      return `${alias}.names like ${bind(containing(fragment))}
     and case when ${alias}.${column} like ${bind(pattern)} then true else false end`;
    });
    return `(${each.join(' or ')})`;
  },
  // The table of names, by their beginning (migrations/0003_resource.sql).
  listed: ({ part, match, any }, { bind, site }) => {
    if (match === 'contains') return undefined;
    const each = any.map(({ fragment }) => {
      const begins = bind(fragment.slice(0, MAX_NAME));
      return `n.name >= ${begins} and n.name < ${begins} || '${BEHIND_ALL}'`;
    });
    return `select n.id from patient_name n where n.site_id = ${site} and n.part = '${part}' and (${each.join(' or ')})`;
  },
  fragments: ({ any }) => any.map(({ fragment }) => fragment),
  since: () => 2,
} as const satisfies Kind<NamePartCriterion>;
