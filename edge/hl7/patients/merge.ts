/**
 * MRG: the patient that a merge takes away, and the number that a renumbering does (HL7 v2.5.1 §3.3.40, §3.3.47 and
 * others). Neither is ever stale: what was merged stays so.
 */
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { sortedJson, type JsonObject } from '../../../shared/json.ts';
import { domainOfIdentifier } from '../../store/patient-identity.ts';
import { note } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import { contributionsOf } from '../mapping/field-map.ts';
import { timed } from '../precedence/clock.ts';
import { ADDED } from '../precedence/precedence.ts';
import { MRG } from '../mapping/segments/mrg.ts';
import type { PatientContext } from './patient-context.ts';
import { itemsOf, link } from './survivor.ts';
import { resolveMerged, type MergedPatients } from './resolve-merged.ts';
import type { Person } from './person.ts';
import { holdersOf } from './resolve.ts';
import { isItemOf, isSame, namesOfField, identifiersOfField, rowsOf, type ReadIdentifier } from './sent-identifiers.ts';

/** Ids of a patient all of whose data go to another. */
export interface Merge {
  readonly from: string;
  readonly to: string;
}

/** The patient that a merge keeps. */
export interface Survivor {
  readonly survivor: Draft;
  /** Of PID. */
  readonly person: Person;
  /** The numbers that PID gives it; none where PID names it by the number of a record that was merged into it. */
  readonly current: readonly ReadIdentifier[];
}

/** The numbers of MRG: MRG-1, and MRG-4 where the event is about that one. */
export function identifiersOfMrg(mrg: Segment, isExternal: boolean, identity: PatientContext): ReadIdentifier[] {
  const fields = isExternal ? [1, 4] : [1];
  return fields.flatMap((field) => identifiersOfField(mrg, field, identity.authorities, identity.rules));
}

export function mergedPatientsOf(
  mrg: Segment,
  identifiers: readonly ReadIdentifier[],
  survivor: string,
  person: Person,
  identity: PatientContext,
): MergedPatients {
  return resolveMerged({
    ...identity.found(),
    identifiers,
    names: namesOfField(mrg, 7),
    survivor,
    person,
    at: identifiers[0]?.at ?? locate(mrg, 1),
  });
}

/**
 * Gives all that the patients of MRG have to the survivor. Repeated or inverted, it changes nothing; a patient that is
 * not known becomes an inactive stub, so that a late message with the old number finds the survivor.
 *
 * @returns undefined when the patient cannot be told: the reason has been reported
 */
export function mergeAway(
  mrg: Segment,
  isExternal: boolean,
  { survivor, person, current }: Survivor,
  identity: PatientContext,
): readonly Merge[] | undefined {
  const { drafts, context } = identity;
  const identifiers = identifiersOfMrg(mrg, isExternal, identity);
  const losers = mergedPatientsOf(mrg, identifiers, survivor.id, person, identity);
  for (const finding of losers.findings) context.report(finding);
  if (losers.kind === 'refused') {
    for (const id of losers.candidates) {
      context.attend({ kind: 'merge-unresolved', patients: [survivor.id, id], detail: { at: locate(mrg, 1) } });
    }
    return undefined;
  }
  for (const id of losers.left) {
    context.attend({ kind: 'possible-duplicate', patients: [survivor.id, id], detail: { reason: 'merge-of-several' } });
  }
  if (losers.losers.length === 0 && !losers.isUnknown) {
    const message = 'the patient of MRG-1 is, or has been merged into, the patient of PID-3: nothing was merged';
    note(context, 'W', '205', identifiers[0]?.at ?? locate(mrg, 1), message, 'already-merged');
    retireOwn(survivor, identifiers, current, identity);
    return [];
  }
  const found = losers.losers.flatMap((id) => drafts.byId('Patient', id) ?? []);
  const at = identifiers[0]?.at ?? locate(mrg, 1);
  const gone = found.length > 0 ? found : [stubOf(mrg, at, identity)];
  const [first = survivor] = gone;
  // A number that nobody had is one more of the patient who is gone.
  drafts.teach(
    first,
    unheld(identifiers, identity).flatMap((identifier) => rowsOf(identifier, true)),
  );
  for (const loser of gone) {
    drafts.apply(loser, [link('replaced-by', survivor)], ADDED);
    drafts.apply(survivor, [link('replaces', loser)], ADDED);
  }
  keepAsOld(
    survivor,
    gone.flatMap(({ content }) => itemsOf(content['identifier'])),
    [],
    identity,
  );
  return found.map((loser) => ({ from: loser.id, to: survivor.id }));
}

function stubOf(mrg: Segment, at: string, { drafts, context, clock, newId }: PatientContext): Draft {
  const message = 'the patient of MRG-1 was not known: late messages with the number find the survivor';
  note(context, 'W', '204', at, message, 'unknown-patient');
  const stub = drafts.create('Patient', newId());
  drafts.apply(stub, contributionsOf(mrg, MRG.fields, context), clock.lowPrecedenceOf(timed()));
  return stub;
}

/** Where all numbers are one patient's, those of MRG become old ones, unless PID names no other. */
function retireOwn(
  survivor: Draft,
  identifiers: readonly ReadIdentifier[],
  current: readonly ReadIdentifier[],
  identity: PatientContext,
): void {
  const found = identity.found();
  const isOwn = (identifier: ReadIdentifier): boolean =>
    holdersOf(identifier, found).every(({ patient }) => patient === survivor.id);
  const identifying = identifiers.filter(({ identifies }) => identifies);
  const unlisted = identifying.filter((identifier) => !current.some((other) => isSame(other, identifier)));
  // A number of both segments stays in use where MRG has another.
  const old = unlisted.length > 0 ? unlisted : identifying;
  const rest = current.filter(
    (identifier) => identifier.identifies && isOwn(identifier) && !old.some((other) => isSame(other, identifier)),
  );
  if (identifying.every(isOwn) && rest.length > 0) markOld(survivor, old, rest, identity);
}

/** The old numbers get the use `old`, the current ones lose it. */
export function markOld(
  patient: Draft,
  old: readonly ReadIdentifier[],
  current: readonly ReadIdentifier[],
  { drafts }: PatientContext,
): void {
  const isOf = (item: JsonObject, identifiers: readonly ReadIdentifier[]): boolean =>
    identifiers.some((identifier) => isItemOf(item, identifier));
  drafts.identifiers(patient, (items) =>
    items.map((item): JsonObject => {
      if (isOf(item, old)) return { ...item, use: 'old' };
      const { use, ...rest } = item;
      return use === 'old' && isOf(item, current) ? rest : item;
    }),
  );
}

function unheld(identifiers: readonly ReadIdentifier[], identity: PatientContext): ReadIdentifier[] {
  const { stored } = identity.found();
  return identifiers.filter(
    ({ value, domain }) =>
      !stored.some((identifier) => identifier.value === value && domain.ids.includes(identifier.domain)),
  );
}

/**
 * The survivor has the identifiers of the one who is gone as old ones, as that record says them: it grows when a late
 * message with the old number says more of them. What the survivor has in use itself stays so.
 *
 * @param before what the record said when the survivor was told last: what somebody has taken from the survivor since stays out
 */
export function keepAsOld(
  survivor: Draft,
  identifiers: readonly JsonObject[],
  before: readonly JsonObject[],
  { drafts }: PatientContext,
): void {
  const isOf = (item: JsonObject, items: readonly JsonObject[]): boolean =>
    items.some((other) => other['value'] === item['value'] && domainOfIdentifier(other) === domainOfIdentifier(item));
  const stored = itemsOf(survivor.content['identifier']);
  const told = new Set(before.map(sortedJson));
  const gone = identifiers.filter((item) => !told.has(sortedJson(item)) || isOf(item, stored));
  const own = stored.filter((item) => item['use'] !== 'old' || !isOf(item, gone));
  const old = gone.filter((item) => !isOf(item, own)).map((item) => ({ ...item, use: 'old' }));
  drafts.rewrite(survivor, { ...survivor.content, identifier: [...own, ...old] });
}
