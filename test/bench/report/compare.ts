/**
 * What got slower between two commits by more than the noise. The noise is what the rounds of both runs say of it: how far
 * they lie apart, of both together as errors that know nothing of each other (the root of the sum of squares), and since five
 * rounds may lie close together by chance, at least what is usual for that figure in the middle over all rows. No percentage
 * is fixed: a quiet machine shows smaller slowdowns than a busy one.
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

/** How far the rounds lie apart, as a share of the median. */
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
    // Of a share that is better when it is higher a tenth is ten times worse, not nine tenths.
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
  const told = (changes: readonly Change[]): string[] =>
    changes
      .toSorted((a, b) => b.worse - a.worse)
      .map(
        ({ row, figure, before: was, now: is, worse }) =>
          `  ${row}: ${FIGURES[figure].label} ${ranged(was)} → ${ranged(is)}, ${worse > 1 ? `${worse.toFixed(2)} times worse` : `${(1 / worse).toFixed(2)} times better`}`,
      );
  const isElsewhere = before.machine.processor !== now.machine.processor || before.machine.cores !== now.machine.cores;
  return [
    `beside ${before.commit} of ${before.at}: ${compared} figures; in half of them less than ${(noise * 100).toFixed(0)} % is noise`,
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

/**
 * A run beside what was kept last.
 *
 * @returns what to say, and whether anything is worse, or failed
 * @throws where there is nothing to compare
 */
export function checkRun(run: Run, history: readonly Kept[]): { readonly text: string; readonly isWorse: boolean } {
  const before = history.at(-1);
  if (before === undefined) throw new Error('nothing is kept yet with which to compare');
  const now = keptOf(run, run.commit ?? '');
  const comparison = compare(before, now);
  if (comparison.compared === 0) throw new Error(`nothing that was kept of ${before.commit} was measured`);
  return { text: textOf(before, now, comparison), isWorse: comparison.slower.length > 0 || failuresOf(run) > 0 };
}
