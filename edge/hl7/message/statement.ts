/** What a message states of one resource of a patient, before anything is looked up: which it is, and what to make of it. */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Chart } from '../mapping/chart.ts';
import type { MapContext } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import type { Contribution } from '../mapping/field-map.ts';
import type { Timing } from '../order/clock.ts';
import type { Order } from '../order/order.ts';
import type { SentKey } from '../results/result-key.ts';

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
  readonly contributions: (chart: Chart, context: MapContext, draft: Draft, order: Order) => readonly Contribution[];
}
