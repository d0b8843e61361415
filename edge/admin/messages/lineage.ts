/**
 * The origin of each value of a resource: the version that last changed the value, and what that version replaced. An item of a
 * list keeps its origin if another item moves it. Pure.
 */
import * as z from 'zod';

import { isJsonObject, type Json, parseJson, printJson, sortedJson } from '../../../shared/json.ts';
import type { RegistersRow, VersionRow } from '../../store/lineage.ts';
import { registersIn } from '../../store/registers.ts';
import {
  fieldsByElement,
  type MessageFacts,
  readFacts,
  readMessages,
  type VersionFacts,
} from '../../store/provenance.ts';

/** A value without parts. */
interface Leaf {
  /** `name[0].given[1]` */
  readonly path: string;
  readonly element: string;
  /** The item of the element's list that contains it; undefined without a list. */
  readonly item: Json | undefined;
  readonly value: Json;
}

interface Origin {
  readonly version: Version;
  /** Undefined: nothing. */
  readonly replaced: Json | undefined;
}

interface Version {
  readonly version: number;
  readonly at: string;
  readonly keyName: string | null;
  readonly facts: VersionFacts;
}

interface Change {
  readonly version: Version;
  readonly value: Json;
  readonly isNew: boolean;
}

/** A large document is stored as `["hash",size]` (0003_resource.sql). FHIR has no list of a text and a number. */
const isDocument = (value: Json): boolean =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && typeof value[1] === 'number';

/** The members of an object or the items of a list; undefined for another value. */
export function partsOf(value: Json): [string | number, Json][] | undefined {
  if (isDocument(value)) return undefined;
  return Array.isArray(value) ? [...value.entries()] : isJsonObject(value) ? Object.entries(value) : undefined;
}

/** The path of a part, as FHIRPath writes it. */
export const pathTo = (path: string, part: string | number): string =>
  typeof part === 'number' ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`;

function* leavesOf(value: Json, about: Omit<Leaf, 'value'>): Generator<Leaf, undefined> {
  const parts = partsOf(value);
  if (parts === undefined) yield { ...about, value };
  for (const [part, child] of parts ?? []) {
    const item = typeof part === 'number' && about.path === about.element ? child : about.item;
    yield* leavesOf(child, { ...about, item, path: pathTo(about.path, part) });
  }
}

/** The value before a change that a value replaces, or equals. */
interface Earlier {
  readonly path: string;
  readonly value: Json | undefined;
  readonly isEqual: boolean;
}

/** The earlier value of each leaf, by its path. */
function earlierOf(after: Json, before: Json | undefined, element: string): ReadonlyMap<string, Earlier> {
  const earlier = new Map<string, Earlier>();
  align(after, before, element, element, earlier);
  // An item may be made of several earlier ones.
  const used = new Set([...earlier.values()].flatMap(({ path, isEqual }) => (isEqual ? [path] : [])));
  const free = new Map<string, string[]>();
  for (const { path, value } of before === undefined
    ? []
    : leavesOf(before, { path: element, element, item: before })) {
    if (!used.has(path)) listAt(free, printOf(path, value)).push(path);
  }
  for (const { path, value } of leavesOf(after, { path: element, element, item: after })) {
    if (earlier.get(path)?.isEqual === true) continue;
    const place = free.get(printOf(path, value))?.shift();
    if (place !== undefined) earlier.set(path, { path: place, value, isEqual: true });
  }
  return earlier;
}

function listAt<Item>(lists: Map<string, Item[]>, name: string): Item[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}

/** A leaf without its positions in lists. */
const printOf = (path: string, value: Json): string => `${path.replaceAll(/\[\d+\]/g, '')} ${sortedJson(value)}`;

function align(
  after: Json,
  before: Json | undefined,
  path: string,
  pathBefore: string,
  earlier: Map<string, Earlier>,
): void {
  const parts = partsOf(after);
  if (parts === undefined) {
    const isEqual = before !== undefined && sortedJson(after) === sortedJson(before);
    earlier.set(path, { path: pathBefore, value: before, isEqual });
    return;
  }
  const partsBefore = new Map(before === undefined ? [] : partsOf(before));
  const places = Array.isArray(after) && Array.isArray(before) ? placesBefore(after, before) : undefined;
  for (const [part, child] of parts) {
    const place = places === undefined || typeof part === 'string' ? part : places.get(part);
    const previous = place === undefined ? undefined : partsBefore.get(place);
    align(child, previous, pathTo(path, part), pathTo(pathBefore, place ?? part), earlier);
  }
}

/** More pairs of changed items are not compared with each other. */
const MAX_PAIRS = 10_000;

/** The earlier position of each item of a list: of an equal item, else of the most similar one, else of the next one. */
function placesBefore(after: readonly Json[], before: readonly Json[]): ReadonlyMap<number, number> {
  const places = new Map<number, number>();
  const equal = new Map<string, number[]>();
  for (const [at, item] of before.entries()) {
    listAt(equal, sortedJson(item)).push(at);
  }
  for (const [at, item] of after.entries()) {
    const place = equal.get(sortedJson(item))?.shift();
    if (place !== undefined) places.set(at, place);
  }
  const used = new Set(places.values());
  const changed = [...after.keys()].filter((at) => !places.has(at));
  const free = [...before.keys()].filter((place) => !used.has(place));
  if (changed.length * free.length > MAX_PAIRS) return places;
  const textsBefore = new Map(free.map((place) => [place, textsIn(before[place] ?? null)]));
  const pairs = changed.flatMap((at) => {
    const texts = textsIn(after[at] ?? null);
    return free.map((place) => {
      const shared = [...texts].filter((text) => textsBefore.get(place)?.has(text) === true).length;
      return { at, place, shared };
    });
  });
  for (const { at, place } of pairs.toSorted((a, b) => b.shared - a.shared || a.at - b.at || a.place - b.place)) {
    if (places.has(at) || used.has(place)) continue;
    places.set(at, place);
    used.add(place);
  }
  return places;
}

/** The leaves of a value as texts. */
function textsIn(value: Json, path = ''): Set<string> {
  const parts = partsOf(value);
  if (parts === undefined) return new Set([`${path} ${sortedJson(value)}`]);
  return new Set(
    parts.flatMap(([part, child]) => [...textsIn(child, typeof part === 'string' ? `${path}.${part}` : path)]),
  );
}

/** The changes of each member, the newest first. */
function changesOf(rows: readonly VersionRow[]): ReadonlyMap<string, readonly Change[]> {
  const changes = rows.flatMap(({ facts, changes: text, version: number, at, key_name: keyName }) => {
    const version = { version: number, at, keyName, facts: readFacts(facts) };
    const listed = parseJson(text);
    return (Array.isArray(listed) ? listed : []).flatMap((change) => {
      const [element, value = null, isNew] = Array.isArray(change) ? change : [];
      return typeof element === 'string' ? [{ element, version, value, isNew: isNew === true }] : [];
    });
  });
  return Map.groupBy(changes, ({ element }) => element);
}

export interface Traced {
  readonly path: string;
  /** JSON; null: too long. */
  readonly value: string | null;
  /** Undefined: an earlier version than were compared. */
  readonly version: Version | undefined;
  /** The earlier message that stated it, if the message of `version` only made it count. */
  readonly statedBy: MessageFacts | null;
  /** The fields that state it. */
  readonly fields: readonly string[];
  /** JSON; null: nothing, or too long. */
  readonly replaced: string | null;
  /** `value` or `replaced` is too long. */
  readonly isLong: boolean;
}

/** Characters of a value. */
const MAX_VALUE = 2000;

/**
 * @param members the members of the resource, in their order
 * @param rows as of `changedVersions`
 * @param registers those of the newest of the versions; undefined for none
 */
export function traceValues(
  members: readonly string[],
  rows: readonly VersionRow[],
  registers: RegistersRow | undefined,
): Traced[] {
  const changes = changesOf(rows);
  const oldest = rows[0]?.oldest ?? 1;
  const stated = statementsIn(registers);
  return members.flatMap((element) => {
    const [newest, ...others] = changes.get(element) ?? [];
    if (newest === undefined) return [];
    const leaves = [...leavesOf(newest.value, { path: element, element, item: undefined })];
    const origins = new Map<Leaf, Origin>();
    let standing = leaves.map((leaf) => ({ leaf, path: leaf.path }));
    for (const [at, { version, value, isNew }] of [newest, ...others].entries()) {
      // The oldest compared version may have it from an earlier one.
      if (standing.length === 0 || (version.version === oldest && oldest > 1)) break;
      const earlier = earlierOf(value, isNew ? undefined : others[at]?.value, element);
      standing = standing.flatMap(({ leaf, path }) => {
        const found = earlier.get(path);
        if (found?.isEqual === true) return [{ leaf, path: found.path }];
        origins.set(leaf, { version, replaced: found?.value });
        return [];
      });
    }
    return leaves.map((leaf) => viewTraced(leaf, origins.get(leaf), stated));
  });
}

/** A register, which one message stated. */
interface Statement {
  /** `birthDate`, `value[x]`, `name PID-5`. */
  readonly name: string;
  readonly message: MessageFacts | undefined;
  /** The version in which the message wrote to this resource first; undefined: the statement is from another record. */
  readonly version: number | undefined;
  /** The items of a list, as texts. */
  readonly items: ReadonlySet<string>;
}

function statementsIn(registers: RegistersRow | undefined): readonly Statement[] {
  if (registers === undefined) return [];
  const messages = new Map(readMessages(registers.messages).map((message) => [message.id, message]));
  const versions = z.record(z.string(), z.number()).parse(JSON.parse(registers.versions));
  return [...registersIn(registers.fields)].map(([name, { precedence, held }]) => {
    const id = precedence.split('|').at(-1) ?? '';
    const items = new Set(Array.isArray(held) ? held.map(sortedJson) : []);
    return { name, message: messages.get(id), version: versions[id], items };
  });
}

function viewTraced(leaf: Leaf, origin: Origin | undefined, stated: readonly Statement[]): Traced {
  const [value, replaced] = [leaf.value, origin?.replaced].map((json) =>
    json === undefined || isDocument(json) ? null : printJson(json),
  );
  const isCut = (text: string | null | undefined): boolean => (text?.length ?? 0) > MAX_VALUE;
  const isLong = isDocument(leaf.value) || isDocument(origin?.replaced ?? null) || isCut(value) || isCut(replaced);
  const fields = origin === undefined ? [] : fieldsOf(leaf, origin.version.facts, stated);
  const statedBy = origin === undefined ? null : earlierMessage(leaf, origin.version, stated);
  return {
    path: leaf.path,
    value: isCut(value) ? null : (value ?? null),
    version: origin?.version,
    statedBy,
    // The fields of the earlier message are not on record.
    fields: statedBy !== null && fields.some((field) => EVENTS.has(field)) ? [] : fields,
    replaced: isCut(replaced) ? null : (replaced ?? null),
    isLong,
  };
}

/** The fields of changes that no field states: a merge of two records, or of their results. */
const EVENTS: ReadonlySet<string> = new Set(['MRG-1', 'MSH-9']);

/** The fields of the message that state a value. If several fields feed a list, only those that now state the item. */
function fieldsOf(
  { element, item }: Leaf,
  { message, elements }: VersionFacts,
  stated: readonly Statement[],
): readonly string[] {
  if (message === null) return [];
  const listed = fieldsByElement(elements ?? '');
  // A merge lists only the reference to the patient, and changes other references too (hl7_merge).
  const fields = listed.get(element) ?? [...new Set([...listed.values()].flat())];
  const print = item === undefined ? '' : sortedJson(item);
  const now = stated.filter(({ items }) => items.has(print)).map(({ name }) => name);
  const stating = fields.filter((field) => now.includes(`${element} ${field}`));
  return stating.length === 0 ? fields : stating;
}

/** Elements that rules of the gateway change too, beside the statements of messages. */
const RULED: ReadonlySet<string> = new Set([
  'active',
  'clinicalStatus',
  'link',
  'patient',
  'status',
  'subject',
  'verificationStatus',
]);

/** A withdrawal, or a merge of two records, can make an earlier statement count. */
function earlierMessage(
  { element }: Leaf,
  { version, facts: { message } }: Version,
  stated: readonly Statement[],
): MessageFacts | null {
  const isOfElement = ({ name }: Statement): boolean =>
    name === element || (name.endsWith('[x]') && element.replace('_', '').startsWith(name.slice(0, -3)));
  const source = stated.find(isOfElement);
  if (message === null || source?.message === undefined || source.message.id === message.id || RULED.has(element))
    return null;
  // A later message only states the value again.
  return source.version === undefined || source.version < version ? source.message : null;
}
