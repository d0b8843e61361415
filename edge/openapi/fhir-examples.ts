/** The example resources and searches of "Try it out" and of the samples; they need only the caller's ids. */
import type { ResourceType } from '../../shared/resource-type.ts';

/** A placeholder for an id of the caller. */
export const SAMPLE_ID = '00000000-0000-0000-0000-000000000000';
const patient = { reference: `Patient/${SAMPLE_ID}` };
const coded = (system: string, code: string, display: string) => ({ coding: [{ system, code, display }] });
const SNOMED = 'http://snomed.info/sct';
const LOINC = 'http://loinc.org';
const clinical = (type: string, code: string) => ({
  coding: [{ system: `http://terminology.hl7.org/CodeSystem/${type}`, code }],
});

/** One small resource of each type. */
export const EXAMPLES: Readonly<Record<ResourceType, object>> = {
  Patient: {
    resourceType: 'Patient',
    identifier: [{ value: 'MRN-1' }],
    name: [{ text: 'Ada Lovelace' }],
    telecom: [{ system: 'phone', value: '+44 20 7946 0000' }],
    address: [{ text: '12 St James’s Square, London', country: 'GB', postalCode: 'SW1Y 4JH' }],
    gender: 'female',
    birthDate: '1970-12-10',
  },
  Condition: {
    resourceType: 'Condition',
    clinicalStatus: clinical('condition-clinical', 'active'),
    code: coded(SNOMED, '38341003', 'Hypertension'),
    subject: patient,
  },
  AllergyIntolerance: {
    resourceType: 'AllergyIntolerance',
    clinicalStatus: clinical('allergyintolerance-clinical', 'active'),
    code: coded(SNOMED, '91936005', 'Allergy to penicillin'),
    patient,
  },
  Observation: {
    resourceType: 'Observation',
    status: 'final',
    code: coded(LOINC, '29463-7', 'Body weight'),
    subject: patient,
    valueQuantity: { value: 71.5, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
  },
  Procedure: {
    resourceType: 'Procedure',
    status: 'completed',
    code: coded(SNOMED, '80146002', 'Appendectomy'),
    subject: patient,
  },
  DiagnosticReport: {
    resourceType: 'DiagnosticReport',
    status: 'final',
    code: coded(LOINC, '24627-2', 'CT Chest'),
    subject: patient,
    conclusion: 'No abnormality.',
  },
  DocumentReference: {
    resourceType: 'DocumentReference',
    status: 'current',
    type: coded(LOINC, '11488-4', 'Consult note'),
    subject: patient,
    content: [{ attachment: { contentType: 'text/plain', url: 'https://documents.example/1' } }],
  },
  Group: {
    resourceType: 'Group',
    identifier: [{ value: 'COHORT-1' }],
    type: 'person',
    actual: true,
    name: 'Diabetes registry',
    member: [{ entity: patient }],
  },
  Provenance: {
    resourceType: 'Provenance',
    target: [{ reference: `Observation/${SAMPLE_ID}/_history/1` }],
    recorded: '2026-01-01T08:00:00.000Z',
    agent: [{ who: { identifier: { value: 'svc-12345678' }, display: 'LAB HOSPITAL' } }],
  },
};

/** By type a search that finds its example, by parameters of every set of them: a form, or a condition. */
export const SEARCHES: Readonly<Record<ResourceType, Readonly<Record<string, string>>>> = {
  Patient: { identifier: 'MRN-1' },
  Condition: { patient: SAMPLE_ID, code: '38341003' },
  AllergyIntolerance: { patient: SAMPLE_ID, code: '91936005' },
  Observation: { patient: SAMPLE_ID, code: '29463-7' },
  Procedure: { patient: SAMPLE_ID, code: '80146002' },
  DiagnosticReport: { patient: SAMPLE_ID, status: 'final' },
  DocumentReference: { patient: SAMPLE_ID, type: '11488-4' },
  Group: { identifier: 'COHORT-1' },
  Provenance: { target: `Observation/${SAMPLE_ID}` },
};

const replace = (path: string, value: string) => [{ op: 'replace', path, value }];
/** By type a JSON Patch of its example. */
export const PATCHES: Readonly<Record<ResourceType, readonly object[]>> = {
  Patient: replace('/gender', 'female'),
  Condition: replace('/clinicalStatus/coding/0/code', 'resolved'),
  AllergyIntolerance: replace('/clinicalStatus/coding/0/code', 'resolved'),
  Observation: replace('/status', 'amended'),
  Procedure: replace('/status', 'stopped'),
  DiagnosticReport: replace('/status', 'amended'),
  DocumentReference: replace('/status', 'superseded'),
  Group: replace('/name', 'Diabetes registry'),
  // It is never written.
  Provenance: [],
};
