/** The administrative gender (FHIR R4 search, 3.1.1.4.10 token on an element of type code). */
import { textAt } from '../at-path.ts';
import { EMPTY_TOKEN, isEmptyToken, oneOf } from '../compare.ts';
import type { Kind } from '../kind.ts';
import { PATIENT_SEARCH } from '../source.ts';

interface GenderCriterion {
  readonly kind: 'gender';
  readonly codes: readonly string[];
}

const SYSTEM = 'http://hl7.org/fhir/administrative-gender';
const CODES = ['male', 'female', 'other', 'unknown'];

export const gender = {
  type: 'token',
  read: ({ tokens }) => {
    const any = tokens();
    if (any.some(isEmptyToken)) return EMPTY_TOKEN;
    const codes = any.flatMap(({ system, value }) => {
      // The system of an element of type code is implied: `|male` asks for none (R4 search, token).
      if (system !== null && system !== SYSTEM) return [];
      return value === null ? CODES : [value];
    });
    return { kind: 'gender', codes };
  },
  rows: (resource, _, { elements }) => ({ search: { gender: textAt(resource, elements) || null } }),
  meets: (write, { codes }) => typeof write.search?.gender === 'string' && codes.includes(write.search.gender),
  rank: 8,
  source: () => PATIENT_SEARCH,
  sql: ({ codes }, alias, { bind }) => oneOf(`${alias}.gender`, codes, 'text', bind),
} as const satisfies Kind<GenderCriterion>;
