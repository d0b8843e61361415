/** A46, A47: a patient gets another identifier, and the one of MRG becomes an old one (HL7 v2.5.1 §3.3.46, §3.3.47). */
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import { isJsonObject } from '../../../shared/json.ts';
import { note } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import { contributionsOf } from '../mapping/field-map.ts';
import { MRG } from '../mapping/segments/mrg.ts';
import type { PatientContext } from './patient-context.ts';
import { mergedPatientsOf, markOld, type ReadMrg } from './merge.ts';
import { isSamePerson } from './resolve-merged.ts';
import { holdersOf, survivorOf, survivors, type StoredIdentifier } from './identifier-holders.ts';
import type { Person } from './person.ts';
import { agrees, contradicts, isAbout, isDescribed } from './resolve-request.ts';
import type { MovedIdentifier } from './resolve.ts';
import { hasAuthorityOf, isItemOf, isSame, leadingOf, rowsOf, type ReadIdentifier } from './sent-identifiers.ts';

interface Sorted {
  /** PID-3, the new identifier first. */
  readonly identifiers: readonly ReadIdentifier[];
}

export type Renumbering =
  /** The patient of the old identifier gets the new one too, which other patients only listed. The patient may be merged. */
  | ({ readonly kind: 'renumber'; readonly patient: Draft; readonly moved: readonly MovedIdentifier[] } & Sorted)
  /** Only results or documents made the record of one of the identifiers: the patient of the other absorbs it. */
  | ({ readonly kind: 'absorb'; readonly patient: Draft; readonly record: string } & Sorted)
  /** Another record of the same person has the new identifier. */
  | ({ readonly kind: 'merge'; readonly patient: Draft } & Sorted)
  /** No patient has the old identifier: PID decides. */
  | ({ readonly kind: 'by-pid' } & Sorted)
  /** The reason has been reported. */
  | { readonly kind: 'refused' };

/** Compares patients and holders of identifiers with the patient of MRG and the person of PID. */
function comparisons(patient: Draft | undefined, person: Person, identity: PatientContext) {
  const { placeholderDates, today, ...found } = identity.found();
  const compared = { patients: found.patients, person, placeholderDates, today };
  const survivor = patient && survivorOf(patient.id, found);
  const agreesWith = (other: string): boolean => agrees(other, compared);
  const holders = (identifier: ReadIdentifier, isOwn: boolean): readonly StoredIdentifier[] =>
    holdersOf(identifier, found).filter((holder) => (survivorOf(holder.patient, found) === survivor) === isOwn);
  return {
    survivor: survivor === undefined ? undefined : identity.drafts.byId('Patient', survivor),
    agreesWith,
    isRecordOf: (record: string): boolean => !isDescribed(record, compared) && isAbout(record, compared),
    // The name alone of the message may fit a mother and the record of a newborn.
    contradictsRecord: (record: string): boolean => {
      const stored = found.patients.get(record)?.person;
      return stored !== undefined && contradicts(survivor ?? '', { ...compared, person: stored });
    },
    isSameAs: (other: string): boolean => patient !== undefined && isSamePerson(patient.id, other, compared),
    isOfAnother: (other: string): boolean => contradicts(other, compared),
    ownHolders: (identifier: ReadIdentifier) => holders(identifier, true),
    otherHolders: (identifier: ReadIdentifier) => holders(identifier, false),
    // An identifier that another person's record only lists is not that person's.
    othersOf: (identifier: ReadIdentifier): readonly string[] =>
      survivors(
        holders(identifier, false).filter((holder) => holder.led || agreesWith(survivorOf(holder.patient, found))),
        found,
      ),
  };
}

/** @param sent PID-3 (and PID-2) */
export function renumbering(
  mrg: ReadMrg,
  sent: readonly ReadIdentifier[],
  person: Person,
  identity: PatientContext,
): Renumbering {
  const { drafts, context } = identity;
  const replaced = mrg.identifiers;
  const old = mergedPatientsOf(mrg, '', person, identity);
  // A merged patient gets the new identifier too, as if the merge had come later.
  const id = old.kind === 'refused' ? old.merged : old.patients[0];
  if (old.kind === 'refused' && id === undefined) {
    for (const finding of old.findings) context.report(finding);
    return { kind: 'refused' };
  }
  const patient = id === undefined ? undefined : drafts.byId('Patient', id);
  const compared = comparisons(patient, person, identity);
  const { survivor, isRecordOf, isSameAs, agreesWith, isOfAnother, othersOf } = compared;

  // PID-3 may list the identifiers of relatives and enterprises too. The new one has the authority of the old one. An unknown one
  // may be a relative's, so that of an agreeing patient is first.
  const rank = (identifier: ReadIdentifier): number => {
    if (!identifier.identifies || identifier.isAlternate === true) return 8;
    const isOfMrg = replaced.some((other) => isSame(other, identifier));
    const ofAuthority = replaced.some((other) => hasAuthorityOf(identifier, other)) ? 0 : 3;
    const others = othersOf(identifier);
    const isOfPerson = others.some((other) => isSameAs(other) || agreesWith(other));
    const ofPatients = others.some(isOfAnother) ? 2 : 1;
    return (isOfMrg ? 6 : ofAuthority) + (isOfPerson ? 0 : ofPatients);
  };
  const identifiers = [...sent].sort((a, b) => rank(a) - rank(b));
  const leading = leadingOf(identifiers);
  if (patient === undefined || survivor === undefined || leading === undefined) return { kind: 'by-pid', identifiers };
  const others = othersOf(leading);
  const [first, ...more] = others;
  const moved = compared.otherHolders(leading).map(({ patient: from, authority, value, led }): MovedIdentifier => {
    return { patient: from, authority, value, led };
  });
  const own = compared.ownHolders(leading);
  if (first === undefined) {
    // If the survivor has the new identifier, the merge was sent again.
    return survivor !== patient && own.length > 0
      ? { kind: 'merge', patient, identifiers }
      : { kind: 'renumber', patient, moved, identifiers };
  }
  const other = more.length === 0 ? drafts.byId('Patient', first) : undefined;
  if (other !== undefined && isRecordOf(other.id) && !isOfAnother(survivor.id) && !compared.contradictsRecord(other.id))
    return { kind: 'absorb', patient: survivor, record: other.id, identifiers };
  // The merge is rejected, because the patient of MRG-1 is merged into another one.
  if (survivor !== patient) return { kind: 'merge', patient, identifiers };
  if (other !== undefined && isRecordOf(patient.id) && agreesWith(other.id))
    return { kind: 'absorb', patient: other, record: patient.id, identifiers };
  if (other !== undefined && isSameAs(other.id)) return { kind: 'merge', patient, identifiers };
  // The renumbering was sent again: another person's record has the identifier too.
  if (own.some(({ led }) => led))
    return { kind: 'renumber', patient, moved: moved.filter(({ led }) => !led), identifiers };
  note(context, 'E', '205', leading.at, ERROR_REASONS['number-taken'], 'number-taken');
  for (const each of others) {
    context.attend({ kind: 'possible-duplicate', patients: [patient.id, each], detail: { reason: 'number-taken' } });
  }
  return { kind: 'refused' };
}

/** The patient keeps the identifiers of MRG as old ones, and those of PID-3 as current ones. */
export function retireIdentifiers(
  { segment, identifiers: replaced }: ReadMrg,
  patient: Draft,
  current: readonly ReadIdentifier[],
  identity: PatientContext,
): void {
  const { drafts, context } = identity;
  const isIn = (identifier: ReadIdentifier, all: readonly ReadIdentifier[]): boolean =>
    all.some((other) => isSame(other, identifier));
  const unlisted = replaced.filter((identifier) => !isIn(identifier, current));
  const others = current.filter((identifier) => identifier.isAlternate !== true && !isIn(identifier, replaced));
  // An identifier of both segments stays in use if MRG has another, or PID-3 has no other.
  const old = unlisted.length > 0 || others.length === 0 ? unlisted : replaced;
  drafts.teach(
    patient,
    old.flatMap((identifier) => rowsOf(identifier, true)),
  );
  const sent = contributionsOf(segment, MRG.fields, context)
    .flatMap(({ element, value }) => (element === 'identifier' && Array.isArray(value) ? value : []))
    .filter(isJsonObject);
  // The record keeps an identifier that no message had before, so that later messages with it find the patient.
  drafts.identifiers(patient, '', (items) => [
    ...items,
    ...old.flatMap((identifier) => {
      const isStored = items.some((item) => isItemOf(item, identifier));
      return isStored ? [] : sent.filter((item) => isItemOf(item, identifier)).slice(0, 1);
    }),
  ]);
  markOld(
    patient,
    old,
    current.filter((identifier) => !isIn(identifier, old)),
    identity,
  );
}
