/** The result key, by which a result or a report is found again (edge/docs/behaviour.md, HL7 v2, Which result). */
import * as z from 'zod';

import type { ZoneFallback } from '../../../shared/hl7/time.ts';
import { plainTextOf } from '../mapping/datatypes/text.ts';
import { join } from '../mapping/key.ts';
import type { SentKey, SentParent } from '../mapping/statement.ts';
import {
  collectionTime,
  daysAround,
  isMinute,
  mayBeRounded,
  mayBeSameTime,
  minutesAround,
  secondOf,
} from './collection-time.ts';
import { isAssumed, isSameNumber, orderNumberOf, type Authority, type OrderNumber } from './order-number.ts';

export interface ResultKey {
  /** As `SentKey.what`. */
  readonly what: string;
  readonly filler: OrderNumber | null;
  readonly placer: OrderNumber | null;
  /** The authority of a number without one, and of a result without a number. */
  readonly own: Authority;
  /** As `collectionTime`. */
  readonly at: string;
  /** The second of the collection time; undefined for a time that is precise to the minute. */
  readonly second?: number | undefined;
  readonly parent?: SentParent | undefined;
}

const authority = z.object({ uri: z.string().nullable().default(null), name: z.string().nullable().default(null) });
const number = z.union([z.string(), z.object({ value: z.string(), authority })]).optional();
/**
 * The JSON of `numbers` in hl7_result: the parts of a key that are in no column. Most keys have only the first three. A number
 * that is a text has the authority of its sender.
 */
export const storedParts = z
  .object({
    filler: number,
    placer: number,
    own: authority,
    second: z.number().optional(),
    parent: z.object({ value: z.string(), placer: z.string(), filler: z.string() }).optional(),
  })
  .transform(({ filler, placer, ...parts }) => {
    const long = (found: typeof filler): OrderNumber | null =>
      typeof found === 'string' ? { value: found, authority: parts.own } : (found ?? null);
    return { ...parts, filler: long(filler), placer: long(placer) };
  });

/** The settings of the site and the sender that a key is read with. */
export interface KeyContext {
  readonly named: ReadonlyMap<string, string>;
  readonly own: Authority;
  readonly zone: ZoneFallback;
}

export function resultKeyOf(sent: SentKey, { named, own, zone }: KeyContext): ResultKey {
  const { what, parent, filler, placer, time } = sent;
  return {
    what,
    filler: orderNumberOf(filler, named, own) ?? null,
    placer: orderNumberOf(placer, named, own) ?? null,
    own,
    at: collectionTime(time, zone),
    second: secondOf(time),
    parent,
  };
}

/** The JSON of `storedParts`. Equal keys have equal texts. */
export function printParts({ filler, placer, own, second, parent }: ResultKey): string {
  const short = (number: OrderNumber | null): OrderNumber | string | null =>
    number !== null && isAssumed(number, own) ? number.value : number;
  const parts = { filler: short(filler), placer: short(placer), own, second, parent };
  return JSON.stringify(parts, (_, value: unknown) => value ?? undefined);
}

/**
 * The lookup key for `hl7_matches`, of any authority and in any time zone. With an order number it finds all results of the order
 * at this time, without one the results of this observation.
 *
 * @param offset MSH-7's
 */
export function lookupKeyOf({ what, filler, placer, time }: SentKey, offset: string | undefined): string {
  const minutes = minutesAround(time, offset);
  const [from, to] = minutes ?? ['', '~'];
  const days = minutes === null ? [''] : daysAround(minutes);
  const numbers = [plainTextOf(filler, 1), plainTextOf(placer, 1)];
  const isNumbered = numbers.some((each) => each !== undefined);
  return join(isNumbered ? '' : what, ...numbers, from, to, ...days);
}

/**
 * The lookup key for the newest results of an order at any time; undefined without an order number.
 *
 * @param withChildren also finds results whose parent is of the order
 */
export function orderLookupKeyOf({ filler, placer }: SentKey, withChildren: boolean): string | undefined {
  const numbers = [plainTextOf(filler, 1), plainTextOf(placer, 1)];
  return numbers.some((each) => each !== undefined) ? join(withChildren ? 'children' : '', ...numbers) : undefined;
}

/** The lookup key for the newest results of the parent's order; undefined without its number. */
export function parentLookupKeyOf({ parent }: SentKey): string | undefined {
  const { filler = '', placer = '' } = parent ?? {};
  return filler === '' && placer === '' ? undefined : join('', filler, placer);
}

/** Its length is limited like that of other HL7 keys (`MAX_KEY_LENGTH`). */
export const textOfKey = ({ what, filler, placer }: SentKey): string => join(what, filler?.raw, placer?.raw);

export const hasNumber = ({ filler, placer }: Pick<ResultKey, 'filler' | 'placer'>): boolean =>
  filler !== null || placer !== null;

/** How close two keys are: a lower number is closer. */
const [SAME, SAME_PARENT, SAME_DAY] = [0, 1, 2];

/**
 * The closeness of two keys with the same observation and order number; undefined for other keys. The filler's number decides
 * if both have it, else the placer's. Times may be unknown (`mayBeSameTime`), and so may parts of the parent.
 */
export function closenessOf(a: ResultKey, b: ResultKey): number | undefined {
  if (a.what !== b.what || !mayBeSameTime(a.at, b.at) || !isSameParent(a.parent, b.parent)) return undefined;
  if (!isSameOrder(a, b)) return undefined;
  if (a.at !== b.at) return SAME_DAY;
  return JSON.stringify(a.parent) === JSON.stringify(b.parent) ? SAME : SAME_PARENT;
}

/** The results whose keys are closest to a key. */
export function closestOf<Known extends { readonly key: ResultKey }>(all: readonly Known[], key: ResultKey): Known[] {
  const levels = Map.groupBy(all, (known) => closenessOf(known.key, key));
  return [SAME, SAME_PARENT, SAME_DAY].map((level) => levels.get(level)).find((found) => found !== undefined) ?? [];
}

function isSameOrder(a: ResultKey, b: ResultKey): boolean {
  if (a.filler !== null && b.filler !== null) return isSameNumber(a.filler, b.filler);
  if (a.placer !== null && b.placer !== null) return isSameNumber(a.placer, b.placer);
  return !hasNumber(a) && !hasNumber(b) && isSameOwner(a.own, b.own);
}

/** Two parents differ if both have a part and it differs. */
function isSameParent(a: SentParent | undefined, b: SentParent | undefined): boolean {
  if (a === undefined || b === undefined) return true;
  const isSame = (x: string, y: string): boolean => x === '' || y === '' || x === y;
  return isSame(a.value, b.value) && isSame(a.filler, b.filler) && isSame(a.placer, b.placer);
}

const isSameOwner = (a: Authority, b: Authority): boolean => a.uri === b.uri && a.name === b.name;

/** Checks for a result without time and order number: only its value distinguishes it. */
export const isUnidentified = (key: ResultKey): boolean => !hasNumber(key) && key.at === '';

/** The parts of `what`, with codings that can be compared. */
export interface Observed {
  /** Code by coding system. */
  readonly codes: ReadonlyMap<string, string>;
  readonly text: string;
  readonly sub: string;
  /** OBR-26, as `parentKey`. */
  readonly parent: string;
  /** All other parts. */
  readonly rest: string;
}

const observedParts = z.array(z.string());
const codings = z.array(z.tuple([z.string(), z.string()]));

/** LN and LOINC are one coding system, L and none are another. */
const systemOf = (name: string): string => SYSTEM_NAMES.get(name.toUpperCase()) ?? name.toUpperCase();
const SYSTEM_NAMES: ReadonlyMap<string, string> = new Map([
  ['LOINC', 'LN'],
  ['L', ''],
]);

/** Several checks of one message compare the same key. */
const OBSERVED = new WeakMap<Pick<ResultKey, 'what'>, Observed>();

export function observedBy(key: Pick<ResultKey, 'what'>): Observed {
  const known = OBSERVED.get(key);
  if (known !== undefined) return known;
  const made = readObserved(key);
  OBSERVED.set(key, made);
  return made;
}

function readObserved({ what }: Pick<ResultKey, 'what'>): Observed {
  const [coded = '[]', text = '', sub = '', instance = '', parent = '', ...order] = observedParts.parse(
    JSON.parse(what),
  );
  return {
    codes: new Map(codings.parse(JSON.parse(coded)).map(([code, system]) => [systemOf(system), code])),
    text: text.toUpperCase(),
    sub,
    parent,
    rest: JSON.stringify([instance, ...order]),
  };
}

/** Checks that two concepts share a coding system and have equal codes in every system they share; without codes, the texts. */
export function isEqualCode(a: Observed, b: Observed): boolean {
  const shared = [...a.codes.keys()].filter((system) => b.codes.has(system));
  if (shared.length === 0) return a.codes.size === 0 && b.codes.size === 0 && a.text === b.text;
  return shared.every((system) => a.codes.get(system) === b.codes.get(system));
}

/** A result key with its parsed parts. */
export interface Compared {
  readonly key: ResultKey;
  readonly observed: Observed;
}

/**
 * Checks for two keys that probably mean one result, although they are not equal. Codes may be in other systems. OBX-4, an
 * authority or a second may be in only one of them. With both order numbers, MSH-4 may differ.
 */
export function isAlike(a: Compared, b: Compared): boolean {
  const isOneSender = isSameOwner(a.key.own, b.key.own);
  const isTimed = [a, b].every(({ key }) => isMinute(key.at));
  if (!isOneSender && !isTimed) return false;
  const [{ sub, parent, rest }, other] = [a.observed, b.observed];
  if (sub !== other.sub && sub !== '' && other.sub !== '') return false;
  if (rest !== other.rest || parent !== other.parent || !isEqualCode(a.observed, b.observed)) return false;
  if (!isSameParent(a.key.parent, b.key.parent)) return false;
  return (mayBeSameTime(a.key.at, b.key.at) || mayBeRounded(a.key, b.key)) && isAlikeOrder(a.key, b.key);
}

function isAlikeOrder(a: ResultKey, b: ResultKey): boolean {
  if (isSameOrder(a, b)) return true;
  const [placers, fillers] = [isAlikeNumber(a, b, 'placer'), isAlikeNumber(a, b, 'filler')];
  if (placers !== undefined && fillers !== undefined && placers && fillers) return true;
  const isOnlyOne = (number: 'placer' | 'filler'): boolean => {
    const [x, y] = [a[number], b[number]];
    return x !== null && y !== null && isAssumed(x, a.own) !== isAssumed(y, b.own);
  };
  if (fillers !== undefined) return fillers && isOnlyOne('filler');
  return placers === true && isOnlyOne('placer');
}

/** Equal numbers whose authorities are not both stated; undefined if one key lacks the number. */
function isAlikeNumber(a: ResultKey, b: ResultKey, number: 'placer' | 'filler'): boolean | undefined {
  const [x, y] = [a[number], b[number]];
  if (x === null || y === null) return undefined;
  return isSameNumber(x, y) || (x.value === y.value && (isAssumed(x, a.own) || isAssumed(y, b.own)));
}
