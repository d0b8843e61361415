/**
 * The profiles of US Core 6.1.0 for the supported types, and their extensions, as rules over the definitions of R4. A row is a
 * rule: a path, then its marks. `profile.ts` explains the notation and checks the rules.
 *
 * The rows are written by hand from the published profiles (HL7, CC0-1.0), because no registry of packages has them. HAPI's validator
 * gives the same verdicts (`test/unit/fhir/validate/hapi`).
 *
 * A rule that a later version of US Core (7.0, 8.0) relaxed is relaxed here, so that resources of both are valid. Must-support says
 * nothing about a single resource. Bindings of strength extensible or less, and required bindings to code systems of thousands of
 * codes, need a terminology server and are left out. A category slice by a value set without a minimum rejects nothing, and is left
 * out too.
 */

/** Code systems by the names that the rows use. */
export const SYSTEMS: Readonly<Record<string, string>> = {
  category: 'http://terminology.hl7.org/CodeSystem/observation-category',
  condition: 'http://terminology.hl7.org/CodeSystem/condition-category',
  core: 'http://hl7.org/fhir/us/core/CodeSystem/condition-category',
  loinc: 'http://loinc.org',
  null: 'http://terminology.hl7.org/CodeSystem/v3-NullFlavor',
  race: 'urn:oid:2.16.840.1.113883.6.238',
  section: 'http://terminology.hl7.org/CodeSystem/v2-0074',
};

/** The version of the rules (StructureDefinition.version). */
export const US_CORE_VERSION = '6.1.0';
export const US_CORE = 'http://hl7.org/fhir/us/core/StructureDefinition/';

const UNIT = (path: string): string => `
${path}.value 1
${path}.unit 1
${path}.system 1 =http://unitsofmeasure.org
${path}.code 1`;
const COMPONENT = (code: string, cardinality: string, unit: string): string => `
component[loinc|${code}] ${cardinality}
component[loinc|${code}].value :Quantity${UNIT(`component[loinc|${code}].value`)} =${unit}`;
/** A vital sign that is one Quantity. */
const MEASURE = (code: string, units: string): string => `Observation <us-core-vital-signs
code ~loinc|${code}
value :Quantity${UNIT('value')} {${units}}`;
const SOCIAL_HISTORY = `
category[category|social-history] 0..1
subject 1 >Patient`;
const RESULT = `Observation #us-core-2
category 1..*
subject 1 >Patient
effective #us-core-1`;

/** Rules by the last part of the profile's URL. */
export const PROFILES: Readonly<Record<string, string>> = {
  'us-core-patient': `Patient #us-core-6
extension[us-core-race] 0..1
extension[us-core-ethnicity] 0..1
extension[us-core-birthsex] 0..1
extension[us-core-sex] 0..1
identifier 1..*
identifier.system 1
identifier.value 1
name 1..*
telecom.system 1
telecom.value 1
gender 1`,
  'us-core-allergyintolerance': `AllergyIntolerance
code 1`,
  'us-core-condition-encounter-diagnosis': `Condition
extension[http://hl7.org/fhir/StructureDefinition/condition-assertedDate] 0..1
category 1..*
category[condition|encounter-diagnosis] 1
code 1
subject >Patient`,
  'us-core-condition-problems-health-concerns': `Condition
extension[http://hl7.org/fhir/StructureDefinition/condition-assertedDate] 0..1
category 1..*
category[condition|problem-list-item,core|health-concern] 1..*
code 1
subject >Patient`,
  'us-core-procedure': `Procedure #us-core-7
code 1`,
  'us-core-documentreference': `DocumentReference
type 1
category 1..*
subject 1 >Patient
content.attachment #us-core-6-attachment
context.encounter 0..1 >Encounter`,
  'us-core-diagnosticreport-lab': `DiagnosticReport #us-core-8 #us-core-9
category 1..*
category[section|LAB] 1
subject 1`,
  'us-core-diagnosticreport-note': `DiagnosticReport #us-core-10
category 1..*
subject 1 >Patient`,
  'us-core-observation-clinical-result': `${RESULT}
value #us-core-3`,
  'us-core-observation-lab': `${RESULT}
category[category|laboratory] 1
value #us-core-3`,
  'us-core-observation-screening-assessment': `${RESULT}
category[category|survey] 1
value #us-core-3`,
  'us-core-simple-observation': `Observation
category 1..*
subject 1 >Patient`,
  'us-core-observation-occupation': `Observation
code ~loinc|11341-5${SOCIAL_HISTORY}
effective :Period
value 1 :CodeableConcept
component[loinc|86188-0] 0..1
component[loinc|86188-0].value 1 :CodeableConcept`,
  'us-core-observation-pregnancyintent': `Observation
code ~loinc|86645-9${SOCIAL_HISTORY}
effective 1 :dateTime
value 1 :CodeableConcept`,
  'us-core-observation-pregnancystatus': `Observation
code ~loinc|82810-3${SOCIAL_HISTORY}
effective 1 :dateTime
value 1 :CodeableConcept`,
  'us-core-observation-sexual-orientation': `Observation #us-core-2
code ~loinc|76690-7
subject 1 >Patient
value :CodeableConcept`,
  'us-core-smokingstatus': `Observation
status {final,entered-in-error}
category 1..*
category[category|social-history] 1
subject 1 >Patient
effective 1 :dateTime,Period
value 1 :CodeableConcept,Quantity`,
  'us-core-vital-signs': `Observation #vs-2
category 1..*
category[category|vital-signs] 1
subject 1 >Patient
effective 1 :dateTime,Period #vs-1
component #vs-3`,
  'us-core-blood-pressure': `Observation <us-core-vital-signs
code ~loinc|85354-9
component 2..*${COMPONENT('8480-6', '1', 'mm[Hg]')}${COMPONENT('8462-4', '1', 'mm[Hg]')}`,
  'us-core-pulse-oximetry': `Observation <us-core-vital-signs
code.coding 2..*
code.coding[loinc|59408-5] 1
code.coding[loinc|2708-6] 1
value :Quantity${UNIT('value')} =%${COMPONENT('3151-8', '0..1', 'L/min')}${COMPONENT('3150-0', '0..1', '%')}`,
  'us-core-bmi': MEASURE('39156-5', 'kg/m2'),
  'us-core-body-height': MEASURE('8302-2', 'cm,[in_i]'),
  'us-core-body-temperature': MEASURE('8310-5', 'Cel,[degF]'),
  'us-core-body-weight': MEASURE('29463-7', 'g,kg,[lb_av]'),
  'us-core-head-circumference': MEASURE('9843-4', 'cm,[in_i]'),
  'us-core-heart-rate': MEASURE('8867-4', '/min'),
  'us-core-respiratory-rate': MEASURE('9279-1', '/min'),
  'pediatric-bmi-for-age': MEASURE('59576-9', '%'),
  'pediatric-weight-for-height': MEASURE('77606-2', '%'),
  'head-occipital-frontal-circumference-percentile': MEASURE('8289-1', '%'),
};

const OMB = (most: string, codes: string): string => `Extension
value 0..0
extension[ombCategory] 0..${most}
extension[ombCategory].value 1 :Coding {${codes},null|UNK,null|ASKU}
extension[detailed].value 1 :Coding #cdc-race
extension[text] 1
extension[text].value 1 :string`;
const SEXES = 'M,F,ASKU,OTH,UNK';

/** The extensions of these profiles, checked in every resource that has them. */
export const EXTENSIONS: Readonly<Record<string, string>> = {
  'us-core-race': OMB('5', 'race|1002-5,race|2028-9,race|2054-5,race|2076-8,race|2106-3,race|2131-1'),
  'us-core-ethnicity': OMB('1', 'race|2135-2,race|2186-5'),
  'us-core-birthsex': `Extension
extension 0..0
value 1 :code {${SEXES}}`,
  'us-core-sex': `Extension
extension 0..0
value 1 :code`,
  'us-core-genderIdentity': `Extension
extension 0..0
value 1 :CodeableConcept`,
  'us-core-tribal-affiliation': `Extension
value 0..0
extension[tribalAffiliation] 1
extension[tribalAffiliation].value 1 :CodeableConcept
extension[isEnrolled] 0..1
extension[isEnrolled].value 1 :boolean`,
};
