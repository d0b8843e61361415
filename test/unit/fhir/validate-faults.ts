/** Resources with exactly one fault each, and where it has to be found. Each is a small valid resource with one change. */
import { JsonNumber, type Json, type JsonObject } from '../../../shared/json.ts';

/** Title, resource, place and code of the one issue. */
export type Fault = readonly [title: string, resource: Json, at: string, code: string];

const DIV = '<div xmlns="http://www.w3.org/1999/xhtml">text</div>';
const UCUM = 'http://unitsofmeasure.org';
const TERMINOLOGY = 'http://terminology.hl7.org/CodeSystem/';

function coded(system: string, code: string): JsonObject {
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
const { patient, condition, allergy, observation, procedure, report, document } = VALID;

const ORGANIZATION = { resourceType: 'Organization', id: 'o', name: 'a' };

function without(resource: JsonObject, member: string): JsonObject {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => name !== member));
}
function narrated(div: string): JsonObject {
  return { ...patient, text: { status: 'generated', div } };
}
function extended(value: JsonObject): JsonObject {
  return { ...patient, extension: [{ url: 'http://example.org/e', ...value }] };
}
function containing(...contained: JsonObject[]): JsonObject {
  return { ...patient, managingOrganization: { reference: '#o' }, contained };
}
function repeating(repeat: JsonObject): JsonObject {
  return extended({ valueTiming: { repeat } });
}
function triggered(trigger: JsonObject): JsonObject {
  return extended({ valueTriggerDefinition: trigger });
}
function required(filter: JsonObject): JsonObject {
  return extended({ valueDataRequirement: { type: 'Patient', ...filter } });
}
/** An extension with so many levels of extensions below it. */
function nested(levels: number): JsonObject {
  return {
    url: 'http://example.org/e',
    ...(levels === 0 ? { valueBoolean: true } : { extension: [nested(levels - 1)] }),
  };
}
const PROTO: Json = JSON.parse('{"resourceType":"Patient","__proto__":{"a":1}}');
const EXTENSION = 'Patient.extension[0]';
const VALUE = 'Patient.extension[0].value';

const SHAPE: readonly Fault[] = [
  ['not an object', ['Patient'], 'Resource', 'structure'],
  ['null', null, 'Resource', 'structure'],
  ['a text', 'Patient', 'Resource', 'structure'],
  ['a kept number', new JsonNumber('1.50'), 'Resource', 'structure'],
  ['no resourceType', { active: true }, 'Resource', 'required'],
  ['a resourceType that is not R4', { resourceType: 'Pat' }, 'Resource', 'structure'],
  ['a resourceType that is no text', { resourceType: 1 }, 'Resource', 'structure'],
  ['a type that is not served', { resourceType: 'Encounter' }, 'Encounter', 'not-supported'],
  ['an unknown element', { ...patient, colour: 'red' }, 'Patient.colour', 'structure'],
  ['an unknown element with a strange name', { ...patient, 'a b`"': 1 }, 'Patient.`a b\\`\\"`', 'structure'],
  ['an unknown sibling', { ...patient, _colour: { id: 'a' } }, 'Patient._colour', 'structure'],
  ['a sibling of a complex element', { ...patient, _name: [{ id: 'a' }] }, 'Patient._name', 'structure'],
  ['__proto__', PROTO, 'Patient.__proto__', 'structure'],
  ['constructor', { ...patient, constructor: 'a' }, 'Patient.constructor', 'structure'],
  ['toString below', { ...patient, name: [{ text: 'a', toString: 'b' }] }, 'Patient.name[0].toString', 'structure'],
  [
    'resourceType below',
    { ...patient, name: [{ text: 'a', resourceType: 'HumanName' }] },
    'Patient.name[0].resourceType',
    'structure',
  ],
  ['an element of another version', { ...patient, meta: { project: 'a' } }, 'Patient.meta.project', 'structure'],
  ['an array for an object', { ...patient, maritalStatus: [{ text: 'a' }] }, 'Patient.maritalStatus', 'structure'],
  ['an object for an array', { ...patient, name: { text: 'a' } }, 'Patient.name', 'structure'],
  ['an array for a primitive', { ...patient, gender: ['male'] }, 'Patient.gender', 'structure'],
  ['a primitive for an array', { ...patient, name: [{ given: 'a' }] }, 'Patient.name[0].given', 'structure'],
  ['an array in an array', { ...patient, name: [[{ text: 'a' }]] }, 'Patient.name[0]', 'structure'],
  ['an object for a text', { ...patient, birthDate: { value: '2001' } }, 'Patient.birthDate', 'structure'],
  ['a text for an object', { ...patient, maritalStatus: 'M' }, 'Patient.maritalStatus', 'structure'],
  ['a number for a text', { ...patient, name: [{ family: 1 }] }, 'Patient.name[0].family', 'structure'],
  [
    'a kept number for an object',
    { ...patient, maritalStatus: new JsonNumber('1.0') },
    'Patient.maritalStatus',
    'structure',
  ],
  ['a text for a boolean', { ...patient, active: 'true' }, 'Patient.active', 'structure'],
  ['a number for a boolean', { ...patient, active: 1 }, 'Patient.active', 'structure'],
  ['a text for a number', extended({ valueInteger: '1' }), VALUE, 'structure'],
  ['a boolean for a text', { ...patient, language: true }, 'Patient.language', 'structure'],
  ['null for an element', { ...patient, gender: null }, 'Patient.gender', 'structure'],
  ['null for an object', { ...patient, maritalStatus: null }, 'Patient.maritalStatus', 'structure'],
  ['null for an array', { ...patient, name: null }, 'Patient.name', 'structure'],
  ['null in an array of objects', { ...patient, name: [{ text: 'a' }, null] }, 'Patient.name[1]', 'structure'],
  [
    'null in an array without sibling',
    { ...patient, name: [{ given: ['a', null] }] },
    'Patient.name[0].given[1]',
    'structure',
  ],
  [
    'null on both sides',
    { ...patient, name: [{ given: ['a', null], _given: [{ id: 'a' }, null] }] },
    'Patient.name[0].given[1]',
    'structure',
  ],
  ['null for a sibling', { ...patient, gender: 'male', _gender: null }, 'Patient.gender', 'structure'],
  ['an empty object', { ...patient, maritalStatus: {} }, 'Patient.maritalStatus', 'structure'],
  ['an empty object in an array', { ...patient, name: [{}] }, 'Patient.name[0]', 'structure'],
  ['an empty array', { ...patient, name: [] }, 'Patient.name', 'structure'],
  [
    'an empty array of primitives',
    { ...patient, name: [{ text: 'a', given: [] }] },
    'Patient.name[0].given',
    'structure',
  ],
  ['an empty sibling', { ...patient, gender: 'male', _gender: {} }, 'Patient.gender', 'structure'],
  ['a sibling that is a text', { ...patient, gender: 'male', _gender: 'a' }, 'Patient.gender', 'structure'],
  ['a sibling that is an array', { ...patient, gender: 'male', _gender: [{ id: 'a' }] }, 'Patient.gender', 'structure'],
  [
    'an unknown element of a sibling',
    { ...patient, gender: 'male', _gender: { id: 'a', b: 1 } },
    'Patient.gender.b',
    'structure',
  ],
  ['a sibling with an id only and no value', { ...patient, _gender: { id: 'a' } }, 'Patient.gender', 'invariant'],
  [
    'an element with an id only (ele-1)',
    { ...patient, maritalStatus: { id: 'a' } },
    'Patient.maritalStatus',
    'invariant',
  ],
  [
    'nesting without end',
    { ...patient, extension: [nested(80)] },
    `Patient${'.extension[0]'.repeat(64)}.url`,
    'structure',
  ],
];

const CARDINALITY: readonly Fault[] = [
  ['Observation without status', without(observation, 'status'), 'Observation.status', 'required'],
  ['Observation without code', without(observation, 'code'), 'Observation.code', 'required'],
  ['Condition without subject', without(condition, 'subject'), 'Condition.subject', 'required'],
  ['AllergyIntolerance without patient', without(allergy, 'patient'), 'AllergyIntolerance.patient', 'required'],
  ['Procedure without subject', without(procedure, 'subject'), 'Procedure.subject', 'required'],
  ['DiagnosticReport without code', without(report, 'code'), 'DiagnosticReport.code', 'required'],
  ['DocumentReference without content', without(document, 'content'), 'DocumentReference.content', 'required'],
  [
    'content without attachment',
    { ...document, content: [{ id: 'a', format: { code: 'a' } }] },
    'DocumentReference.content[0].attachment',
    'required',
  ],
  [
    'a reaction without manifestation',
    { ...allergy, reaction: [{ description: 'a' }] },
    'AllergyIntolerance.reaction[0].manifestation',
    'required',
  ],
  [
    'a link without type',
    { ...patient, link: [{ other: { reference: 'Patient/2' } }] },
    'Patient.link[0].type',
    'required',
  ],
  [
    'an extension without url',
    { ...patient, extension: [{ valueString: 'a' }] },
    'Patient.extension[0].url',
    'required',
  ],
  [
    'an extension of a primitive without url',
    { ...patient, _birthDate: { extension: [{ valueString: 'a' }] } },
    'Patient.birthDate.extension[0].url',
    'required',
  ],
  ['narrative without div', { ...patient, text: { status: 'generated' } }, 'Patient.text.div', 'required'],
  [
    'a required choice left out',
    extended({ valueUsageContext: { code: { code: 'a' } } }),
    `${VALUE}.value`,
    'required',
  ],
  ['two choices', { ...patient, deceasedBoolean: true, deceasedDateTime: '2001' }, 'Patient.deceased', 'structure'],
  [
    'two choices, one by its sibling',
    { ...patient, deceasedBoolean: true, _deceasedDateTime: { extension: [nested(0)] } },
    'Patient.deceased',
    'structure',
  ],
  ['two values of an extension', extended({ valueString: 'a', valueCode: 'b' }), VALUE, 'structure'],
  ['a choice of a type not allowed', { ...patient, deceasedString: 'a' }, 'Patient.deceasedString', 'structure'],
  ['a choice without its type', { ...observation, value: 1 }, 'Observation.value', 'structure'],
];

const PRIMITIVE: readonly Fault[] = [
  ['an empty text', { ...patient, name: [{ text: '' }] }, 'Patient.name[0].text', 'value'],
  ['only white space', { ...patient, name: [{ text: ' \t' }] }, 'Patient.name[0].text', 'value'],
  ['a control character', { ...patient, name: [{ text: 'a\u0001' }] }, 'Patient.name[0].text', 'value'],
  ['the character NUL', { ...patient, name: [{ given: ['a', 'b\u0000c'] }] }, 'Patient.name[0].given[1]', 'value'],
  ['half a surrogate pair', { ...patient, name: [{ text: 'a\ud800' }] }, 'Patient.name[0].text', 'value'],
  [
    'a text of more than a megabyte',
    { ...patient, name: [{ text: 'a'.repeat(1024 * 1024 + 1) }] },
    'Patient.name[0].text',
    'value',
  ],
  ['30 February', { ...patient, birthDate: '2001-02-30' }, 'Patient.birthDate', 'value'],
  ['29 February of a common year', { ...patient, birthDate: '1900-02-29' }, 'Patient.birthDate', 'value'],
  ['31 April', { ...patient, birthDate: '2001-04-31' }, 'Patient.birthDate', 'value'],
  ['month 13', { ...patient, birthDate: '2001-13' }, 'Patient.birthDate', 'value'],
  ['the year 0', { ...patient, birthDate: '0000' }, 'Patient.birthDate', 'value'],
  ['a date with slashes', { ...patient, birthDate: '2001/02/03' }, 'Patient.birthDate', 'value'],
  ['a date with a line feed', { ...patient, birthDate: '2001-02-03\n' }, 'Patient.birthDate', 'value'],
  ['a date with a time', { ...patient, birthDate: '2001-02-03T04:05:06Z' }, 'Patient.birthDate', 'value'],
  ['a dateTime without zone', { ...patient, deceasedDateTime: '2001-02-03T04:05:06' }, 'Patient.deceased', 'value'],
  ['a dateTime without seconds', { ...patient, deceasedDateTime: '2001-02-03T04:05Z' }, 'Patient.deceased', 'value'],
  ['the hour 24', { ...patient, deceasedDateTime: '2001-02-03T24:00:00Z' }, 'Patient.deceased', 'value'],
  ['the zone +15:00', { ...patient, deceasedDateTime: '2001-02-03T04:05:06+15:00' }, 'Patient.deceased', 'value'],
  ['a dateTime of 31 June', { ...patient, deceasedDateTime: '2001-06-31T04:05:06Z' }, 'Patient.deceased', 'value'],
  ['an instant without time', { ...patient, meta: { lastUpdated: '2001-02-03' } }, 'Patient.meta.lastUpdated', 'value'],
  ['a time with a zone', { ...observation, valueTime: '04:05:06Z' }, 'Observation.value', 'value'],
  ['a time without seconds', { ...observation, valueTime: '04:05' }, 'Observation.value', 'value'],
  ['a code with two spaces', { ...patient, language: 'a  b' }, 'Patient.language', 'value'],
  ['a code with a space at the end', { ...patient, language: 'de ' }, 'Patient.language', 'value'],
  ['an id with a space', { ...patient, id: 'a b' }, 'Patient.id', 'value'],
  ['an id of 65 characters', { ...patient, id: 'a'.repeat(65) }, 'Patient.id', 'value'],
  ['a URI with a space', { ...patient, implicitRules: 'http://example.org/a b' }, 'Patient.implicitRules', 'value'],
  [
    'a URL with a line feed',
    { ...document, content: [{ attachment: { url: 'http://a\n' } }] },
    'DocumentReference.content[0].attachment.url',
    'value',
  ],
  [
    'a canonical with a space',
    { ...patient, meta: { profile: ['http://a', 'a b'] } },
    'Patient.meta.profile[1]',
    'value',
  ],
  ['an OID without its scheme', extended({ valueOid: '1.2.3' }), VALUE, 'value'],
  ['an OID with a leading zero', extended({ valueOid: 'urn:oid:1.02' }), VALUE, 'value'],
  ['a UUID in capitals', extended({ valueUuid: 'urn:uuid:C757873D-EC9A-4326-A141-556F43239520' }), VALUE, 'value'],
  ['base64 of five digits', extended({ valueBase64Binary: 'QUJDR' }), VALUE, 'value'],
  ['base64 with a stray sign', extended({ valueBase64Binary: 'QU*D' }), VALUE, 'value'],
  ['base64 with padding inside', extended({ valueBase64Binary: 'QU==QUJD' }), VALUE, 'value'],
  ['base64url', extended({ valueBase64Binary: 'QU-_' }), VALUE, 'value'],
  ['an integer with a fraction', extended({ valueInteger: 1.5 }), VALUE, 'value'],
  ['an integer written 1.0', extended({ valueInteger: new JsonNumber('1.0') }), VALUE, 'value'],
  ['an integer written 1e2', extended({ valueInteger: new JsonNumber('1e2') }), VALUE, 'value'],
  ['an integer beyond 32 bits', extended({ valueInteger: 2_147_483_648 }), VALUE, 'value'],
  ['an integer below 32 bits', extended({ valueInteger: -2_147_483_649 }), VALUE, 'value'],
  ['minus zero', extended({ valueInteger: new JsonNumber('-0') }), VALUE, 'value'],
  ['a negative unsignedInt', extended({ valueUnsignedInt: -1 }), VALUE, 'value'],
  [
    'a positiveInt of 0',
    { ...patient, telecom: [{ rank: 0, system: 'phone', value: '1' }] },
    'Patient.telecom[0].rank',
    'value',
  ],
  ['a decimal beyond a double', extended({ valueDecimal: new JsonNumber('1e999') }), VALUE, 'value'],
  ['a decimal in quotes', extended({ valueDecimal: '1.50' }), VALUE, 'structure'],
  ['markdown that is empty', extended({ valueMarkdown: '' }), VALUE, 'value'],
];

const BINDING: readonly Fault[] = [
  ['gender m', { ...patient, gender: 'm' }, 'Patient.gender', 'code-invalid'],
  ['gender in capitals', { ...patient, gender: 'Male' }, 'Patient.gender', 'code-invalid'],
  ['gender by a name of Object', { ...patient, gender: 'constructor' }, 'Patient.gender', 'code-invalid'],
  ['use of a name', { ...patient, name: [{ text: 'a', use: 'x' }] }, 'Patient.name[0].use', 'code-invalid'],
  ['status of an Observation', { ...observation, status: 'done' }, 'Observation.status', 'code-invalid'],
  ['status of a DiagnosticReport', { ...report, status: 'current' }, 'DiagnosticReport.status', 'code-invalid'],
  [
    'category, an array of codes',
    { ...allergy, category: ['food', 'pets'] },
    'AllergyIntolerance.category[1]',
    'code-invalid',
  ],
  ['a comparator', extended({ valueQuantity: { value: 1, comparator: '=' } }), `${VALUE}.comparator`, 'code-invalid'],
  ['a currency', extended({ valueMoney: { value: 1, currency: 'EURO' } }), `${VALUE}.currency`, 'code-invalid'],
  [
    'a media type',
    { ...document, content: [{ attachment: { contentType: 'pdf' } }] },
    'DocumentReference.content[0].attachment.contentType',
    'code-invalid',
  ],
  [
    'a concept of another system',
    { ...condition, clinicalStatus: coded('condition-ver-status', 'active') },
    'Condition.clinicalStatus',
    'code-invalid',
  ],
  [
    'a concept of text only',
    { ...condition, clinicalStatus: { text: 'active' } },
    'Condition.clinicalStatus',
    'code-invalid',
  ],
  [
    'a concept without system',
    { ...condition, verificationStatus: { coding: [{ code: 'confirmed' }] } },
    'Condition.verificationStatus',
    'code-invalid',
  ],
  [
    'clinicalStatus of an allergy',
    { ...allergy, clinicalStatus: coded('allergyintolerance-clinical', 'gone') },
    'AllergyIntolerance.clinicalStatus',
    'code-invalid',
  ],
  ['dayOfWeek', repeating({ dayOfWeek: ['mon', 'monday'] }), `${VALUE}.repeat.dayOfWeek[1]`, 'code-invalid'],
];

const REFERENCE: readonly Fault[] = [
  [
    'a subject of another type',
    { ...condition, subject: { reference: 'Practitioner/1' } },
    'Condition.subject.reference',
    'value',
  ],
  [
    'a versioned reference of another type',
    { ...condition, subject: { reference: 'Device/1/_history/2' } },
    'Condition.subject.reference',
    'value',
  ],
  [
    'an absolute reference of another type',
    { ...condition, subject: { reference: 'https://example.org/fhir/Device/1' } },
    'Condition.subject.reference',
    'value',
  ],
  [
    'a conditional reference of another type',
    { ...condition, subject: { reference: 'Device?identifier=a' } },
    'Condition.subject.reference',
    'value',
  ],
  [
    'a contained resource of another type',
    {
      ...containing(ORGANIZATION),
      generalPractitioner: [{ reference: '#o' }],
      link: [{ type: 'seealso', other: { reference: '#o' } }],
    },
    'Patient.link[0].other.reference',
    'value',
  ],
  ['an unknown type', { ...condition, subject: { reference: 'Person2/1' } }, 'Condition.subject.reference', 'value'],
  ['an id without type', { ...condition, subject: { reference: '1' } }, 'Condition.subject.reference', 'value'],
  ['a type without id', { ...condition, subject: { reference: 'Patient/' } }, 'Condition.subject.reference', 'value'],
  [
    'a type in small letters',
    { ...condition, subject: { reference: 'patient/1' } },
    'Condition.subject.reference',
    'value',
  ],
  [
    'a stated type that is not allowed',
    { ...condition, subject: { type: 'Device', display: 'a' } },
    'Condition.subject.type',
    'value',
  ],
  [
    'a stated type that is another',
    { ...condition, subject: { reference: 'Patient/1', type: 'Group' } },
    'Condition.subject.type',
    'value',
  ],
  [
    'a reference of a choice',
    extended({ valueAnnotation: { text: 'a', authorReference: { reference: 'Device/1' } } }),
    `${VALUE}.author.reference`,
    'value',
  ],
  [
    'a local reference to nothing (ref-1)',
    { ...condition, subject: { reference: '#p' } },
    'Condition.subject',
    'invariant',
  ],
  [
    'a reference to the container outside (ref-1)',
    { ...condition, evidence: [{ detail: [{ reference: '#' }] }] },
    'Condition.evidence[0].detail[0]',
    'invariant',
  ],
];

const CONTAINED: readonly Fault[] = [
  ['a text', { ...patient, contained: ['a'] }, 'Patient.contained[0]', 'structure'],
  ['no resourceType', containing(ORGANIZATION, { name: 'a' }), 'Patient.contained[1]', 'structure'],
  ['an unknown type', containing(ORGANIZATION, { resourceType: 'Foo' }), 'Patient.contained[1]', 'structure'],
  [
    'no id',
    containing(ORGANIZATION, { resourceType: 'Organization', name: 'a' }),
    'Patient.contained[1].id',
    'required',
  ],
  ['an unknown element', containing({ ...ORGANIZATION, colour: 'red' }), 'Patient.contained[0].colour', 'structure'],
  [
    'an element left out',
    {
      ...containing(ORGANIZATION, {
        resourceType: 'Observation',
        id: 'b',
        status: 'final',
        subject: { reference: '#' },
      }),
    },
    'Patient.contained[1].code',
    'required',
  ],
  [
    'nested (dom-2)',
    containing({ ...ORGANIZATION, contained: [{ ...ORGANIZATION, id: 'x' }] }),
    'Patient.contained[0].contained',
    'invariant',
  ],
  ['not referred to (dom-3)', { ...patient, contained: [ORGANIZATION] }, 'Patient.contained[0]', 'invariant'],
  [
    'a version (dom-4)',
    containing({ ...ORGANIZATION, meta: { versionId: '1' } }),
    'Patient.contained[0].meta',
    'invariant',
  ],
  [
    'a time (dom-4)',
    containing({ ...ORGANIZATION, meta: { lastUpdated: '2001-02-03T04:05:06Z' } }),
    'Patient.contained[0].meta',
    'invariant',
  ],
  [
    'a label (dom-5)',
    containing({ ...ORGANIZATION, meta: { security: [{ code: 'R' }] } }),
    'Patient.contained[0].meta.security',
    'invariant',
  ],
  [
    'nothing to name it (org-1)',
    containing({ resourceType: 'Organization', id: 'o' }),
    'Patient.contained[0]',
    'invariant',
  ],
  [
    'a home address (org-2)',
    containing({ ...ORGANIZATION, address: [{ use: 'work' }, { use: 'home' }] }),
    'Patient.contained[0].address[1]',
    'invariant',
  ],
  [
    'a home phone (org-3)',
    containing({ ...ORGANIZATION, telecom: [{ use: 'home' }] }),
    'Patient.contained[0].telecom[0]',
    'invariant',
  ],
  [
    'a type beyond the table, an empty object',
    { ...observation, focus: [{ reference: '#c' }], contained: [{ resourceType: 'Claim', id: 'c', item: [{}] }] },
    'Observation.contained[0].item[0]',
    'structure',
  ],
  [
    'a type beyond the table, an empty array',
    { ...observation, focus: [{ reference: '#c' }], contained: [{ resourceType: 'Claim', id: 'c', item: [] }] },
    'Observation.contained[0].item',
    'structure',
  ],
  [
    'a type beyond the table, null',
    { ...observation, focus: [{ reference: '#c' }], contained: [{ resourceType: 'Claim', id: 'c', use: null }] },
    'Observation.contained[0].use',
    'structure',
  ],
  [
    'a type beyond the table, a control character',
    { ...observation, focus: [{ reference: '#c' }], contained: [{ resourceType: 'Claim', id: 'c', use: 'a\u0000' }] },
    'Observation.contained[0].use',
    'value',
  ],
  [
    'a type beyond the table, its meta',
    {
      ...observation,
      focus: [{ reference: '#c' }],
      contained: [{ resourceType: 'Claim', id: 'c', meta: { source: 1 } }],
    },
    'Observation.contained[0].meta.source',
    'structure',
  ],
];

const CARRIED_RULES: readonly (readonly [id: string, resource: JsonObject, below: string])[] = [
  [
    'cpl-3',
    {
      resourceType: 'CarePlan',
      status: 'active',
      intent: 'plan',
      subject: { display: 'a' },
      activity: [{ detail: { status: 'scheduled' }, reference: { display: 'a' } }],
    },
    '.activity[0]',
  ],
  [
    'ctm-1',
    { resourceType: 'CareTeam', participant: [{ member: { reference: '#c' }, onBehalfOf: { display: 'a' } }] },
    '.participant[0]',
  ],
  ['grp-1', { resourceType: 'Group', type: 'person', actual: false, member: [{ entity: { display: 'a' } }] }, ''],
  [
    'imm-1',
    {
      resourceType: 'Immunization',
      status: 'completed',
      vaccineCode: { text: 'a' },
      patient: { display: 'a' },
      occurrenceString: 'a',
      education: [{ publicationDate: '2001' }],
    },
    '.education[0]',
  ],
  [
    'mad-1',
    {
      resourceType: 'MedicationAdministration',
      status: 'completed',
      medicationCodeableConcept: { text: 'a' },
      subject: { display: 'a' },
      effectiveDateTime: '2001',
      dosage: { text: 'a' },
    },
    '.dosage',
  ],
  [
    'mdd-1',
    {
      resourceType: 'MedicationDispense',
      status: 'completed',
      medicationCodeableConcept: { text: 'a' },
      whenPrepared: '2002',
      whenHandedOver: '2001',
    },
    '',
  ],
  [
    'prr-1',
    {
      resourceType: 'ServiceRequest',
      status: 'active',
      intent: 'plan',
      subject: { display: 'a' },
      orderDetail: [{ text: 'a' }],
    },
    '',
  ],
];

function carrying([id, resource, below]: (typeof CARRIED_RULES)[number]): Fault {
  const contained = [{ ...resource, id: 'c' }];
  const outer = { ...observation, focus: [{ reference: '#c' }], contained };
  return [id, outer, `Observation.contained[0]${below}`, 'invariant'];
}

const NARRATIVE: readonly Fault[] = [
  ['not XHTML', 'text'],
  ['no namespace', '<div>a</div>'],
  ['another namespace', '<div xmlns="http://example.org">a</div>'],
  ['nothing to read (txt-2)', DIV.replace('text', ' <p> </p> ')],
  ['a script (txt-1)', DIV.replace('text', 'a<script>alert(1)</script>')],
  ['an event (txt-1)', DIV.replace('text', '<p onclick="a()">a</p>')],
  ['a form (txt-1)', DIV.replace('text', '<form>a</form>')],
  ['a frame (txt-1)', DIV.replace('text', '<iframe src="a">a</iframe>')],
  ['a deprecated element (txt-1)', DIV.replace('text', '<font>a</font>')],
  ['an active link (txt-1)', DIV.replace('text', '<a href="javascript:a()">a</a>')],
  ['an active link in disguise (txt-1)', DIV.replace('text', '<a href="&#106;ava&#10;script:a()">a</a>')],
  ['a document as an image (txt-1)', DIV.replace('text', '<img src="data:text/html,a" alt="a"/>')],
  ['capitals (txt-1)', DIV.replace('text', '<P>a</P>')],
  ['an attribute of another element (txt-1)', DIV.replace('text', '<p href="a">a</p>')],
  ['tags that do not pair', DIV.replace('text', '<b><i>a</b></i>')],
  ['a tag that is not closed', DIV.replace('text', 'a<br>')],
  ['an attribute without quotes', DIV.replace('text', '<p class=a>a</p>')],
  ['an attribute without value', DIV.replace('text', '<p class>a</p>')],
  ['an attribute twice', DIV.replace('text', '<p id="a" id="b">a</p>')],
  ['an HTML entity', DIV.replace('text', 'a&nbsp;b')],
  ['a bare ampersand', DIV.replace('text', 'a & b')],
  ['a bare less-than', DIV.replace('text', 'a < b')],
  ['CDATA', DIV.replace('text', '<![CDATA[a]]>')],
  ['a processing instruction', DIV.replace('text', '<?php a ?>a')],
  ['a DOCTYPE', `<!DOCTYPE html>${DIV}`],
  ['a comment with two hyphens', DIV.replace('text', 'a<!-- b -- c -->')],
  ['two divs', DIV + DIV],
  ['text after the div', `${DIV}a`],
  ['an end that is missing', DIV.slice(0, -6)],
  ['a control character', DIV.replace('text', 'a\u0001')],
].map(([title = '', div = '']): Fault => [`XHTML: ${title}`, narrated(div), 'Patient.text.div', 'value']);

const INVARIANT: readonly Fault[] = [
  ['ext-1, both', extended({ valueString: 'a', extension: [nested(0)] }), EXTENSION, 'invariant'],
  [
    'ext-1, neither',
    { ...patient, modifierExtension: [{ url: 'http://example.org/e' }] },
    'Patient.modifierExtension[0]',
    'invariant',
  ],
  ['pat-1', { ...patient, contact: [{ gender: 'male' }] }, 'Patient.contact[0]', 'invariant'],
  [
    'per-1',
    { ...patient, name: [{ text: 'a', period: { start: '2002', end: '2001-12' } }] },
    'Patient.name[0].period',
    'invariant',
  ],
  [
    'per-1, by zone',
    { ...observation, effectivePeriod: { start: '2001-02-03T04:05:06Z', end: '2001-02-03T05:05:05+01:00' } },
    'Observation.effective',
    'invariant',
  ],
  ['cpt-2', { ...patient, telecom: [{ value: '1' }] }, 'Patient.telecom[0]', 'invariant'],
  ['att-1', { ...patient, photo: [{ data: 'QUJD' }] }, 'Patient.photo[0]', 'invariant'],
  ['qty-3', { ...observation, valueQuantity: { value: 1, code: 'g' } }, 'Observation.value', 'invariant'],
  [
    'sqty-1',
    { ...observation, referenceRange: [{ low: { value: 1, comparator: '<' } }] },
    'Observation.referenceRange[0].low',
    'invariant',
  ],
  ['rat-1', { ...observation, valueRatio: { numerator: { value: 1 } } }, 'Observation.value', 'invariant'],
  [
    'rng-2',
    {
      ...observation,
      valueRange: {
        low: { value: new JsonNumber('2.0'), code: 'g', system: UCUM },
        high: { value: 1, code: 'g', system: UCUM },
      },
    },
    'Observation.value',
    'invariant',
  ],
  [
    'rng-2, of units in words',
    { ...observation, valueRange: { low: { value: 2, unit: 'drops' }, high: { value: 1, unit: 'drops' } } },
    'Observation.value',
    'invariant',
  ],
  ['age-1', { ...condition, onsetAge: { value: 0, code: 'a', system: UCUM } }, 'Condition.onset', 'invariant'],
  ['age-1, no code', { ...condition, onsetAge: { value: 3 } }, 'Condition.onset', 'invariant'],
  ['drt-1', extended({ valueDuration: { value: 1, code: 'h', system: 'http://example.org' } }), VALUE, 'invariant'],
  ['dis-1', extended({ valueDistance: { value: 1 } }), VALUE, 'invariant'],
  ['cnt-3', extended({ valueCount: { value: new JsonNumber('2.0'), code: '1', system: UCUM } }), VALUE, 'invariant'],
  ['cnt-3, another code', extended({ valueCount: { value: 2, code: 'g', system: UCUM } }), VALUE, 'invariant'],
  ['tim-1', repeating({ duration: 1 }), `${VALUE}.repeat`, 'invariant'],
  ['tim-2', repeating({ period: 1 }), `${VALUE}.repeat`, 'invariant'],
  ['tim-4', repeating({ duration: -1, durationUnit: 'h' }), `${VALUE}.repeat`, 'invariant'],
  ['tim-5', repeating({ period: -1, periodUnit: 'h' }), `${VALUE}.repeat`, 'invariant'],
  ['tim-6', repeating({ periodMax: 1 }), `${VALUE}.repeat`, 'invariant'],
  ['tim-7', repeating({ durationMax: 1 }), `${VALUE}.repeat`, 'invariant'],
  ['tim-8', repeating({ countMax: 1 }), `${VALUE}.repeat`, 'invariant'],
  ['tim-9', repeating({ offset: 1 }), `${VALUE}.repeat`, 'invariant'],
  ['tim-9, a meal', repeating({ offset: 1, when: ['C'] }), `${VALUE}.repeat`, 'invariant'],
  ['tim-10', repeating({ timeOfDay: ['01:02:03'], when: ['ACM'] }), `${VALUE}.repeat`, 'invariant'],
  ['trd-1', triggered({ type: 'data-added', timingDate: '2001', data: [{ type: 'Patient' }] }), VALUE, 'invariant'],
  [
    'trd-2',
    triggered({ type: 'named-event', name: 'a', condition: { language: 'text/fhirpath', expression: 'a' } }),
    VALUE,
    'invariant',
  ],
  ['trd-3', triggered({ type: 'periodic' }), VALUE, 'invariant'],
  ['trd-3, data', triggered({ type: 'data-changed' }), VALUE, 'invariant'],
  ['exp-1', extended({ valueExpression: { language: 'text/cql' } }), VALUE, 'invariant'],
  ['drq-1', required({ codeFilter: [{ valueSet: 'http://a' }] }), `${VALUE}.codeFilter[0]`, 'invariant'],
  ['drq-2', required({ dateFilter: [{ path: 'a', searchParam: 'b' }] }), `${VALUE}.dateFilter[0]`, 'invariant'],
  [
    'obs-3',
    { ...observation, referenceRange: [{ type: { text: 'a' } }] },
    'Observation.referenceRange[0]',
    'invariant',
  ],
  [
    'obs-3, of a component',
    { ...observation, component: [{ code: { text: 'b' }, referenceRange: [{ type: { text: 'a' } }] }] },
    'Observation.component[0].referenceRange[0]',
    'invariant',
  ],
  ['obs-6', { ...observation, valueString: 'a', dataAbsentReason: { text: 'b' } }, 'Observation', 'invariant'],
  [
    'obs-7',
    {
      ...observation,
      code: { coding: [{ code: 'a' }] },
      valueString: 'a',
      component: [{ code: { coding: [{ code: 'a' }] } }],
    },
    'Observation',
    'invariant',
  ],
  ['ait-1', without(allergy, 'clinicalStatus'), 'AllergyIntolerance', 'invariant'],
  [
    'ait-2',
    { ...allergy, verificationStatus: coded('allergyintolerance-verification', 'entered-in-error') },
    'AllergyIntolerance',
    'invariant',
  ],
  ['con-1', { ...condition, stage: [{ type: { text: 'a' } }] }, 'Condition.stage[0]', 'invariant'],
  ['con-2', { ...condition, evidence: [{ extension: [nested(0)] }] }, 'Condition.evidence[0]', 'invariant'],
  [
    'con-4',
    { ...condition, abatementString: 'a', clinicalStatus: coded('condition-clinical', 'active') },
    'Condition',
    'invariant',
  ],
  [
    'con-5',
    {
      ...condition,
      verificationStatus: coded('condition-ver-status', 'entered-in-error'),
      clinicalStatus: coded('condition-clinical', 'active'),
    },
    'Condition',
    'invariant',
  ],
];

export const FAULTS: readonly Fault[] = [
  ...SHAPE,
  ...CARDINALITY,
  ...PRIMITIVE,
  ...BINDING,
  ...REFERENCE,
  ...CONTAINED,
  ...CARRIED_RULES.map(carrying),
  ...NARRATIVE,
  ...INVARIANT,
];
