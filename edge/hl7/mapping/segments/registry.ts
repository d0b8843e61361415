/**
 * The segments that the gateway knows, each defined in a file of its own. A segment that says something of the patient,
 * or stands for a resource by itself, is its file and its line here; groups are put together in `message/`.
 */
import { AL1, IAM } from './al1-iam.ts';
import { DG1 } from './dg1.ts';
import { MRG } from './mrg.ts';
import { NK1 } from './nk1.ts';
import { NTE } from './nte.ts';
import { OBR } from './obr.ts';
import { OBX } from './obx.ts';
import { ORC } from './orc.ts';
import { PD1 } from './pd1.ts';
import { PID } from './pid.ts';
import { PR1 } from './pr1.ts';
import { PV1 } from './pv1.ts';
import type { GroupSegment, PatientSegment, ResourceSegment } from './rule.ts';
import { SPM } from './spm.ts';
import { TXA } from './txa.ts';

/** In the order in which they are applied to a patient. */
export const PATIENT_SEGMENTS: readonly PatientSegment[] = [PID, PD1, NK1, PV1];

export const RESOURCE_SEGMENTS: readonly ResourceSegment[] = [AL1, IAM, DG1, PR1];

export const GROUP_SEGMENTS: readonly GroupSegment[] = [MRG, ORC, OBR, OBX, NTE, SPM, TXA];

/** The header's, the visit's, the protocol's: they say nothing of the types that the gateway keeps. */
const WITHOUT_MAP: readonly string[] = ['MSH', 'SFT', 'UAC', 'EVN', 'DSC', 'ARV', 'PV2', 'TQ1', 'TQ2'];

const KNOWN: ReadonlySet<string> = new Set([
  ...[...PATIENT_SEGMENTS, ...RESOURCE_SEGMENTS, ...GROUP_SEGMENTS].map(({ name }) => name),
  ...WITHOUT_MAP,
]);

/** Whether the sender need not be told that a segment of this name is mapped to nothing. */
export const isKnown = (name: string): boolean => KNOWN.has(name);

const AFTER_PID: ReadonlySet<string> = new Set([
  ...RESOURCE_SEGMENTS.map(({ name }) => name),
  ...GROUP_SEGMENTS.filter(({ followsPid }) => followsPid === true).map(({ name }) => name),
]);

/** Whether a segment of this name makes no sense before the first PID. */
export const mustFollowPid = (name: string): boolean => AFTER_PID.has(name);

const OF_PATIENT: ReadonlySet<string> = new Set(PATIENT_SEGMENTS.map(({ name }) => name));

/** Whether a segment of this name says something of the patient of the PID before it. */
export const isOfPatient = (name: string): boolean => OF_PATIENT.has(name);
