/**
 * The stored figures of commits, and the comparison of a run with them: which figures are worse by more than the noise. The noise is
 * the spread of the rounds of both runs, combined like independent errors (the root of the sum of squares). Five rounds may be close
 * together by chance, so it is at least the median noise of that figure over all rows. There is no fixed percentage: a quiet
 * machine shows smaller slowdowns than a busy one.
 */
import { readFile, writeFile } from 'node:fs/promises';

import { ROOT } from '../stack/services/build.ts';
import { failuresOf, FIGURE_NAMES, type FigureName, FIGURES, figuresOf, nameOf, type Run } from './report.ts';
import { median } from './rounds.ts';

/** From the repository's root. */
export const HISTORY = 'test/bench/history.json';

/** Without bareCpu, which changes as gatewayCpu does. */
const KEPT = FIGURE_NAMES.filter((name) => name !== 'bareCpu');

/** The median over the rounds, the lowest and the highest value. */
type KeptFigure = readonly [number, number, number];

/** The stored figures of a run: only ratios, small enough to store them for each important commit. */
export interface Kept extends Pick<Run, 'at' | 'machine' | 'versions'> {
  readonly commit: string;
  /** By the row's name. */
  readonly rows: Readonly<Record<string, Partial<Record<FigureName, KeptFigure>>>>;
}

/** With more digits than any figure is exact to. */
const short = (value: number): number => Number(value.toPrecision(4));

export function keptOf(run: Run, commit: string): Kept {
  const { at, machine, versions } = run;
  const rows = run.rows
    .filter(({ group }) => group !== 'limit')
    .map((row) => {
      const figures = figuresOf(run, row);
      const shortened = KEPT.flatMap((name) => {
        const figure = figures[name];
        return figure === undefined ? [] : [[name, [figure.median, figure.low, figure.high].map(short)] as const];
      });
      return [nameOf(row), Object.fromEntries(shortened)] as const;
    });
  return { commit, at, machine, versions, rows: Object.fromEntries(rows) };
}

/** The newest last. */
export const readHistory = async (): Promise<readonly Kept[]> =>
  JSON.parse(await readFile(ROOT + HISTORY, 'utf8')) as Kept[];

/** Stores the figures of a run, and replaces those of the same commit. */
export async function keep(entry: Kept): Promise<void> {
  const others = (await readHistory()).filter(({ commit }) => commit !== entry.commit);
  await writeFile(ROOT + HISTORY, historyText([...others, entry]));
}

/** The text as the repository's formatter writes it: each figure on a line. */
export const historyText = (entries: readonly Kept[]): string =>
  `${JSON.stringify(entries, null, 2).replaceAll(/\[\s+([\d.,\s]+?)\s+\]/g, (_, numbers: string) => `[${numbers.replaceAll(/\s+/g, ' ')}]`)}\n`;

interface Change {
  readonly row: string;
  readonly figure: FigureName;
  readonly before: KeptFigure;
  readonly now: KeptFigure;
  /** The ratio to the median before; more is worse: 1.2 is a fifth slower or more expensive. */
  readonly worse: number;
}

/** The range of the rounds, as a share of the median. */
const spread = ([middle, low, high]: KeptFigure): number => (middle === 0 ? 0 : (high - low) / middle);

/** @returns also the number of figures that both have, and the median share by which a figure must be worse to be reported */
export function compare(before: Kept, now: Kept) {
  const pairs = Object.entries(before.rows).flatMap(([row, figures]) =>
    KEPT.flatMap((figure) => {
      const [was, is] = [figures[figure], now.rows[row]?.[figure]];
      if (was === undefined || is === undefined) return [];
      const worse = FIGURES[figure].isBetter === 'higher' ? was[0] / is[0] : is[0] / was[0];
      const change: Change = { row, figure, before: was, now: is, worse };
      return [{ change, noise: Math.hypot(spread(was), spread(is)) }];
    }),
  );
  const noiseOf = (figure: FigureName): number =>
    median(pairs.filter(({ change }) => change.figure === figure).map(({ noise }) => noise));
  const usual = Object.fromEntries(KEPT.map((figure) => [figure, noiseOf(figure)]));
  const changes = pairs.map(({ change, noise: own }) => {
    const noise = Math.max(own, usual[change.figure] ?? 0);
    // A tenth of a figure for which higher is better is ten times worse, not nine tenths.
    return { change, noise, isBeyond: Math.max(change.worse, 1 / change.worse) - 1 > noise };
  });
  const beyond = changes.filter(({ isBeyond }) => isBeyond).map(({ change }) => change);
  return {
    slower: beyond.filter(({ worse }) => worse > 1),
    faster: beyond.filter(({ worse }) => worse < 1),
    compared: changes.length,
    noise: median(changes.map(({ noise }) => noise)),
  };
}

/** The worst first. */
function linesOf(changes: readonly Change[]): string[] {
  const ranged = ([middle, low, high]: KeptFigure): string => `${middle} (${low} to ${high})`;
  return changes
    .toSorted((a, b) => b.worse - a.worse)
    .map(({ row, figure, before, now, worse }) => {
      const times = worse > 1 ? `${worse.toFixed(2)} times worse` : `${(1 / worse).toFixed(2)} times better`;
      return `  ${row}: ${FIGURES[figure].label} ${ranged(before)} → ${ranged(now)}, ${times}`;
    });
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
  const { slower, faster, compared, noise } = compare(before, now);
  if (compared === 0) throw new Error(`the run has none of the figures that are stored for ${before.commit}`);
  const isElsewhere = before.machine.processor !== now.machine.processor || before.machine.cores !== now.machine.cores;
  const only = (one: Kept, other: Kept): string[] => Object.keys(one.rows).filter((row) => !(row in other.rows));
  const lines = [
    `compared with ${before.commit} of ${before.at}: ${compared} figures; the median noise is ${(noise * 100).toFixed(0)} %`,
    ...(isElsewhere ? [`warning: the stored figures are of another machine, ${before.machine.processor}`] : []),
    ...only(before, now).map((row) => `  ${row}: stored then, not measured now`),
    ...only(now, before).map((row) => `  ${row}: not stored then`),
    ...(faster.length === 0 ? [] : ['better by more than the noise', ...linesOf(faster)]),
    ...(slower.length === 0
      ? ['nothing is worse by more than the noise']
      : ['WORSE by more than the noise', ...linesOf(slower)]),
  ];
  return { text: `${lines.join('\n')}\n`, isWorse: slower.length > 0 || failuresOf(run.rows) > 0 };
}
