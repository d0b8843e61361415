/** Searches by key or by one name, which are a function call (migrations/functions/fhir_find.sql). */
import type { ResourceType } from '../../../shared/resource-type.ts';
import { tokensJson } from './compare.ts';
import type { Token } from './kind.ts';
import type { Criterion } from './kinds.ts';
import { MAX_NAME } from './kinds/name-part.ts';
import { containing } from './like.ts';
import type { PageSelection } from './page-selection.ts';
import { FIRST_GENERATION, indexedOf } from './parameters.ts';

/** The criteria of such a search. */
export interface KeySearch {
  /** Null: `value` is that of an identifier, JSON of several, the pattern of a name, or the beginning of a family or given name. */
  readonly patient: string | null;
  /** The parameter of the token, `identifiers`, `name`, `family` or `given`; null: all about the patient, or an identifier. */
  readonly param: string | null;
  readonly value: string | null;
  /** Null: any. With `family`, the beginning of a given name. */
  readonly system: string | null;
}

/** The beginning of a family or a given name, if it is the only one. */
function onlyBeginning(criterion: Criterion): { readonly part: string; readonly value: string } | undefined {
  if (criterion.kind !== 'name-part' || criterion.match !== 'beginning') return undefined;
  const [one, ...more] = criterion.any;
  if (one === undefined || more.length > 0 || one.fragment.length > MAX_NAME) return undefined;
  return { part: criterion.part, value: one.fragment };
}

/** The only token, if it has a value. */
function onlyToken(any: readonly Token[]): { readonly value: string; readonly system: string | null } | undefined {
  const [token] = any;
  if (any.length !== 1 || token === undefined || token.value === null) return undefined;
  return { value: token.value, system: token.system };
}

function keyOf(type: ResourceType, criteria: readonly Criterion[]): KeySearch | undefined {
  const [first, second, ...others] = criteria.toSorted((a) => (a.kind === 'patient' ? -1 : 1));
  if (first === undefined || others.length > 0) return undefined;
  if (first.kind === 'identifier' && second === undefined) {
    const token = onlyToken(first.any);
    if (token !== undefined) return { patient: null, param: null, ...token };
    if (first.any.length < 2 || first.any.some(({ value }) => value === null)) return undefined;
    return { patient: null, param: 'identifiers', value: tokensJson(first.any), system: null };
  }
  if (first.kind === 'name' && second === undefined && first.exact === undefined) {
    const [fragment, ...more] = first.fragments;
    if (fragment === undefined || more.length > 0) return undefined;
    return { patient: null, param: 'name', value: containing(fragment), system: null };
  }
  if (first.kind === 'name-part') {
    const [one, other] = [first, ...(second === undefined ? [] : [second])]
      .map(onlyBeginning)
      .toSorted((a) => (a?.part === 'family' ? -1 : 1));
    if (one === undefined || (second !== undefined && (other === undefined || other.part === one.part)))
      return undefined;
    return { patient: null, param: one.part, value: one.value, system: other?.value ?? null };
  }
  // A report is found by its study.
  if (first.kind !== 'patient' || type === 'DiagnosticReport') return undefined;
  const [patient] = first.ids;
  if (patient === undefined || first.ids.length > 1) return undefined;
  if (second === undefined) return { patient, param: null, value: null, system: null };
  if (second.kind !== 'token' || (indexedOf(type, second.param)?.since ?? FIRST_GENERATION) !== FIRST_GENERATION)
    return undefined;
  const token = onlyToken(second.any);
  return token && { patient, param: second.param, ...token };
}

/** Undefined: the search needs the planner, or has another order than that of the ids. */
export function keySearchOf({
  type,
  criteria,
  sort,
  related = [],
  included = [],
}: PageSelection): KeySearch | undefined {
  if (sort.by !== 'id' || sort.descending || (sort.ties ?? []).length > 0) return undefined;
  if (related.length + included.length > 0) return undefined;
  return keyOf(type, criteria);
}
