/** The Worker that `fhir-validate.ts` measures: validates a typical resource as often as the query asks. Not deployed. */
import { validate } from '../../edge/fhir/validate/validate.ts';
import { parseJson, type Json } from '../../shared/json.ts';

const PATIENT = {
  resourceType: 'Patient',
  id: 'b1f5c9ae-4b3e-7d0a-9c56-0a1b2c3d4e5f',
  meta: {
    versionId: '3',
    lastUpdated: '2026-01-02T03:04:05.678Z',
    source: 'urn:uuid:0b0c0d0e-0000-4000-8000-000000000000',
  },
  identifier: [
    {
      use: 'usual',
      type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'MR' }] },
      system: 'urn:oid:1.2.36.146.595.217.0.1',
      value: 'PATID1234',
      period: { start: '2001-05-06' },
      assigner: { display: 'Good Health Hospital' },
    },
    { system: 'http://hl7.org/fhir/sid/us-ssn', value: '123456789' },
  ],
  active: true,
  name: [
    { use: 'official', family: 'Everyman', given: ['Adam', 'A'], suffix: ['III'] },
    { use: 'usual', given: ['Adam'] },
  ],
  telecom: [
    { system: 'phone', value: '(555) 555-2004', use: 'home', rank: 1 },
    { system: 'email', value: 'adam@example.org' },
  ],
  gender: 'male',
  birthDate: '1961-06-15',
  _birthDate: {
    extension: [
      { url: 'http://hl7.org/fhir/StructureDefinition/patient-birthTime', valueDateTime: '1961-06-15T14:35:45-05:00' },
    ],
  },
  deceasedBoolean: false,
  address: [
    {
      use: 'home',
      type: 'both',
      line: ['2222 Home Street'],
      city: 'Greensboro',
      state: 'NC',
      postalCode: '27401-1020',
    },
  ],
  maritalStatus: {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'M' }],
    text: 'Married',
  },
  contact: [
    {
      relationship: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0131', code: 'N' }] }],
      name: { family: 'Nuclear', given: ['Nelda'] },
      telecom: [{ system: 'phone', value: '+33 (237) 998327' }],
      gender: 'female',
    },
  ],
  managingOrganization: { reference: 'Organization/1' },
};

const OBSERVATION = {
  resourceType: 'Observation',
  id: 'f001',
  text: {
    status: 'generated',
    div: '<div xmlns="http://www.w3.org/1999/xhtml"><p><b>Glucose</b>: 6.3 mmol/l</p></div>',
  },
  identifier: [{ use: 'official', system: 'http://www.example.org/identifiers/observations', value: '6323' }],
  status: 'final',
  category: [
    {
      coding: [
        {
          system: 'http://terminology.hl7.org/CodeSystem/observation-category',
          code: 'laboratory',
          display: 'Laboratory',
        },
      ],
    },
  ],
  code: { coding: [{ system: 'http://loinc.org', code: '15074-8', display: 'Glucose [Moles/volume] in Blood' }] },
  subject: { reference: 'Patient/f001', display: 'P. van de Heuvel' },
  effectivePeriod: { start: '2013-04-02T09:30:10+01:00' },
  issued: '2013-04-03T15:30:10+01:00',
  performer: [{ reference: 'Practitioner/f005', display: 'A. Langeveld' }],
  valueQuantity: { value: 6.3, unit: 'mmol/l', system: 'http://unitsofmeasure.org', code: 'mmol/L' },
  interpretation: [
    {
      coding: [
        { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: 'H', display: 'High' },
      ],
    },
  ],
  referenceRange: [
    {
      low: { value: 3.1, unit: 'mmol/l', system: 'http://unitsofmeasure.org', code: 'mmol/L' },
      high: { value: 6.2, unit: 'mmol/l', system: 'http://unitsofmeasure.org', code: 'mmol/L' },
    },
  ],
};

// Read by the gateway's own reader, so that the objects have the shape they have in a request.
const SAMPLES: ReadonlyMap<string, Json> = new Map(
  [PATIENT, OBSERVATION].map((sample) => [sample.resourceType, parseJson(JSON.stringify(sample))]),
);

/**
 * Validates the typical resource of this type so many times.
 *
 * @returns the number of faults, which has to be 0
 */
export function validateOften(type: string, times: number): number {
  const sample = SAMPLES.get(type);
  if (sample === undefined) throw new Error(`no sample of ${type}`);
  let faults = 0;
  for (let at = 0; at < times; at += 1) faults += validate(sample, type).length;
  return faults;
}

export default {
  fetch(request: Request): Response {
    const { searchParams } = new URL(request.url);
    const faults = validateOften(searchParams.get('type') ?? '', Number(searchParams.get('times')));
    return new Response(String(faults));
  },
};
