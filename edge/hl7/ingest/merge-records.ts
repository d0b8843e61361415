/**
 * Merges the results, reports, allergies, diagnoses, procedures and documents of two patients (edge/docs/behaviour.md, HL7 v2,
 * Which resource). If two have one key, the survivor's stays, with the later value of each element. The other is entered in
 * error. So the record equals that of an earlier merge. `hl7_merge` moves everything else, keys and references too.
 */
import type { Segment } from '../../../shared/hl7/message.ts';
import { isJsonObject, type JsonObject } from '../../../shared/json.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Merge } from '../patients/merge.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { IN_ERROR, type Contribution } from '../precedence/contribution.ts';
import { CANCELLED, keyOf, NUMBERED } from '../mapping/key.ts';
import { documentsByNumber } from '../mapping/patient-record.ts';
import { mergeAllergies } from '../mapping/no-known-allergy.ts';
import { referringTo } from '../mapping/references.ts';
import { byNumber, hasArrived, replacedKey, replacesNow } from '../message/documents.ts';
import { writeElement } from '../precedence/element.ts';
import type { Precedence } from '../precedence/precedence.ts';
import { later } from '../precedence/registers.ts';
import { ARRIVED } from '../precedence/stated-value.ts';
import { attendTie } from '../results/tied-result.ts';
import { concludeMerged } from '../results/conclusion.ts';
import { noteUncertain } from '../results/file-results.ts';
import { settleMerged, type MergedFiling } from '../results/left-results.ts';
import { mergeResults } from '../results/merge-results.ts';
import { ALLERGY_IN_ERROR } from '../mapping/segments/al1-iam.ts';
import { CONDITION_IN_ERROR } from '../mapping/segments/condition.ts';

/** Types without the status of most resources. */
const OTHERWISE_IN_ERROR: Readonly<Partial<Record<ResourceType, readonly Contribution[]>>> = {
  AllergyIntolerance: ALLERGY_IN_ERROR,
  Condition: CONDITION_IN_ERROR,
};

/** Ids of two resources that become one. Without `gone`, the merge changes a resource otherwise, and an undo restores it. */
export interface Met {
  readonly gone: string | null;
  readonly kept: string;
}

interface Pair {
  readonly gone: Draft;
  readonly kept: Draft;
}

/** @param merges in their order, each with its segment */
export function mergeRecords(merges: ReadonlyMap<Merge, Segment>, filing: MergedFiling): Met[] {
  if (merges.size === 0) return [];
  const { drafts, results, context } = filing;
  const met: Met[] = [];
  const before = new Map(drafts.all().map((draft) => [draft, draft.content]));
  const records = new Map<string, Set<string>>();
  for (const [{ from, to }, segment] of merges) {
    const record = records.get(to) ?? new Set([to]);
    records.set(to, record);
    const replacements = newReplacements(from, to, drafts);
    // A resource that a FHIR client gave to another patient stays there.
    const moved = drafts.keysOf(from).filter(({ draft }) => isOfPatient(draft, new Set([from])));
    const filed = moved.flatMap(({ key, draft }): Pair[] => {
      const isOwn = replacedKey(key) === undefined && !(key.startsWith(CANCELLED) && hasArrived(draft));
      const kept = isOwn ? drafts.byKey(draft.type, keyOf(key, to)) : undefined;
      return kept !== undefined && kept !== draft && isOfPatient(kept, record) ? [{ gone: draft, kept }] : [];
    });
    const observations = results.ofPatient('Observation', from).map(({ draft }) => draft);
    const cancelled = cancelledElsewhere(from, to, drafts).filter(
      ({ gone, kept }) => isOfPatient(gone, new Set([from])) && isOfPatient(kept, record),
    );
    for (const { kept } of cancelled) drafts.remember(kept, ARRIVED, saidLast(kept));
    const { met: same, beside } = mergeResults(from, to, results);
    const found = same.filter(
      ({ gone, kept }) => isOfPatient(gone.draft, new Set([from, ...record])) && isOfPatient(kept.draft, record),
    );
    for (const { draft } of beside) noteUncertain({ status: 'beside' }, { segment }, draft, to, context);
    for (const { kept, isDoubtful = false } of found)
      noteUncertain({ status: 'known', known: kept, isDoubtful }, { segment }, kept.draft, to, context);
    for (const { gone, kept } of found) results.refile(kept, gone.key);
    const keys = new Map(found.map(({ kept }) => [kept.draft, kept.key]));
    filed.push(...cancelled);
    const pairs = [...filed, ...found.map(({ gone, kept }): Pair => ({ gone: gone.draft, kept: kept.draft }))];
    const heirs = new Map(filed.toReversed().map(({ gone, kept }) => [gone, kept]));
    for (const { key, draft } of moved) {
      const heir = heirs.get(draft) ?? draft;
      if (drafts.byKey(draft.type, keyOf(key, to)) === undefined) drafts.expectKey(heir, keyOf(key, to));
    }
    record.add(from);
    const stays = new Map([
      [`Patient/${from}`, `Patient/${to}`],
      ...pairs.map(({ gone, kept }) => [`${gone.type}/${gone.id}`, `${kept.type}/${kept.id}`] as const),
    ]);
    for (const { gone, kept } of pairs) {
      const { isTied } = drafts.absorb(kept, { ...gone, content: referringTo(gone.content, stays) });
      const key = keys.get(kept);
      if (isTied && key !== undefined) attendTie(kept, to, key, context.attend);
      drafts.rewrite(gone, inError(gone));
    }
    const kept = pairs.map((pair) => pair.kept);
    results.move(from, to, new Set(pairs.map(({ gone }) => gone)));
    settleMerged(to, new Set([...observations, ...kept]), segment, filing);
    concludeMerged(
      kept.filter(({ type }) => type === 'DiagnosticReport'),
      to,
      filing,
    );
    met.push(...pairs.map(({ gone, kept }) => ({ gone: gone.id, kept: kept.id })));
    for (const key of replacements) replaceDocument(key, to, drafts);
    const [merged, survivor] = [from, to].map((id) => drafts.byId('Patient', id));
    const find = (key: string) => drafts.byKey('AllergyIntolerance', keyOf(key, to));
    if (merged !== undefined && survivor !== undefined) mergeAllergies(merged, survivor, find, drafts);
  }
  const changed = drafts.all().filter((draft) => before.get(draft) !== draft.content);
  return [...met, ...changed.map(({ id }) => ({ gone: null, kept: id }))];
}

const isOfPatient = ({ content }: Draft, patients: ReadonlySet<string>): boolean => {
  const whose = content['subject'] ?? content['patient'];
  const reference = isJsonObject(whose) ? whose['reference'] : undefined;
  return typeof reference === 'string' && patients.has(reference.split('/')[1] ?? '');
};

function inError({ type, content }: Draft): JsonObject {
  const next = { ...content };
  for (const { element, value } of OTHERWISE_IN_ERROR[type] ?? IN_ERROR) writeElement(next, element, value);
  return next;
}

/** Documents of one record that were cancelled in the other one by their number alone. */
function cancelledElsewhere(from: string, to: string, drafts: Drafts): Pair[] {
  const pairsOf = (cancelling: string, other: string): (readonly [Draft, Draft])[] =>
    drafts.keysOf(cancelling).flatMap(({ key, draft }) => {
      if (!key.startsWith(CANCELLED) || hasArrived(draft)) return [];
      const [only, ...more] = documentsByNumber(other, drafts).get(key.slice(CANCELLED.length)) ?? [];
      return only === undefined || more.length > 0 ? [] : [[draft, only]];
    });
  return [
    ...pairsOf(from, to).map(([gone, kept]) => ({ gone, kept })),
    ...pairsOf(to, from).map(([kept, gone]) => ({ gone, kept })),
  ];
}

/** The documents that a replacement key names, none if it is another key: several only by a number without an authority. */
function replacedBy(key: string, patient: string, drafts: Drafts): readonly Draft[] {
  const replaced = replacedKey(key) ?? '';
  if (replaced.startsWith(NUMBERED))
    return documentsByNumber(patient, drafts).get(replaced.slice(NUMBERED.length)) ?? [];
  return [drafts.byKey('DocumentReference', keyOf(replaced, patient))].filter((each) => each !== undefined);
}

/** Replacement keys of one record whose document is only in the other record. */
function newReplacements(from: string, to: string, drafts: Drafts): readonly string[] {
  const isKnown = (patient: string, key: string): boolean => replacedBy(key, patient, drafts).length > 0;
  return [from, to].flatMap((patient) =>
    drafts
      .keysOf(patient)
      .flatMap(({ key }) => (!isKnown(patient, key) && isKnown(patient === from ? to : from, key) ? [key] : [])),
  );
}

/** Supersedes a document that was only in the other record until now. */
function replaceDocument(key: string, patient: string, drafts: Drafts): void {
  const replacement = drafts.byKey('DocumentReference', keyOf(key, patient));
  const [document, ...more] = replacedBy(key, patient, drafts);
  if (replacement === undefined || document === undefined || more.length > 0 || replacement === document) return;
  drafts.supersede(document, saidLast(replacement));
  const { masterIdentifier } = document.content;
  const value = isJsonObject(masterIdentifier) ? (masterIdentifier['value'] ?? null) : null;
  for (const named of [masterIdentifier, { value }])
    drafts.rewrite(replacement, replacesNow(replacement.content, document.id, byNumber(named)));
}

const saidLast = ({ remembered }: Draft): Precedence =>
  [...remembered.registers.values()].reduce<Precedence>((last, { precedence }) => later(last, precedence), '');
