/**
 * The table of search parameters: their type, kind and elements. Searches, the index rows of a resource, the CapabilityStatement
 * and the OpenAPI document derive from it. A deployment supports one set of parameters, and indexes all of them.
 */
import { ALL_RESOURCE_TYPES, type ResourceType } from '../../../shared/resource-type.ts';
import type { SearchSet } from '../../config.ts';
import type { IndexedParameter } from './kind.ts';
import { type KindName, sortColumnOf } from './kinds.ts';
import { MISSING } from './rows.ts';
import type { SearchParameter } from './search-parameter.ts';
import { US_CORE_PARAMETERS } from './us-core.ts';

const R4 = 'http://hl7.org/fhir/SearchParameter/';
const CODED = '[code], [system]|[code], |[code] or [system]|.';

const RESOURCE = {
  _id: {
    kind: 'id',
    elements: [],
    definition: `${R4}Resource-id`,
    documentation: 'The id of the resource; several with commas.',
  },
  _lastUpdated: {
    kind: 'last-updated',
    elements: [],
    definition: `${R4}Resource-lastUpdated`,
    documentation: 'When the version was written, with the prefixes eq, ne, gt, lt, ge, le, sa, eb, ap.',
  },
} as const;
const patient = (element: 'subject' | 'patient'): SearchParameter => ({
  kind: 'patient',
  elements: [element],
  definition: `${R4}clinical-patient`,
  documentation: 'The patient: Patient/[id], [id] or the absolute URL at this server.',
});
const code = (...elements: string[]): SearchParameter => ({
  kind: 'token',
  elements,
  definition: `${R4}clinical-code`,
  documentation: `The code: ${CODED}`,
});
/** Nearly every Condition on record is active. */
const clinicalStatus = (type: ResourceType): SearchParameter => ({
  kind: 'token',
  elements: ['clinicalStatus'],
  common: true,
  definition: `${R4}${type}-clinical-status`,
  documentation: `The clinical status: ${CODED}`,
});

/** The listed parameters, by type and name, in the order of the documentation. */
export const SEARCH_PARAMETERS: Readonly<Record<ResourceType, Readonly<Record<string, SearchParameter>>>> = {
  Patient: {
    ...RESOURCE,
    identifier: {
      kind: 'identifier',
      elements: ['identifier'],
      definition: `${R4}Patient-identifier`,
      documentation: 'Any identifier of the patient: [value], [system]|[value], |[value] or [system]|.',
    },
    name: {
      kind: 'name',
      elements: ['name'],
      documentation: 'A part of any text, given or family name; case and accents do not matter.',
    },
    birthdate: {
      kind: 'birthdate',
      elements: ['birthDate'],
      documentation: 'Exactly the stored date of birth, as precise as it is stored; the prefix eq may be given.',
    },
    gender: {
      kind: 'gender',
      elements: ['gender'],
      definition: `${R4}individual-gender`,
      documentation: 'The administrative gender.',
    },
  },
  Condition: {
    ...RESOURCE,
    patient: patient('subject'),
    'clinical-status': clinicalStatus('Condition'),
    code: code('code'),
  },
  AllergyIntolerance: {
    ...RESOURCE,
    patient: patient('patient'),
    'clinical-status': clinicalStatus('AllergyIntolerance'),
    code: code('code', 'reaction.substance'),
  },
  Observation: { ...RESOURCE, patient: patient('subject'), code: code('code') },
  Procedure: { ...RESOURCE, patient: patient('subject'), code: code('code') },
  DiagnosticReport: {
    ...RESOURCE,
    patient: { ...patient('subject'), documentation: 'The patient of the study that the report belongs to.' },
    status: {
      kind: 'report-state',
      elements: ['status'],
      documentation: 'final finds completed reports (final, amended, corrected, appended); any other value drafts.',
    },
  },
  DocumentReference: {
    ...RESOURCE,
    patient: patient('subject'),
    type: {
      kind: 'token',
      elements: ['type'],
      definition: `${R4}clinical-type`,
      documentation: `The type of the document: ${CODED}`,
    },
  },
  Group: {
    ...RESOURCE,
    identifier: {
      kind: 'identifier',
      elements: ['identifier'],
      definition: `${R4}Group-identifier`,
      documentation: 'Any identifier of the group: [value], [system]|[value], |[value] or [system]|.',
    },
  },
  // It is searched by its target alone (edge/fhir/provenance.ts).
  Provenance: {},
};

/** Indexed for every type, and searched where the type has the parameter. A DocumentReference has both elements. */
const INDEXED: Readonly<Record<string, IndexedParameter<KindName>>> = {
  identifier: { kind: 'identifier', elements: ['identifier', 'masterIdentifier'] },
};

/** The indexed parameters of each type with their names; a name of two parameters is there twice. */
export const INDEXED_PARAMETERS: ReadonlyMap<
  ResourceType,
  readonly (readonly [name: string, parameter: IndexedParameter<KindName>])[]
> = new Map(
  ALL_RESOURCE_TYPES.map((type) => [
    type,
    [...Object.entries({ ...INDEXED, ...SEARCH_PARAMETERS[type] }), ...Object.entries(US_CORE_PARAMETERS[type])],
  ]),
);

/** The names in the index for parameters without a value (`:missing`). */
export const MISSING_NAMES: ReadonlyMap<ResourceType, ReadonlySet<string>> = new Map(
  ALL_RESOURCE_TYPES.map((type) => [
    type,
    new Set(Object.keys(parametersOf('us-core', type)).flatMap((name) => missingNameOf(name) ?? [])),
  ]),
);

/** The name in the index for a resource without a value of the parameter; undefined where every resource has a value. */
export function missingNameOf(name: string): string | undefined {
  if (name.startsWith('_')) return undefined;
  return name === 'subject' ? 'patient' : name;
}

/**
 * Generations of the index: each has rows that the release before did not write. A search that needs a generation is rejected
 * where a site has resources without its rows (migrations/functions/search_require.sql; resource_write.sql has the newest
 * generation too). 1: the listed parameters. 2: the parameters of US Core, and missing values.
 */
export const FIRST_GENERATION = 1;
export const GENERATION = 2;

/** The indexed parameter of a type with this name in the token table. */
export function indexedOf(type: ResourceType, name: string): IndexedParameter<KindName> | undefined {
  return INDEXED_UNDER.get(type)?.get(name);
}

const ABSENCE: IndexedParameter<KindName> = { kind: 'token', elements: [], since: GENERATION };

/** If two parameters have one name, the later one has the tokens. */
const INDEXED_UNDER: ReadonlyMap<ResourceType, ReadonlyMap<string, IndexedParameter<KindName>>> = new Map(
  ALL_RESOURCE_TYPES.map((type) => [type, new Map([...(INDEXED_PARAMETERS.get(type) ?? []), [MISSING, ABSENCE]])]),
);

/** Differs for each version of this table, so that a release recognizes the reindexing job of its table. */
export const INDEX_FINGERPRINT: string = fingerprint(JSON.stringify([...INDEXED_PARAMETERS]));

/** FNV-1a of 32 bits: it only distinguishes a table from the few before it. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** The parameters of a type in a set, by name. */
export function parametersOf(set: SearchSet, type: ResourceType): Readonly<Record<string, SearchParameter>> {
  const listed = SEARCH_PARAMETERS[type];
  return set === 'listed' ? listed : { ...listed, ...US_CORE_PARAMETERS[type] };
}

/** The parameter of a type; undefined for a name that is not in the set. */
export function parameterOf(type: ResourceType, name: string, set: SearchSet = 'listed'): SearchParameter | undefined {
  const parameters = parametersOf(set, type);
  return Object.hasOwn(parameters, name) ? parameters[name] : undefined;
}

/** The parameters of a type that refer to the patient. */
export const patientParametersOf = (set: SearchSet, type: ResourceType): string[] =>
  Object.entries(parametersOf(set, type)).flatMap(([name, { kind }]) => (kind === 'patient' ? [name] : []));

/** The parameters that `_sort` accepts for a type. */
export function sortsOf(type: ResourceType, set: SearchSet): string[] {
  const isSorted = (kind: KindName): boolean => ['id', 'date'].includes(kind) || sortColumnOf(kind) !== undefined;
  return Object.entries(parametersOf(set, type)).flatMap(([name, { kind }]) => (isSorted(kind) ? [name] : []));
}

/** The element that names the patient; undefined for a Patient itself. */
export function patientElementOf(type: ResourceType): string | undefined {
  return Object.values(SEARCH_PARAMETERS[type]).find(({ kind }) => kind === 'patient')?.elements[0];
}
