/** Resolves a name in a query: a parameter of the type, perhaps with a modifier (FHIR R4 search, 3.1.1.4.6). */
import type { SearchSet } from '../../config.ts';
import type { Issue } from '../../../shared/fault.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { TextModifier } from '../../store/search/kind.ts';
import { typeOf } from '../../store/search/kinds.ts';
import { parameterOf, missingNameOf } from '../../store/search/parameters.ts';
import type { SearchParameter } from '../../store/search/search-parameter.ts';
import { unsupported } from '../controls/faults.ts';

export type Modifier =
  | { readonly kind: 'not' }
  | { readonly kind: 'text'; readonly match: TextModifier }
  /** `indexedAs`: the name in the index for a resource without a value. */
  | { readonly kind: 'missing'; readonly indexedAs: string };

export interface NamedParameter {
  readonly parameter: SearchParameter;
  readonly modifier: Modifier | null;
}

/** @returns null for the type of the target: each reference parameter has only one; undefined for an unknown modifier */
function modifierOf(name: string, parameter: SearchParameter, modifier: string): Modifier | null | undefined {
  const indexedAs = missingNameOf(name);
  const type = typeOf(parameter.kind);
  if (modifier === 'missing') return indexedAs === undefined ? undefined : { kind: 'missing', indexedAs };
  if (modifier === 'not') return type === 'token' ? { kind: 'not' } : undefined;
  if (type === 'reference') return modifier === 'Patient' ? null : undefined;
  if (type !== 'string') return undefined;
  return modifier === 'exact' || modifier === 'contains' ? { kind: 'text', match: modifier } : undefined;
}

/** @returns undefined for a name, or a modifier, that the set does not recognize; the listed set has no modifiers */
export function namedParameter(set: SearchSet, type: ResourceType, name: string): NamedParameter | undefined {
  const [base = '', modifier, ...more] = name.split(':');
  const parameter = parameterOf(type, base, set);
  if (parameter === undefined || more.length > 0) return undefined;
  if (modifier === undefined) return { parameter, modifier: null };
  const known = set === 'us-core' ? modifierOf(base, parameter, modifier) : undefined;
  return known === undefined ? undefined : { parameter, modifier: known };
}

/** The issue of a name that the set does not recognize. A type as a modifier names the type of the target. */
export function unsupportedParameter(
  set: SearchSet,
  type: ResourceType,
  name: string,
  supported: readonly string[],
): Issue {
  const [base = '', modifier = ''] = name.split(':');
  if (base === '_source') {
    const { message, ...issue } = unsupported(name, supported);
    return { ...issue, message: `${message}. The message of a version is in its Provenance (FHIR_PROVENANCE=on)` };
  }
  const parameter = parameterOf(type, base, set);
  const isTarget =
    parameter !== undefined && typeOf(parameter.kind) === 'reference' && /^[A-Z]\w{0,63}$/.test(modifier);
  if (!isTarget) return unsupported(name, supported);
  const message = `${base} refers to a Patient only, not to ${modifier}: send ${base}=Patient/[id]`;
  return { code: 'not-supported', message, at: `http.${name}` };
}

/** The modifiers of a parameter, for its documentation. */
export const modifiersOf = (set: SearchSet, name: string, parameter: SearchParameter): string[] =>
  set === 'listed'
    ? []
    : ['missing', 'exact', 'contains', 'not', 'Patient'].filter(
        (one) => modifierOf(name, parameter, one) !== undefined,
      );
