/** How work grows with its input, by the CPU time of this process, so that a busy machine changes nothing. */

/** Long enough to be measured. */
const LEAST_MS = 10;
/** The fastest of them counts: what is added to the others, as by the collector of garbage, is not the work's. */
const ROUNDS = 6;

function cpuMs(work: () => void, times: number): number {
  const before = process.cpuUsage();
  for (let n = 0; n < times; n += 1) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
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
  while (cpuMs(() => work(one), times) < LEAST_MS) times *= 2;
  const rounds = Array.from({ length: ROUNDS }, () => [cpuMs(() => work(one), times), cpuMs(() => work(two), times)]);
  const [small, large] = [0, 1].map((at) => Math.min(...rounds.map((round) => round[at] ?? Number.NaN)));
  return (large ?? Number.NaN) / (small ?? Number.NaN);
}
