/** MRG: the patient that a merge takes away (HL7 v2.5.1 §3.3.40 and others). */
import type { Segment } from '../../../shared/hl7/message.ts';
import { note, type MapContext } from '../mapping/context.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { contributionsOf, fixed } from '../mapping/field-map.ts';
import { MRG } from '../segments/mrg.ts';
import { candidates } from './candidates.ts';
import { identifierPlace } from './identifying.ts';
import { noteAmbiguous, noteUnknown } from './patient-findings.ts';
import { link, survivorOf } from './survivor.ts';

/** Ids of a patient all of whose data go to another. */
export interface Merge {
  readonly from: string;
  readonly to: string;
}

/**
 * Gives all that the patient of MRG has to the survivor. Repeated or inverted, it changes nothing; a patient that is not
 * known becomes an inactive stub, so that a late message with the old number finds the survivor.
 *
 * @returns undefined where there is nothing to move; why not has been reported
 */
export function mergeAway(
  mrg: Segment,
  survivor: Draft,
  drafts: Drafts,
  context: MapContext,
  newId: () => string,
): Merge | undefined {
  const direct = candidates(mrg, 1, drafts, context);
  if (direct.length === 0) {
    noteUnknown(mrg, 1, 'W', context);
    const stub = drafts.create('Patient', newId());
    const said = contributionsOf(mrg, MRG.fields, context);
    drafts.apply(stub, [fixed('active', false), ...said, link('replaced-by', survivor)]);
    drafts.apply(survivor, [link('replaces', stub)]);
    return undefined;
  }
  const others = direct.filter((patient) => survivorOf(patient, drafts) !== survivor);
  const [other, ...more] = others;
  if (other === undefined) {
    const message = 'the patient of MRG-1 is, or has been merged into, the patient of PID-3: nothing was changed';
    note(context, 'W', '205', identifierPlace(mrg, 1), message, 'already-merged');
    return undefined;
  }
  if (more.length > 0) {
    noteAmbiguous(mrg, 1, context);
    return undefined;
  }
  if (survivorOf(other, drafts) !== other) {
    const message = 'the patient of MRG-1 has been merged into another patient than that of PID-3';
    note(context, 'E', '204', identifierPlace(mrg, 1), message, 'merged-elsewhere');
    return undefined;
  }
  drafts.apply(other, [fixed('active', false), link('replaced-by', survivor)]);
  drafts.apply(survivor, [link('replaces', other)]);
  return { from: other.id, to: survivor.id };
}
