/** A46, A47: a patient gets another number, the one of MRG becomes an old one (HL7 v2.5.1 §3.3.46, §3.3.47). */
import type { Segment } from '../../../shared/hl7/message.ts';
import { note } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import type { IdentityContext } from './patient-context.ts';
import { losersOf, markOld, numbersOfMrg } from './merge.ts';
import { isSamePerson } from './resolve-merged.ts';
import { holdersOf } from './resolve.ts';
import type { Person } from './person.ts';
import { isSame, leadingOf, rowsOf, type ReadNumber } from './sent-identifiers.ts';

export type Renumbering =
  /** The patient of the old number, who gets the new one too. */
  | { readonly kind: 'renumber'; readonly patient: Draft }
  /** The new number is that of another chart of the same person. */
  | { readonly kind: 'merge' }
  /** The old number is nobody's, or the patient of the new one has it already: PID says who is meant. */
  | { readonly kind: 'by-pid' }
  /** The reason has been reported. */
  | { readonly kind: 'refused' };

/** @param numbers of PID-3 (and PID-2), the leading one first */
export function renumbering(
  mrg: Segment,
  isExternal: boolean,
  numbers: readonly ReadNumber[],
  person: Person,
  identity: IdentityContext,
): Renumbering {
  const { drafts, context } = identity;
  const old = losersOf(mrg, numbersOfMrg(mrg, isExternal, identity), '', person, identity);
  if (old.kind === 'refused') {
    for (const finding of old.findings) context.report(finding);
    return { kind: 'refused' };
  }
  const [id] = old.losers;
  const patient = id === undefined ? undefined : drafts.byId('Patient', id);
  const leading = leadingOf(numbers);
  if (patient === undefined || leading === undefined) return { kind: 'by-pid' };

  const found = identity.found();
  const holders = holdersOf(leading, found).map(
    (holder) => found.charts.get(holder.patient)?.survivor ?? holder.patient,
  );
  const others = [...new Set(holders)].filter((holder) => holder !== patient.id);
  const [other] = others;
  if (other === undefined) return { kind: 'renumber', patient };
  if (others.length === 1 && isSamePerson(patient.id, other, found)) return { kind: 'merge' };
  const message = "the new number is another patient's, and the two are not told to be one: nothing was changed";
  note(context, 'E', '205', leading.at, message, 'number-taken');
  for (const each of others) {
    context.attend({ kind: 'possible-duplicate', patients: [patient.id, each], detail: { reason: 'number-taken' } });
  }
  return { kind: 'refused' };
}

/** The numbers of MRG stay the patient's, as old ones; those of PID-3 are not old, whatever they were. */
export function retireNumbers(
  mrg: Segment,
  isExternal: boolean,
  patient: Draft,
  current: readonly ReadNumber[],
  identity: IdentityContext,
): void {
  const old = numbersOfMrg(mrg, isExternal, identity).filter(
    (number) => !current.some((other) => isSame(other, number)),
  );
  identity.drafts.teach(
    patient,
    old.flatMap((number) => rowsOf(number, true)),
  );
  markOld(patient, old, current, identity);
}
