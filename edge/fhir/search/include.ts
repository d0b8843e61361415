/**
 * `_include` of the patient (FHIR R4 search, 3.1.1.5.7): what is found comes with the patients whom it is about. Nothing
 * else is included, and nothing refers to what is found: `_revinclude` is refused by its name.
 */
import type { SearchSet } from '../../config.ts';
import type { Issue } from '../../../shared/fault.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { parametersOf } from '../../store/search/parameters.ts';
import { badParameter } from '../controls/faults.ts';

/** What asks for more than what is found, by the set of parameters that recognizes it. */
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
  const supported =
    known.length === 0 ? `nothing can be included in a search of ${type}` : `supported: ${known.join(', ')}`;
  throw badParameter('_include', `_include can only be of the patient; ${supported}`, 'not-supported');
}

/** Why `_revinclude`, with which US Core asks for Provenance, cannot be had. */
export function notIncluded(set: SearchSet, name: string): Issue | undefined {
  if (set === 'listed' || name.split(':')[0] !== '_revinclude') return undefined;
  const message =
    '_revinclude is not supported: no Provenance, nor anything else that refers to what is found, comes with it';
  return { code: 'not-supported', message, at: 'http._revinclude' };
}
