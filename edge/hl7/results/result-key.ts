/** The result key, by which a result or a report is found again (edge/docs/behaviour.md, HL7 v2, Which result). */
import type { ZoneFallback } from '../../../shared/hl7/time.ts';
import { textOf } from '../mapping/datatypes/text.ts';
import { join } from '../mapping/key.ts';
import type { SentKey } from '../mapping/statement.ts';
import { collectionTime, daysAround, mayBeSameTime, minutesAround } from './collection-time.ts';
import { isSameNumber, orderNumberOf, type Authority, type OrderNumber } from './order-number.ts';

export interface ResultKey {
  readonly what: string;
  readonly filler: OrderNumber | null;
  readonly placer: OrderNumber | null;
  /** The authority of a result without a number. */
  readonly own: Authority;
  /** As `collectionTime`. */
  readonly at: string;
}

/** The settings of the site and the sender that a key is read with. */
export interface KeyContext {
  readonly named: ReadonlyMap<string, string>;
  readonly own: Authority;
  readonly zone: ZoneFallback;
}

export function resultKeyOf(sent: SentKey, { named, own, zone }: KeyContext): ResultKey {
  const { what, filler, placer, time } = sent;
  return {
    what,
    filler: orderNumberOf(filler, named, own) ?? null,
    placer: orderNumberOf(placer, named, own) ?? null,
    own,
    at: collectionTime(time, zone),
  };
}

/**
 * The lookup key for `hl7_matches`: it finds the result in any time zone and of any authority.
 *
 * @param offset MSH-7's
 */
export function lookupKeyOf({ what, filler, placer, time }: SentKey, offset: string | undefined): string {
  const minutes = minutesAround(time, offset);
  const [from, to] = minutes ?? ['', '~'];
  const days = minutes === null ? [''] : daysAround(minutes);
  return join(what, textOf(filler, 1), textOf(placer, 1), from, to, ...days);
}

/** Its length is limited like that of other HL7 keys (`MAX_KEY_LENGTH`). */
export const textOfKey = ({ what, filler, placer }: SentKey): string => join(what, filler?.raw, placer?.raw);

const hasNumber = ({ filler, placer }: ResultKey): boolean => filler !== null || placer !== null;

/** The filler's number decides if both have it, else the placer's. Times may be unknown (`mayBeSameTime`). */
export function mayBeSame(a: ResultKey, b: ResultKey): boolean {
  if (a.what !== b.what || !mayBeSameTime(a.at, b.at)) return false;
  if (a.filler !== null && b.filler !== null) return isSameNumber(a.filler, b.filler);
  if (a.placer !== null && b.placer !== null) return isSameNumber(a.placer, b.placer);
  return !hasNumber(a) && !hasNumber(b) && isSameOwner(a.own, b.own);
}

const isSameOwner = (a: Authority, b: Authority): boolean => a.uri === b.uri && a.name === b.name;

/** Checks for a result without time and order number: only its value distinguishes it. */
export const isUnidentified = (key: ResultKey): boolean => !hasNumber(key) && key.at === '';
