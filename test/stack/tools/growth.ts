/**
 * How work grows with its input. What is compared is the fastest of many short rounds: of those some are interrupted by
 * nothing, however busy the machine is. (CPU time would need long ones: Linux may count it in ticks of 4 ms.)
 */

/** Long enough to be measured. */
const LEAST_MS = 0.3;
const LEAST_ROUNDS = 30;
/** For all rounds beyond: work that is not linear takes long. */
const MOST_MS = 3_000;
/** At most this, it is linear: there is no need to measure on. */
export const LINEAR = 2.3;

function msOf(work: () => void, times: number): number {
  const before = performance.now();
  for (let n = 0; n < times; n += 1) work();
  return performance.now() - before;
}

/**
 * How many times the work of an input is that of half of it: 2 where the work is linear, 4 where it is quadratic.
 *
 * @param inputOf an input of a size
 * @param size of the smaller input
 */
export function growthOf<Input>(inputOf: (size: number) => Input, work: (input: Input) => void, size: number): number {
  const [one, two] = [inputOf(size), inputOf(2 * size)];
  let times = 1;
  while (msOf(() => work(one), times) < LEAST_MS) times *= 2;
  let [small, large] = [Infinity, Infinity];
  const until = performance.now() + MOST_MS;
  const isWanted = (round: number) => round < LEAST_ROUNDS || large / small > LINEAR;
  for (let round = 0; round === 0 || (isWanted(round) && performance.now() < until); round += 1) {
    small = Math.min(
      small,
      msOf(() => work(one), times),
    );
    large = Math.min(
      large,
      msOf(() => work(two), times),
    );
  }
  return large / small;
}

/** Of the ticks in which Linux may count CPU time several. */
const LEAST_CPU_MS = 40;
const MOST_CPU_ROUNDS = 20;

/** CPU time of this thread: to be interrupted costs nothing, nor what the helpers of V8 do meanwhile. */
function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * The same of work that takes so long that it is always interrupted on a busy machine. An input is worked on as often as
 * takes some ticks of the clock.
 */
export function cpuGrowthOf<Input>(
  inputOf: (size: number) => Input,
  work: (input: Input) => void,
  size: number,
): number {
  const [one, two] = [inputOf(size), inputOf(2 * size)];
  const repeatedly = (input: Input, times: number) => () => {
    for (let n = 0; n < times; n += 1) work(input);
  };
  let times = 1;
  while (cpuMsOf(repeatedly(one, times)) < LEAST_CPU_MS) times *= 2;
  let [small, large] = [Infinity, Infinity];
  for (let round = 0; round < 3 || (large / small > LINEAR && round < MOST_CPU_ROUNDS); round += 1) {
    small = Math.min(small, cpuMsOf(repeatedly(one, times)));
    large = Math.min(large, cpuMsOf(repeatedly(two, times)));
  }
  return large / small;
}
