/**
 * `_include` of the patient (FHIR R4 search, 3.1.1.5.7): the answer also has the patients of the resources that are
 * found. Nothing else can be included, and `_revinclude` is rejected by name.
 */
import type { SearchSet } from '../../config.ts';
import type { Issue } from '../../../shared/fault.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { parametersOf } from '../../store/search/parameters.ts';
import { badParameter } from '../controls/faults.ts';

/** The parameters that add resources to the answer, by set of search parameters. */
export const INCLUDE_PARAMETERS: Readonly<Record<SearchSet, readonly string[]>> = {
  listed: [],
  'us-core': ['_include'],
};

/** The values of `_include`: the references to the patient. */
export function includesOf(set: SearchSet, type: ResourceType): string[] {
  if (!INCLUDE_PARAMETERS[set].includes('_include')) return [];
  const references = Object.entries(parametersOf(set, type)).filter(([, { kind }]) => kind === 'patient');
  return references.map(([name]) => `${type}:${name}`);
}

/** @throws Fault `malformed` for anything but the patient; the type may follow: `Observation:subject:Patient` */
export function requireInclude(set: SearchSet, type: ResourceType, value: string): void {
  const known = includesOf(set, type);
  if (known.includes(value.replace(/:Patient$/, ''))) return;
  const supported = known.length === 0 ? `a search of ${type} can include nothing` : `supported: ${known.join(', ')}`;
  throw badParameter('_include', `_include can only add the patient; ${supported}`, 'not-supported');
}

/** The issue of `_revinclude`, which US Core uses for Provenance. */
export function notIncluded(set: SearchSet, name: string): Issue | undefined {
  if (set === 'listed' || name.split(':')[0] !== '_revinclude') return undefined;
  const message =
    '_revinclude is not supported: the server keeps no Provenance, and includes nothing that refers to a match';
  return { code: 'not-supported', message, at: 'http._revinclude' };
}
