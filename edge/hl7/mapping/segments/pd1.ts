/** PD1 as Patient (v2-to-FHIR `PD1[Patient]`). */
import { concept } from '../datatypes/cwe.ts';
import { organization, practitioner } from '../datatypes/party.ts';
import { members, textOf } from '../datatypes/text.ts';
import { each, type FieldMap, one } from '../field-map.ts';
import { firstOne, type PatientSegment } from './rule.ts';

const STRUCTURE = 'http://hl7.org/fhir/StructureDefinition';

const FIELDS: readonly FieldMap[] = [
  {
    field: 3,
    rows: '5',
    element: 'generalPractitioner',
    owns: (item) => item['type'] === 'Organization',
    map: each(3, organization),
  },
  {
    field: 4,
    rows: '6',
    element: 'generalPractitioner',
    owns: (item) => item['type'] === 'Practitioner',
    map: each(4, practitioner),
  },
  {
    field: 6,
    rows: '8, 9',
    element: `extension ${STRUCTURE}/patient-disability`,
    map: (segment, context) => members({ valueCodeableConcept: concept(segment, 6, context) }),
  },
  {
    field: 14,
    rows: '17, 18',
    element: `extension ${STRUCTURE}/patient-congregation`,
    map: one(14, (part) => members({ valueString: textOf(part, 1) ?? textOf(part, 10) })),
  },
];

export const PD1: PatientSegment = {
  name: 'PD1',
  contributions: firstOne(FIELDS),
  source: 'PD1[Patient]',
  fields: FIELDS,
};
