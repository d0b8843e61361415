/**
 * The segments that the gateway reads, each defined in its file. A segment about the patient, or with its own resource, is its
 * file and its line here. `message/` combines groups.
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
import { PRB } from './prb.ts';
import { PV1 } from './pv1.ts';
import type { GroupSegment, PatientSegment, ResourceSegment } from './rule.ts';
import { SPM } from './spm.ts';
import { TXA } from './txa.ts';

/** In the order in which they are applied to a patient. */
export const PATIENT_SEGMENTS: readonly PatientSegment[] = [PID, PD1, NK1, PV1];

export const RESOURCE_SEGMENTS: readonly ResourceSegment[] = [AL1, IAM, DG1, PR1, PRB];

export const GROUP_SEGMENTS: readonly GroupSegment[] = [MRG, ORC, OBR, OBX, NTE, SPM, TXA];

/** Segments of the header, the visit and the protocol: they have nothing that the gateway stores. */
const WITHOUT_MAP: readonly string[] = ['MSH', 'SFT', 'UAC', 'EVN', 'DSC', 'ARV', 'PV2', 'TQ1', 'TQ2'];

const KNOWN: ReadonlySet<string> = new Set([
  ...[...PATIENT_SEGMENTS, ...RESOURCE_SEGMENTS, ...GROUP_SEGMENTS].map(({ name }) => name),
  ...WITHOUT_MAP,
]);

/** Checks for a segment without a note that it is mapped to nothing. */
export const isKnown = (name: string): boolean => KNOWN.has(name);

const AFTER_PID: ReadonlySet<string> = new Set([
  ...RESOURCE_SEGMENTS.map(({ name }) => name),
  ...GROUP_SEGMENTS.filter(({ followsPid }) => followsPid === true).map(({ name }) => name),
]);

/** Checks for a segment that must follow a PID. */
export const mustFollowPid = (name: string): boolean => AFTER_PID.has(name);

const OF_PATIENT: ReadonlySet<string> = new Set(PATIENT_SEGMENTS.map(({ name }) => name));

/** Checks for a segment about the patient of the PID before it. */
export const isOfPatient = (name: string): boolean => OF_PATIENT.has(name);
