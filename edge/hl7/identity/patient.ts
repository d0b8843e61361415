/**
 * The patient of a PID, and what an event does to it (edge/README.md, HL7 v2). A patient that was merged away leads to
 * its survivor, so that late messages with the old number find the right record.
 */
import type { Segment } from '../../../shared/hl7/message.ts';
import type { MapContext } from '../mapping/context.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { fixed, type Contribution } from '../mapping/field-map.ts';
import type { PatientAction } from '../message/events.ts';
import { PATIENT_SEGMENTS } from '../segments/registry.ts';
import { candidates } from './candidates.ts';
import { mergeAway, type Merge } from './merge.ts';
import { noteAmbiguous, noteUnknown } from './patient-findings.ts';
import { survivorOf } from './survivor.ts';

/** The segments of a message that are about one patient as such. */
export interface PatientSegments {
  readonly pid: Segment;
  /** What says more of the patient: PD1. */
  readonly more: readonly Segment[];
  /** Of a merge. */
  readonly mrg: Segment | undefined;
}

export interface MappedPatient {
  readonly patient: Draft;
  readonly merge: Merge | undefined;
}

/**
 * @param newId of a patient that is created
 * @returns undefined when the patient cannot be told: the reason has been reported
 */
export function mapPatient(
  segments: PatientSegments,
  action: PatientAction,
  drafts: Drafts,
  context: MapContext,
  newId: () => string,
): MappedPatient | undefined {
  const { pid, mrg } = segments;
  const direct = candidates(pid, 3, drafts, context);
  const survivors = [...new Set(direct.map((patient) => survivorOf(patient, drafts)))];
  if (survivors.length > 1) {
    noteAmbiguous(pid, 3, context);
    return undefined;
  }
  const [known] = survivors;
  const isDeletion = action === 'retain' || action === 'deactivate';
  if (known === undefined && isDeletion) noteUnknown(pid, 3, 'W', context);
  const patient = known ?? drafts.create('Patient', newId());
  drafts.touch(patient);

  // Read in any case, so that a message is judged alike whether its patient is known or not.
  const said = demographics(segments, context);
  // The number of a patient that was merged away says nothing new about the survivor.
  const isOldNumber = known !== undefined && !direct.includes(known);
  const isWritten = known === undefined || (action !== 'ensure' && !isOldNumber);
  if (action === 'deactivate') drafts.apply(patient, [fixed('active', false), ...numbersOf(said, known)]);
  else if (isWritten) drafts.apply(patient, [...(action === 'retain' ? [] : [fixed('active', true)]), ...said]);
  const isMerge = action === 'merge' && mrg !== undefined;
  return { patient, merge: isMerge ? mergeAway(mrg, patient, drafts, context, newId) : undefined };
}

function demographics({ pid, more }: PatientSegments, context: MapContext): Contribution[] {
  return PATIENT_SEGMENTS.flatMap(({ name, contributions }) => {
    const segments = [pid, ...more].filter(({ id }) => id === name);
    return segments.length === 0 ? [] : contributions(segments, context);
  });
}

/** Of a person that is deleted before we heard of it: its numbers, so that what comes late does not bring it back. */
const numbersOf = (said: readonly Contribution[], known: Draft | undefined): Contribution[] =>
  known === undefined ? said.filter(({ element }) => element === 'identifier') : [];
