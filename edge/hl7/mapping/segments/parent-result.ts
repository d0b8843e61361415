/**
 * The parent result of an OBR's results (HL7 v2.5.1 §4.5.3.26, OBR-26 parent result; §4.5.3.29, OBR-29 parent number), such as
 * the isolate of a susceptibility. A wrong parent is worse than no parent. So everything in OBR-26 and OBR-29 must fit exactly
 * one result.
 */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { componentOf, repetitions, type Part } from '../../../../shared/hl7/value.ts';
import { codeOf } from '../datatypes/cwe.ts';
import { fieldText, first, plainTextOf, textOf, repetitionText } from '../datatypes/text.ts';
import { join } from '../key.ts';
import type { SentParent } from '../statement.ts';
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

/** A longer text of OBR-26.3 is compared by its beginning: every result of the order keeps it. */
const MAX_VALUE_LENGTH = 200;

/** The parent in a result key: `what` has OBX-3.1 and OBX-4 of OBR-26; both are empty without a parent. */
export function parentKey(
  obr: Segment,
  orc: Segment | undefined,
): { readonly what: string; readonly parent: SentParent | undefined } {
  const parent = parentResult(obr);
  const { placer, filler } = parentNumbers(obr, orc);
  const [placerText = '', fillerText = ''] = [plainTextOf(placer, 1), plainTextOf(filler, 1)];
  const value = parent?.value?.toLowerCase().slice(0, MAX_VALUE_LENGTH) ?? '';
  const what = parent === undefined ? '' : join(parent.code, parent.subId);
  const isNamed = value !== '' || placerText !== '' || fillerText !== '';
  return { what, parent: isNamed ? { value, placer: placerText, filler: fillerText } : undefined };
}

/** The display of the parent: `Organism 1: Escherichia coli`. */
export function parentText(obr: Segment): string | undefined {
  const parent = parentResult(obr);
  if (parent === undefined) return undefined;
  const which = [parent.name ?? parent.code, parent.subId].filter((text) => text !== undefined).join(' ');
  return [which, parent.value].filter(Boolean).join(': ');
}

/** The parents that OBR-26 and OBR-29 name among the orders of a message; undefined unless exactly one fits. */
export interface Parents {
  readonly orderOf: (numbers: OrderNumbers) => Order | undefined;
  readonly obxOf: (child: Order) => Segment | undefined;
}

/** An OBX with its texts for OBR-26, read once. */
interface Candidate {
  readonly order: Order;
  readonly obx: Segment;
  readonly system: string | undefined;
  readonly subId: string | undefined;
  /** In small letters; built when a child first asks. */
  readonly said: () => ReadonlySet<string>;
}

/** Indexes the orders once, when a child first asks: a message may have thousands of both. */
export function parentsAmong(orders: readonly Order[]): Parents {
  const index = once(() => indexOf(orders));
  const found = new Map<Order, Segment | undefined>();
  const find = (child: Order): Segment | undefined => {
    const parent = parentResult(child.obr);
    if (parent?.code === undefined) return undefined;
    let only: Candidate | undefined;
    for (const scope of scopesNamedBy(parentNumbers(child.obr, child.orc))) {
      for (const candidate of index().obx.get(keyOf(scope, parent.code)) ?? []) {
        if (candidate.order === child || !isParent(candidate, parent)) continue;
        if (only !== undefined) return undefined;
        only = candidate;
      }
    }
    return only?.obx;
  };
  return {
    orderOf: (numbers) => {
      const named = isNamed(numbers) ? scopesNamedBy(numbers) : [];
      const all = named.flatMap((scope) => index().orders.get(keyOf(scope)) ?? []);
      return all.length === 1 ? all[0] : undefined;
    },
    obxOf: (child) => {
      if (!found.has(child)) found.set(child, find(child));
      return found.get(child);
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Placer's and filler's number as sent; null without one, `ANY` for any. */
type Scope = readonly [placer: string | null | typeof ANY, filler: string | null | typeof ANY];
const ANY = true;
const keyOf = (scope: Scope, code?: string): string => JSON.stringify([...scope, code]);

const textsOf = ({ placer, filler }: OrderNumbers) =>
  [plainTextOf(placer, 1) ?? null, plainTextOf(filler, 1) ?? null] as const;
const isNamed = (numbers: OrderNumbers): boolean => textsOf(numbers).some((text) => text !== null);

/** The index entries of an order. */
function scopesOf(numbers: OrderNumbers): Scope[] {
  const [placer, filler] = textsOf(numbers);
  const unnamed: Scope = [ANY, ANY];
  return [
    unnamed,
    ...(isNamed(numbers) ? [[placer, filler] as const] : []),
    ...(placer === null ? [] : [[placer, ANY] as const]),
    ...(filler === null ? [] : [[ANY, filler] as const]),
  ];
}

/** The index entries that these numbers may match: every number that both have is the same, and one exists. */
function scopesNamedBy(numbers: OrderNumbers): Scope[] {
  const [placer, filler] = textsOf(numbers);
  if (placer === null && filler === null) return [[ANY, ANY]];
  if (placer === null) return [[ANY, filler]];
  if (filler === null) return [[placer, ANY]];
  return [
    [placer, filler],
    [placer, null],
    [null, filler],
  ];
}

function indexOf(orders: readonly Order[]) {
  const byNumbers = new Map<string, Order[]>();
  const byCode = new Map<string, Candidate[]>();
  for (const order of orders) {
    const scopes = scopesOf(order.numbers);
    for (const scope of scopes) add(byNumbers, keyOf(scope), order);
    for (const obx of order.obx) {
      const identifier = first(obx, 3);
      const code = codeOf(identifier);
      if (code === undefined) continue;
      const said = once(() => saidBy(obx));
      const candidate = { order, obx, system: textOf(identifier, 3)?.toUpperCase(), subId: fieldText(obx, 4), said };
      for (const scope of scopes) add(byCode, keyOf(scope, code), candidate);
    }
  }
  return { orders: byNumbers, obx: byCode };
}

function add<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

const isParent = (own: Candidate, { system, subId, value }: ParentResult): boolean =>
  (system === undefined || own.system === undefined || system.toUpperCase() === own.system) &&
  (subId === undefined || own.subId === subId) &&
  (value === undefined || own.said().has(value.toLowerCase()));

/** PRL.3 is the text of OBX-5; some senders put one of its codes there. */
function saidBy(obx: Segment): ReadonlySet<string> {
  const texts = repetitions(obx, 5).flatMap((part) => [
    repetitionText(part),
    ...[1, 2, 4, 5, 9].map((number) => textOf(part, number)),
  ]);
  return new Set(texts.flatMap((text) => text?.toLowerCase() ?? []));
}
