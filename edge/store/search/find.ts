/** Searches that are a look-up by key: their plan is known beforehand (`fhir_find` in migrations/functions). */
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Criterion } from './kinds.ts';
import type { PageSelection } from './page-ids.ts';
import { FIRST_GENERATION, indexedOf } from './parameters.ts';
import type { Token } from './kind.ts';

export interface Find {
  readonly type: ResourceType;
  /** Null: `value` is that of an identifier. */
  readonly patient: string | null;
  /** The token's parameter; null: everything about the patient. */
  readonly param: string | null;
  readonly value: string | null;
  /** Null: any. */
  readonly system: string | null;
  /** The id behind which the page begins. */
  readonly after: string | null;
  readonly limit: number;
}

/** The one token with a value that is asked for. */
function onlyToken(any: readonly Token[]): { readonly value: string; readonly system: string | null } | undefined {
  const [token] = any;
  if (any.length !== 1 || token === undefined || token.value === null) return undefined;
  return { value: token.value, system: token.system };
}

type Sought = Pick<Find, 'patient' | 'param' | 'value' | 'system'>;

function soughtBy(type: ResourceType, criteria: readonly Criterion[]): Sought | undefined {
  const [first, second, ...others] = criteria.toSorted((a) => (a.kind === 'patient' ? -1 : 1));
  if (first === undefined || others.length > 0) return undefined;
  if (first.kind === 'identifier' && second === undefined) {
    const token = onlyToken(first.any);
    return token && { patient: null, param: null, ...token };
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

/** Undefined: the page is no look-up of these, or is in another order than that of the ids. */
export function findOf({ type, criteria, sort, after, limit, withPatients }: PageSelection): Find | undefined {
  if (sort.by !== 'id' || sort.descending || (sort.ties ?? []).length > 0 || withPatients === true) return undefined;
  const sought = soughtBy(type, criteria);
  return sought && { type, ...sought, after: after?.id ?? null, limit };
}
