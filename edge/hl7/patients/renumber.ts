/** A46, A47: a patient gets another identifier, and the one of MRG becomes an old one (HL7 v2.5.1 §3.3.46, §3.3.47). */
import type { Segment } from '../../../shared/hl7/message.ts';
import { note } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import type { PatientContext } from './patient-context.ts';
import { mergedPatientsOf, markOld, identifiersOfMrg } from './merge.ts';
import { isSamePerson } from './resolve-merged.ts';
import { holdersOf } from './identifier-holders.ts';
import type { Person } from './person.ts';
import { isSame, leadingOf, rowsOf, type ReadIdentifier } from './sent-identifiers.ts';

export type Renumbering =
  /** The patient of the old identifier gets the new one too. */
  | { readonly kind: 'renumber'; readonly patient: Draft }
  /** Another record of the same person has the new identifier. */
  | { readonly kind: 'merge' }
  /** No patient has the old identifier, or the patient of the new one has it already: PID decides. */
  | { readonly kind: 'by-pid' }
  /** The reason has been reported. */
  | { readonly kind: 'refused' };

/** @param identifiers PID-3 (and PID-2), the leading one first */
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
  const [id] = old.patients;
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
  const message =
    'This identifier belongs to another patient, whose name and birth date do not agree. Nothing was changed.';
  note(context, 'E', '205', leading.at, message, 'number-taken');
  for (const each of others) {
    context.attend({ kind: 'possible-duplicate', patients: [patient.id, each], detail: { reason: 'number-taken' } });
  }
  return { kind: 'refused' };
}

/** The patient keeps the identifiers of MRG as old ones, and those of PID-3 as current ones. */
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
