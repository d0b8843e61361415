/**
 * The trusted times of a message (edge/docs/behaviour.md, HL7 v2, The order). A time counts if it is precise to the minute, has
 * a known offset, and is at most 15 minutes after the receipt. Pure.
 */
import { attempt } from '../../../shared/fault.ts';
import { fhirDateTime, offsetsOf, readTimestamp, type ZoneFallback } from '../../../shared/hl7/time.ts';
import { MAX_RANK, precedenceOf, timeOfId, type Precedence } from './precedence.ts';
import { PLAIN_STANDING, type Standing } from './standing.ts';

/** The parts of a statement that its precedence depends on. */
export interface Timing {
  /** DTM as sent, the deciding one first. MSH-7 and the receipt follow them. */
  readonly times: readonly (string | undefined)[];
  readonly standing: Standing;
}

/** Times of a statement without a result's status. */
export const timed = (...times: readonly (string | undefined)[]): Timing => ({ times, standing: PLAIN_STANDING });

export interface MessageClock {
  readonly precedenceOf: (timing: Timing) => Precedence;
  /** The precedence of a statement that only mentions the patient: lower than any other. */
  readonly lowPrecedenceOf: (timing: Timing) => Precedence;
  /** The time of a statement, milliseconds since the epoch, also in a forced replay. */
  readonly timeOf: (timing: Timing) => number;
}

/** A clock that is further ahead is wrong. */
const MAX_AHEAD_MS = 15 * 60_000;

/**
 * @param messageId a UUIDv7: its time is the receipt
 * @param sent MSH-7
 */
export function clockOf(messageId: string, sent: string | undefined, zone: ZoneFallback): MessageClock {
  const receivedMs = timeOfId(messageId);
  const sentMs = instantMs(sent, zone, receivedMs) ?? receivedMs;
  const timeOf = ({ times }: Timing): number =>
    times.map((time) => instantMs(time, zone, receivedMs)).find((ms) => ms !== undefined) ?? sentMs;
  const precedence = (timing: Timing, tier: 0 | 1): Precedence =>
    precedenceOf({ tier, timeMs: timeOf(timing), rank: timing.standing.rank, sentMs, messageId });
  return {
    precedenceOf: (timing) => precedence(timing, timing.standing.isFinal ? 1 : 0),
    lowPrecedenceOf: (timing) => precedence(timing, 0),
    timeOf,
  };
}

/** The clock of a forced replay: an administrator decides that the message applies now. Low precedences stay low. */
export function clockOfNow(messageId: string, nowMs: number, clock: MessageClock): MessageClock {
  const now = precedenceOf({ tier: 1, timeMs: nowMs, rank: MAX_RANK, sentMs: nowMs, messageId });
  return { ...clock, precedenceOf: () => now };
}

/** @returns undefined for a time that does not count */
export function instantMs(text: string | undefined, zone: ZoneFallback, receivedMs: number): number | undefined {
  // In the hour that a clock shows twice, a message that has just arrived belongs to the second pass.
  return instantsOf(text, zone).findLast((ms) => ms <= receivedMs + MAX_AHEAD_MS);
}

/** Checks for a time that does not count because it is in the future. */
export function isAhead(text: string | undefined, zone: ZoneFallback, messageId: string): boolean {
  const instants = instantsOf(text, zone);
  return instants.length > 0 && instantMs(text, zone, timeOfId(messageId)) === undefined;
}

/** The instants that a time with minutes may mean. */
function instantsOf(text: string | undefined, zone: ZoneFallback): number[] {
  // An invalid time is reported where its resource is mapped.
  const stamp = text === undefined ? undefined : attempt(() => readTimestamp(text, 'MSH^1^7'));
  if (stamp?.minute === undefined) return [];
  return offsetsOf(stamp, zone).map((offset) => Date.parse(fhirDateTime({ ...stamp, offset })));
}
