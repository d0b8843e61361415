/**
 * The order of the merges of two patients (edge/docs/behaviour.md, HL7 v2, Merges). The first merge is never stale. After it the
 * newest counts, in any order of arrival: a merge in the other direction, or an administrator's undoing.
 */
import { objectsOf } from '../../../shared/json.ts';
import { isSameIdentifier } from '../../store/patient-identity.ts';
import type { Draft } from '../mapping/drafts.ts';
import { isAfter, type Precedence } from '../precedence/precedence.ts';
import { later } from '../precedence/registers.ts';
import { holdersOf } from './identifier-holders.ts';
import { linkTo, newestMerge, newestOf, rememberMerge } from './merge-register.ts';
import type { PatientContext } from './patient-context.ts';
import { isSame, type ReadIdentifier } from './sent-identifiers.ts';
import { isLinked, pathOfMerges, unlink } from './survivor.ts';

export type MergeOrder =
  | { readonly kind: 'in-order' }
  /** A newer statement is stored: the message merges nothing. */
  | { readonly kind: 'stale'; readonly survivor: string; readonly merged: string };

/**
 * Compares a merge with the newer and older ones of its patients. If it reverses an older merge, the patient of PID-3 is no
 * longer a merged one.
 *
 * @param identifiers those of PID
 */
export function orderMerge(
  identifiers: readonly ReadIdentifier[],
  mrgIdentifiers: readonly ReadIdentifier[],
  precedence: Precedence,
  identity: PatientContext,
): MergeOrder {
  const { drafts } = identity;
  const gone = leadTo(mrgIdentifiers, identity);
  const kept = leadTo(
    identifiers.filter((identifier) => !mrgIdentifiers.some((other) => isSame(other, identifier))),
    identity,
  );
  const pairs = kept.flatMap((survivor) => gone.map((merged) => ({ survivor, merged })));
  const reversed: (readonly Draft[])[] = [];
  for (const { survivor, merged } of pairs.filter((pair) => pair.survivor !== pair.merged)) {
    const [into, from] = [pathOfMerges(survivor, drafts), pathOfMerges(merged, drafts)];
    // A PID with several MRG segments does not reverse its own merges.
    const isReversed = into.at(-1) === merged && newestIn(into) !== precedence;
    const isMerged = into.includes(merged) || from.includes(survivor);
    const apart = isMerged ? [] : into.flatMap((a) => from.map((b) => newestApart(a, b, precedence)));
    const newest = isReversed ? newestIn(into) : apart.reduce(later, '');
    if (newest !== '' && !isAfter(precedence, newest))
      return { kind: 'stale', survivor: survivor.id, merged: merged.id };
    const [, next] = from.includes(survivor) ? from : [];
    if (next !== undefined) rememberMerge(merged, next, precedence, drafts);
    if (isReversed) reversed.push(into);
  }
  for (const [merged, next] of reversed) {
    if (merged !== undefined && next !== undefined) separate(merged, next, identity);
  }
  return { kind: 'in-order' };
}

/** The newest statement that the two are separate; an A37 only if it is newer than the merge. */
function newestApart(a: Draft, b: Draft, precedence: Precedence): Precedence {
  const unlinked = isLinked(a, 'seealso', b) ? '' : newestOf(a, b, linkTo);
  return later(newestMerge(a, b), isAfter(unlinked, precedence) ? unlinked : '');
}

const newestIn = (path: readonly Draft[]): Precedence =>
  path.reduce((newest, patient, at) => {
    const next = path[at + 1];
    return next === undefined ? newest : later(newest, newestMerge(patient, next));
  }, '');

/** The patients that the identifiers lead to, merged or not. */
function leadTo(identifiers: readonly ReadIdentifier[], { drafts, found }: PatientContext): Draft[] {
  const stored = found();
  const led = identifiers
    .filter(({ identifies, isAlternate, authority }) => identifies && isAlternate !== true && !authority.isContested)
    .flatMap((identifier) => holdersOf(identifier, stored).filter((holder) => holder.led));
  return [...new Set(led.map(({ patient }) => patient))].flatMap((id) => drafts.byId('Patient', id) ?? []);
}

/** Removes the links of a merge, and the identifiers that the survivor got by it. */
function separate(merged: Draft, survivor: Draft, { drafts }: PatientContext): void {
  unlink(merged, 'replaced-by', survivor, drafts);
  unlink(survivor, 'replaces', merged, drafts);
  const own = objectsOf(merged.content['identifier']);
  drafts.identifiers(survivor, '', (items, isListed) =>
    items.filter(
      (item) => item['use'] !== 'old' || isListed(item) || !own.some((other) => isSameIdentifier(item, other)),
    ),
  );
  drafts.rewrite(merged, { ...merged.content, active: true });
}
