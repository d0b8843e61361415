/** One small resource of each type, valid as it stands once the patient's id is filled in: what "Try it out" begins with. */
import type { ResourceType } from '../../shared/resource-type.ts';

const patient = { reference: 'Patient/00000000-0000-0000-0000-000000000000' };
const coded = (system: string, code: string, display: string) => ({ coding: [{ system, code, display }] });
const SNOMED = 'http://snomed.info/sct';
const LOINC = 'http://loinc.org';
const clinical = (type: string, code: string) => ({
  coding: [{ system: `http://terminology.hl7.org/CodeSystem/${type}`, code }],
});

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
};
