/**
 * MRG: the patient that a merge merges, and the identifier that a renumbering replaces (HL7 v2.5.1 §3.3.40, §3.3.47 and
 * others).
 */
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { objectsOf, sortedJson, type JsonObject } from '../../../shared/json.ts';
import { isSameIdentifier, type PersonName } from '../../store/patient-identity.ts';
import { note } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import { contributionsOf } from '../mapping/field-map.ts';
import { timed } from '../precedence/clock.ts';
import { ADDED, type Precedence } from '../precedence/precedence.ts';
import { MRG } from '../mapping/segments/mrg.ts';
import type { PatientContext } from './patient-context.ts';
import { isRenumbered, rememberMerge } from './merge-register.ts';
import { link } from './survivor.ts';
import { resolveMerged, type MergedPatients } from './resolve-merged.ts';
import type { Person } from './person.ts';
import { holdersOf } from './identifier-holders.ts';
import { isItemOf, isSame, namesOfField, identifiersOfField, rowsOf, type ReadIdentifier } from './sent-identifiers.ts';

/** Ids of a patient and of the survivor that gets all its data. */
export interface Merge {
  readonly from: string;
  readonly to: string;
  /** The survivor also gets the identifiers: none leads to the merged patient. */
  readonly isAbsorbed?: true;
}

/** The patient that a merge keeps. */
export interface Survivor {
  readonly survivor: Draft;
  /** The person of PID. */
  readonly person: Person;
  /** The identifiers of PID; none if PID names the survivor by the identifier of a merged patient. */
  readonly current: readonly ReadIdentifier[];
  /** The merge's. */
  readonly precedence: Precedence;
}

/** An MRG segment, read once for all questions about it. */
export interface ReadMrg {
  readonly segment: Segment;
  /** MRG-1, and MRG-4 if the event is about it. */
  readonly identifiers: readonly ReadIdentifier[];
  /** MRG-7. */
  readonly names: readonly PersonName[];
  /** The first identifier's place, for ERR-2. */
  readonly at: string;
}

export function readMrg(segment: Segment, isExternal: boolean, { authorities, rules }: PatientContext): ReadMrg {
  const fields = isExternal ? [1, 4] : [1];
  const identifiers = fields.flatMap((field) => identifiersOfField(segment, field, authorities, rules));
  return { segment, identifiers, names: namesOfField(segment, 7), at: identifiers[0]?.at ?? locate(segment, 1) };
}

export function mergedPatientsOf(
  { identifiers, names, at }: ReadMrg,
  survivor: string,
  person: Person,
  identity: PatientContext,
): MergedPatients {
  return resolveMerged({ ...identity.found(), identifiers, names, survivor, person, at });
}

/**
 * Merges the patients of MRG into the survivor. Repeated, it changes nothing. An unknown patient becomes an
 * inactive stub, so that a late message with its identifier finds the survivor.
 *
 * @returns undefined if the patient cannot be resolved; the reason has been reported
 */
export function mergeAway(
  mrg: ReadMrg,
  { survivor, person, current, precedence }: Survivor,
  identity: PatientContext,
): readonly Merge[] | undefined {
  const { drafts, context } = identity;
  const { segment, identifiers, at } = mrg;
  const resolved = mergedPatientsOf(mrg, survivor.id, person, identity);
  for (const finding of resolved.findings) context.report(finding);
  if (resolved.kind === 'refused') {
    for (const id of resolved.candidates) {
      context.attend({ kind: 'merge-unresolved', patients: [survivor.id, id], detail: { at: locate(segment, 1) } });
    }
    return undefined;
  }
  for (const id of resolved.left) {
    context.attend({ kind: 'possible-duplicate', patients: [survivor.id, id], detail: { reason: 'merge-of-several' } });
  }
  if (resolved.patients.length === 0 && !resolved.isUnknown) {
    note(context, 'W', '205', at, ERROR_REASONS['already-merged'], 'already-merged');
    retireOwn(survivor, identifiers, current, identity);
    return [];
  }
  const found = resolved.patients.flatMap((id) => drafts.byId('Patient', id) ?? []);
  const gone = found.length > 0 ? found : [stubOf(segment, at, identity)];
  const [first = survivor] = gone;
  // An identifier that no patient had becomes another one of the merged patient.
  drafts.teach(
    first,
    unknownOf(identifiers, identity).flatMap((identifier) => rowsOf(identifier, true)),
  );
  for (const mergedPatient of gone) {
    drafts.apply(mergedPatient, [link('replaced-by', survivor)], ADDED);
    drafts.apply(survivor, [link('replaces', mergedPatient)], ADDED);
    rememberMerge(mergedPatient, survivor, precedence, drafts);
    if (isRenumbered(mergedPatient, survivor)) drafts.join(survivor, mergedPatient);
  }
  keepAsOld(
    survivor,
    gone.flatMap(({ content }) => objectsOf(content['identifier'])),
    [],
    '',
    identity,
  );
  return gone.map((mergedPatient) => ({ from: mergedPatient.id, to: survivor.id }));
}

function stubOf(mrg: Segment, at: string, { drafts, context, clock, newId }: PatientContext): Draft {
  const message = 'MRG-1 names an unknown patient. Later messages with this identifier update the survivor.';
  note(context, 'W', '204', at, message, 'unknown-patient');
  const stub = drafts.create('Patient', newId());
  drafts.apply(stub, contributionsOf(mrg, MRG.fields, context), clock.lowPrecedenceOf(timed()));
  return stub;
}

/** If one patient has all identifiers, those of MRG become old ones, unless PID names no other. */
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
  // An identifier of both segments stays in use if MRG has another.
  const old = unlisted.length > 0 ? unlisted : identifying;
  const rest = current.filter(
    (identifier) => identifier.identifies && isOwn(identifier) && !old.some((other) => isSame(other, identifier)),
  );
  if (identifying.every(isOwn) && rest.length > 0) markOld(survivor, old, rest, identity);
}

/** Gives the old identifiers the use `old`, and removes it from the current ones. */
export function markOld(
  patient: Draft,
  old: readonly ReadIdentifier[],
  current: readonly ReadIdentifier[],
  { drafts }: PatientContext,
): void {
  const isOf = (item: JsonObject, identifiers: readonly ReadIdentifier[]): boolean =>
    identifiers.some((identifier) => isItemOf(item, identifier));
  drafts.identifiers(patient, '', (items) =>
    items.map((item): JsonObject => {
      if (isOf(item, old)) return { ...item, use: 'old' };
      const { use, ...rest } = item;
      return use === 'old' && isOf(item, current) ? rest : item;
    }),
  );
}

function unknownOf(identifiers: readonly ReadIdentifier[], identity: PatientContext): ReadIdentifier[] {
  const { stored } = identity.found();
  return identifiers.filter(
    ({ value, authority }) =>
      !stored.some((identifier) => identifier.value === value && authority.ids.includes(identifier.authority)),
  );
}

/**
 * Adds the merged patient's identifiers to the survivor as old ones. A late message with the old identifier may add members to
 * them. Identifiers that the survivor uses itself stay in use.
 *
 * @param before the merged patient's identifiers at the last copy: what was deleted from the survivor since stays deleted
 * @param field the origin; `''`: the event
 */
export function keepAsOld(
  survivor: Draft,
  identifiers: readonly JsonObject[],
  before: readonly JsonObject[],
  field: string,
  { drafts }: PatientContext,
): void {
  const isOf = (item: JsonObject, items: readonly JsonObject[]): boolean =>
    items.some((other) => isSameIdentifier(other, item));
  const stored = objectsOf(survivor.content['identifier']);
  const copied = new Set(before.map(sortedJson));
  const gone = identifiers.filter((item) => !copied.has(sortedJson(item)) || isOf(item, stored));
  const own = stored.filter((item) => item['use'] !== 'old' || !isOf(item, gone));
  const old = gone.filter((item) => !isOf(item, own)).map((item) => ({ ...item, use: 'old' }));
  survivor.origins.push({ element: 'identifier', field });
  drafts.rewrite(survivor, { ...survivor.content, identifier: [...own, ...old] });
}
