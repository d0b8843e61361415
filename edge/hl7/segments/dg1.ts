/** DG1 as Condition (v2-to-FHIR `DG1[Condition]`). */
import type { JsonObject } from '../../../shared/json.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { repetitions } from '../../../shared/hl7/value.ts';
import type { MapContext } from '../mapping/context.ts';
import { concept } from '../mapping/datatypes/cwe.ts';
import { entityIdentifier } from '../mapping/datatypes/hd.ts';
import { entity, practitioner } from '../mapping/datatypes/party.ts';
import { fieldText, isValued, members } from '../mapping/datatypes/text.ts';
import { dateTime } from '../mapping/datatypes/time.ts';
import { byDefault, contributionsOf, fixed, type Contribution, type FieldMap } from '../mapping/field-map.ts';

const ASSERTED_DATE = 'http://hl7.org/fhir/StructureDefinition/condition-assertedDate';
const DUE_TO = 'http://hl7.org/fhir/StructureDefinition/condition-dueTo';
const CLINICAL = 'http://terminology.hl7.org/CodeSystem/condition-clinical';
const VERIFICATION = 'http://terminology.hl7.org/CodeSystem/condition-ver-status';
const CATEGORY = 'http://terminology.hl7.org/CodeSystem/condition-category';

const coding = (system: string, code: string): JsonObject => ({ coding: [{ system, code }] });

function diagnosis(segment: Segment, context: MapContext): JsonObject | undefined {
  const code = concept(segment, 3, context);
  const text = code?.['text'] ?? fieldText(segment, 4);
  return members({ coding: code?.['coding'], text });
}

export const DG1: readonly FieldMap[] = [
  { field: 3, rows: 'DG1[Condition] 5, 6', element: 'code', map: diagnosis },
  {
    field: 4,
    rows: 'DG1[Condition] 6',
    element: 'code',
    when: (segment) => !isValued(segment, 3),
    map: diagnosis,
  },
  {
    field: 5,
    rows: 'DG1[Condition] 7',
    element: 'onset[x]',
    map: (segment, context) => {
      const onsetDateTime = dateTime(repetitions(segment, 5)[0], context);
      return onsetDateTime === undefined ? undefined : { onsetDateTime };
    },
  },
  {
    field: 16,
    rows: 'DG1[Condition] 18',
    element: 'asserter',
    map: (segment, context) => {
      const [first] = repetitions(segment, 16);
      return first === undefined ? undefined : practitioner(first, context);
    },
  },
  {
    field: 19,
    rows: 'DG1[Condition] 21, 22',
    element: `extension ${ASSERTED_DATE}`,
    map: (segment, context) => {
      const valueDateTime = dateTime(repetitions(segment, 19)[0], context);
      return valueDateTime === undefined ? undefined : { valueDateTime };
    },
  },
  {
    field: 19,
    rows: 'DG1[Condition] 23',
    element: 'recordedDate',
    map: (segment, context) => {
      // Reported once, by the row above.
      const quiet: MapContext = { ...context, report: () => undefined };
      return dateTime(repetitions(segment, 19)[0], quiet);
    },
  },
  {
    field: 20,
    rows: 'DG1[Condition] 24',
    element: 'identifier',
    map: (segment, context) => {
      const identifier = entityIdentifier(repetitions(segment, 20)[0], context);
      return identifier === undefined ? undefined : [identifier];
    },
  },
  {
    field: 22,
    rows: 'DG1[Condition] 27, 28',
    element: `extension ${DUE_TO}`,
    map: (segment, context) => {
      const [first] = repetitions(segment, 22);
      const valueReference = first === undefined ? undefined : entity('Condition', first, context);
      return valueReference === undefined ? undefined : { valueReference };
    },
  },
];

/** Rows 25 and 26; DG1-21 of table 0206. A deleted diagnosis has no clinical status (FHIR R4, con-5). */
function statusOf(segment: Segment): Contribution[] {
  if (fieldText(segment, 21)?.toUpperCase() === 'D') {
    return [fixed('clinicalStatus', null), fixed('verificationStatus', coding(VERIFICATION, 'entered-in-error'))];
  }
  return [
    byDefault('clinicalStatus', coding(CLINICAL, 'active')),
    ...(fieldText(segment, 21) === undefined ? [] : [fixed('verificationStatus', null)]),
  ];
}

export function condition(segment: Segment, context: MapContext): Contribution[] {
  return [
    ...statusOf(segment),
    // A diagnosis of a visit is no entry of the problem list (FHIR R4, con-3).
    byDefault('category', [coding(CATEGORY, 'encounter-diagnosis')]),
    ...contributionsOf(segment, DG1, context),
  ];
}
