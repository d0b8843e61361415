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

/**
 * Rows 42 to 47, and edge/docs/behaviour.md, HL7 v2 for codes outside the guide. An unknown code does not change the status.
 */
export function statusOf(segment: Segment, context: MapContext): Contribution[] {
  const sent = fieldText(segment, 11)?.toUpperCase();
  const status = OBSERVATION_STATUS.get(sent ?? '');
  if (status === undefined) {
    const [code, message] =
      sent === undefined
        ? (['101', 'OBX-11 is missing. The status was not changed.'] as const)
        : (['103', 'OBX-11 is not a code of table 0085. The status was not changed.'] as const);
    note(context, 'W', code, locate(segment, 11), message, 'unknown-status');
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
