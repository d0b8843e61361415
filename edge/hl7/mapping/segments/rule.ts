/**
 * The kinds of segments: the patient's, one resource, or a part of a group. The file of a segment declares its kind;
 * `registry.ts` lists them.
 */
import type { Segment } from '../../../../shared/hl7/message.ts';
import type { ResourceType } from '../../../../shared/resource-type.ts';
import type { MapContext } from '../context.ts';
import { contributionsOf, type FieldMap } from '../field-map.ts';
import type { EventRule } from '../tables/events.ts';
import type { Contribution } from '../../precedence/contribution.ts';

export interface SegmentFields {
  /** The map of the v2-to-FHIR guide (`PID[Patient]`), or the document, whose rows the fields cite. */
  readonly source: string;
  readonly fields: readonly FieldMap[];
}

/** A segment about the patient itself: PID, and those that may follow it. */
export interface PatientSegment extends Partial<SegmentFields> {
  readonly name: string;
  /** @param segments all with this name after one PID; PID itself alone */
  readonly contributions: (segments: readonly Segment[], context: MapContext) => readonly Contribution[];
}

/**
 * A segment that is one resource of its patient, in any message but MDM (edge/docs/behaviour.md, HL7 v2, What becomes of the
 * segments).
 */
export interface ResourceSegment extends SegmentFields {
  readonly name: string;
  readonly type: ResourceType;
  /** The element that refers to the patient; default `subject`. */
  readonly subject?: string;
  /** It is mapped only with this scope in the key's Allowed scopes. */
  readonly scope: `system/${ResourceType}.write`;
  /** Coded fields, of which one needs a value; the first is reported as missing. */
  readonly requiresOneOf: readonly [number, ...number[]];
  /** The field with the time of the statement, if it is more exact than EVN-2. */
  readonly time?: number;
  /** The HL7 key (`mapping/key.ts`); `sender` as of `numberKey`. */
  readonly key: (segment: Segment, sender: string, event: EventRule) => string;
  /** HL7 keys of other resources of this type that it may change. */
  readonly refersTo?: (segment: Segment) => readonly string[];
  /** Contributions of no single field: status and category. */
  readonly general: (segment: Segment, context: MapContext, event: EventRule) => readonly Contribution[];
}

/** A segment of a group, whose code combines them (`message/`). */
export interface GroupSegment extends Partial<SegmentFields> {
  readonly name: string;
  /** It is about a patient, and must follow a PID. */
  readonly followsPid?: true;
}

/** For a segment that occurs once per patient: the first one's fields. */
export const firstOne =
  (fields: readonly FieldMap[]): PatientSegment['contributions'] =>
  ([first], context) =>
    contributionsOf(first, fields, context);
