/** Elements by the names that maps use: `gender`, `value[x]`, `extension <url>` (`mapping/field-map.ts`). */
import { isJsonObject, sortedJson, type Json, type JsonObject } from '../../../shared/json.ts';

const EXTENSION = 'extension ';

/** True for `valueQuantity` and `_valueQuantity`. The seven types have no other element that begins so, such as `valueSet`. */
function isChoiceOf(element: string, member: string): boolean {
  const base = element.slice(0, -3);
  const name = member.startsWith('_') ? member.slice(1) : member;
  return name.startsWith(base) && /[A-Z]/.test(name.charAt(base.length));
}

/** Checks whether a member, by its name in `stamps`, belongs to the element. */
export function isOfElement(element: string, member: string): boolean {
  return element.endsWith('[x]') ? isChoiceOf(element, member) : member === element;
}

/** Returns the value of an element: an object with its member for a choice, a list for extensions, undefined for no value. */
export function readElement(content: JsonObject, element: string): Json | undefined {
  if (element.startsWith(EXTENSION)) {
    const found = extensionsOf(content).filter((extension) => isOfUrl(extension, element));
    return found.length === 0 ? undefined : found;
  }
  if (!element.endsWith('[x]')) return content[element];
  const found = Object.entries(content).filter(([member]) => isChoiceOf(element, member));
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** Replaces the value of an element. Null or an empty list deletes it. Alters `content`. */
export function writeElement(content: JsonObject, element: string, value: Json): void {
  if (element.startsWith(EXTENSION)) {
    const url = element.slice(EXTENSION.length);
    const all = extensionsOf(content);
    const others = all.filter((extension) => !isOfUrl(extension, element));
    const added = value === null ? [] : [value].flat().filter(isJsonObject);
    const extensions = added.map((members) => ({ url, ...members }));
    const isSaid = sortedJson(all.filter((extension) => isOfUrl(extension, element))) === sortedJson(extensions);
    if (!isSaid) setOrDelete(content, 'extension', [...others, ...extensions]);
  } else if (element.endsWith('[x]')) {
    for (const member of Object.keys(content)) if (isChoiceOf(element, member)) delete content[member];
    if (isJsonObject(value)) Object.assign(content, value);
  } else setOrDelete(content, element, value);
}

export function setOrDelete(object: JsonObject, member: string, value: Json): void {
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
  if (isEmpty) delete object[member];
  else object[member] = value;
}

const extensionsOf = (content: JsonObject): Json[] => (Array.isArray(content['extension']) ? content['extension'] : []);

const isOfUrl = (extension: Json, element: string): boolean =>
  isJsonObject(extension) && extension['url'] === element.slice(EXTENSION.length);
