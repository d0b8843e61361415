/** A message's statement about one resource of a patient, before anything is looked up: its key and its values. */
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

/** The result key as sent, before anything is looked up. */
export interface SentKey {
  /**
   * A JSON list: the codings and text of OBX-3 (of a report OBR-4), OBX-4, OBX-21, and the code and sub-id of OBR-26. Without
   * an order number also the ordered service and its time.
   */
  readonly what: string;
  /** The parent of a result; undefined without OBR-26 and OBR-29. */
  readonly parent: SentParent | undefined;
  /** OBR-3 and OBR-2, else those of ORC. */
  readonly filler: Part | undefined;
  readonly placer: Part | undefined;
  /** OBX-14, else OBR-7; of a result without an order EVN-2. */
  readonly time: string | undefined;
}

/** OBR-26.3 and the numbers of OBR-29, as sent; `''` for none. Two parents differ if both have a part and it differs. */
export interface SentParent {
  readonly value: string;
  readonly placer: string;
  readonly filler: string;
}

/** The result key, and what distinguishes results with equal keys. */
export interface ResultStatement {
  readonly sent: SentKey;
  /** As `valueText` prints it. */
  readonly value: (context: MapContext) => string;
  /** OBX-2 is TX or FT. */
  readonly isText: boolean;
  /** Corrected, wrong or deleted. */
  readonly isCorrection: boolean;
  /** The OBR of the result or report; undefined without an order. */
  readonly obr: Segment | undefined;
}

export interface Statement {
  readonly type: ResourceType;
  /** The HL7 key, without the patient (`mapping/key.ts`); for a result its lookup key. */
  readonly key: string;
  /** For results and reports, which have no unique key. */
  readonly result?: ResultStatement;
  /** The first segment of the statement. */
  readonly segment: Segment;
  /** Its times, and the status of a result. */
  readonly timing: Timing;
  /** The element that refers to the patient. */
  readonly subject: string;
  /** The statement is skipped, with a warning, without this scope in the key's Allowed scopes; undefined: never. */
  readonly scope?: string;
  /** Keys of resources of the same type that it refers to. */
  readonly refersTo?: readonly string[];
  /** A number without an authority: the patient's only document with it is meant if no resource has the key. */
  readonly number?: { readonly value: string; readonly ifSeveral: AckError };
  /** The key of a resource that stands for this one until it arrives, as long as the test accepts it. */
  readonly standsFor?: { readonly key: string; readonly isOpen: (stored: Draft) => boolean };
  /** The key of a new resource, if it is not `key`. */
  readonly keyIfNew?: string;
  /** Reported if the resource is unknown; it is created all the same. */
  readonly unlessKnown?: AckError;
  /**
   * @param draft the stored resource, or a new one without content
   * @param precedence the statement's
   */
  readonly contributions: (
    record: PatientRecord,
    context: MapContext,
    draft: Draft,
    precedence: Precedence,
  ) => readonly Contribution[];
}
