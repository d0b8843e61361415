/**
 * Finds the figures that are worse than those of another commit by more than the noise. The noise is the spread of the rounds of
 * both runs, combined like independent errors (the root of the sum of squares). Five rounds may be close together by chance, so
 * it is at least the median noise of that figure over all rows. There is no fixed percentage: a quiet machine shows smaller
 * slowdowns than a busy one.
 */
import { median } from '../rounds.ts';
import { FIGURE_NAMES, FIGURES, type FigureName } from './figures.ts';
import { type Kept, type KeptFigure, keptOf } from './kept.ts';
import { failuresOf, type Run } from './run.ts';

export interface Change {
  readonly row: string;
  readonly figure: FigureName;
  readonly before: KeptFigure;
  readonly now: KeptFigure;
  /** The ratio to the median before; more is worse: 1.2 is a fifth slower or more expensive. */
  readonly worse: number;
}

export interface Comparison {
  readonly slower: readonly Change[];
  readonly faster: readonly Change[];
  /** The number of figures that both runs have. */
  readonly compared: number;
  /** The median share by which a figure must be worse to be reported. */
  readonly noise: number;
  /** Rows that only one run has. */
  readonly onlyBefore: readonly string[];
  readonly onlyNow: readonly string[];
}

/** The range of the rounds, as a share of the median. */
const spread = ([middle, low, high]: KeptFigure): number => (middle === 0 ? 0 : (high - low) / middle);

export function compare(before: Kept, now: Kept): Comparison {
  const pairs = Object.entries(before.rows).flatMap(([row, figures]) =>
    FIGURE_NAMES.flatMap((figure) => {
      const [was, is] = [figures[figure], now.rows[row]?.[figure]];
      if (was === undefined || is === undefined) return [];
      const worse = FIGURES[figure].isBetter === 'higher' ? was[0] / is[0] : is[0] / was[0];
      const change: Change = { row, figure, before: was, now: is, worse };
      return [{ change, noise: Math.hypot(spread(was), spread(is)) }];
    }),
  );
  const usual = new Map(
    FIGURE_NAMES.map((figure) => [
      figure,
      median(pairs.filter(({ change }) => change.figure === figure).map(({ noise }) => noise)),
    ]),
  );
  const changes = pairs.map(({ change, noise: own }) => {
    const noise = Math.max(own, usual.get(change.figure) ?? 0);
    // A tenth of a figure for which higher is better is ten times worse, not nine tenths.
    const changed = Math.max(change.worse, 1 / change.worse) - 1;
    return { change, noise, isBeyondNoise: changed > noise };
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
function textOf(before: Kept, now: Kept, comparison: Comparison): string {
  const { slower, faster, compared, noise, onlyBefore, onlyNow } = comparison;
  const linesOf = (changes: readonly Change[]): string[] =>
    changes
      .toSorted((a, b) => b.worse - a.worse)
      .map(
        ({ row, figure, before: was, now: is, worse }) =>
          `  ${row}: ${FIGURES[figure].label} ${ranged(was)} → ${ranged(is)}, ${worse > 1 ? `${worse.toFixed(2)} times worse` : `${(1 / worse).toFixed(2)} times better`}`,
      );
  const isElsewhere = before.machine.processor !== now.machine.processor || before.machine.cores !== now.machine.cores;
  return [
    `compared with ${before.commit} of ${before.at}: ${compared} figures; the median noise is ${(noise * 100).toFixed(0)} %`,
    ...(isElsewhere ? [`warning: the stored figures are of another machine, ${before.machine.processor}`] : []),
    ...onlyBefore.map((row) => `  ${row}: stored then, not measured now`),
    ...onlyNow.map((row) => `  ${row}: not stored then`),
    ...(faster.length === 0 ? [] : ['better by more than the noise', ...linesOf(faster)]),
    ...(slower.length === 0
      ? ['nothing is worse by more than the noise']
      : ['WORSE by more than the noise', ...linesOf(slower)]),
    '',
  ].join('\n');
}

/**
 * Compares a run with the newest stored figures.
 *
 * @returns the report, and true if a figure is worse or an answer failed
 * @throws if there is nothing to compare
 */
export function checkRun(run: Run, history: readonly Kept[]): { readonly text: string; readonly isWorse: boolean } {
  const before = history.at(-1);
  if (before === undefined) throw new Error('no figures are stored to compare with');
  const now = keptOf(run, run.commit ?? '');
  const comparison = compare(before, now);
  if (comparison.compared === 0)
    throw new Error(`the run has none of the figures that are stored for ${before.commit}`);
  return { text: textOf(before, now, comparison), isWorse: comparison.slower.length > 0 || failuresOf(run) > 0 };
}
