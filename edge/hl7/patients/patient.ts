/**
 * The patient of a PID, and the effect of an event on it (edge/docs/behaviour.md, HL7 v2, Which patient). A merged patient
 * leads to its survivor, so that late messages with the old identifier find the right record.
 */
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { objectsOf } from '../../../shared/json.ts';
import type { NewAlias } from '../../store/hl7.ts';
import { besideTrait, DESCRIBED, knownBy, nameOfAuthority, traitsOf } from '../../store/patient-identity.ts';
import { note } from '../mapping/context.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import type { EventRule } from '../mapping/tables/events.ts';
import type { Timing } from '../precedence/clock.ts';
import type { PatientContext, PatientSegments } from './patient-context.ts';
import { absorb } from './absorb.ts';
import { noteContestedNamespace } from './authorities.ts';
import { chooseSurvivor, type SurvivorChoice } from './choose-survivor.ts';
import { personOf as personOfRecord } from './found-patients.ts';
import { describe } from './describe.ts';
import { mothersLast } from './mothers-identifier.ts';
import { keepAsOld, mergedPatientsOf, mergeAway, readMrg, type Merge, type ReadMrg } from './merge.ts';
import { orderMerge } from './merge-order.ts';
import { isRenumbered, rememberMerge } from './merge-register.ts';
import { renumbering, retireIdentifiers } from './renumber.ts';
import { survivorOf } from './identifier-holders.ts';
import { pathOfMerges } from './survivor.ts';
import { resolve, type MovedIdentifier, type Promoted, type Resolution } from './resolve.ts';
import { isNewborn, type Person } from './person.ts';
import {
  isItemOf,
  isSame,
  leadingOf,
  identifiersOfField,
  personOf,
  rowsOf,
  type ReadIdentifier,
} from './sent-identifiers.ts';

export interface MappedPatient {
  /** The patient that clinical content belongs to. */
  readonly patient: Draft;
  readonly merges: readonly Merge[];
  readonly moved: readonly MovedIdentifier[];
  readonly aliases: readonly NewAlias[];
}

interface SentPatient {
  readonly identifiers: readonly ReadIdentifier[];
  readonly person: Person;
  readonly mrg: ReadMrg | undefined;
}

/** @returns undefined if the patient cannot be resolved; the reason has been reported */
export function mapPatient(
  segments: PatientSegments,
  rule: EventRule,
  identity: PatientContext,
): MappedPatient | undefined {
  const { pid } = segments;
  const isExternal = rule.isExternal === true;
  const person = personOf(pid, identity.context);
  const mrg = segments.mrg && readMrg(segments.mrg, isExternal, identity);
  const all = identifiersOfPid(pid, isExternal, identity);
  const identifiers = mothersLast(pid, all, mrg?.identifiers ?? [], person, identity);
  noteContested(identifiers, identity);
  if (!identifiers.some(({ isAlternate }) => isAlternate !== true)) return noteUnusable(pid, identity);
  const sent: SentPatient = { identifiers, person, mrg };
  return rule.patient === 'renumber' && mrg !== undefined
    ? byRenumbering(segments, rule, sent, mrg, identity)
    : byPid(segments, rule, sent, identity);
}

function byRenumbering(
  segments: PatientSegments,
  rule: EventRule,
  sent: SentPatient,
  mrg: ReadMrg,
  identity: PatientContext,
): MappedPatient | undefined {
  const { person } = sent;
  const renumbered = renumbering(mrg, sent.identifiers, person, identity);
  if (renumbered.kind === 'refused') return undefined;
  const precedence = identity.clock.precedenceOf(segments.timing);
  const renamed: SentPatient = { ...sent, identifiers: renumbered.identifiers };
  if (renumbered.kind === 'merge') return mergeAndJoin(segments, rule, renamed, renumbered.patient, identity);
  const absorbed =
    renumbered.kind === 'absorb' ? [absorb(renumbered.record, renumbered.patient, precedence, identity)] : [];
  // The patient of the old identifier has the new one now: the rest is as for any other event.
  if (renumbered.kind === 'renumber') {
    teachLeading(renumbered.patient, renamed.identifiers, identity);
    move(renumbered.moved, person, identity);
  }
  const mapped = byPid(segments, { ...rule, patient: 'upsert' }, renamed, identity);
  if (mapped === undefined) return undefined;
  const isOfPatient =
    renumbered.kind === 'renumber' && survivorOf(renumbered.patient.id, identity.found()) === mapped.patient.id;
  const record = isOfPatient ? renumbered.patient : mapped.patient;
  retireIdentifiers(mrg, record, renamed.identifiers, identity);
  const moved = [...(renumbered.kind === 'renumber' ? renumbered.moved : []), ...mapped.moved];
  return { ...mapped, merges: [...absorbed, ...mapped.merges], moved };
}

/** A renumbering that merges two records, or follows their merge: all messages are about the survivor. */
function mergeAndJoin(
  segments: PatientSegments,
  rule: EventRule,
  sent: SentPatient,
  patient: Draft,
  identity: PatientContext,
): MappedPatient | undefined {
  const { drafts } = identity;
  const mapped = byPid(segments, { ...rule, patient: 'merge' }, sent, identity);
  const [, survivor] = pathOfMerges(patient, drafts);
  if (survivor !== undefined) {
    rememberMerge(patient, survivor, '', drafts, true);
    drafts.join(survivor, patient);
  }
  return mapped;
}

/** PID-3, and PID-2 if the event is about it. Other identifiers of PID-2 and PID-4 are alternates. */
function identifiersOfPid(pid: Segment, isExternal: boolean, { authorities, rules }: PatientContext): ReadIdentifier[] {
  const read = (field: number): ReadIdentifier[] => identifiersOfField(pid, field, authorities, rules);
  const own = (isExternal ? [3, 2] : [3]).flatMap(read);
  const alternates = [2, 4].flatMap(read).filter((identifier) => !own.some((other) => isSame(other, identifier)));
  return [...own, ...alternates.map((identifier) => ({ ...identifier, isAlternate: true }))];
}

/** Reports a namespace of which messages had several URIs: the sender learns why a patient is not found. */
function noteContested(identifiers: readonly ReadIdentifier[], { context }: PatientContext): void {
  for (const { authority, at } of identifiers) {
    if (authority.isContested === true) noteContestedNamespace(nameOfAuthority(authority.id) ?? '', at, context);
  }
}

function noteUnusable(pid: Segment, { context }: PatientContext): undefined {
  note(context, 'E', '101', `${locate(pid, 3)}^1^1`, ERROR_REASONS['placeholder-identifier'], 'placeholder-identifier');
}

function noteUnclear(pid: Segment, patients: readonly string[], { context }: PatientContext): undefined {
  const at = `${locate(pid, 3)}^1^1`;
  const message =
    'PID-3 does not single out the survivor. Send only its identifiers, without those of relatives. Nothing was merged.';
  note(context, 'E', '204', at, message, 'merge-unresolved');
  context.attend({ kind: 'merge-unresolved', patients, detail: { at } });
}

function teachLeading(patient: Draft, identifiers: readonly ReadIdentifier[], { drafts }: PatientContext): void {
  const leading = leadingOf(identifiers);
  if (leading !== undefined) drafts.teach(patient, rowsOf(leading, true));
}

interface ResolvedPid {
  readonly choice: SurvivorChoice;
  /** The MRG to apply; undefined without one, or for a stale merge. */
  readonly merge: ReadMrg | undefined;
  readonly resolution: Exclude<Resolution, { readonly kind: 'refused' }>;
}

/** @returns undefined if the patient cannot be resolved; the reason has been reported */
function resolvePid(
  segments: PatientSegments,
  action: EventRule['patient'],
  sent: SentPatient,
  identity: PatientContext,
): ResolvedPid | undefined {
  const { pid } = segments;
  const { person, mrg } = sent;
  const { context, check } = identity;
  const order = action === 'merge' && mrg !== undefined ? orderOf(segments, mrg, sent, identity) : undefined;
  const merge = order?.kind === 'in-order' ? mrg : undefined;
  const choice = order?.kind === 'stale' ? order.choice : choiceOf(sent, merge, identity);
  const { asked, stored, unclear } = choice;
  if (unclear.length > 0) return noteUnclear(pid, unclear, identity);
  const found = { ...identity.found(), stored };
  const resolution = resolve({ ...found, identifiers: asked, person, isAdmission: action !== 'ensure', check });
  for (const finding of resolution.findings) context.report(finding);
  if (resolution.kind === 'refused') {
    attendDuplicates(resolution, undefined, identity);
    return undefined;
  }
  if (resolution.kind === 'new' && (action === 'retain' || action === 'deactivate')) {
    const message = 'PID-3 names a patient that was unknown until now.';
    note(context, 'W', '204', `${locate(pid, 3)}^1^1`, message, 'unknown-patient');
  }
  return { choice, merge, resolution };
}

function byPid(
  segments: PatientSegments,
  rule: EventRule,
  sent: SentPatient,
  identity: PatientContext,
): MappedPatient | undefined {
  const { pid } = segments;
  const { person } = sent;
  const { drafts, newId } = identity;
  const action = rule.patient;
  const isAdmission = action !== 'ensure';
  const resolved = resolvePid(segments, action, sent, identity);
  if (resolved === undefined) return undefined;
  const { choice, merge, resolution } = resolved;
  const { identifiers, repeated } = choice;
  const known = resolution.kind === 'known' ? drafts.byId('Patient', resolution.patient) : undefined;
  const patient = known ?? drafts.create('Patient', newId());
  drafts.touch(patient);
  attendDuplicates(resolution, patient.id, identity);
  move(resolution.moved, person, identity);
  promote(resolution.promoted, identity);

  const old = resolution.kind === 'known' ? resolution.oldRecord : undefined;
  const record = (old === undefined ? undefined : drafts.byId('Patient', old)) ?? patient;
  const ifKnown = old === undefined ? 'known' : 'merged';
  const state = known === undefined ? 'new' : ifKnown;
  const before = objectsOf(record.content['identifier']);
  const foreign = new Set([...resolution.foreign, ...repeated]);
  const leading = resolution.leading ?? leadingOf(identifiers);
  const aliasRefused = resolution.isAliasRefused ? leading : undefined;
  const isOldest = isOlderThanAll(segments.timing, record, identity);
  describe(
    { segments, action, record, joined: joinedTo(record, drafts), state, identifiers, leading, foreign, aliasRefused },
    identity,
  );
  if (isAdmission) for (const each of new Set([record, patient])) drafts.rememberPerson(each, [DESCRIBED]);
  drafts.rememberPerson(record, resolution.beside.map(besideTrait));
  // A contradicting statement counts only while it is current, unless it is older than all others.
  const isRemembered = !resolution.isContradicted || isOldest;
  if (state === 'new' || (isAdmission && action !== 'deactivate' && isRemembered)) {
    for (const each of new Set([record, patient]))
      drafts.rememberPerson(each, traitsOf(person.names, person.birthDate));
  }
  const precedence = identity.clock.precedenceOf(segments.timing);
  const absorbed = resolution.absorbed.map((id) => absorb(id, patient, precedence, identity));
  if (record !== patient) keepAsOld(patient, objectsOf(record.content['identifier']), before, 'PID-3', identity);
  if (action === 'not-moved') noteNotMoved(pid, sent, patient, identity);

  const survivor = { survivor: patient, person, current: record === patient ? identifiers : [], precedence };
  const merges = merge === undefined ? [] : mergeAway(merge, survivor, identity);
  if (merges === undefined) return undefined;
  const aliases = resolution.proposed.map((alias) => ({ ...alias, isTaught: false }));
  return { patient, merges: [...absorbed, ...merges], moved: resolution.moved, aliases };
}

/** The patients that a merged record was renumbered to. */
function joinedTo(record: Draft, drafts: Drafts): readonly Draft[] {
  const path = pathOfMerges(record, drafts);
  const end = path.findIndex((patient, at) => !isRenumbered(patient, path[at + 1] ?? patient));
  return path.slice(1, end + 1);
}

/** Reports a stale merge. Without it, the identifiers of MRG in PID are of another patient. */
function orderOf(
  { timing }: PatientSegments,
  { identifiers: mrgIdentifiers, at }: ReadMrg,
  sent: SentPatient,
  identity: PatientContext,
): { readonly kind: 'in-order' } | { readonly kind: 'stale'; readonly choice: SurvivorChoice } {
  const { context, clock } = identity;
  const order = orderMerge(sent.identifiers, mrgIdentifiers, clock.precedenceOf(timing), identity);
  if (order.kind === 'in-order') return order;
  const message =
    'A newer message merged these patients the other way, or they were separated since. Nothing was merged.';
  note(context, 'W', '205', at, message, 'stale');
  const { survivor, merged } = order;
  context.attend({ kind: 'stale-merge', patients: [survivor, merged], detail: { at, from: merged, to: survivor } });
  const isOfMrg = (identifier: ReadIdentifier): boolean => mrgIdentifiers.some((other) => isSame(other, identifier));
  const identifiers = sent.identifiers.filter((identifier) => !isOfMrg(identifier));
  const choice = choiceOf({ ...sent, identifiers }, undefined, identity);
  return { kind: 'stale', choice: { ...choice, repeated: new Set(sent.identifiers.filter(isOfMrg)) } };
}

/** Without a merge, the order of PID-3 and all stored identifiers count. */
function choiceOf(
  { identifiers, person }: SentPatient,
  merge: ReadMrg | undefined,
  identity: PatientContext,
): SurvivorChoice {
  const found = identity.found();
  if (merge === undefined)
    return { identifiers, asked: identifiers, stored: found.stored, repeated: new Set(), unclear: [] };
  const { identifiers: mrgIdentifiers, names, at } = merge;
  return chooseSurvivor({ ...found, identifiers, mrgIdentifiers, person, names, at });
}

/** Checks whether a message is older than every statement of ADT messages that counts. */
function isOlderThanAll(timing: Timing, { remembered }: Draft, { clock }: PatientContext): boolean {
  const precedence = clock.precedenceOf(timing);
  const others = [...remembered.registers.values()].filter((register) => register.precedence.startsWith('1'));
  return others.length > 0 && others.every((register) => register.precedence > precedence);
}

/** A43 and similar events: data stays with its patient, and the administrator gets an issue to review. */
function noteNotMoved(pid: Segment, { person, mrg }: SentPatient, patient: Draft, identity: PatientContext): void {
  const { context } = identity;
  note(context, 'W', '205', locate(mrg?.segment ?? pid), ERROR_REASONS['not-moved'], 'not-moved');
  const from = mrg && mergedPatientsOf(mrg, patient.id, person, identity);
  const others = from?.kind === 'resolved' ? from.patients : [];
  const about = context.messageId;
  if (others.length === 0)
    context.attend({ kind: 'not-moved', patients: [patient.id], about, detail: { to: patient.id } });
  for (const id of others) {
    context.attend({ kind: 'not-moved', patients: [patient.id, id], about, detail: { from: id, to: patient.id } });
  }
}

/** Removes identifiers that lead to another patient now. */
function move(moved: readonly MovedIdentifier[], person: Person, { drafts, today }: PatientContext): void {
  for (const identifier of moved) {
    const from = drafts.byId('Patient', identifier.patient);
    if (from === undefined) continue;
    drafts.forget(from, identifier);
    const areNewborns = isNewborn(person, today) && isNewborn(personOfRecord(from.content), today);
    if (!identifier.led && areNewborns) drafts.rememberPerson(from, [besideTrait(identifier.value)]);
    const authority = { id: identifier.authority, ids: [identifier.authority], isAssumed: true };
    const gone = { value: identifier.value, authority, identifies: true, type: '', at: '' };
    drafts.identifiers(from, 'PID-3', (items) => items.filter((item) => !isItemOf(item, gone)));
  }
}

function promote(promoted: Promoted | undefined, { drafts }: PatientContext): void {
  const draft = promoted === undefined ? undefined : drafts.byId('Patient', promoted.patient);
  if (promoted === undefined || draft === undefined) return;
  const { authority, value } = promoted;
  // These rows lead.
  const rows = knownBy(draft.content).numbers.filter((row) => row[0] === authority && row[1] === value);
  drafts.teach(draft, rows);
}

const WHY_DUPLICATES: ReadonlySet<string> = new Set([
  'identifiers-of-several',
  'possible-duplicate',
  'number-of-several',
  'ambiguous-patient',
  'number-reassigned',
]);

/** @param patient undefined if the message is rejected: the patients are possible duplicates of each other */
function attendDuplicates(
  { duplicates: ids, findings }: Pick<Resolution, 'duplicates' | 'findings'>,
  patient: string | undefined,
  { context }: PatientContext,
): void {
  const [first, ...others] = ids;
  const of = patient ?? first;
  if (of === undefined) return;
  const pairs = patient === undefined ? others : ids.filter((id) => id !== patient);
  // The administrator sees the reason that the sender got.
  const why = findings.find(({ reason = '' }) => WHY_DUPLICATES.has(reason));
  const detail = {
    ...(why?.reason !== undefined && { reason: why.reason }),
    ...(why?.at !== undefined && { at: why.at }),
  };
  for (const id of pairs) context.attend({ kind: 'possible-duplicate', patients: [of, id], detail });
}
