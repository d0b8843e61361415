/**
 * How far the database's clock is ahead of ours. Deadlines are told to the database by its own clock, so that a machine
 * whose clock is wrong serves all the same, and what was given up still never commits. Pure: it is told times, it reads none.
 */

export interface DatabaseClock {
  /** Milliseconds to add to a time of ours. */
  readonly aheadMs: () => number;
  /**
   * Learns from an answer. The difference lies between what the first statement says of when we asked, and what the last
   * says of when it came: only an estimate outside is moved, so that a slow network moves nothing.
   *
   * @param first the database's clock at the first statement, `askedAt` ours before it
   * @param last the database's clock at the last statement, `answeredAt` ours behind it
   */
  readonly learn: (first: number, askedAt: number, last: number, answeredAt: number) => void;
  /**
   * Learns from a refusal that said the deadline had passed.
   *
   * @returns whether the clocks were to blame, so that the same may be asked again; time that has really passed is not
   */
  readonly learnFromRefusal: (at: number, answeredAt: number) => boolean;
}

/** What clocks that are kept in time may differ by. */
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
