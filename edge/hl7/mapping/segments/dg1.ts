/** DG1 as Condition (v2-to-FHIR `DG1[Condition]`). */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { rawAt } from '../../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import { quietly, type MapContext } from '../context.ts';
import { concept, conceptOf } from '../datatypes/cwe.ts';
import { entityIdentifier } from '../datatypes/hd.ts';
import { entity, practitioner } from '../datatypes/party.ts';
import { first, isValued, members, plainFieldText, textOf, listOf } from '../datatypes/text.ts';
import { dateTime } from '../datatypes/time.ts';
import { type FieldMap, one } from '../field-map.ts';
import { byDefault, fixed, type Contribution } from '../../precedence/contribution.ts';
import { conceptKey, join, numberKey } from '../key.ts';
import type { EventRule } from '../tables/events.ts';
import { actionOf } from './action-code.ts';
import { CONDITION_CATEGORY, CONDITION_CLINICAL, CONDITION_IN_ERROR, CONDITION_VERIFICATION } from './condition.ts';
import type { ResourceSegment } from './rule.ts';

const ASSERTED_DATE = 'http://hl7.org/fhir/StructureDefinition/condition-assertedDate';
const DUE_TO = 'http://hl7.org/fhir/StructureDefinition/condition-dueTo';

function diagnosis(segment: Segment, context: MapContext): JsonObject | undefined {
  const code = concept(segment, 3, context);
  const text = code?.['text'] ?? plainFieldText(segment, 4);
  return members({ coding: code?.['coding'], text });
}

const FIELDS: readonly FieldMap[] = [
  { field: 3, rows: '5, 6', element: 'code', map: diagnosis },
  {
    field: 4,
    rows: '6',
    element: 'code',
    when: (segment) => !isValued(segment, 3),
    map: diagnosis,
  },
  {
    field: 5,
    rows: '7',
    element: 'onset[x]',
    map: (segment, context) => members({ onsetDateTime: dateTime(first(segment, 5), context) }),
  },
  {
    field: 16,
    rows: '18',
    element: 'asserter',
    map: one(16, practitioner),
  },
  {
    field: 19,
    rows: '21, 22',
    element: `extension ${ASSERTED_DATE}`,
    map: (segment, context) => members({ valueDateTime: dateTime(first(segment, 19), context) }),
  },
  {
    field: 19,
    rows: '23',
    element: 'recordedDate',
    // Reported once, by the row above.
    map: (segment, context) => dateTime(first(segment, 19), quietly(context)),
  },
  {
    field: 20,
    rows: '24',
    element: 'identifier',
    map: (segment, context) => listOf(entityIdentifier(first(segment, 20), context)),
  },
  {
    field: 22,
    rows: '27, 28',
    element: `extension ${DUE_TO}`,
    map: one(22, (part, context) => members({ valueReference: entity('Condition', part, context) })),
  },
];

/** Rows 25 and 26; DG1-21 of table 0206. */
function statusOf(segment: Segment, context: MapContext, { isProvisional }: EventRule): Contribution[] {
  const action = actionOf(segment, 21, context);
  if (action === 'D') return [...CONDITION_IN_ERROR];
  const verification = isProvisional === true ? conceptOf(CONDITION_VERIFICATION, 'provisional') : null;
  return [
    byDefault('clinicalStatus', conceptOf(CONDITION_CLINICAL, 'active')),
    ...(isProvisional === true ? [byDefault('verificationStatus', verification)] : []),
    ...(action === undefined ? [] : [fixed('verificationStatus', verification)]),
  ];
}

/** DG1-20, else code and date. The reason of an order is another Condition: it never weakens an established diagnosis. */
function key(segment: Segment, sender: string, { isProvisional }: EventRule): string {
  const id = first(segment, 20);
  const own =
    textOf(id, 1) === undefined
      ? join(...conceptKey(first(segment, 3)), rawAt(segment, 4), rawAt(segment, 5)?.slice(0, 8))
      : join('id', ...numberKey(id, sender));
  return isProvisional === true ? join('order', own) : own;
}

export const DG1: ResourceSegment = {
  name: 'DG1',
  type: 'Condition',
  scope: 'system/Condition.write',
  requiresOneOf: [3, 4, 20],
  key,
  general: (segment, context, event) => [
    ...statusOf(segment, context, event),
    // A visit's diagnosis is not an entry of the problem list (FHIR R4, con-3).
    byDefault('category', [conceptOf(CONDITION_CATEGORY, 'encounter-diagnosis')]),
  ],
  source: 'DG1[Condition]',
  fields: FIELDS,
};
