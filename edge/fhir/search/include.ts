/**
 * `_include` of the patient, and `_revinclude` of what refers to a patient (FHIR R4 search, 3.1.1.5.7). The answer also has the
 * patients of the matches, or the resources about them, or the Provenance of the matches. Nothing else can be included.
 */
import type { SearchSet } from '../../config.ts';
import type { Issue } from '../../../shared/fault.ts';
import { isStored, RESOURCE_TYPES, type ResourceType } from '../../../shared/resource-type.ts';
import { patientParametersOf } from '../../store/search/parameters.ts';
import { badParameter } from '../controls/faults.ts';

/** The search parameters and types of a deployment. */
export interface Supported {
  readonly searches: SearchSet;
  readonly types: readonly ResourceType[];
}

const referencesOf = (set: SearchSet, type: ResourceType): string[] =>
  set === 'listed' ? [] : patientParametersOf(set, type).map((name) => `${type}:${name}`);

/** The values of `_include`: the references to the patient. */
export const includesOf = ({ searches }: Supported, type: ResourceType): string[] => referencesOf(searches, type);

/** The values of `_revinclude`: the references to a patient, and the target of Provenance. */
export const revincludesOf = ({ searches, types }: Supported, type: ResourceType): string[] => [
  ...(type === 'Patient' ? RESOURCE_TYPES.flatMap((from) => referencesOf(searches, from)) : []),
  ...(types.includes('Provenance') && isStored(type) ? ['Provenance:target'] : []),
];

/** The parameters that add resources to the answer. */
export const includeParameters = (supported: Supported, type: ResourceType): string[] => [
  ...(supported.searches === 'us-core' ? ['_include'] : []),
  ...(supported.searches === 'us-core' || revincludesOf(supported, type).length > 0 ? ['_revinclude'] : []),
];

/**
 * The type of the resources that `_include` or `_revinclude` adds; undefined for a `_revinclude` that is not supported.
 *
 * @param value the type of the target may follow: `Observation:subject:Patient`
 * @throws Fault `malformed` for an `_include` of anything but the patient
 */
export function includedType(
  supported: Supported,
  type: ResourceType,
  name: string,
  value: string,
): ResourceType | undefined {
  if (name === '_revinclude') {
    const target = `:${type}`;
    const reference = value.endsWith(target) ? value.slice(0, -target.length) : value;
    const [from] = revincludesOf(supported, type).includes(reference) ? reference.split(':') : [];
    return supported.types.find((one) => one === from);
  }
  const known = includesOf(supported, type);
  if (known.includes(value.replace(/:Patient$/, ''))) return 'Patient';
  const most = known.length === 0 ? `a search of ${type} can include nothing` : `supported: ${known.join(', ')}`;
  throw badParameter('_include', `_include can only add the patient; ${most}`, 'not-supported');
}

/** The issue of a `_revinclude` that is not supported; US Core uses it for Provenance. */
export function notIncluded(supported: Supported, type: ResourceType, name: string): Issue | undefined {
  if (name.split(':')[0] !== '_revinclude' || includeParameters(supported, type).length === 0) return undefined;
  const known = revincludesOf(supported, type);
  const most = known.length === 0 ? `a search of ${type} can add nothing` : `supported: ${known.join(', ')}`;
  const off = supported.types.includes('Provenance')
    ? ''
    : '. Provenance is off: the operator can set FHIR_PROVENANCE=on';
  const message = `_revinclude can only add what refers to a patient, and Provenance; ${most}${off}`;
  return { code: 'not-supported', message, at: 'http._revinclude' };
}
