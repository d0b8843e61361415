/**
 * The search parameters of US Core beside the listed ones (`FHIR_SEARCH=us-core`; US Core, Search Parameters), for the supported
 * types. A parameter of both sets has the meaning of R4 here.
 */
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { SearchParameter } from './search-parameter.ts';

const R4 = 'http://hl7.org/fhir/SearchParameter/';
const CODED = '[code], [system]|[code], |[code] or [system]|; with :not, resources without these codes.';
const DATES =
  'with the prefixes eq, ne, gt, lt, ge, le, sa, eb, ap; as precise as it is given. Without a zone it is in the time zone of the site.';
/** The index generation (parameters.ts). */
const since = 2;

/** Every type has them. */
const RESOURCE = {
  _tag: {
    kind: 'token',
    elements: ['meta.tag'],
    since,
    definition: `${R4}Resource-tag`,
    documentation: `A tag of the resource: ${CODED}`,
  },
} as const;
const subject = (type: ResourceType): SearchParameter => ({
  kind: 'patient',
  elements: ['subject'],
  definition: `${R4}${type}-subject`,
  documentation: 'The patient: Patient/[id], [id] or the absolute URL at this server. Other subjects are not searched.',
});
/** Most results of a laboratory are of category laboratory, and final. */
const category = (type: ResourceType): SearchParameter => ({
  kind: 'token',
  elements: ['category'],
  common: true,
  since,
  definition: `${R4}${type}-category`,
  documentation: `The category: ${CODED}`,
});
const status = (type: ResourceType, valueSet: string): SearchParameter => ({
  kind: 'token',
  elements: ['status'],
  system: `http://hl7.org/fhir/${valueSet}`,
  common: true,
  since,
  definition: `${R4}${type}-status`,
  documentation: `The status, as FHIR has it: ${CODED}`,
});
const date = (what: string, definition: string, ...elements: string[]): SearchParameter => ({
  kind: 'date',
  elements,
  since,
  definition: R4 + definition,
  documentation: `${what}, ${DATES}`,
});

export const US_CORE_PARAMETERS: Readonly<Record<ResourceType, Readonly<Record<string, SearchParameter>>>> = {
  Patient: {
    ...RESOURCE,
    family: {
      kind: 'name-part',
      elements: ['name.family'],
      since,
      definition: `${R4}individual-family`,
      documentation:
        'The beginning of a family name; case and accents do not matter. With :contains any part, with :exact the complete name as sent.',
    },
    given: {
      kind: 'name-part',
      elements: ['name.given'],
      since,
      definition: `${R4}individual-given`,
      documentation:
        'The beginning of a given name; case and accents do not matter. With :contains any part, with :exact the complete name as sent.',
    },
    birthdate: {
      kind: 'birth-range',
      elements: ['birthDate'],
      definition: `${R4}individual-birthdate`,
      documentation:
        'The date of birth, with the prefixes eq, ne, gt, lt, ge, le, sa, eb, ap; as precise as it is given.',
    },
  },
  Condition: {
    ...RESOURCE,
    subject: subject('Condition'),
    category: category('Condition'),
    'onset-date': date('When it began', 'Condition-onset-date', 'onsetDateTime', 'onsetPeriod'),
    'recorded-date': date('When it was first recorded', 'Condition-recorded-date', 'recordedDate'),
  },
  AllergyIntolerance: {
    ...RESOURCE,
    category: {
      ...category('AllergyIntolerance'),
      system: 'http://hl7.org/fhir/allergy-intolerance-category',
    },
    date: date('When it was first recorded', 'clinical-date', 'recordedDate'),
  },
  Observation: {
    ...RESOURCE,
    subject: subject('Observation'),
    category: category('Observation'),
    status: status('Observation', 'observation-status'),
    date: date(
      'When it was true of the patient',
      'clinical-date',
      'effectiveDateTime',
      'effectivePeriod',
      'effectiveTiming',
      'effectiveInstant',
    ),
  },
  Procedure: {
    ...RESOURCE,
    subject: subject('Procedure'),
    category: category('Procedure'),
    status: status('Procedure', 'event-status'),
    date: date('When it was performed', 'clinical-date', 'performedDateTime', 'performedPeriod'),
  },
  DiagnosticReport: {
    ...RESOURCE,
    subject: subject('DiagnosticReport'),
    category: category('DiagnosticReport'),
    code: {
      kind: 'token',
      elements: ['code'],
      since,
      definition: `${R4}clinical-code`,
      documentation: `The code: ${CODED}`,
    },
    status: status('DiagnosticReport', 'diagnostic-report-status'),
    date: date('The clinically relevant time', 'clinical-date', 'effectiveDateTime', 'effectivePeriod'),
  },
  DocumentReference: {
    ...RESOURCE,
    subject: subject('DocumentReference'),
    category: category('DocumentReference'),
    status: status('DocumentReference', 'document-reference-status'),
    date: date('When this reference was made', 'DocumentReference-date', 'date'),
    period: date('The time of the service that is documented', 'DocumentReference-period', 'context.period'),
  },
  Group: RESOURCE,
  Provenance: {},
};
