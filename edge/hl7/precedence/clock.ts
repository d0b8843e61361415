/**
 * The times that a message names, as far as they can be trusted (edge/docs/behaviour.md, HL7 v2): one counts when it is precise to
 * the minute, its offset is known, and it is not ahead of the receipt by more than clocks differ. Pure.
 */
import { Fault } from '../../../shared/fault.ts';
import { fhirDateTime, readTimestamp, type Timestamp, type ZoneFallback } from '../../../shared/hl7/time.ts';
import { offsetsInZone } from '../../../shared/hl7/zone.ts';
import { MAX_RANK, precedenceOf, timeOfId, type Precedence } from './precedence.ts';
import { PLAIN_STANDING, type Standing } from './standing.ts';

/** What of a statement its order rests on. */
export interface Timing {
  /** DTM as they were sent, the one that decides first; MSH-7 and the receipt stand behind them. */
  readonly times: readonly (string | undefined)[];
  readonly standing: Standing;
}

/** Times without a status of a result. */
export const timed = (...times: readonly (string | undefined)[]): Timing => ({ times, standing: PLAIN_STANDING });

export interface MessageClock {
  /** The order of a statement of this message. */
  readonly precedenceOf: (timing: Timing) => Precedence;
  /** The same, but below all that is not said so. */
  readonly lowPrecedenceOf: (timing: Timing) => Precedence;
}

/** Whose clock is further ahead is wrong. */
const MAX_AHEAD_MS = 15 * 60_000;

/**
 * @param messageId a UUIDv7: its time is the receipt
 * @param sent MSH-7
 */
export function clockOf(messageId: string, sent: string | undefined, zone: ZoneFallback): MessageClock {
  const receivedMs = timeOfId(messageId);
  const sentMs = instantMs(sent, zone, receivedMs) ?? receivedMs;
  const precedence = ({ times, standing }: Timing, tier: 0 | 1): Precedence => {
    const known = times.map((time) => instantMs(time, zone, receivedMs)).find((ms) => ms !== undefined);
    return precedenceOf({ tier, timeMs: known ?? sentMs, rank: standing.rank, sentMs, messageId });
  };
  return {
    precedenceOf: (timing) => precedence(timing, timing.standing.isFinal ? 1 : 0),
    lowPrecedenceOf: (timing) => precedence(timing, 0),
  };
}

/** Whatever the message says of its times: an administrator says that it holds now. What it says in passing stays the least. */
export function clockOfNow(messageId: string, nowMs: number, { lowPrecedenceOf }: MessageClock): MessageClock {
  const now = precedenceOf({ tier: 1, timeMs: nowMs, rank: MAX_RANK, sentMs: nowMs, messageId });
  return { precedenceOf: () => now, lowPrecedenceOf };
}

/** @returns undefined for a time that does not count */
export function instantMs(text: string | undefined, zone: ZoneFallback, receivedMs: number): number | undefined {
  const stamp = text === undefined ? undefined : readOrNothing(text);
  if (stamp?.minute === undefined) return undefined;
  const latest = receivedMs + MAX_AHEAD_MS;
  // In the hour that a clock shows twice, a message that has just come is of the second one.
  return offsetsOf(stamp, zone)
    .map((offset) => Date.parse(fhirDateTime({ ...stamp, offset })))
    .findLast((ms) => ms <= latest);
}

/** Earliest instant first. */
function offsetsOf(stamp: Timestamp, { offset, timeZone }: ZoneFallback): readonly string[] {
  const sent = stamp.offset ?? offset;
  if (sent !== undefined) return [sent];
  if (timeZone === undefined) return [];
  const { year, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = stamp;
  return offsetsInZone({ year, month, day, hour, minute, second }, timeZone);
}

/** What is no time is reported where the resource is made of it. */
function readOrNothing(text: string): Timestamp | undefined {
  try {
    return readTimestamp(text, 'MSH^1^7');
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
