/**
 * Turns that are taken in rounds, so that a machine that is slow for a while is slow for all of them, and what is told of
 * their figures: medians, and ratios within a round.
 */

/**
 * Runs every turn once a round, and once before the first, to be warm, which is not told.
 *
 * @param begins is told each round, 0 the one that is not told
 * @returns what each turn gave, round by round
 */
export async function inRounds<T>(
  rounds: number,
  turns: readonly (() => Promise<T>)[],
  begins: (round: number) => void = () => undefined,
): Promise<T[][]> {
  const figures = turns.map((): T[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    begins(round);
    for (const [index, turn] of turns.entries()) {
      const figure = await turn();
      if (round > 0) figures[index]?.push(figure);
    }
  }
  return figures;
}

/** NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [upper = Number.NaN, lower = Number.NaN] = [sorted[middle], sorted[middle - 1]];
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2;
}

/** Of each round the ratio within it: what the machine does to both falls out. */
export const ratios = (values: readonly number[], to: readonly number[]): number[] =>
  values.map((value, round) => value / (to[round] ?? Number.NaN));
