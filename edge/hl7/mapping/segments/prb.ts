/** PRB as Condition of the problem list (HL7 v2.5.1 §12.3.2; the guide has no map of it). */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { noteUnknownCode, type MapContext } from '../context.ts';
import { codeOf, concept, conceptOf } from '../datatypes/cwe.ts';
import { entityIdentifier } from '../datatypes/hd.ts';
import { fieldText, first, isValued, textOf, listOf, members } from '../datatypes/text.ts';
import { dateTime } from '../datatypes/time.ts';
import type { FieldMap } from '../field-map.ts';
import { byDefault, fixed, type Contribution } from '../../precedence/contribution.ts';
import { conceptKey, join, numberKey } from '../key.ts';
import type { EventRule } from '../tables/events.ts';
import { CONDITION_CATEGORY, CONDITION_CLINICAL, CONDITION_IN_ERROR, CONDITION_VERIFICATION } from './condition.ts';
import type { ResourceSegment } from './rule.ts';

const FIELDS: readonly FieldMap[] = [
  { field: 3, rows: '§12.3.2.3', element: 'code', map: (segment, context) => concept(segment, 3, context) },
  {
    field: 4,
    rows: '§12.3.2.4',
    element: 'identifier',
    map: (segment, context) => listOf(entityIdentifier(first(segment, 4), context)),
  },
  {
    field: 7,
    rows: '§12.3.2.7',
    element: 'recordedDate',
    map: (segment, context) => dateTime(first(segment, 7), context),
  },
  {
    field: 16,
    rows: '§12.3.2.16',
    element: 'onset[x]',
    map: (segment, context) => members({ onsetDateTime: dateTime(first(segment, 16), context) }),
  },
  {
    field: 17,
    rows: '§12.3.2.17',
    element: 'onset[x]',
    when: (segment) => !isValued(segment, 16),
    map: (segment) => members({ onsetString: fieldText(segment, 17) }),
  },
];

const CLINICAL_CODES: ReadonlySet<string> = new Set('active recurrence relapse inactive remission resolved'.split(' '));
const ENDED: ReadonlySet<string> = new Set('inactive remission resolved'.split(' '));
const VERIFICATION_CODES: ReadonlySet<string> = new Set(
  'unconfirmed provisional differential confirmed refuted entered-in-error'.split(' '),
);

/** A code or text of PRB-13 or PRB-14: their HL7 tables have no codes, so FHIR's are accepted. */
function statusCode(
  segment: Segment,
  field: number,
  codes: ReadonlySet<string>,
  context: MapContext,
): string | undefined {
  const part = first(segment, field);
  const sent = [codeOf(part), textOf(part, 2)].flatMap((text) => text?.toLowerCase() ?? []);
  const found = sent.find((code) => codes.has(code));
  if (found === undefined && sent.length > 0) noteUnknownCode(segment, field, 'FHIR R4', context);
  return found;
}

/** An end (PRB-9) is stated with the status: only an ended problem has one (FHIR R4, con-4). */
function statusOf(segment: Segment, context: MapContext, { deletesProblems }: EventRule): Contribution[] {
  const action = fieldText(segment, 1)?.toUpperCase();
  if (deletesProblems === true || action === 'DE') return [...CONDITION_IN_ERROR];
  const verification = statusCode(segment, 13, VERIFICATION_CODES, context);
  if (verification === 'entered-in-error') return [...CONDITION_IN_ERROR];
  const abatementDateTime = dateTime(first(segment, 9), context);
  const sent = statusCode(segment, 14, CLINICAL_CODES, context);
  const ifOpen = action === 'AD' ? 'active' : undefined;
  const clinical = sent ?? (abatementDateTime === undefined ? ifOpen : 'resolved');
  const verified = verification === undefined ? null : conceptOf(CONDITION_VERIFICATION, verification);
  if (clinical === undefined) {
    return [
      byDefault('clinicalStatus', conceptOf(CONDITION_CLINICAL, 'active')),
      ...(verified === null ? [] : [fixed('verificationStatus', verified, 'PRB-13')]),
    ];
  }
  const abatement = ENDED.has(clinical) && abatementDateTime !== undefined ? { abatementDateTime } : null;
  return [
    fixed('clinicalStatus', conceptOf(CONDITION_CLINICAL, clinical), 'PRB-14'),
    // A problem with a clinical status is not entered in error any more.
    fixed('verificationStatus', verified, 'PRB-13'),
    ...(ENDED.has(clinical) && abatement === null ? [] : [fixed('abatement[x]', abatement, 'PRB-9')]),
  ];
}

/** PRB-4, else the code. */
function key(segment: Segment, sender: string): string {
  const id = first(segment, 4);
  if (textOf(id, 1) !== undefined) return join('problem', 'id', ...numberKey(id, sender));
  return join('problem', ...conceptKey(first(segment, 3)));
}

export const PRB: ResourceSegment = {
  name: 'PRB',
  type: 'Condition',
  scope: 'system/Condition.write',
  requiresOneOf: [3, 4],
  time: 2,
  key,
  general: (segment, context, event) => [
    ...statusOf(segment, context, event),
    byDefault('category', [conceptOf(CONDITION_CATEGORY, 'problem-list-item')]),
  ],
  source: 'HL7 v2.5.1',
  fields: FIELDS,
};
