/** Faults of references and contained resources (FHIR R4, References). */
import type { JsonObject } from '../../../../../shared/json.ts';
import { extended, type Fault, faultsOf, ORGANIZATION, VALID, valueOf } from './valid.ts';

const { patient, condition, observation } = VALID;

/** Members of a patient. */
const containing = (...contained: JsonObject[]): JsonObject => ({
  managingOrganization: { reference: '#o' },
  contained,
});
/** A member of a condition. */
const about = (reference: string): JsonObject => ({ subject: { reference } });

export const REFERENCE: readonly Fault[] = [
  ...faultsOf('value', [
    [
      'a contained resource of another type',
      patient,
      {
        ...containing(ORGANIZATION),
        generalPractitioner: [{ reference: '#o' }],
        link: [{ type: 'seealso', other: { reference: '#o' } }],
      },
      'link[0].other.reference',
    ],
    ['a subject of another type', condition, about('Practitioner/1'), 'subject.reference'],
    ['a versioned reference of another type', condition, about('Device/1/_history/2'), 'subject.reference'],
    [
      'an absolute reference of another type',
      condition,
      about('https://example.org/fhir/Device/1'),
      'subject.reference',
    ],
    ['a conditional reference of another type', condition, about('Device?identifier=a'), 'subject.reference'],
    ['an unknown type', condition, about('Person2/1'), 'subject.reference'],
    ['an id without type', condition, about('1'), 'subject.reference'],
    ['a type without id', condition, about('Patient/'), 'subject.reference'],
    ['a type in small letters', condition, about('patient/1'), 'subject.reference'],
    ['a stated type that is not allowed', condition, { subject: { type: 'Device', display: 'a' } }, 'subject.type'],
    [
      'a stated type that is another',
      condition,
      { subject: { reference: 'Patient/1', type: 'Group' } },
      'subject.type',
    ],
  ]),
  ...faultsOf('invariant', [
    ['a local reference to nothing (ref-1)', condition, about('#p'), 'subject'],
    [
      'a reference to the container outside (ref-1)',
      condition,
      { evidence: [{ detail: [{ reference: '#' }] }] },
      'evidence[0].detail[0]',
    ],
  ]),
  [
    'a reference of a choice',
    extended({ valueAnnotation: { text: 'a', authorReference: { reference: 'Device/1' } } }),
    `${valueOf('Annotation')}.author.ofType(Reference).reference`,
    'value',
  ],
];

/** Members of an observation that contains a resource whose type is not in the table. */
const claiming = (members: JsonObject): JsonObject => ({
  focus: [{ reference: '#c' }],
  contained: [{ resourceType: 'Claim', id: 'c', ...members }],
});
const organizing = (members: JsonObject): JsonObject => containing({ ...ORGANIZATION, ...members });
const UNCODED = { resourceType: 'Observation', id: 'b', status: 'final', subject: { reference: '#' } };

export const CONTAINED: readonly Fault[] = [
  ...faultsOf('structure', [
    ['a text', patient, { contained: ['a'] }, 'contained[0]'],
    ['no resourceType', patient, containing(ORGANIZATION, { name: 'a' }), 'contained[1]'],
    ['an unknown type', patient, containing(ORGANIZATION, { resourceType: 'Foo' }), 'contained[1]'],
    ['an unknown element', patient, organizing({ colour: 'red' }), 'contained[0].colour'],
    ['a type beyond the table, an empty object', observation, claiming({ item: [{}] }), 'contained[0].item[0]'],
    ['a type beyond the table, an empty array', observation, claiming({ item: [] }), 'contained[0].item'],
    ['a type beyond the table, null', observation, claiming({ use: null }), 'contained[0].use'],
    ['a type beyond the table, its meta', observation, claiming({ meta: { source: 1 } }), 'contained[0].meta.source'],
  ]),
  ...faultsOf('value', [
    ['an id twice', patient, containing(ORGANIZATION, ORGANIZATION), 'contained[1].id'],
    ['a type beyond the table, a control character', observation, claiming({ use: 'a\u0000' }), 'contained[0].use'],
  ]),
  ...faultsOf('required', [
    ['no id', patient, containing(ORGANIZATION, { resourceType: 'Organization', name: 'a' }), 'contained[1].id'],
    ['an element left out', patient, containing(ORGANIZATION, UNCODED), 'contained[1].code'],
  ]),
  ...faultsOf('invariant', [
    ['nested (dom-2)', patient, organizing({ contained: [{ ...ORGANIZATION, id: 'x' }] }), 'contained[0].contained'],
    ['not referred to (dom-3)', patient, { contained: [ORGANIZATION] }, 'contained[0]'],
    ['a version (dom-4)', patient, organizing({ meta: { versionId: '1' } }), 'contained[0].meta'],
    ['a time (dom-4)', patient, organizing({ meta: { lastUpdated: '2001-02-03T04:05:06Z' } }), 'contained[0].meta'],
    ['a label (dom-5)', patient, organizing({ meta: { security: [{ code: 'R' }] } }), 'contained[0].meta.security'],
    ['nothing to name it (org-1)', patient, containing({ resourceType: 'Organization', id: 'o' }), 'contained[0]'],
    [
      'a home address (org-2)',
      patient,
      organizing({ address: [{ use: 'work' }, { use: 'home' }] }),
      'contained[0].address[1]',
    ],
    ['a home phone (org-3)', patient, organizing({ telecom: [{ use: 'home' }] }), 'contained[0].telecom[0]'],
  ]),
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
    'sev-1',
    {
      resourceType: 'AuditEvent',
      type: { code: 'rest' },
      recorded: '2026-01-01T00:00:00Z',
      agent: [{ requestor: true }],
      source: { observer: { display: 'a' } },
      entity: [{ name: 'a', query: 'YQ==' }],
    },
    '.entity[0]',
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
export const CARRIED: readonly Fault[] = CARRIED_RULES.map(carrying);
