/**
 * Selects the value of an element among the stated ones (edge/docs/behaviour.md, HL7 v2, The order): the newest final one, else
 * the newest below final. A withdrawal hides older values. Pure.
 */
import { objectsOf, type Json, type JsonObject } from '../../../shared/json.ts';
import { isOfElement, readElement, writeElement } from './element.ts';
import { isDefault, isLater, isSameTime, type Precedence } from './precedence.ts';
import { later, precedenceOfElement, type Register, type Registers, type Remembered } from './registers.ts';

export interface StatedValue {
  readonly precedence: Precedence;
  /** null: the element was deleted. */
  readonly value: Json;
}

export interface Recorded {
  /** Members without resourceType, id and meta. */
  readonly content: JsonObject;
  readonly remembered: Remembered;
}

/** The newest withdrawal of a result or report. */
export interface Withdrawal {
  /** `''` for no withdrawal. */
  readonly precedence: Precedence;
  /** A newer message has a status: the withdrawal's own values are hidden too. */
  readonly isAnswered: boolean;
}

/** The value that counts, and its successor if a withdrawal hides it. */
interface Resolved {
  readonly counting: StatedValue | undefined;
  readonly waiting: StatedValue | undefined;
}

/** The register of the newest withdrawal. */
export const WITHDRAWN = 'withdrawn';
/** The register of a document that another replaced (TXA-13 of an MDM T09 or T10). */
export const REPLACED = 'replaced';
/** The register of a document that was cancelled or changed by its number alone, and is known. */
export const ARRIVED = 'arrived document';
/** The register of a result that is a text: its position in the report (`results/conclusion.ts`). */
export const TEXT = 'report text';
/** The register of a result that has had several values (`history.ts`). */
export const FORMER = 'former values';
/** The register of an element's newest value below final. It exists only while it is newer than the final value that counts. */
export const waitingName = (element: string): string => `waiting ${element}`;

/** Elements that only grow. */
export const GAINING: ReadonlySet<string> = new Set(['relatesTo', 'result']);
/** Elements that refer to the patient. */
export const SUBJECTS: ReadonlySet<string> = new Set(['subject', 'patient']);
/** Elements with one of several members (FHIR R4, choice of data types). */
const CHOICES = ['onset[x]', 'abatement[x]', 'performed[x]', 'effective[x]', 'value[x]'];

/** @param statusPrecedence the precedence of a status in this message; `''` without one */
export function withdrawalOf(records: readonly Registers[], statusPrecedence: Precedence): Withdrawal {
  const precedences = (name: string): Precedence[] => records.map((registers) => registers.get(name)?.precedence ?? '');
  const precedence = precedences(WITHDRAWN).reduce(later, '');
  const statuses = [statusPrecedence, ...precedences('status'), ...precedences(waitingName('status'))];
  return { precedence, isAnswered: statuses.some((each) => !isHidden(each, precedence)) };
}

/** Checks whether a withdrawal hides a value. It hides its own values like older ones. */
export const isHidden = (precedence: Precedence, withdrawal: Precedence): boolean =>
  withdrawal !== '' && (isDefault(precedence) || !isLater(precedence, withdrawal));

/** Checks whether a withdrawal hides another statement of its time. Another withdrawal does not count. */
export function hidesOwnTime(records: readonly Registers[], withdrawal: Precedence): boolean {
  const withdrawals = new Set(records.map((registers) => registers.get(WITHDRAWN)?.precedence));
  const precedences = records.flatMap((registers) => [...registers.values()]).map(({ precedence }) => precedence);
  return precedences.some(
    (precedence) =>
      !withdrawals.has(precedence) && isSameTime(precedence, withdrawal) && isHidden(precedence, withdrawal),
  );
}

/** Reads the value that counts and the waiting one. */
export function statedIn({ content, remembered }: Recorded, element: string): Resolved {
  const precedence = precedenceOfElement(content, remembered, element);
  const value = readElement(content, element);
  const waiting = remembered.registers.get(waitingName(element));
  return {
    counting: precedence === '' && value === undefined ? undefined : { precedence, value: value ?? null },
    waiting: waiting && { precedence: waiting.precedence, value: waiting.held },
  };
}

/**
 * @param stated the last of equal precedences counts
 * @param withdrawal undefined for a patient: no value is hidden, and none waits
 */
export function resolve(
  element: string,
  stated: readonly (StatedValue | undefined)[],
  withdrawal: Withdrawal | undefined,
): Resolved {
  const all = stated.filter((each) => each !== undefined);
  if (withdrawal === undefined || GAINING.has(element) || SUBJECTS.has(element))
    return { counting: newest(all), waiting: undefined };
  const open = all.filter(({ precedence }) => !isHidden(precedence, withdrawal.precedence));
  const own = all.findLast(({ precedence }) => precedence === withdrawal.precedence);
  const counting = newest(open) ?? (withdrawal.isAnswered ? undefined : own);
  if (counting === undefined) return { counting, waiting: undefined };
  // Only a value below final can be later than the value that counts.
  const isWaiting = ({ precedence }: StatedValue): boolean =>
    isLater(precedence, counting.precedence) && !isDefault(precedence);
  return { counting, waiting: newest(open.filter(isWaiting)) };
}

function newest(stated: readonly StatedValue[]): StatedValue | undefined {
  let last: StatedValue | undefined;
  for (const each of stated) if (last === undefined || each.precedence >= last.precedence) last = each;
  return last;
}

/** Alters `content` and `registers`. */
export function settle(
  content: JsonObject,
  registers: Map<string, Register>,
  element: string,
  stored: StatedValue | undefined,
  { counting, waiting }: Resolved,
): void {
  if (counting === undefined) registers.delete(element);
  else if (counting !== stored && counting.precedence !== '')
    registers.set(element, { precedence: counting.precedence, held: null });
  if (counting !== stored) writeElement(content, element, counting?.value ?? null);
  if (waiting === undefined) registers.delete(waitingName(element));
  else registers.set(waitingName(element), { precedence: waiting.precedence, held: asRead(element, waiting.value) });
}

/** Returns the value as `readElement` reads it, so that a waiting value equals one read from a resource. */
function asRead(element: string, value: Json): Json {
  const content: JsonObject = {};
  writeElement(content, element, value);
  return readElement(content, element) ?? null;
}

/** All elements of records that are not patients, by the names of the maps. A member without a map has its own name. */
export function elementsOf(...records: readonly Recorded[]): Set<string> {
  const prefix = waitingName('');
  const registered = records.flatMap(({ remembered }) => [...remembered.registers.keys()]);
  const names = new Set([...registered.map((name) => name.replace(prefix, '')), ...CHOICES]);
  for (const { content, remembered } of records) {
    const extensions = objectsOf(content['extension']);
    const members = [
      ...Object.keys(content).filter((member) => member !== 'extension'),
      ...extensions.flatMap(({ url }) => (typeof url === 'string' ? [`extension ${url}`] : [])),
      ...remembered.stamps.keys(),
    ];
    for (const member of members) if (![...names].some((name) => isOfElement(name, member))) names.add(member);
  }
  for (const name of [REPLACED, WITHDRAWN, TEXT, ARRIVED, FORMER]) names.delete(name);
  return names;
}
