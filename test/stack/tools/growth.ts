/**
 * Measures how work grows with its input, by an input and one of eight times its size. Quadratic work then takes 64 times as
 * long, linear work 8 times. So a busy machine, which disturbs a measurement by half, does not change the result. The clock is
 * the CPU time of this thread, which Linux may count in steps of 4 ms.
 */

/**
 * Growth for a doubled input. At most this, the work is linear. Linear work grows by 2, on a busy machine by up to 2.4:
 * the caches of the processor hold less of the larger input. Work of the power 1.5 grows by 2.8, quadratic work by 4.
 */
export const LINEAR = 2.5;

const DOUBLINGS = 3;
const SPAN = 2 ** DOUBLINGS;
/** The least time of a measurement: five steps of the clock. */
const LEAST_MS = 20;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The growth for a doubled input, from the costs of an input and of one of eight times its size. */
export const growthFor = (small: number, large: number): number => (large / small) ** (1 / DOUBLINGS);

/** The sizes to compare. @param largest the larger one at most */
export const sizesOf = (largest: number): readonly [small: number, large: number] => {
  const small = Math.max(1, Math.floor(largest / SPAN));
  return [small, SPAN * small];
};

/**
 * How many times the work grows when its input is doubled. The fastest of several rounds counts.
 *
 * @param inputOf an input of a size
 * @param size the larger input has twice this size, the smaller a quarter
 * @param maxRounds ends the measurement of work that is not linear
 */
export function growthOf<Input>(
  inputOf: (size: number) => Input,
  work: (input: Input) => void,
  size: number,
  maxRounds = 20,
): number {
  const [smallSize, largeSize] = sizesOf(2 * size);
  const [small, large] = [inputOf(smallSize), inputOf(largeSize)];
  const msOf = (input: Input, times: number): number => {
    const before = cpuMs();
    for (let n = 0; n < times; n += 1) work(input);
    return cpuMs() - before;
  };
  // The large input is worked on less often, so that both take the same time where the work is linear.
  let times = SPAN;
  let [smallMs, largeMs] = [Infinity, Infinity];
  for (let round = 0; round === 0 || (growthFor(smallMs, largeMs) > LINEAR && round < maxRounds);) {
    const ms = msOf(small, times);
    if (ms < LEAST_MS) {
      times *= ms < LEAST_MS / 8 ? 8 : 2;
      continue;
    }
    smallMs = Math.min(smallMs, ms / times);
    largeMs = Math.min(largeMs, (msOf(large, times / SPAN) / times) * SPAN);
    round += 1;
  }
  return growthFor(smallMs, largeMs);
}
