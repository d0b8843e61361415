/**
 * `_include` of the patient, and `_revinclude` of what refers to a patient (FHIR R4 search, 3.1.1.5.7). The answer also has the
 * patients of the matches, or the resources about them. Nothing else can be included.
 */
import type { SearchSet } from '../../config.ts';
import type { Issue } from '../../../shared/fault.ts';
import { RESOURCE_TYPES, type ResourceType } from '../../../shared/resource-type.ts';
import { patientParametersOf } from '../../store/search/parameters.ts';
import { badParameter } from '../controls/faults.ts';

/** The parameters that add resources to the answer, by set of search parameters. */
export const INCLUDE_PARAMETERS: Readonly<Record<SearchSet, readonly string[]>> = {
  listed: [],
  'us-core': ['_include', '_revinclude'],
};

const referencesOf = (set: SearchSet, type: ResourceType): string[] =>
  set === 'listed' ? [] : patientParametersOf(set, type).map((name) => `${type}:${name}`);

/** The values of `_include`: the references to the patient. */
export const includesOf = referencesOf;

/** The values of `_revinclude`: the references to a patient. */
export const revincludesOf = (set: SearchSet, type: ResourceType): string[] =>
  type === 'Patient' ? RESOURCE_TYPES.flatMap((from) => referencesOf(set, from)) : [];

/**
 * The type of the resources that `_include` or `_revinclude` adds; undefined for a `_revinclude` that is not supported.
 *
 * @param value the type may follow: `Observation:subject:Patient`
 * @throws Fault `malformed` for an `_include` of anything but the patient
 */
export function includedType(
  set: SearchSet,
  type: ResourceType,
  name: string,
  value: string,
): ResourceType | undefined {
  const reference = value.replace(/:Patient$/, '');
  if (name === '_revinclude') {
    const [from] = revincludesOf(set, type).includes(reference) ? reference.split(':') : [];
    return RESOURCE_TYPES.find((one) => one === from);
  }
  const known = includesOf(set, type);
  if (known.includes(reference)) return 'Patient';
  const supported = known.length === 0 ? `a search of ${type} can include nothing` : `supported: ${known.join(', ')}`;
  throw badParameter('_include', `_include can only add the patient; ${supported}`, 'not-supported');
}

/** The issue of a `_revinclude` that is not supported; US Core uses it for Provenance. */
export function notIncluded(set: SearchSet, type: ResourceType, name: string): Issue | undefined {
  if (set === 'listed' || name.split(':')[0] !== '_revinclude') return undefined;
  const known = revincludesOf(set, type);
  const supported = known.length === 0 ? `a search of ${type} can add nothing` : `supported: ${known.join(', ')}`;
  const message = `_revinclude can only add what refers to a patient, and the server keeps no Provenance; ${supported}`;
  return { code: 'not-supported', message, at: 'http._revinclude' };
}
