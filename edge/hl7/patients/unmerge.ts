/**
 * The undo of a merge (edge/docs/behaviour.md, HL7 v2, Undo a merge): the resources that return to the merged patient, those that
 * stay, and those of which it is unclear. It rests on the versions before the merge, and on the identifiers of the messages since.
 * Pure.
 */
import * as z from 'zod';

import { isJsonObject, objectsOf, parseJson, sortedJson, type Json, type JsonObject } from '../../../shared/json.ts';
import type { NewAttention } from '../../store/attention.ts';
import { authorityOfIdentifier, isSameIdentifier, knownBy } from '../../store/patient-identity.ts';
import type { Undo, UndoRefusal } from '../../store/patient-merge.ts';
import { toWrite, type ResourceWrite } from '../../store/resource.ts';
import { printRegisters, type Register, registersIn } from '../../store/registers.ts';
import { differences, type ResourceDifference } from '../../store/resource-differences.ts';
import { referringTo } from '../mapping/references.ts';
import { rootOf } from '../precedence/combine.ts';
import { precedenceOfWrite } from '../precedence/precedence.ts';
import { mergeName } from './merge-register.ts';

const versionItem = z.object({ meta: z.string(), body: z.string(), patient: z.string().nullable() }).nullable();
const resourceItem = z.object({
  type: z.string(),
  id: z.string(),
  version: z.number(),
  meta: z.string(),
  body: z.string(),
  patient: z.string().nullable(),
  isNew: z.boolean(),
  fields: z.string().nullable(),
  base: versionItem,
  after: versionItem,
  touches: z.array(z.object({ isMerge: z.boolean(), elements: z.string(), numbers: z.array(z.string()) })),
  clientWrites: z.number(),
});
const numberItem = z.object({ id: z.string(), authority: z.string(), value: z.string() });
const reassignedItem = numberItem.omit({ id: true });
const mergeItem = z.object({
  id: z.string(),
  messageId: z.string(),
  merged: z.string(),
  survivor: z.string(),
  mergedAt: z.string(),
  undoneAt: z.string().nullable(),
});
const readItem = z.object({
  merge: mergeItem,
  kept: z.object({
    met: z.array(z.tuple([z.string(), z.string()])),
    numbers: z.array(numberItem),
    precedences: z.record(z.string(), z.string()),
    after: z.record(z.string(), z.string()),
  }),
  numbers: z.array(numberItem),
  taken: z.array(reassignedItem),
  resources: z.array(resourceItem),
});

type Stored = z.infer<typeof resourceItem>;

/** Why it is unclear which patient a resource belongs to, or what returns to it. */
type Unclear =
  | 'both-identifiers'
  | 'unknown-identifier'
  | 'fhir-client'
  | 'combined'
  | 'returned-as-before'
  | 'identifier-taken';

interface LeftResource {
  readonly reference: string;
  readonly why: Unclear;
}

export interface UndoPlan {
  readonly merged: string;
  readonly survivor: string;
  readonly mergedAt: string;
  /** The content of both Patients, now and then. */
  readonly patients: readonly { readonly id: string; readonly before: JsonObject; readonly after: JsonObject }[];
  readonly changes: readonly ResourceDifference[];
  /** Resources that go to the merged patient. */
  readonly back: readonly string[];
  /** Resources of the survivor that are again as before the merge. */
  readonly restored: readonly string[];
  readonly left: readonly LeftResource[];
  /** Why the merge cannot be undone; undefined if it can. */
  readonly refusal: UndoRefusal | undefined;
  readonly undo: Omit<Undo, 'author' | 'reason'>;
}

/** The resources of both patients, sorted by what the undo does with them. */
interface SortedResources {
  readonly back: readonly Stored[];
  /** They are again as before the merge: some of `back`, and some of the survivor. */
  readonly asBefore: ReadonlySet<Stored>;
  readonly left: LeftResource[];
}

function sortResources(
  { merge: { merged, survivor }, kept, resources }: z.infer<typeof readItem>,
  sideOf: (numbers: readonly string[]) => Side,
): SortedResources {
  const others = resources.filter(({ type }) => type !== 'Patient');
  const gone = new Map(kept.met);
  const left: LeftResource[] = [];
  const back: Stored[] = [];
  const asBefore = new Set<Stored>();
  const saidOf = ({ touches }: Stored): ReadonlySet<Side> =>
    new Set(touches.filter(({ isMerge }) => !isMerge).map(({ numbers: sent }) => sideOf(sent)));
  // The resources of the survivor that the merge changed.
  const heirs = new Set(others.filter(({ base }) => base !== null && base.patient !== merged).map(nameOf));
  const isChangedByMerge = ({ id, base, after }: Stored): boolean =>
    (after !== null && after.body !== base?.body) || kept.precedences[id] !== kept.after[id];
  const isOfOthers = (said: ReadonlySet<Side>): boolean => said.size > (said.has('survivor') ? 1 : 0);
  const shared = new Set(others.filter((each) => heirs.has(nameOf(each)) && isOfOthers(saidOf(each))).map(nameOf));
  for (const each of others) {
    const said = saidOf(each);
    const unclear = unclearOf(said, each.clientWrites);
    const reference = nameOf(each);
    if (each.base !== null && each.base.patient === merged) {
      if (each.patient !== survivor) continue;
      if (unclear !== undefined || said.has('survivor')) left.push({ reference, why: unclear ?? 'both-identifiers' });
      else if (said.size === 0) asBefore.add(each);
      if (unclear === undefined && !said.has('survivor')) back.push(each);
      // Later statements about it are in the resource that stayed.
      if (unclear === undefined && said.size === 0 && shared.has(`${each.type}/${gone.get(each.id) ?? ''}`))
        left.push({ reference, why: 'returned-as-before' });
    } else if (heirs.has(reference) && isChangedByMerge(each)) {
      if (said.size > 0 || each.clientWrites > 0) left.push({ reference, why: 'combined' });
      else asBefore.add(each);
    } else if (each.patient !== survivor) continue;
    else if (!each.isNew) {
      if (isOfOthers(said)) left.push({ reference, why: said.has('unknown') ? 'unknown-identifier' : 'combined' });
    } else if (unclear !== undefined || (said.has('merged') && said.has('survivor'))) {
      left.push({ reference, why: unclear ?? 'both-identifiers' });
    } else if (said.has('merged')) back.push(each);
  }
  return { back, asBefore, left };
}

/** @param found the text that `patient_merge_read` returns */
export function planUndo(found: string, nowMs: number): UndoPlan {
  const read = readItem.parse(JSON.parse(found));
  const { merge, kept, numbers, taken, resources } = read;
  const { merged, survivor } = merge;
  const sideOf = sides(merge, kept.numbers, numbers);
  const patientOf = (id: string) => resources.find((each) => each.type === 'Patient' && each.id === id);
  const [mergedNow, survivorNow] = [patientOf(merged), patientOf(survivor)];
  if (mergedNow === undefined || survivorNow === undefined) throw new TypeError('a merge has two patients');

  const { back, asBefore, left } = sortResources(read, sideOf);
  if (
    survivorNow.touches.some((touch) => !touch.isMerge && sideOf(touch.numbers) !== 'survivor' && isDescribing(touch))
  )
    left.push({ reference: `Patient/${survivor}`, why: 'both-identifiers' });
  if (taken.length > 0) left.push({ reference: `Patient/${merged}`, why: 'identifier-taken' });

  const gone = new Map(kept.met);
  const references = new Map([
    [`Patient/${survivor}`, `Patient/${merged}`],
    ...back.flatMap(({ type, id }) => {
      const heir = gone.get(id);
      return heir === undefined ? [] : [[`${type}/${heir}`, `${type}/${id}`] as const];
    }),
  ]);
  const contentOf = (each: Stored): JsonObject =>
    asBefore.has(each) && each.base !== null ? parsed(each.base.body) : referringTo(parsed(each.body), references);
  const changed = new Map([...back, ...asBefore].map((each) => [each, contentOf(each)]));
  const patients = [
    [survivorNow, separated(survivorNow, mergedNow, kept.after[survivor])],
    [mergedNow, separated(mergedNow, undefined, kept.after[merged])],
  ] as const;
  for (const [each, content] of patients) changed.set(each, content);

  const isMade = (id: string): boolean => patientOf(id)?.base === null;
  const undoneNow = precedenceOfWrite(nowMs);
  const before = new Map([...changed.keys()].map((each) => [nameOf(each), parsed(each.body)]));
  const after = [...changed].map(([{ type, id }, content]): JsonObject => ({ resourceType: type, id, ...content }));
  const isSurvivors = (each: Stored): boolean => !back.includes(each) && asBefore.has(each);
  return {
    merged,
    survivor,
    mergedAt: merge.mergedAt,
    patients: patients.map(([each, content]) => ({ id: each.id, before: parsed(each.body), after: content })),
    changes: differences(before, after),
    back: back.map(nameOf),
    restored: [...asBefore].filter(isSurvivors).map(nameOf),
    left,
    refusal: refusalOf(merge, mergedNow, survivorNow),
    undo: {
      writes: [...changed].map(([each, content]) => writeOf(each, content)),
      back: back.map(({ type, id }) => ({ type, id })),
      gone: back.filter(({ id }) => gone.has(id)).map(({ id }) => id),
      kept: [...asBefore].filter(isSurvivors).map(({ id }) => id),
      precedences: [
        ...[...asBefore].flatMap(({ type, id }) => {
          const stated = kept.precedences[id];
          return stated === undefined ? [] : [{ type, id, fields: stated }];
        }),
        ...patients.map(([{ type, id, fields: now }]) => {
          // A record that the merge created has nothing to return to.
          const registers = isMade(id)
            ? new Map(registersIn(now ?? '{}'))
            : registersOf(kept.precedences[id], kept.after[id], now ?? '{}');
          registers.set(mergeName({ id: id === merged ? survivor : merged }), { precedence: undoneNow, held: null });
          return { type, id, fields: printRegisters(registers) };
        }),
      ],
      attention: attentionOf(merge, left),
    },
  };
}

/** The patient whose identifiers a message names. */
type Side = 'merged' | 'survivor' | 'both' | 'unknown';

function sides(
  { merged, survivor }: z.infer<typeof mergeItem>,
  before: readonly z.infer<typeof numberItem>[],
  now: readonly z.infer<typeof numberItem>[],
): (numbers: readonly string[]) => Side {
  const valuesOf = (rows: readonly z.infer<typeof numberItem>[], id: string) =>
    rows.filter((row) => row.id === id).map(({ value }) => value);
  const ofMerged = new Set([...valuesOf(before, merged), ...valuesOf(now, merged)]);
  const ofSurvivor = new Set([
    ...valuesOf(before, survivor),
    ...valuesOf(now, survivor).filter((value) => !ofMerged.has(value)),
  ]);
  return (numbers) => {
    // Equal values of two assigning authorities do not show whose they are.
    const isSurvivor = numbers.some((value) => ofSurvivor.has(value));
    if (numbers.some((value) => ofMerged.has(value))) return isSurvivor ? 'both' : 'merged';
    return isSurvivor ? 'survivor' : 'unknown';
  };
}

function unclearOf(said: ReadonlySet<Side>, clientWrites: number): Unclear | undefined {
  if (clientWrites > 0) return 'fhir-client';
  if (said.has('both')) return 'both-identifiers';
  return said.has('unknown') ? 'unknown-identifier' : undefined;
}

const nameOf = ({ type, id }: Pick<Stored, 'type' | 'id'>): string => `${type}/${id}`;

const ABOUT_THE_RECORD: ReadonlySet<string> = new Set(['', 'identifier', 'link', 'active']);

/** Checks for a message that changed personal data: with an identifier of the other patient it is mixed. */
const isDescribing = ({ elements }: { readonly elements: string }): boolean =>
  elements.split(',').some((changed) => !ABOUT_THE_RECORD.has(changed.split(' ')[0] ?? ''));

function refusalOf(
  { merged, survivor, undoneAt }: z.infer<typeof mergeItem>,
  mergedNow: Stored,
  survivorNow: Stored,
): UndoPlan['refusal'] {
  if (undoneAt !== null) return 'undone';
  if (replacedBy(survivorNow).includes(`Patient/${merged}`)) return 'reversed';
  const isElsewhere = replacedBy(mergedNow).some((reference) => reference !== `Patient/${survivor}`);
  return isElsewhere || replacedBy(survivorNow).length > 0 ? 'merged-again' : undefined;
}

const replacedBy = ({ body }: Stored): string[] =>
  objectsOf(parsed(body)['link']).flatMap(({ type, other }) =>
    type === 'replaced-by' && isJsonObject(other) && typeof other['reference'] === 'string' ? [other['reference']] : [],
  );

/**
 * The Patient without what the merge changed in it: each member that was not stated again since.
 *
 * @param other the merged patient, for the survivor: its identifiers go back
 * @param made the precedences after the merge
 */
function separated(
  { body, base, after, fields }: Stored,
  other: Stored | undefined,
  made: string | undefined,
): JsonObject {
  const content = parsed(body);
  const before = base === null ? {} : parsed(base.body);
  const merged = after === null ? before : parsed(after.body);
  const next: JsonObject = { ...content };
  const merging = registersIn(made ?? '{}');
  const restated = new Set(
    [...registersIn(fields ?? '{}')]
      .filter(([name, { precedence }]) => merging.get(name)?.precedence !== precedence)
      .map(([name]) => rootOf(name)),
  );
  for (const member of new Set([...Object.keys(merged), ...Object.keys(before)])) {
    // Without a version before the merge, only identifiers and links are the merge's.
    if (base === null || member === 'identifier' || member === 'link') continue;
    if (restated.has(rootOf(member)) || textOf(content[member]) !== textOf(merged[member])) continue;
    if (before[member] === undefined) delete next[member];
    else next[member] = before[member];
  }
  // An unknown patient became an inactive stub.
  if (base === null && other === undefined) next['active'] = true;
  const theirs = [other?.body, other?.base?.body].flatMap((each) => objectsOf(parsed(each ?? '')['identifier']));
  const own = base === null ? merged : before;
  setList(next, 'link', threeWay(content, before, merged, 'link', textOf));
  const identifiers = threeWay(content, own, merged, 'identifier', keyOfIdentifier).filter(
    (item) =>
      !theirs.some((each) => isSameIdentifier(each, item)) ||
      objectsOf(before['identifier']).some((each) => isSameIdentifier(each, item)),
  );
  setList(next, 'identifier', identifiers);
  return next;
}

/** Items that the merge added are removed, those that it removed or changed are restored; later changes stay. */
function threeWay(
  content: JsonObject,
  before: JsonObject,
  merged: JsonObject,
  member: string,
  keyOf: (item: JsonObject) => string,
): JsonObject[] {
  const byKey = (resource: JsonObject) => new Map(objectsOf(resource[member]).map((item) => [keyOf(item), item]));
  const [base, after] = [byKey(before), byKey(merged)];
  const kept = objectsOf(content[member]).flatMap((item): JsonObject[] => {
    const key = keyOf(item);
    const [was, made] = [base.get(key), after.get(key)];
    if (made === undefined || textOf(made) !== textOf(item)) return [item];
    return was === undefined ? [] : [was];
  });
  const restored = [...base].filter(([key]) => !after.has(key) && !kept.some((item) => keyOf(item) === key));
  return [...kept, ...restored.map(([, item]) => item)];
}

function setList(content: JsonObject, member: string, items: JsonObject[]): void {
  if (items.length === 0) delete content[member];
  else content[member] = items;
}

const keyOfIdentifier = (item: JsonObject): string =>
  JSON.stringify([authorityOfIdentifier(item), textOf(item['value'])]);

const textOf = (value: Json | undefined): string => (value === undefined ? '' : sortedJson(value));

/** The registers of before the merge, for each that no later statement has changed. */
function registersOf(before: string | undefined, after: string | undefined, now: string): Map<string, Register> {
  const [base, made] = [registersIn(before ?? '{}'), registersIn(after ?? '{}')];
  const registers = new Map(registersIn(now));
  for (const [name, register] of registers) {
    const was = made.get(name);
    if (was?.precedence !== register.precedence || textOf(was.held) !== textOf(register.held)) continue;
    const original = base.get(name);
    if (original === undefined) registers.delete(name);
    else registers.set(name, original);
  }
  return registers;
}

/** A resource keeps its `meta`; a Patient keeps the identifiers that messages named. */
function writeOf({ type, id, version, meta }: Stored, content: JsonObject): ResourceWrite {
  const resource: JsonObject = { resourceType: type, id, meta: parsed(meta), ...content };
  const write = toWrite(resource, id, 'update', [version]);
  const known = type === 'Patient' ? { ...knownBy(resource), numbers: [], traits: [] } : null;
  return { ...write, writer: 'message', known };
}

function attentionOf(
  { id, merged, survivor }: z.infer<typeof mergeItem>,
  left: readonly LeftResource[],
): NewAttention[] {
  if (left.length === 0) return [];
  const resources = left.slice(0, MAX_LISTED).map(({ reference, why }) => ({ reference, why }));
  return [{ kind: 'undo-unclear', patients: [merged, survivor], about: id, detail: { resources, count: left.length } }];
}

const MAX_LISTED = 200;

function parsed(members: string): JsonObject {
  const value = parseJson(`{${members}}`);
  return isJsonObject(value) ? value : {};
}
