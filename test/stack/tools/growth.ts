/**
 * Measures how work grows with its input: the fastest of several rounds on an input and on one of twice its size. Short work is
 * timed by the wall clock, in so many rounds that some are not interrupted. Long work is timed by the CPU time of this thread,
 * which Linux may count in steps of 4 ms.
 */

/** At most this, the work is linear: there is no need to measure on. */
export const LINEAR = 2.3;

interface Clock {
  readonly nowMs: () => number;
  /** An input is worked on as often as takes this long. */
  readonly leastMs: number;
  readonly leastRounds: number;
  /** Ends the measurement of work that is not linear. */
  readonly mostRounds: number;
  readonly mostMs: number;
}

const WALL: Clock = {
  nowMs: () => performance.now(),
  leastMs: 0.3,
  leastRounds: 10,
  mostRounds: Infinity,
  mostMs: 3_000,
};
const CPU: Clock = {
  nowMs() {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  },
  leastMs: 40,
  leastRounds: 2,
  mostRounds: 20,
  mostMs: Infinity,
};

const growthBy =
  ({ nowMs, leastMs, leastRounds, mostRounds, mostMs }: Clock) =>
  <Input>(inputOf: (size: number) => Input, work: (input: Input) => void, size: number): number => {
    const [one, two] = [inputOf(size), inputOf(2 * size)];
    let times = 1;
    const msOf = (input: Input): number => {
      const before = nowMs();
      for (let n = 0; n < times; n += 1) work(input);
      return nowMs() - before;
    };
    while (msOf(one) < leastMs) times *= 2;
    let [small, large] = [Infinity, Infinity];
    const until = performance.now() + mostMs;
    const isWanted = (round: number): boolean =>
      round === 0 ||
      ((round < leastRounds || (large / small > LINEAR && round < mostRounds)) && performance.now() < until);
    for (let round = 0; isWanted(round); round += 1) {
      small = Math.min(small, msOf(one));
      large = Math.min(large, msOf(two));
    }
    return large / small;
  };

/**
 * How many times the work of an input is that of half of it: 2 where the work is linear, 4 where it is quadratic.
 *
 * @param inputOf an input of a size
 * @param size the size of the smaller input
 */
export const growthOf = growthBy(WALL);

/** As `growthOf`, for work that a busy machine always interrupts. */
export const cpuGrowthOf = growthBy(CPU);
