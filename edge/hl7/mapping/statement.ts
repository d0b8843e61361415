/** What a message states of one resource of a patient, before anything is looked up: which it is, and what to make of it. */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import type { Part } from '../../../shared/hl7/value.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { PatientRecord } from './patient-record.ts';
import type { MapContext } from './context.ts';
import type { Draft } from './drafts.ts';
import type { Contribution } from '../precedence/contribution.ts';
import type { Timing } from '../precedence/clock.ts';
import type { Precedence } from '../precedence/precedence.ts';

/** As the message says it, before anything is looked up. */
export interface SentKey {
  /** What was observed: OBX-3, OBX-4 and OBX-21; of a report OBR-4. Of what has no order number also what was ordered and when. */
  readonly what: string;
  /** OBR-3 and OBR-2, else those of ORC. */
  readonly filler: Part | undefined;
  readonly placer: Part | undefined;
  /** OBX-14, else OBR-7. */
  readonly time: string | undefined;
}

/** What tells a result or a report from others, and what is needed where that does not suffice. */
export interface ResultStatement {
  readonly sent: SentKey;
  /** What was observed, as `valueText` prints it. */
  readonly value: (context: MapContext) => string;
  /** Corrected, wrong or deleted. */
  readonly isCorrection: boolean;
}

export interface Statement {
  readonly type: ResourceType;
  /** The HL7 key, without the patient (`mapping/key.ts`); of a result all that it is looked up by. */
  readonly key: string;
  /** Of results and reports, which no key tells for sure: which they are is found out from these. */
  readonly result?: ResultStatement;
  /** Where it begins. */
  readonly segment: Segment;
  /** When it was said, and of what standing it is. */
  readonly timing: Timing;
  /** The element that refers to the patient. */
  readonly subject: string;
  /** It is left out, with a warning, where the key's Allowed scopes lack this one; undefined: they always suffice. */
  readonly scope?: string;
  /** Keys of other resources of the same type that it refers to. */
  readonly refersTo?: readonly string[];
  /** What is reported when the resource is not known; it is made all the same. */
  readonly unlessKnown?: AckError;
  /**
   * @param draft the resource as it is stored, or a new one without content
   * @param order of what is said here
   */
  readonly contributions: (
    record: PatientRecord,
    context: MapContext,
    draft: Draft,
    precedence: Precedence,
  ) => readonly Contribution[];
}
