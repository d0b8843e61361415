/** The figures of a row relative to its limits: ratios within a round, which do not depend on the speed of the machine. */
import { median, ratios } from '../rounds.ts';
import { limitOf, type Row, type Run } from './run.ts';

/** A figure over the rounds. */
export interface Figure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export const FIGURES = {
  ofHello: { label: 'share of hello', isBetter: 'higher' },
  gatewayCpu: { label: "the gateway's CPU in hellos", isBetter: 'lower' },
  endpointCpu: { label: "the endpoint's CPU in bare requests", isBetter: 'lower' },
  postgresCpu: { label: "PostgreSQL's CPU in point reads", isBetter: 'lower' },
  databaseRequests: { label: 'database requests', isBetter: 'lower' },
} as const;

export type FigureName = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as FigureName[];

export const figureOf = (values: readonly number[]): Figure => ({
  median: median(values),
  low: Math.min(...values),
  high: Math.max(...values),
});

/** Requests per second of each round. */
export const rates = ({ rounds }: Row): number[] => rounds.map(({ perSecond }) => perSecond);
export const cpu = ({ rounds }: Row, process: string): number[] =>
  rounds.map(({ cpuMicros }) => cpuMicros[process] ?? Number.NaN);

/** The figures of a row that are stored and compared with other commits. @returns those that the row has */
export function figuresOf(run: Run, row: Row): Partial<Record<FigureName, Figure>> {
  const { connections, rounds } = row;
  const hello = limitOf(run, 'hello', connections);
  const bare = limitOf(run, 'bare', connections);
  const pointRead = limitOf(run, 'pointRead', connections);
  const all: Record<FigureName, number[]> = {
    ofHello: ratios(rates(row), rates(hello)),
    gatewayCpu: ratios(cpu(row, 'gateway'), cpu(hello, 'gateway')),
    endpointCpu: ratios(cpu(row, 'endpoint'), cpu(bare, 'endpoint')),
    postgresCpu: ratios(cpu(row, 'postgres'), cpu(pointRead, 'postgres')),
    databaseRequests: rounds.map(({ databaseRequests }) => databaseRequests ?? Number.NaN),
  };
  return Object.fromEntries(
    FIGURE_NAMES.filter((name) => !all[name].some(Number.isNaN)).map((name) => [name, figureOf(all[name])]),
  );
}
