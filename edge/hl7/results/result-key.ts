/** What tells a result or a report from the patient's others (edge/docs/behaviour.md, HL7 v2, Which resource). */
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
  /** Whose it is where it has no number. */
  readonly own: Authority;
  /** As `collectionTime`. */
  readonly at: string;
}

/** What of the site and the sender a key is read with. */
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
 * What `hl7_matches` looks a result up by, in whatever time zone and of whichever authority it turns out to be.
 *
 * @param offset of MSH-7
 */
export function lookupKeyOf({ what, filler, placer, time }: SentKey, offset: string | undefined): string {
  const minutes = minutesAround(time, offset);
  const [from, to] = minutes ?? ['', '~'];
  const days = minutes === null ? [''] : daysAround(minutes);
  return join(what, textOf(filler, 1), textOf(placer, 1), from, to, ...days);
}

/** Its length is bounded as that of other HL7 keys is (`MAX_KEY_LENGTH`). */
export const textOfKey = ({ what, filler, placer }: SentKey): string => join(what, filler?.raw, placer?.raw);

const hasNumber = ({ filler, placer }: ResultKey): boolean => filler !== null || placer !== null;

/** The filler's number decides where both know it, else the placer's; times may be unknown (`mayBeSameTime`). */
export function mayBeSame(a: ResultKey, b: ResultKey): boolean {
  if (a.what !== b.what || !mayBeSameTime(a.at, b.at)) return false;
  if (a.filler !== null && b.filler !== null) return isSameNumber(a.filler, b.filler);
  if (a.placer !== null && b.placer !== null) return isSameNumber(a.placer, b.placer);
  return !hasNumber(a) && !hasNumber(b) && isSameOwner(a.own, b.own);
}

const isSameOwner = (a: Authority, b: Authority): boolean => a.uri === b.uri && a.name === b.name;

/** A result of which nothing tells when it was made, nor in which order: only its value tells it from others. */
export const isUnidentified = (key: ResultKey): boolean => !hasNumber(key) && key.at === '';
