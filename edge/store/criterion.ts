/**
 * What a search asks for, as data: the conditions of one query, each met by any of its alternatives (comma) and all of
 * them together (repetition). `matchesWrite` decides the same for a resource that is not stored yet.
 */
import type { SearchRows } from './search-rows.ts';

/** What of a write a search can see. */
export interface Searchable extends SearchRows {
  readonly id: string;
}

/** One alternative of a token search: `null` matches anything, `''` only what is absent (FHIR R4 search, token). */
export interface Token {
  readonly system: string | null;
  readonly value: string | null;
}

/** `[from, before)`, of which the resource's instant is inside, or outside. Instants as ISO text; null: unbounded. */
export interface Interval {
  readonly from: string | null;
  readonly before: string | null;
  readonly outside: boolean;
}

export type Criterion =
  /** UUIDs; none matches nothing. */
  | { readonly kind: 'id'; readonly ids: readonly string[] }
  | { readonly kind: 'identifier'; readonly any: readonly Token[] }
  | { readonly kind: 'token'; readonly param: string; readonly any: readonly Token[] }
  /** UUIDs of patients. */
  | { readonly kind: 'patient'; readonly ids: readonly string[] }
  /** Folded and spelt for the index (fold.ts). */
  | { readonly kind: 'name'; readonly fragments: readonly string[] }
  | { readonly kind: 'birthdate'; readonly dates: readonly string[] }
  | { readonly kind: 'gender'; readonly codes: readonly string[] }
  | { readonly kind: 'report-state'; readonly states: readonly ('completed' | 'draft')[] }
  | { readonly kind: 'last-updated'; readonly any: readonly Interval[] };

function hasToken(rows: readonly (readonly [string, string])[], any: readonly Token[]): boolean {
  return rows.some(([system, value]) =>
    any.some(
      (token) => (token.system === null || token.system === system) && (token.value === null || token.value === value),
    ),
  );
}

function meets(write: Searchable, criterion: Criterion): boolean {
  switch (criterion.kind) {
    case 'id':
      return criterion.ids.includes(write.id);
    case 'identifier':
      return hasToken(write.identifiers, criterion.any);
    case 'token': {
      const rows = write.tokens.filter(([param]) => param === criterion.param);
      return hasToken(
        rows.map(([, system, code]) => [system, code]),
        criterion.any,
      );
    }
    case 'patient':
      return write.patient !== null && criterion.ids.includes(write.patient);
    case 'name':
      return criterion.fragments.some((fragment) => write.search?.names.includes(fragment) === true);
    case 'birthdate':
      return write.search !== null && criterion.dates.includes(write.search.birthDate);
    case 'gender':
      return typeof write.search?.gender === 'string' && criterion.codes.includes(write.search.gender);
    case 'report-state':
      return write.report !== null && criterion.states.includes(write.report.state);
    case 'last-updated':
      // It has no instant yet.
      return false;
  }
}

/** True when a search with these criteria would find the resource once it is written. */
export function matchesWrite(write: Searchable, criteria: readonly Criterion[]): boolean {
  return criteria.every((criterion) => meets(write, criterion));
}
