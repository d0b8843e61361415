/** OBX-11 as Observation.status, and the reason for an absent value (v2-to-FHIR `OBX[Observation]` 42 to 47). */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { locate } from '../../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import { note, type MapContext } from '../context.ts';
import { conceptOf, sentAs } from '../datatypes/cwe.ts';
import { fieldText } from '../datatypes/text.ts';
import { byDefault, fixed, type Contribution } from '../../precedence/contribution.ts';
import { OBSERVATION_STATUS } from '../tables/status.ts';

const RESULT_STATUS = 'http://terminology.hl7.org/CodeSystem/v2-0085';
const DATA_ABSENT_REASON = 'http://terminology.hl7.org/CodeSystem/data-absent-reason';

export function noteUnknownStatus(segment: Segment, field: number, table: string, context: MapContext): void {
  const [code, fault] =
    fieldText(segment, field) === undefined
      ? (['101', 'is missing'] as const)
      : (['103', `is not a code of table ${table}`] as const);
  const message = `${segment.id}-${field} ${fault}. The status was not changed.`;
  note(context, 'W', code, locate(segment, field), message, 'unknown-status');
}

const statusCode = (segment: Segment): string | undefined => fieldText(segment, 11)?.toUpperCase();

/** Checks for a result that its sender withdraws. */
export const isInError = (segment: Segment): boolean =>
  OBSERVATION_STATUS.get(statusCode(segment) ?? '') === 'entered-in-error';

/**
 * Rows 42 to 47, and edge/docs/behaviour.md, HL7 v2 for codes outside the guide. An unknown code does not change the status.
 */
export function statusOf(segment: Segment, context: MapContext): Contribution[] {
  const sent = statusCode(segment);
  const status = OBSERVATION_STATUS.get(sent ?? '');
  if (status === undefined) {
    noteUnknownStatus(segment, 11, '0085', context);
    // A stored status stays.
    return [byDefault('status', 'unknown')];
  }
  return [
    fixed('status', status, 'OBX-11'),
    fixed('_status', sent === 'X' ? sentAs(conceptOf(RESULT_STATUS, 'X')) : null, 'OBX-11'),
  ];
}

/** OBX-11 N and X are a reason for an absent value; R4 allows a reason only without a value (obs-6). */
export const ABSENT: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['N', conceptOf(DATA_ABSENT_REASON, 'not-asked')],
  ['X', { text: 'Results cannot be obtained for this observation' }],
]);

/** OBX-5 `""`: the sender deleted the value and gives none. */
export const NO_LONGER_KNOWN: JsonObject = conceptOf(DATA_ABSENT_REASON, 'unknown');
