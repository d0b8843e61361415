/**
 * What a segment can be to the gateway: the patient's, a resource of its own, or a part of something that several
 * segments say together. The file of a segment says which; `registry.ts` lists them.
 */
import type { Segment } from '../../../../shared/hl7/message.ts';
import type { ResourceType } from '../../../../shared/resource-type.ts';
import type { MapContext } from '../context.ts';
import { contributionsOf, type FieldMap } from '../field-map.ts';
import type { Contribution } from '../../precedence/contribution.ts';

/** Which field makes which element. */
export interface SegmentFields {
  /** The map of the v2-to-FHIR guide (`PID[Patient]`), or the document, whose rows the fields cite. */
  readonly source: string;
  readonly fields: readonly FieldMap[];
}

/** It says something of the patient itself: PID, and what may follow it. */
export interface PatientSegment extends Partial<SegmentFields> {
  readonly name: string;
  /** @param segments those of this name that belong to one PID; PID itself alone */
  readonly contributions: (segments: readonly Segment[], context: MapContext) => readonly Contribution[];
}

/** It stands for one resource of its patient, in passing: in any ADT or ORU (edge/docs/behaviour.md, HL7 v2). */
export interface ResourceSegment extends SegmentFields {
  readonly name: string;
  readonly type: ResourceType;
  /** The element that refers to the patient; `subject` when not given. */
  readonly subject?: string;
  /** It is mapped only where the key's Allowed scopes hold this one. */
  readonly scope: `system/${ResourceType}.write`;
  /** Coded fields of which one must name something; the first is the one that is missed. */
  readonly requiresOneOf: readonly [number, ...number[]];
  /** Which resource of the patient it is (`mapping/key.ts`); `sender` as of `numberKey`. */
  readonly key: (segment: Segment, sender: string) => string;
  /** What it says as a whole, before its fields: status and category. */
  readonly whole: (segment: Segment, context: MapContext) => readonly Contribution[];
}

/** Segments of a group make one thing together, which the code of the group knows (`message/`). */
export interface GroupSegment extends Partial<SegmentFields> {
  readonly name: string;
  /** It speaks of a patient, so that it must not stand before every PID. */
  readonly followsPid?: true;
}

/** For a segment that its patient has once: the first one's fields. */
export const firstOne =
  (fields: readonly FieldMap[]): PatientSegment['contributions'] =>
  ([first], context) =>
    contributionsOf(first, fields, context);
