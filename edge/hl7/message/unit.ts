/** What one resource of a patient is made of: its segments and its HL7 key, before anything is looked up. */
import type { Segment } from '../../../shared/hl7/message.ts';
import type { DocumentAction } from './events.ts';
import type { ObservationSource } from '../segments/obx.ts';
import type { ReportSource } from '../segments/obr.ts';
import type { DocumentSource } from '../segments/txa.ts';

export type Unit =
  | { readonly type: 'Observation'; readonly key: string; readonly source: ObservationSource }
  | {
      readonly type: 'DiagnosticReport';
      readonly key: string;
      readonly source: ReportSource;
      /** Keys of the Observations that are its results. */
      readonly results: readonly string[];
    }
  | {
      readonly type: 'DocumentReference';
      readonly key: string;
      readonly source: DocumentSource;
      readonly action: DocumentAction;
      readonly parentKey: string | undefined;
    }
  | {
      readonly type: 'Condition' | 'Procedure' | 'AllergyIntolerance';
      readonly key: string;
      readonly segment: Segment;
    };

/** Where a unit begins. */
export function firstSegmentOf(unit: Unit): Segment | undefined {
  switch (unit.type) {
    case 'Observation':
      return unit.source.obx[0];
    case 'DiagnosticReport':
      return unit.source.obr;
    case 'DocumentReference':
      return unit.source.txa;
    default:
      return unit.segment;
  }
}
