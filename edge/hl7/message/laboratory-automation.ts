/**
 * Messages of laboratory automation (HL7 v2.5.1 §7.3.8 to §7.3.10, OUL^R22 to R24): their specimens precede their orders, and
 * ORC follows OBR.
 */
import type { Segment } from '../../../shared/hl7/message.ts';
import { fieldText } from '../mapping/datatypes/text.ts';
import { reportLeftOut, type Report } from './structure-findings.ts';

/** SPM-11 of specimens that are of no patient: calibrator, electronic control, proficiency tests, control, verifying calibrator. */
const OF_NO_PATIENT: ReadonlySet<string> = new Set(['C', 'E', 'F', 'O', 'Q', 'V']);

/** Checks for a message about no patient: without PID, or all of whose specimens are controls (table 0369). */
export function isQualityControl(segments: readonly Segment[]): boolean {
  if (!segments.some(({ id }) => id === 'PID')) return true;
  const specimens = segments.filter(({ id }) => id === 'SPM');
  return specimens.length > 0 && specimens.every((spm) => OF_NO_PATIENT.has(fieldText(spm, 11)?.toUpperCase() ?? ''));
}

/**
 * The segments of a patient in the sequence of ORU^R01: ORC, OBR, SPM, OBX. Each order of a specimen gets its SPM with the notes
 * of it; the first order also gets the OBX between SPM and OBR.
 */
export function orderFirst(members: readonly Segment[], report: Report): readonly Segment[] {
  const isSpecimenFirst = members.find(({ id }) => id === 'SPM' || id === 'OBR')?.id === 'SPM';
  const ordered: Segment[] = [];
  let specimen: Segment[] = [];
  /** Results of the specimen that wait for its first order. */
  let waiting: Segment[] = [];
  let isBeforeOrder = false;
  for (const [at, segment] of members.entries()) {
    const { id } = segment;
    const before = members[at - 1];
    const after = members[at + 1];
    if (id === 'SPM' && isSpecimenFirst) {
      reportLeftOut(waiting, ['OBX'], report);
      specimen = [segment];
      waiting = [];
      isBeforeOrder = true;
    } else if (id === 'OBR') {
      ordered.push(...(after?.id === 'ORC' ? [after] : []), segment, ...specimen, ...waiting);
      waiting = [];
      isBeforeOrder = false;
    } else if (id === 'ORC' && before?.id === 'OBR') {
      // It precedes its OBR now.
    } else if (isBeforeOrder && id === 'NTE' && before?.id !== 'OBX' && waiting.length === 0) specimen.push(segment);
    else if (isBeforeOrder && (id === 'OBX' || id === 'NTE')) waiting.push(segment);
    else ordered.push(segment);
  }
  reportLeftOut(waiting, ['OBX'], report);
  return ordered;
}
