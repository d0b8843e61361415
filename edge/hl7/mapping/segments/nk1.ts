/** NK1 as a contact of the Patient (v2-to-FHIR `NK1[Patient]`): one for each segment, next of kin and others. */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { locate, repetitions } from '../../../../shared/hl7/value.ts';
import type { Json, JsonObject } from '../../../../shared/json.ts';
import { note, type MapContext } from '../context.ts';
import { codeOf, mappedConcept } from '../datatypes/cwe.ts';
import { organization } from '../datatypes/party.ts';
import { first, isValued, listOf } from '../datatypes/text.ts';
import { dateTime, period } from '../datatypes/time.ts';
import { address } from '../datatypes/xad.ts';
import { humanNames } from '../datatypes/xpn.ts';
import { contactPoint } from '../datatypes/xtn.ts';
import { contributionsOf, each, type FieldMap } from '../field-map.ts';
import { fixed, type Contribution } from '../../precedence/contribution.ts';
import type { ConceptMap } from '../tables/concept-map.ts';
import { ADMINISTRATIVE_SEX, CONTACT_ROLE, RELATIONSHIP } from '../tables/concept-maps.ts';

import type { PatientSegment } from './rule.ts';

const relationship = (field: number, rows: string, map: ConceptMap): FieldMap => ({
  field,
  rows,
  element: 'relationship',
  map: (segment, context) => listOf(mappedConcept(first(segment, field), context, map)),
});

const telecom = (field: number, rows: string, use?: string): FieldMap => ({
  field,
  rows,
  element: 'telecom',
  map: each(field, (part, context) => contactPoint(part, context, use)),
});

const during = (segment: Segment, context: MapContext) =>
  period(dateTime(first(segment, 8), context), dateTime(first(segment, 9), context), context, locate(segment, 9));

/** Elements of the contact. The fields of an element make its list. */
const FIELDS: readonly FieldMap[] = [
  {
    field: 2,
    rows: '4',
    element: 'name',
    map: (segment, context) => repetitions(segment, 2).flatMap((part) => humanNames(part, context))[0],
  },
  relationship(3, '5', RELATIONSHIP),
  {
    field: 4,
    rows: '6',
    element: 'address',
    map: (segment, context) => each(4, address)(segment, context)[0],
  },
  telecom(5, '7'),
  telecom(6, '8, 9', 'work'),
  relationship(7, '10', CONTACT_ROLE),
  { field: 8, rows: '11', element: 'period', map: during },
  { field: 9, rows: '12', element: 'period', when: (segment) => !isValued(segment, 8), map: during },
  {
    field: 13,
    rows: '16',
    element: 'organization',
    map: (segment, context) => each(13, organization)(segment, context)[0],
  },
  {
    field: 15,
    rows: '18',
    element: 'gender',
    map: (segment) => ADMINISTRATIVE_SEX.codes.get(codeOf(first(segment, 15))?.toUpperCase() ?? '')?.code,
  },
  telecom(40, '43'),
  telecom(41, '44'),
];

/** FHIR R4, pat-1. */
const DETAILS = ['name', 'telecom', 'address', 'organization'];

function contact(segment: Segment, context: MapContext): JsonObject | undefined {
  const found: Record<string, Json> = {};
  for (const { element, value } of contributionsOf(segment, FIELDS, context)) {
    const before = found[element];
    const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) found[element] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  }
  if (DETAILS.some((element) => found[element] !== undefined)) return found;
  const message = 'NK1 has neither a name nor a contact. The contact was skipped.';
  note(context, 'I', '0', locate(segment), message, 'not-mapped');
  return undefined;
}

/** `NK1|1|""`: the patient has no contacts any more (HL7 v2.5.1 §2.10.4.1, snapshot mode). */
const isWithoutContacts = (segment: Segment): boolean => segment.field(2) === '""';

export const NK1: PatientSegment = {
  name: 'NK1',
  contributions: (segments: readonly Segment[], context): readonly Contribution[] => {
    const contacts = segments
      .filter((segment) => !isWithoutContacts(segment))
      .map((segment) => contact(segment, context))
      .filter((found) => found !== undefined);
    if (contacts.length > 0) return [fixed('contact', contacts, 'NK1')];
    return segments.length > 0 && segments.every(isWithoutContacts) ? [fixed('contact', null, 'NK1')] : [];
  },
  source: 'NK1[Patient]',
  fields: FIELDS,
};
