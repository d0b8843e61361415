/** Faults of references and contained resources (FHIR R4, References). */
import type { JsonObject } from '../../../../../shared/json.ts';
import { extended, ORGANIZATION, VALID, valueOf, type Fault } from './valid.ts';

const { patient, condition, observation } = VALID;

function containing(...contained: JsonObject[]): JsonObject {
  return { ...patient, managingOrganization: { reference: '#o' }, contained };
}

export const REFERENCE: readonly Fault[] = [
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
    `${valueOf('Annotation')}.author.ofType(Reference).reference`,
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

export const CONTAINED: readonly Fault[] = [
  ['an id twice', containing(ORGANIZATION, ORGANIZATION), 'Patient.contained[1].id', 'value'],
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
