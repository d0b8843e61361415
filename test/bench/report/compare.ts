/**
 * What got slower between two commits by more than the noise. The noise is what either run's own rounds say of it: how far
 * they lie apart, of both runs together as errors that know nothing of each other (the root of the sum of squares). No
 * percentage is fixed: a quiet machine shows smaller slowdowns than a busy one.
 */
import { median } from '../rounds.ts';
import { FIGURE_NAMES, FIGURES, type FigureName } from './figures.ts';
import type { Kept, KeptFigure } from './kept.ts';

export interface Change {
  readonly row: string;
  readonly figure: FigureName;
  readonly before: KeptFigure;
  readonly now: KeptFigure;
  /** Of the median before, as what came of it now; more is worse: 1.2 is a fifth slower or dearer. */
  readonly worse: number;
}

export interface Comparison {
  readonly slower: readonly Change[];
  readonly faster: readonly Change[];
  /** How many figures both runs have. */
  readonly compared: number;
  /** The share by which a figure must be worse to be seen, in the middle over all figures. */
  readonly noise: number;
  /** Rows of which only one run knows. */
  readonly onlyBefore: readonly string[];
  readonly onlyNow: readonly string[];
}

const spread = ([, low, high]: KeptFigure): number => high - low;

export function compare(before: Kept, now: Kept): Comparison {
  const pairs = Object.entries(before.rows).flatMap(([row, figures]) =>
    FIGURE_NAMES.flatMap((figure) => {
      const [one, other] = [figures[figure], now.rows[row]?.[figure]];
      return one === undefined || other === undefined ? [] : [{ row, figure, before: one, now: other }];
    }),
  );
  const changes = pairs.map((pair) => {
    const [was, is] = [pair.before[0], pair.now[0]];
    const noise = Math.hypot(spread(pair.before), spread(pair.now));
    const isHigherBetter = FIGURES[pair.figure].isBetter === 'higher';
    const change: Change = { ...pair, worse: isHigherBetter ? was / is : is / was };
    return { change, noise: noise / was, isBeyondNoise: Math.abs(is - was) > noise };
  });
  const beyond = changes.filter(({ isBeyondNoise }) => isBeyondNoise).map(({ change }) => change);
  const only = (one: Kept, other: Kept): string[] => Object.keys(one.rows).filter((row) => !(row in other.rows));
  return {
    slower: beyond.filter(({ worse }) => worse > 1),
    faster: beyond.filter(({ worse }) => worse < 1),
    compared: changes.length,
    noise: median(changes.map(({ noise }) => noise)),
    onlyBefore: only(before, now),
    onlyNow: only(now, before),
  };
}

const ranged = ([middle, low, high]: KeptFigure): string => `${middle} (${low} to ${high})`;

/** The comparison as text, the worst first. */
export function comparisonText(before: Kept, now: Kept, comparison: Comparison): string {
  const { slower, faster, compared, noise, onlyBefore, onlyNow } = comparison;
  const told = (changes: readonly Change[]): string[] =>
    changes
      .toSorted((a, b) => b.worse - a.worse)
      .map(
        ({ row, figure, before: was, now: is, worse }) =>
          `  ${row}: ${FIGURES[figure].label} ${ranged(was)} → ${ranged(is)}, ${worse > 1 ? `${worse.toFixed(2)} times worse` : `${(1 / worse).toFixed(2)} times better`}`,
      );
  const isElsewhere = before.machine.processor !== now.machine.processor || before.machine.cores !== now.machine.cores;
  return [
    `beside ${before.commit} of ${before.at}: ${compared} figures, of which half would show a change of ${(noise * 100).toFixed(0)} %`,
    ...(isElsewhere ? [`warning: that was kept on another machine, ${before.machine.processor}`] : []),
    ...onlyBefore.map((row) => `  ${row}: kept then, not measured now`),
    ...onlyNow.map((row) => `  ${row}: not kept then`),
    ...(faster.length === 0 ? [] : ['faster or cheaper by more than the noise', ...told(faster)]),
    ...(slower.length === 0
      ? ['nothing is slower or dearer by more than the noise']
      : ['SLOWER or dearer by more than the noise', ...told(slower)]),
    '',
  ].join('\n');
}
