/** A date of birth, compared exactly, as precise as it is stored (edge/docs/behaviour.md, FHIR). */
import { textAt } from '../at-path.ts';
import { oneOf } from '../compare.ts';
import type { Kind, SortColumn } from '../kind.ts';
import { PATIENT_SEARCH } from '../source.ts';

interface BirthdateCriterion {
  readonly kind: 'birthdate';
  readonly dates: readonly string[];
}

const DATE = /^\d{4}(?:-\d\d(?:-\d\d)?)?$/;

export const BIRTHDATE_SORT: SortColumn = {
  source: PATIENT_SEARCH,
  column: 'birth_date',
  text: (column) => column,
  cast: 'text',
  isShared: true,
};

export const birthdate = {
  type: 'date',
  read: (value) => {
    const given = value.dates();
    for (const { prefix, text } of given) {
      if ((prefix ?? 'eq') !== 'eq') return { problem: 'is compared exactly, so eq is the only supported prefix' };
      if (!DATE.test(text)) return { problem: 'must be a date: YYYY, YYYY-MM or YYYY-MM-DD' };
    }
    return { kind: 'birthdate', dates: given.map(({ text }) => text) };
  },
  rows: (resource, _, { elements }) => ({ search: { birthDate: textAt(resource, elements) } }),
  meets: (write, { dates }) => write.search !== null && dates.includes(write.search.birthDate),
  rank: 3,
  source: () => PATIENT_SEARCH,
  sql: ({ dates }, alias, { bind }) => oneOf(`${alias}.birth_date`, dates, 'text', bind),
  sort: BIRTHDATE_SORT,
} as const satisfies Kind<BirthdateCriterion>;
