/**
 * Measurements in rounds, so that a machine that is slow for a while slows all of them. The figures are medians, and ratios
 * within a round.
 */

/**
 * Runs every measurement once in each round. A warm-up round before the first has no figures.
 *
 * @param begins is called at the start of each round; 0 is the warm-up
 * @returns the figures of each measurement, by round
 */
export async function inRounds<T>(
  rounds: number,
  measurements: readonly (() => Promise<T>)[],
  begins: (round: number) => void = () => undefined,
): Promise<T[][]> {
  const figures = measurements.map((): T[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    begins(round);
    for (const [index, measurement] of measurements.entries()) {
      const figure = await measurement();
      if (round > 0) figures[index]?.push(figure);
    }
  }
  return figures;
}

/** NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [upper = Number.NaN, lower = Number.NaN] = [sorted[middle], sorted[middle - 1]];
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2;
}

/** The ratio within each round, which cancels the speed of the machine. */
export const ratios = (values: readonly number[], to: readonly number[]): number[] =>
  values.map((value, round) => value / (to[round] ?? Number.NaN));
