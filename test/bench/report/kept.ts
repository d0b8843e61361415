/** The stored figures of a run: only ratios, small enough to store them for each important commit. */
import * as z from 'zod';

import { FIGURE_NAMES, type Figure, type FigureName, figuresOf } from './figures.ts';
import { machine, nameOf, type Run } from './run.ts';

/** The median over the rounds, the lowest and the highest value. */
const figure = z.tuple([z.number(), z.number(), z.number()]);

export const kept = z.object({
  commit: z.string(),
  at: z.iso.datetime(),
  machine,
  versions: z.record(z.string(), z.string()),
  /** By the row's name. */
  rows: z.record(z.string(), z.partialRecord(z.enum(FIGURE_NAMES), figure)),
});

export type Kept = z.infer<typeof kept>;
export type KeptFigure = z.infer<typeof figure>;

/** More digits than any figure is exact to. */
const DIGITS = 4;
const short = (value: number): number => Number(value.toPrecision(DIGITS));
const shortened = ({ median, low, high }: Figure): KeptFigure => [short(median), short(low), short(high)];

/** The figures of a run to store or compare. @param commit the commit of the run */
export function keptOf(run: Run, commit: string): Kept {
  const rows = run.rows
    .filter(({ group }) => group !== 'limit')
    .map((row): [string, Kept['rows'][string]] => {
      const figures = Object.entries(figuresOf(run, row)) as [FigureName, Figure][];
      return [nameOf(row), Object.fromEntries(figures.map(([name, of]) => [name, shortened(of)]))];
    });
  const { at, machine: on, versions } = run;
  return { commit, at, machine: on, versions, rows: Object.fromEntries(rows) };
}
