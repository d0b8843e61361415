/**
 * Which result the results of an OBR belong to (HL7 v2.5.1 §4.5.3.26, OBR-26 parent result; §4.5.3.29, OBR-29 parent
 * number): a susceptibility to its isolate. To be tied to the wrong isolate is worse than to none, so all that the message
 * says of the parent must fit one result, and no other.
 */
import type { Segment } from '../../../shared/hl7/message.ts';
import { componentOf, repetitions, type Part } from '../../../shared/hl7/value.ts';
import { codeOf } from '../mapping/datatypes/cwe.ts';
import { fieldText, first, textOf, wholeText } from '../mapping/datatypes/text.ts';
import type { OrderNumbers } from './orc.ts';

/** An OBR with its ORC, its numbers and the OBX that follow it. */
export interface Order {
  readonly obr: Segment;
  readonly orc: Segment | undefined;
  readonly numbers: OrderNumbers;
  readonly obx: readonly Segment[];
}

/** OBR-29, else ORC-8: the parent's order, each number an EI within the component. */
export function parentNumbers(obr: Segment, orc: Segment | undefined): OrderNumbers {
  const pair = first(obr, 29) ?? (orc === undefined ? undefined : first(orc, 8));
  const number = (component: number): Part | undefined => {
    const part = pair === undefined ? undefined : componentOf(pair, component);
    return textOf(part, 1) === undefined ? undefined : part;
  };
  return { placer: number(1), filler: number(2) };
}

/** OBR-26, a PRL: OBX-3, OBX-4 and OBX-5 of the parent. */
interface ParentResult {
  readonly code: string | undefined;
  readonly system: string | undefined;
  readonly name: string | undefined;
  readonly subId: string | undefined;
  readonly value: string | undefined;
}

function parentResult(obr: Segment): ParentResult | undefined {
  const part = first(obr, 26);
  if (part === undefined) return undefined;
  const identifier = componentOf(part, 1);
  const [code, name, system, , alternateName] = [1, 2, 3, 4, 5].map((number) => textOf(identifier, number));
  const found = { code, name: name ?? alternateName, system, subId: textOf(part, 2), value: textOf(part, 3) };
  return Object.values(found).every((value) => value === undefined) ? undefined : found;
}

/** What a person reads of the parent: `Organism 1: Escherichia coli`. */
export function parentText(obr: Segment): string | undefined {
  const parent = parentResult(obr);
  if (parent === undefined) return undefined;
  const which = [parent.name ?? parent.code, parent.subId].filter((text) => text !== undefined).join(' ');
  return [which, parent.value].filter(Boolean).join(': ');
}

/** The OBR of the message that OBR-29 names, if it is exactly one. */
export function parentOrder(numbers: OrderNumbers, orders: readonly Order[]): Order | undefined {
  const found = orders.filter((order) => isSameOrder(order.numbers, numbers));
  return found.length === 1 ? found[0] : undefined;
}

/** The OBX of the message that OBR-26 and OBR-29 name, if it is exactly one. */
export function parentObx(child: Order, orders: readonly Order[]): Segment | undefined {
  const parent = parentResult(child.obr);
  if (parent?.code === undefined) return undefined;
  const numbers = parentNumbers(child.obr, child.orc);
  const isNamed = numbers.placer !== undefined || numbers.filler !== undefined;
  const found = orders
    .filter((order) => order.obr !== child.obr && (!isNamed || isSameOrder(order.numbers, numbers)))
    .flatMap(({ obx }) => obx.filter((segment) => isParent(segment, parent)));
  return found.length === 1 ? found[0] : undefined;
}

/** Every number that both have is the same, and there is one. */
function isSameOrder(a: OrderNumbers, b: OrderNumbers): boolean {
  const pairs = [
    [a.placer, b.placer],
    [a.filler, b.filler],
  ].flatMap(([one, other]) => (one === undefined || other === undefined ? [] : [[textOf(one, 1), textOf(other, 1)]]));
  return pairs.length > 0 && pairs.every(([one, other]) => one === other);
}

function isParent(obx: Segment, { code, system, subId, value }: ParentResult): boolean {
  const identifier = first(obx, 3);
  const ownSystem = textOf(identifier, 3);
  return (
    codeOf(identifier) === code &&
    (system === undefined || ownSystem === undefined || system.toUpperCase() === ownSystem.toUpperCase()) &&
    (subId === undefined || fieldText(obx, 4) === subId) &&
    (value === undefined || saysSame(obx, value))
  );
}

/** PRL.3 is the text of OBX-5; some send one of its codes. */
function saysSame(obx: Segment, value: string): boolean {
  const said = repetitions(obx, 5).flatMap((part) => [
    wholeText(part),
    ...[1, 2, 4, 5, 9].map((number) => textOf(part, number)),
  ]);
  return said.some((text) => text?.toLowerCase() === value.toLowerCase());
}
