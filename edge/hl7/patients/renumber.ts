/** A46, A47: a patient gets another number, the one of MRG becomes an old one (HL7 v2.5.1 §3.3.46, §3.3.47). */
import type { Segment } from '../../../shared/hl7/message.ts';
import { note } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import type { PatientContext } from './patient-context.ts';
import { mergedPatientsOf, markOld, identifiersOfMrg } from './merge.ts';
import { isSamePerson } from './resolve-merged.ts';
import { holdersOf } from './resolve.ts';
import type { Person } from './person.ts';
import { isSame, leadingOf, rowsOf, type ReadIdentifier } from './sent-identifiers.ts';

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
  identifiers: readonly ReadIdentifier[],
  person: Person,
  identity: PatientContext,
): Renumbering {
  const { drafts, context } = identity;
  const old = mergedPatientsOf(mrg, identifiersOfMrg(mrg, isExternal, identity), '', person, identity);
  if (old.kind === 'refused') {
    for (const finding of old.findings) context.report(finding);
    return { kind: 'refused' };
  }
  const [id] = old.losers;
  const patient = id === undefined ? undefined : drafts.byId('Patient', id);
  const leading = leadingOf(identifiers);
  if (patient === undefined || leading === undefined) return { kind: 'by-pid' };

  const found = identity.found();
  const holders = holdersOf(leading, found).map(
    (holder) => found.patients.get(holder.patient)?.survivor ?? holder.patient,
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
  current: readonly ReadIdentifier[],
  identity: PatientContext,
): void {
  const old = identifiersOfMrg(mrg, isExternal, identity).filter(
    (identifier) => !current.some((other) => isSame(other, identifier)),
  );
  identity.drafts.teach(
    patient,
    old.flatMap((identifier) => rowsOf(identifier, true)),
  );
  markOld(patient, old, current, identity);
}
