/**
 * What a message says, put into what is stored: an element that was sent replaces the stored one, one that was not sent
 * stays, `""` deletes it (HL7 v2.5.1 §2.5.3). Pure; nothing of the stored resource is lost that no field speaks of.
 */
import { isJsonObject, printJson, type Json, type JsonObject } from '../../../shared/json.ts';
import { isSameIdentifier, strengthened } from './same-identifier.ts';
import type { Contribution } from './field-map.ts';

/** What each field last gave to a patient's lists: `PID-13` to the printed items. */
export type Given = Readonly<Record<string, readonly string[]>>;

/** How items of a patient's lists are told to be the same thing in another state. */
type Sameness = (a: JsonObject, b: JsonObject) => boolean;

const text = (object: JsonObject, member: string): string => {
  const value = object[member];
  return typeof value === 'string' ? value : '';
};

/** A name without a use is the usual or the official one. */
const nameUse = (name: JsonObject): string =>
  ['usual', 'official'].includes(text(name, 'use')) ? '' : text(name, 'use');

const SAME: Readonly<Record<string, Sameness>> = {
  identifier: isSameIdentifier,
  name: (a, b) => nameUse(a) === nameUse(b),
  telecom: (a, b) => text(a, 'system') === text(b, 'system') && text(a, 'use') === text(b, 'use'),
  address: (a, b) => text(a, 'use') === text(b, 'use') && text(a, 'type') === text(b, 'type'),
  generalPractitioner: (a, b) => text(a, 'type') === text(b, 'type'),
};
const sameAs =
  (element: string) =>
  (a: Json, b: Json): boolean =>
    isJsonObject(a) && isJsonObject(b) && SAME[element] !== undefined
      ? SAME[element](a, b)
      : printJson(a) === printJson(b);

/**
 * Applies contributions to a resource's content.
 *
 * @param stored members of the stored resource; not altered
 * @param given of a patient: what each field gave before, so that a field replaces its own items in a shared list and
 *   leaves those of other fields and of FHIR clients. Undefined: a list that is sent replaces the stored one
 */
export function applyContributions(
  stored: JsonObject,
  contributions: readonly Contribution[],
  given?: Given,
): JsonObject {
  const merged = { ...stored };
  // Items of lists that this message sent: its fields do not take each other's away.
  const fresh = new Map<string, readonly Json[]>();
  for (const contribution of contributions) {
    const { element, value } = contribution;
    if (contribution.isDefault === true && merged[element] !== undefined) continue;
    if (element.startsWith('extension ')) mergeExtension(merged, element.slice('extension '.length), value);
    else if (element.endsWith('[x]')) mergeChoice(merged, element.slice(0, -3), value);
    else if (Array.isArray(value) || (value === null && Array.isArray(merged[element]))) {
      const before =
        given === undefined ? undefined : contribution.keeps === true ? [] : (given[contribution.field] ?? []);
      setOrDelete(merged, element, mergeList(merged[element], contribution, before, fresh.get(element)));
      fresh.set(element, [...(fresh.get(element) ?? []), ...(Array.isArray(value) ? value : [])]);
    } else setOrDelete(merged, element, value);
  }
  return merged;
}

/** What the fields gave to lists this time, on top of what they gave before. */
export function givenBy(contributions: readonly Contribution[], before: Given): Given {
  const given: Record<string, readonly string[]> = { ...before };
  for (const { field, value } of contributions) {
    if (Array.isArray(value)) given[field] = value.map(printJson);
    else if (value === null) delete given[field];
  }
  return given;
}

function setOrDelete(object: JsonObject, member: string, value: Json): void {
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
  if (isEmpty) delete object[member];
  else object[member] = value;
}

function mergeExtension(object: JsonObject, url: string, value: Json): void {
  const stored = Array.isArray(object['extension']) ? object['extension'] : [];
  const others = stored.filter((extension) => !isJsonObject(extension) || extension['url'] !== url);
  const added = value === null ? [] : [value].flat().filter(isJsonObject);
  setOrDelete(object, 'extension', [...others, ...added.map((members) => ({ url, ...members }))]);
}

function mergeChoice(object: JsonObject, prefix: string, value: Json): void {
  // `valueQuantity` and `_valueQuantity`, not `valueSet` of some other element: the seven types have none such.
  const choice = new RegExp(`^_?${prefix}[A-Z]`);
  for (const member of Object.keys(object)) if (choice.test(member)) delete object[member];
  if (isJsonObject(value)) Object.assign(object, value);
}

function mergeList(
  stored: Json | undefined,
  { element, value, owns, adds }: Contribution,
  before: readonly string[] | undefined,
  fresh: readonly Json[] | undefined,
): Json[] {
  const old = Array.isArray(stored) ? stored : [];
  const said = Array.isArray(value) ? value : [];
  const sent = element === 'identifier' && adds !== true ? said.map((item) => strengthened(item, old)) : said;
  if (adds === true || (before === undefined && fresh !== undefined)) return union(old, sent);
  if (before === undefined) return sent;

  const isOurs = (item: Json): boolean => before.includes(printJson(item));
  if (value === null) {
    if (before.length > 0) return old.filter((item) => !isOurs(item));
    return owns === undefined ? [] : old.filter((item) => !isJsonObject(item) || !owns(item));
  }

  const isSame = sameAs(element);
  const isFresh = (item: Json): boolean => fresh?.includes(item) ?? false;
  // PID-2 often repeats PID-3, with less said of it.
  const isRepeated = element === 'identifier' ? isSame : sameAs('');
  const added = sent.filter((item) => !fresh?.some((other) => isRepeated(other, item)));
  // Each stored item that is ours or the same as a sent one gives way; the sent ones stand where the first stood.
  const gone = new Set(old.filter((item) => !isFresh(item) && (isOurs(item) || added.some((o) => isSame(item, o)))));
  const at = old.findIndex((item) => gone.has(item));
  const kept = old.filter((item) => !gone.has(item));
  const place = at < 0 ? kept.length : at;
  return [...kept.slice(0, place), ...added, ...kept.slice(place)];
}

function union(old: readonly Json[], sent: readonly Json[]): Json[] {
  const known = new Set(old.map(printJson));
  return [...old, ...sent.filter((item) => !known.has(printJson(item)))];
}
