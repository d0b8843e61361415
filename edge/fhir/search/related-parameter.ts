/**
 * Parameters of other resources, in one step: `patient.name` of the patient of a resource (FHIR R4 search, 3.1.1.4.7), and
 * `_has:Observation:patient:code` of a resource about a patient (3.1.1.4.8). Only searches have them: a condition of a write
 * and a filter of an export are compared with one resource in memory.
 */
import type { SearchSet } from '../../config.ts';
import type { Issue } from '../../../shared/fault.ts';
import { isResourceType, RESOURCE_TYPES, type ResourceType } from '../../../shared/resource-type.ts';
import { parametersOf, patientElementOf, patientParametersOf } from '../../store/search/parameters.ts';
import type { Related } from '../../store/search/page-selection.ts';
import { isRepeatable } from '../controls/faults.ts';
import { type NamedParameter, namedParameter } from './named-parameter.ts';

export interface RelatedParameter extends NamedParameter {
  readonly kind: Related['kind'];
  /** The type that has the parameter. */
  readonly type: ResourceType;
  /** The name of the parameter there. */
  readonly base: string;
}

const CHAIN = /^([a-z]+)(?::Patient)?\.(.+)$/;
const HAS = /^_has:([A-Za-z]+):([a-z]+):([^:.]+)$/;

const isPatient = (set: SearchSet, type: ResourceType, name: string): boolean =>
  patientParametersOf(set, type).includes(name);

/** @returns undefined for a name that is not of this form, or that the set does not recognize */
export function relatedParameter(set: SearchSet, type: ResourceType, name: string): RelatedParameter | undefined {
  if (set === 'listed') return undefined;
  const [, reference = '', chained = ''] = CHAIN.exec(name) ?? [];
  if (isPatient(set, type, reference)) {
    const named = namedParameter(set, 'Patient', chained);
    return named && { ...named, kind: 'chained', type: 'Patient', base: chained.split(':')[0] ?? '' };
  }
  const [, from, back = '', base = ''] = (type === 'Patient' && HAS.exec(name)) || [];
  if (!isResourceType(from) || !isPatient(set, from, back)) return undefined;
  const named = namedParameter(set, from, base);
  return named && { ...named, kind: 'has', type: from, base };
}

/** The issue of a chain or `_has` that is not supported; undefined for other names. */
export function notRelated(set: SearchSet, type: ResourceType, name: string): Issue | undefined {
  if (set === 'listed' || !isRepeatable(name)) return undefined;
  const [, reference = ''] = CHAIN.exec(name) ?? [];
  const at = `http.${name}`;
  if (isPatient(set, type, reference)) {
    const supported = Object.keys(parametersOf(set, 'Patient')).join(', ');
    const message = `${reference} can be followed by one parameter of Patient; supported: ${supported}`;
    return { code: 'not-supported', message, at };
  }
  if (!name.startsWith('_has:')) return undefined;
  const message =
    type === 'Patient'
      ? `_has must be _has:[type]:patient:[parameter], with a parameter of the type and without a modifier; types: ${REFERRING.join(', ')}`
      : `_has applies to searches of Patient; for ${type} search patient.[parameter]`;
  return { code: 'not-supported', message, at };
}

const REFERRING = RESOURCE_TYPES.filter((type) => patientElementOf(type) !== undefined);

/** The names of this form that a search of a type recognizes, without modifiers, with what they find. */
export function relatedNames(set: SearchSet, type: ResourceType): readonly (readonly [name: string, what: string])[] {
  if (set === 'listed') return [];
  const [reference] = patientParametersOf(set, type);
  if (reference !== undefined)
    return Object.keys(parametersOf(set, 'Patient')).map((name) => [
      `${reference}.${name}`,
      `The patient, by \`${name}\` of Patient. Needs \`system/Patient.read\` too.`,
    ]);
  return REFERRING.flatMap((from) =>
    Object.keys(parametersOf(set, from)).map(
      (name) =>
        [
          `_has:${from}:patient:${name}`,
          `Patients of the ${from} resources with this \`${name}\`. Needs \`system/${from}.read\` too.`,
        ] as const,
    ),
  );
}
