/**
 * Estimates how far the database's clock is ahead of this machine's. Deadlines are sent in the database's time: a
 * machine with a wrong clock still serves, and a request that was given up never commits. It reads no clock itself.
 */

export interface DatabaseClock {
  /** Milliseconds to add to this machine's time. */
  readonly aheadMs: () => number;
  /**
   * Learns from an answer, whose times bound the difference of the clocks. The estimate changes only if it is outside the
   * bounds, so that a slow network does not change it.
   *
   * @param first the database's clock at the first statement, `askedAt` this machine's before it
   * @param last the database's clock at the last statement, `answeredAt` this machine's after it
   */
  readonly learn: (first: number, askedAt: number, last: number, answeredAt: number) => void;
  /**
   * Learns from an error that the deadline had passed.
   *
   * @returns true if the clocks were the reason, so that the request may be sent again
   */
  readonly learnFromRefusal: (at: number, answeredAt: number) => boolean;
}

/** The usual difference of synchronised clocks. */
const TOLERATED_MS = 1_000;

export function createDatabaseClock(): DatabaseClock {
  let aheadMs = 0;
  return {
    aheadMs: () => aheadMs,
    learn(first, askedAt, last, answeredAt) {
      aheadMs = Math.max(Math.min(aheadMs, first - askedAt), last - answeredAt);
    },
    learnFromRefusal(at, answeredAt) {
      const atLeast = at - answeredAt;
      if (atLeast <= aheadMs + TOLERATED_MS) return false;
      aheadMs = atLeast;
      return true;
    },
  };
}
