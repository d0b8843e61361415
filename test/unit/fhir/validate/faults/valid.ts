/** The small valid resources that the faults are made of, and the ways to put something into them. */
import type { Json, JsonObject } from '../../../../../shared/json.ts';

/** Title, resource, place and code of the one issue. */
export type Fault = readonly [title: string, resource: Json, at: string, code: string];

export const UCUM = 'http://unitsofmeasure.org';
const TERMINOLOGY = 'http://terminology.hl7.org/CodeSystem/';

export function coded(system: string, code: string): JsonObject {
  return { coding: [{ system: TERMINOLOGY + system, code }] };
}

/** One valid resource of each type: the faults are made of these. */
export const VALID = {
  patient: { resourceType: 'Patient' },
  condition: { resourceType: 'Condition', subject: { reference: 'Patient/1' } },
  allergy: {
    resourceType: 'AllergyIntolerance',
    clinicalStatus: coded('allergyintolerance-clinical', 'active'),
    patient: { reference: 'Patient/1' },
  },
  observation: { resourceType: 'Observation', status: 'final', code: { text: 'a' } },
  procedure: { resourceType: 'Procedure', status: 'completed', subject: { reference: 'Patient/1' } },
  report: { resourceType: 'DiagnosticReport', status: 'final', code: { text: 'a' } },
  document: { resourceType: 'DocumentReference', status: 'current', content: [{ attachment: { title: 'a' } }] },
} satisfies Readonly<Record<string, JsonObject>>;
const { patient } = VALID;

/** Title, valid resource, the members that it gets, and the place of the issue below it. */
type Change = readonly [title: string, resource: (typeof VALID)[keyof typeof VALID], members: JsonObject, at: string];

/** Faults with one code. */
export const faultsOf = (code: string, changes: readonly Change[]): readonly Fault[] =>
  changes.map(([title, resource, members, at]) => {
    const { resourceType } = resource;
    return [title, { ...resource, ...members }, at === '' ? resourceType : `${resourceType}.${at}`, code];
  });

export const ORGANIZATION = { resourceType: 'Organization', id: 'o', name: 'a' };

export function without(resource: JsonObject, member: string): JsonObject {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => name !== member));
}
export function extended(value: JsonObject): JsonObject {
  return { ...patient, extension: [{ url: 'http://example.org/e', ...value }] };
}
/** An extension with so many levels of extensions below it. */
export function nested(levels: number): JsonObject {
  return {
    url: 'http://example.org/e',
    ...(levels === 0 ? { valueBoolean: true } : { extension: [nested(levels - 1)] }),
  };
}
/** The place of the extension that `extended` adds, and its value. */
export const EXTENSION = 'Patient.extension[0]';
export const VALUE = `${EXTENSION}.value`;
export const valueOf = (type: string): string => `${VALUE}.ofType(${type})`;
