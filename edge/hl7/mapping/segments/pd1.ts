/** PD1 as Patient (v2-to-FHIR `PD1[Patient]`). */
import { repetitions } from '../../../../shared/hl7/value.ts';
import { concept } from '../datatypes/cwe.ts';
import { organization, practitioner } from '../datatypes/party.ts';
import { first, textOf, members } from '../datatypes/text.ts';
import type { FieldMap } from '../field-map.ts';
import { firstOne, type PatientSegment } from './rule.ts';

const STRUCTURE = 'http://hl7.org/fhir/StructureDefinition';

const FIELDS: readonly FieldMap[] = [
  {
    field: 3,
    rows: '5',
    element: 'generalPractitioner',
    owns: (item) => item['type'] === 'Organization',
    map: (segment, context) =>
      repetitions(segment, 3)
        .map((part) => organization(part, context))
        .filter((found) => found !== undefined),
  },
  {
    field: 4,
    rows: '6',
    element: 'generalPractitioner',
    owns: (item) => item['type'] === 'Practitioner',
    map: (segment, context) =>
      repetitions(segment, 4)
        .map((part) => practitioner(part, context))
        .filter((found) => found !== undefined),
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
    map: (segment) => {
      const part = first(segment, 14);
      return members({ valueString: textOf(part, 1) ?? textOf(part, 10) });
    },
  },
];

export const PD1: PatientSegment = {
  name: 'PD1',
  contributions: firstOne(FIELDS),
  source: 'PD1[Patient]',
  fields: FIELDS,
};
