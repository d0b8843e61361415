/** Resources of the project that conform to US Core 6.1: at least one for each profile, with the parts that its rules name. */
import type { JsonObject } from '../../shared/json.ts';

const PROFILE = 'http://hl7.org/fhir/us/core/StructureDefinition/';
const TERMINOLOGY = 'http://terminology.hl7.org/CodeSystem/';
const SUBJECT = { subject: { reference: 'Patient/p1' } };
const DAY = '2024-05-17';

const concept = (system: string, code: string): JsonObject => ({ coding: [{ system, code }] });
const loinc = (code: string): JsonObject => concept('http://loinc.org', code);
const snomed = (code: string): JsonObject => concept('http://snomed.info/sct', code);
const category = (code: string): JsonObject => ({ category: [concept(`${TERMINOLOGY}observation-category`, code)] });
const quantity = (value: number, code: string): JsonObject => ({
  value,
  unit: code,
  system: 'http://unitsofmeasure.org',
  code,
});
const claims = (name: string): JsonObject => ({ meta: { profile: [PROFILE + name] } });

const observation = (profile: string, ...parts: readonly JsonObject[]): JsonObject =>
  Object.assign({ resourceType: 'Observation', ...claims(profile), status: 'final', ...SUBJECT }, ...parts);
const vital = (profile: string, code: string, ...parts: readonly JsonObject[]): JsonObject =>
  observation(profile, category('vital-signs'), { code: loinc(code), effectiveDateTime: DAY }, ...parts);
const measure = (profile: string, code: string, value: number, unit: string): JsonObject =>
  vital(profile, code, { valueQuantity: quantity(value, unit) });
const social = (profile: string, code: string, value: JsonObject, ...parts: readonly JsonObject[]): JsonObject =>
  observation(profile, category('social-history'), { code: loinc(code), valueCodeableConcept: value }, ...parts);

const detail = (url: string, system: string, code: string): JsonObject => ({ url, valueCoding: { system, code } });
const CDC = 'urn:oid:2.16.840.1.113883.6.238';
const race: JsonObject = {
  url: `${PROFILE}us-core-race`,
  extension: [
    detail('ombCategory', CDC, '2028-9'),
    detail('ombCategory', `${TERMINOLOGY}v3-NullFlavor`, 'UNK'),
    detail('detailed', CDC, '2036-2'),
    { url: 'text', valueString: 'Asian, and more' },
  ],
};
const ethnicity: JsonObject = {
  url: `${PROFILE}us-core-ethnicity`,
  extension: [
    detail('ombCategory', CDC, '2135-2'),
    detail('detailed', CDC, '2148-5'),
    { url: 'text', valueString: 'Mexican' },
  ],
};

const patient: JsonObject = {
  resourceType: 'Patient',
  ...claims('us-core-patient'),
  extension: [
    race,
    ethnicity,
    { url: `${PROFILE}us-core-birthsex`, valueCode: 'F' },
    { url: `${PROFILE}us-core-genderIdentity`, valueCodeableConcept: snomed('446141000124107') },
  ],
  identifier: [{ system: 'urn:oid:1.2.36.146', value: '1032702' }],
  name: [{ use: 'official', family: 'Mori', given: ['Ai'] }],
  telecom: [{ system: 'phone', value: '555-0101', use: 'home' }],
  gender: 'female',
  birthDate: '1987-02-20',
  address: [{ line: ['4 Elm St'], city: 'Mounds', state: 'OK', postalCode: '74047' }],
  communication: [{ language: concept('urn:ietf:bcp:47', 'en') }],
};

const status = (name: string, code: string): JsonObject => concept(TERMINOLOGY + name, code);
const condition = (profile: string, of: JsonObject): JsonObject => ({
  resourceType: 'Condition',
  ...claims(profile),
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/condition-assertedDate', valueDateTime: DAY }],
  clinicalStatus: status('condition-clinical', 'active'),
  verificationStatus: status('condition-ver-status', 'confirmed'),
  category: [of, concept('http://hl7.org/fhir/us/core/CodeSystem/us-core-category', 'sdoh')],
  code: snomed('44054006'),
  ...SUBJECT,
  onsetDateTime: DAY,
});

const report = (profile: string, of: JsonObject, code: string): JsonObject => ({
  resourceType: 'DiagnosticReport',
  ...claims(profile),
  status: 'final',
  category: [of],
  code: loinc(code),
  ...SUBJECT,
  effectiveDateTime: DAY,
  issued: '2024-05-17T10:00:00Z',
  performer: [{ reference: 'Practitioner/x' }],
});

/** Each is valid in the profile that it claims. */
export const US_CORE_RESOURCES: readonly JsonObject[] = [
  patient,
  {
    ...patient,
    extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
    name: [{ text: 'A. Mori' }],
  },
  {
    resourceType: 'AllergyIntolerance',
    ...claims('us-core-allergyintolerance'),
    clinicalStatus: status('allergyintolerance-clinical', 'active'),
    code: snomed('387207008'),
    patient: { reference: 'Patient/p1' },
    reaction: [{ manifestation: [snomed('126485001')] }],
  },
  condition('us-core-condition-encounter-diagnosis', status('condition-category', 'encounter-diagnosis')),
  condition('us-core-condition-problems-health-concerns', status('condition-category', 'problem-list-item')),
  condition(
    'us-core-condition-problems-health-concerns',
    concept('http://hl7.org/fhir/us/core/CodeSystem/condition-category', 'health-concern'),
  ),
  {
    resourceType: 'Procedure',
    ...claims('us-core-procedure'),
    status: 'completed',
    code: snomed('35637008'),
    ...SUBJECT,
    performedPeriod: { start: DAY },
  },
  {
    resourceType: 'DocumentReference',
    ...claims('us-core-documentreference'),
    status: 'current',
    type: loinc('18842-5'),
    category: [concept('http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category', 'clinical-note')],
    ...SUBJECT,
    author: [{ reference: 'Practitioner/x' }],
    content: [{ attachment: { contentType: 'text/plain', data: 'SGVsbG8=' } }],
    context: { encounter: [{ reference: 'Encounter/e' }], period: { start: DAY } },
  },
  report('us-core-diagnosticreport-lab', status('v2-0074', 'LAB'), '24323-8'),
  report('us-core-diagnosticreport-note', concept('http://loinc.org', 'LP29684-5'), '18748-4'),
  observation('us-core-observation-clinical-result', category('imaging'), {
    code: loinc('80273-0'),
    effectivePeriod: { start: DAY },
    valueString: 'normal',
  }),
  observation('us-core-observation-lab', category('laboratory'), {
    code: loinc('2947-0'),
    effectiveDateTime: DAY,
    valueQuantity: quantity(140, 'mmol/L'),
  }),
  observation('us-core-observation-lab', category('laboratory'), {
    code: loinc('51990-0'),
    hasMember: [{ reference: 'Observation/o1' }],
  }),
  observation('us-core-observation-screening-assessment', category('survey'), {
    code: loinc('96777-8'),
    effectiveDateTime: DAY,
    dataAbsentReason: status('data-absent-reason', 'asked-declined'),
  }),
  observation('us-core-simple-observation', category('social-history'), {
    code: loinc('63504-5'),
    valueBoolean: true,
  }),
  social('us-core-observation-occupation', '11341-5', snomed('223366009'), {
    effectivePeriod: { start: '2015' },
    component: [{ code: loinc('86188-0'), valueCodeableConcept: { text: 'care' } }],
  }),
  social('us-core-observation-pregnancyintent', '86645-9', snomed('454381000124105'), { effectiveDateTime: DAY }),
  social('us-core-observation-pregnancystatus', '82810-3', snomed('77386006'), { effectiveDateTime: DAY }),
  social('us-core-observation-sexual-orientation', '76690-7', snomed('20430005')),
  social('us-core-smokingstatus', '72166-2', snomed('8517006'), { effectiveDateTime: DAY }),
  vital('us-core-vital-signs', '9843-4', { valueQuantity: quantity(48, 'cm') }),
  vital('us-core-blood-pressure', '85354-9', {
    component: [
      { code: loinc('8480-6'), valueQuantity: quantity(120, 'mm[Hg]') },
      { code: loinc('8462-4'), valueQuantity: quantity(80, 'mm[Hg]') },
    ],
  }),
  vital('us-core-blood-pressure', '85354-9', {
    component: [
      { code: loinc('8480-6'), valueQuantity: quantity(120, 'mm[Hg]') },
      { code: loinc('8462-4'), dataAbsentReason: status('data-absent-reason', 'not-performed') },
    ],
  }),
  vital('us-core-pulse-oximetry', '59408-5', {
    code: { coding: ['59408-5', '2708-6'].map((code) => ({ system: 'http://loinc.org', code })) },
    valueQuantity: quantity(95, '%'),
    component: [
      { code: loinc('3151-8'), valueQuantity: quantity(6, 'L/min') },
      { code: loinc('3150-0'), valueQuantity: quantity(40, '%') },
    ],
  }),
  measure('us-core-bmi', '39156-5', 16.2, 'kg/m2'),
  measure('us-core-body-height', '8302-2', 111, 'cm'),
  measure('us-core-body-temperature', '8310-5', 36.5, 'Cel'),
  measure('us-core-body-weight', '29463-7', 70, 'kg'),
  measure('us-core-head-circumference', '9843-4', 51, 'cm'),
  measure('us-core-heart-rate', '8867-4', 44, '/min'),
  measure('us-core-respiratory-rate', '9279-1', 26, '/min'),
  measure('pediatric-bmi-for-age', '59576-9', 65, '%'),
  measure('pediatric-weight-for-height', '77606-2', 65, '%'),
  measure('head-occipital-frontal-circumference-percentile', '8289-1', 82, '%'),
];
