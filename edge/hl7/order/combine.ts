/**
 * Two records of one thing become one: of each element what was said later holds, as if all that was said of either had
 * been said of the one (edge/README.md, HL7 v2). Not for patients, whose lists are put together from fields. Pure.
 */
import { isJsonObject, type JsonObject } from '../../../shared/json.ts';
import { orderOfElement, REPLACED, settled, union, type Said } from './apply.ts';
import { isOfElement, readElement, setOrDelete, writeElement } from './element.ts';
import { later, type Remembered } from './registers.ts';

export interface Recorded {
  /** Members without resourceType, id and meta. */
  readonly content: JsonObject;
  readonly remembered: Remembered;
}

/** Whose it is, which each record says of its own chart. */
const SUBJECTS: ReadonlySet<string> = new Set(['subject', 'patient']);
/** Elements that only gain. */
const GAINING: ReadonlySet<string> = new Set(['relatesTo']);
/** Elements of which a resource has one of several members (FHIR R4, choice of data types). */
const CHOICES = ['onset[x]', 'abatement[x]', 'performed[x]'];

/**
 * What `kept` says with what the other says later, or alone.
 *
 * @param other its references already to what stays
 */
export function combined(kept: Recorded, other: Recorded): Said {
  const content = { ...kept.content };
  const registers = new Map(kept.remembered.registers);
  for (const element of elementsOf(kept, other)) {
    if (GAINING.has(element)) {
      setOrDelete(content, element, union(content[element], other.content[element] ?? []));
      continue;
    }
    const order = orderOfElement(other.content, other.remembered, element);
    const ours = orderOfElement(kept.content, kept.remembered, element);
    const said = readElement(other.content, element);
    const isNew = ours === '' && said !== undefined && readElement(kept.content, element) === undefined;
    if (order <= ours && !isNew) continue;
    writeElement(content, element, said ?? null);
    if (order !== '') registers.set(element, { order, held: null });
  }
  const replaced = other.remembered.registers.get(REPLACED);
  if (replaced !== undefined)
    registers.set(REPLACED, { ...replaced, order: later(replaced.order, registers.get(REPLACED)?.order ?? '') });
  const remembered = { ...kept.remembered, registers };
  return { content: settled(content, remembered, false), remembered, isStale: false };
}

/** Of either, by the names that maps give them; a member that no map names by its own. */
function elementsOf(kept: Recorded, { content, remembered }: Recorded): Set<string> {
  const names = new Set([...kept.remembered.registers.keys(), ...remembered.registers.keys(), ...CHOICES]);
  const extensions = Array.isArray(content['extension']) ? content['extension'] : [];
  const members = [
    ...Object.keys(content).filter((member) => member !== 'extension'),
    ...extensions.filter(isJsonObject).flatMap(({ url }) => (typeof url === 'string' ? [`extension ${url}`] : [])),
    ...remembered.stamps.keys(),
  ];
  for (const member of members) if (![...names].some((name) => isOfElement(name, member))) names.add(member);
  names.delete(REPLACED);
  for (const name of SUBJECTS) names.delete(name);
  return names;
}
