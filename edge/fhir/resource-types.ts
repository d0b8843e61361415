/**
 * The table of the seven types: how they are searched, sorted and cut. Searches and the CapabilityStatement derive from
 * it, as both do from the table of interactions, so that none can promise what another lacks.
 */
import type { ResourceType } from '../../shared/resource-type.ts';

/** How a parameter's value is read and what it is compared with; one reader each in search/criterion-of.ts. */
export type ParameterKind =
  | 'id'
  | 'last-updated'
  | 'identifier'
  | 'token'
  | 'patient'
  | 'name'
  | 'birthdate'
  | 'gender'
  | 'report-state';

export interface SearchParameter {
  readonly kind: ParameterKind;
  /** SearchParamType. */
  readonly type: 'token' | 'date' | 'string' | 'reference';
  /** The canonical of R4's own definition, where ours is no narrower. */
  readonly definition?: string;
  readonly documentation: string;
}

export type SortName = '_lastUpdated' | 'name' | 'birthdate';

export interface ServedType {
  readonly searchParameters: Readonly<Record<string, SearchParameter>>;
  readonly sorts: readonly SortName[];
  /** The element that names the patient, if the type has one. */
  readonly patientElement: 'subject' | 'patient' | null;
  /** `isModifier` in R4: `_elements` may not hide them, nor what is mandatory (R4 search, 3.1.1.5.9). */
  readonly modifierElements: readonly string[];
}

const R4 = 'http://hl7.org/fhir/SearchParameter/';

const ID: SearchParameter = {
  kind: 'id',
  type: 'token',
  definition: `${R4}Resource-id`,
  documentation: 'The id of the resource; several with commas.',
};
const LAST_UPDATED: SearchParameter = {
  kind: 'last-updated',
  type: 'date',
  definition: `${R4}Resource-lastUpdated`,
  documentation: 'When the version was written, with the prefixes eq, ne, gt, lt, ge, le, sa, eb, ap.',
};
const PATIENT: SearchParameter = {
  kind: 'patient',
  type: 'reference',
  definition: `${R4}clinical-patient`,
  documentation: 'The patient: Patient/[id], [id] or the absolute URL at this server.',
};
const CODE: SearchParameter = {
  kind: 'token',
  type: 'token',
  definition: `${R4}clinical-code`,
  documentation: 'The code: [code], [system]|[code], |[code] or [system]|.',
};
const clinicalStatus = (type: string): SearchParameter => ({
  kind: 'token',
  type: 'token',
  definition: `${R4}${type}-clinical-status`,
  documentation: 'The clinical status: [code], [system]|[code], |[code] or [system]|.',
});

const COMMON = { _id: ID, _lastUpdated: LAST_UPDATED };

export const SERVED_TYPES: Readonly<Record<ResourceType, ServedType>> = {
  Patient: {
    searchParameters: {
      ...COMMON,
      identifier: {
        kind: 'identifier',
        type: 'token',
        definition: `${R4}Patient-identifier`,
        documentation: 'Any identifier of the patient: [value], [system]|[value], |[value] or [system]|.',
      },
      name: {
        kind: 'name',
        type: 'string',
        documentation: 'A part of any text, given or family name; case and accents do not matter.',
      },
      birthdate: {
        kind: 'birthdate',
        type: 'date',
        documentation: 'Exactly the stored date of birth, as precise as it is stored; the prefix eq may be given.',
      },
      gender: {
        kind: 'gender',
        type: 'token',
        definition: `${R4}individual-gender`,
        documentation: 'The administrative gender.',
      },
    },
    sorts: ['_lastUpdated', 'name', 'birthdate'],
    patientElement: null,
    modifierElements: ['active', 'deceased', 'link'],
  },
  Condition: {
    searchParameters: { ...COMMON, patient: PATIENT, 'clinical-status': clinicalStatus('Condition'), code: CODE },
    sorts: ['_lastUpdated'],
    patientElement: 'subject',
    modifierElements: ['clinicalStatus', 'verificationStatus'],
  },
  AllergyIntolerance: {
    searchParameters: {
      ...COMMON,
      patient: PATIENT,
      'clinical-status': clinicalStatus('AllergyIntolerance'),
      code: CODE,
    },
    sorts: ['_lastUpdated'],
    patientElement: 'patient',
    modifierElements: ['clinicalStatus', 'verificationStatus'],
  },
  Observation: {
    searchParameters: { ...COMMON, patient: PATIENT, code: CODE },
    sorts: ['_lastUpdated'],
    patientElement: 'subject',
    modifierElements: ['status'],
  },
  Procedure: {
    searchParameters: { ...COMMON, patient: PATIENT, code: CODE },
    sorts: ['_lastUpdated'],
    patientElement: 'subject',
    modifierElements: ['status'],
  },
  DiagnosticReport: {
    searchParameters: {
      ...COMMON,
      patient: { ...PATIENT, documentation: 'The patient of the study that the report belongs to.' },
      status: {
        kind: 'report-state',
        type: 'token',
        documentation: 'final finds completed reports (final, amended, corrected, appended); any other value drafts.',
      },
    },
    sorts: ['_lastUpdated'],
    patientElement: 'subject',
    modifierElements: ['status'],
  },
  DocumentReference: {
    searchParameters: {
      ...COMMON,
      patient: PATIENT,
      type: {
        kind: 'token',
        type: 'token',
        definition: `${R4}clinical-type`,
        documentation: 'The type of the document: [code], [system]|[code], |[code] or [system]|.',
      },
    },
    sorts: ['_lastUpdated'],
    patientElement: 'subject',
    modifierElements: ['status'],
  },
};
