/** Faults of primitive values and required bindings (FHIR R4, Datatypes and Terminologies). */
import { JsonNumber, type JsonObject } from '../../../../../shared/json.ts';
import { coded, extended, type Fault, faultsOf, VALID, valueOf } from './valid.ts';

const { patient, condition, allergy, observation, report, document } = VALID;

function repeating(repeat: JsonObject): JsonObject {
  return extended({ valueTiming: { repeat } });
}

export const PRIMITIVE: readonly Fault[] = [
  ...faultsOf('value', [
    ['an empty text', patient, { name: [{ text: '' }] }, 'name[0].text'],
    ['only white space', patient, { name: [{ text: ' \t' }] }, 'name[0].text'],
    ['a control character', patient, { name: [{ text: 'a\u0001' }] }, 'name[0].text'],
    ['the character NUL', patient, { name: [{ given: ['a', 'b\u0000c'] }] }, 'name[0].given[1]'],
    ['half a surrogate pair', patient, { name: [{ text: 'a\ud800' }] }, 'name[0].text'],
    ['a text of more than a megabyte', patient, { name: [{ text: 'a'.repeat(1024 * 1024 + 1) }] }, 'name[0].text'],
    ['30 February', patient, { birthDate: '2001-02-30' }, 'birthDate'],
    ['29 February of a common year', patient, { birthDate: '1900-02-29' }, 'birthDate'],
    ['31 April', patient, { birthDate: '2001-04-31' }, 'birthDate'],
    ['month 13', patient, { birthDate: '2001-13' }, 'birthDate'],
    ['the year 0', patient, { birthDate: '0000' }, 'birthDate'],
    ['a date with slashes', patient, { birthDate: '2001/02/03' }, 'birthDate'],
    ['a date with a line feed', patient, { birthDate: '2001-02-03\n' }, 'birthDate'],
    ['a date with a time', patient, { birthDate: '2001-02-03T04:05:06Z' }, 'birthDate'],
    ['a dateTime without zone', patient, { deceasedDateTime: '2001-02-03T04:05:06' }, 'deceased.ofType(dateTime)'],
    ['a dateTime without seconds', patient, { deceasedDateTime: '2001-02-03T04:05Z' }, 'deceased.ofType(dateTime)'],
    ['the hour 24', patient, { deceasedDateTime: '2001-02-03T24:00:00Z' }, 'deceased.ofType(dateTime)'],
    ['the zone +15:00', patient, { deceasedDateTime: '2001-02-03T04:05:06+15:00' }, 'deceased.ofType(dateTime)'],
    ['a dateTime of 31 June', patient, { deceasedDateTime: '2001-06-31T04:05:06Z' }, 'deceased.ofType(dateTime)'],
    ['an instant without time', patient, { meta: { lastUpdated: '2001-02-03' } }, 'meta.lastUpdated'],
    ['a time with a zone', observation, { valueTime: '04:05:06Z' }, 'value.ofType(time)'],
    ['a time without seconds', observation, { valueTime: '04:05' }, 'value.ofType(time)'],
    ['a code with two spaces', patient, { language: 'a  b' }, 'language'],
    ['a code with a space at the end', patient, { language: 'de ' }, 'language'],
    ['an id with a space', patient, { id: 'a b' }, 'id'],
    ['an id of 65 characters', patient, { id: 'a'.repeat(65) }, 'id'],
    ['a URI with a space', patient, { implicitRules: 'http://example.org/a b' }, 'implicitRules'],
    [
      'a URL with a line feed',
      document,
      { content: [{ attachment: { url: 'http://a\n' } }] },
      'content[0].attachment.url',
    ],
    ['a canonical with a space', patient, { meta: { profile: ['http://a', 'a b'] } }, 'meta.profile[1]'],
    ['a positiveInt of 0', patient, { telecom: [{ rank: 0, system: 'phone', value: '1' }] }, 'telecom[0].rank'],
  ]),
  ['an OID without its scheme', extended({ valueOid: '1.2.3' }), valueOf('oid'), 'value'],
  ['an OID with a leading zero', extended({ valueOid: 'urn:oid:1.02' }), valueOf('oid'), 'value'],
  [
    'a UUID in capitals',
    extended({ valueUuid: 'urn:uuid:C757873D-EC9A-4326-A141-556F43239520' }),
    valueOf('uuid'),
    'value',
  ],
  ['base64 of five digits', extended({ valueBase64Binary: 'QUJDR' }), valueOf('base64Binary'), 'value'],
  ['base64 with a stray sign', extended({ valueBase64Binary: 'QU*D' }), valueOf('base64Binary'), 'value'],
  ['base64 with padding inside', extended({ valueBase64Binary: 'QU==QUJD' }), valueOf('base64Binary'), 'value'],
  ['base64url', extended({ valueBase64Binary: 'QU-_' }), valueOf('base64Binary'), 'value'],
  ['an integer with a fraction', extended({ valueInteger: 1.5 }), valueOf('integer'), 'value'],
  ['an integer written 1.0', extended({ valueInteger: new JsonNumber('1.0') }), valueOf('integer'), 'value'],
  ['an integer written 1e2', extended({ valueInteger: new JsonNumber('1e2') }), valueOf('integer'), 'value'],
  ['an integer beyond 32 bits', extended({ valueInteger: 2_147_483_648 }), valueOf('integer'), 'value'],
  ['an integer below 32 bits', extended({ valueInteger: -2_147_483_649 }), valueOf('integer'), 'value'],
  ['minus zero', extended({ valueInteger: new JsonNumber('-0') }), valueOf('integer'), 'value'],
  ['a negative unsignedInt', extended({ valueUnsignedInt: -1 }), valueOf('unsignedInt'), 'value'],
  ['a decimal beyond a double', extended({ valueDecimal: new JsonNumber('1e999') }), valueOf('decimal'), 'value'],
  ['a decimal in quotes', extended({ valueDecimal: '1.50' }), valueOf('decimal'), 'structure'],
  ['markdown that is empty', extended({ valueMarkdown: '' }), valueOf('markdown'), 'value'],
];

export const BINDING: readonly Fault[] = [
  ...faultsOf('code-invalid', [
    ['gender m', patient, { gender: 'm' }, 'gender'],
    ['gender in capitals', patient, { gender: 'Male' }, 'gender'],
    ['gender by a name of Object', patient, { gender: 'constructor' }, 'gender'],
    ['use of a name', patient, { name: [{ text: 'a', use: 'x' }] }, 'name[0].use'],
    ['status of an Observation', observation, { status: 'done' }, 'status'],
    ['status of a DiagnosticReport', report, { status: 'current' }, 'status'],
    ['category, an array of codes', allergy, { category: ['food', 'pets'] }, 'category[1]'],
    [
      'a media type',
      document,
      { content: [{ attachment: { contentType: 'pdf' } }] },
      'content[0].attachment.contentType',
    ],
    [
      'a concept of another system',
      condition,
      { clinicalStatus: coded('condition-ver-status', 'active') },
      'clinicalStatus',
    ],
    ['a concept of text only', condition, { clinicalStatus: { text: 'active' } }, 'clinicalStatus'],
    [
      'a concept without system',
      condition,
      { verificationStatus: { coding: [{ code: 'confirmed' }] } },
      'verificationStatus',
    ],
    [
      'clinicalStatus of an allergy',
      allergy,
      { clinicalStatus: coded('allergyintolerance-clinical', 'gone') },
      'clinicalStatus',
    ],
  ]),
  [
    'a comparator',
    extended({ valueQuantity: { value: 1, comparator: '=' } }),
    `${valueOf('Quantity')}.comparator`,
    'code-invalid',
  ],
  [
    'a currency',
    extended({ valueMoney: { value: 1, currency: 'EURO' } }),
    `${valueOf('Money')}.currency`,
    'code-invalid',
  ],
  [
    'dayOfWeek',
    repeating({ dayOfWeek: ['mon', 'monday'] }),
    `${valueOf('Timing')}.repeat.dayOfWeek[1]`,
    'code-invalid',
  ],
];
