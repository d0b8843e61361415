/** A run of the complete chain, its figures, its targets, and its report as text. */
import type { Measured } from './load.ts';
import type { Machine } from './machine.ts';
import { median, ratios } from './rounds.ts';

/** The limits of workerd and PostgreSQL, with which the gateway is compared. */
export const LIMITS = {
  hello: 'workerd, a constant answer',
  bare: 'workerd, token, one subrequest',
  pointRead: 'PostgreSQL, a point read',
} as const;

export interface Row {
  readonly group: 'limit' | 'workerd' | 'Deno';
  readonly what: string;
  readonly rounds: readonly Measured[];
}

export interface Run {
  /** The start of the run. */
  readonly at: string;
  /** The measured commit; undefined if files had changed. */
  readonly commit: string | undefined;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
}

/** A row's name in reports and in the history. */
export const nameOf = ({ group, what }: Row): string => `${group}: ${what}`;

/** The number of unexpected answers. */
export const failuresOf = (rows: readonly Row[]): number =>
  rows.reduce((sum, { rounds }) => sum + rounds.reduce((of, { failed }) => of + failed, 0), 0);

/** Ratios of a row to a limit within a round, which do not depend on the speed of the machine. */
export const FIGURES = {
  ofHello: { label: 'share of hello', isBetter: 'higher' },
  gatewayCpu: { label: "the gateway's CPU in hellos", isBetter: 'lower' },
  bareCpu: { label: "the gateway's CPU in bare requests", isBetter: 'lower' },
  endpointCpu: { label: "the endpoint's CPU in bare requests", isBetter: 'lower' },
  postgresCpu: { label: 'PostgreSQL in point reads', isBetter: 'lower' },
  databaseRequests: { label: 'database requests', isBetter: 'lower' },
} as const;

export type FigureName = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as FigureName[];

/** A figure over the rounds. */
export interface Figure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** Requests per second of each round. */
const rates = ({ rounds }: Row): number[] => rounds.map(({ perSecond }) => perSecond);
const cpu = ({ rounds }: Row, process: string): number[] =>
  rounds.map(({ cpuMicros }) => cpuMicros[process] ?? Number.NaN);

function limitOf({ rows }: Run, limit: keyof typeof LIMITS): Row {
  const found = rows.find(({ what }) => what === LIMITS[limit]);
  if (found === undefined) throw new Error(`the run has no ${LIMITS[limit]}`);
  return found;
}

/** @returns the figures that the row has */
export function figuresOf(run: Run, row: Row): Partial<Record<FigureName, Figure>> {
  const [hello, bare, pointRead] = [limitOf(run, 'hello'), limitOf(run, 'bare'), limitOf(run, 'pointRead')];
  const all: Record<FigureName, number[]> = {
    ofHello: ratios(rates(row), rates(hello)),
    gatewayCpu: ratios(cpu(row, 'gateway'), cpu(hello, 'gateway')),
    bareCpu: ratios(cpu(row, 'gateway'), cpu(bare, 'gateway')),
    endpointCpu: ratios(cpu(row, 'endpoint'), cpu(bare, 'endpoint')),
    postgresCpu: ratios(cpu(row, 'postgres'), cpu(pointRead, 'postgres')),
    databaseRequests: row.rounds.map(({ databaseRequests }) => databaseRequests ?? Number.NaN),
  };
  const figureOf = (values: readonly number[]): Figure => ({
    median: median(values),
    low: Math.min(...values),
    high: Math.max(...values),
  });
  return Object.fromEntries(
    FIGURE_NAMES.filter((name) => !all[name].some(Number.isNaN)).map((name) => [name, figureOf(all[name])]),
  );
}

interface Target {
  /** The lowest share of the rate of hello, by runtime. */
  readonly workerd?: number;
  readonly Deno?: number;
  /** The most that PostgreSQL may spend, in point reads. */
  readonly pointReads: number;
}

export const TARGETS: Readonly<Record<string, Target>> = {
  'Patient read': { workerd: 0.09, Deno: 0.17, pointReads: 3 },
  'Patient search by identifier': { workerd: 0.08, Deno: 0.15, pointReads: 3.5 },
  'Patient search by part of a name': { workerd: 0.07, Deno: 0.1, pointReads: 6 },
  'Observations by patient and code': { pointReads: 4.5 },
  'Observation create': { workerd: 0.06, Deno: 0.08, pointReads: 12 },
  'HL7 ADT, a new patient each': { Deno: 0.05, pointReads: 22 },
  'HL7 ADT, patients seen before': { Deno: 0.05, pointReads: 20 },
  'HL7 ORU, patients seen before': { pointReads: 40 },
};
/** A Worker that verifies a token and makes one subrequest costs so much less than a read of the gateway on workerd. */
const READ_IN_BARE_CPU = 1.25;

/** The result of a run for each target whose operation was measured. */
export const targetsOf = (run: Run) =>
  run.rows.flatMap((row) => {
    if (row.group === 'limit') return [];
    const { [row.group]: ofHello, pointReads: postgresCpu } = TARGETS[row.what] ?? {};
    const bareCpu = nameOf(row) === 'workerd: Patient read' ? READ_IN_BARE_CPU : undefined;
    return Object.entries({ ofHello, bareCpu, postgresCpu }).flatMap(([name, target]) => {
      const figure = name as FigureName;
      const seen = figuresOf(run, row)[figure];
      if (target === undefined || seen === undefined) return [];
      const isAtMost = FIGURES[figure].isBetter === 'lower';
      const isHeld = isAtMost ? seen.median <= target : seen.median >= target;
      return [{ what: `${nameOf(row)}, ${FIGURES[figure].label}`, target, isAtMost, seen, isHeld }];
    });
  });

/** The ratio of a limit's best round to its worst, above which the speed of the machine has changed. */
const DRIFT = 1.25;
/** The share of its core above which the load generator is the limit, not the gateway. */
const GENERATOR_IS_LIMIT = 0.9;
/** The highest share of the machine for other processes, as a median over all measurements. */
const OTHERS = 0.05;

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const busyOf = ({ rounds }: Row): number => median(rounds.map(({ generatorBusy }) => generatorBusy));

/** The reasons to doubt the figures of a run. */
export function warningsOf({ rows }: Run): string[] {
  const ofRows = rows.flatMap((row) => {
    const name = nameOf(row);
    const drift = Math.max(...rates(row)) / Math.min(...rates(row));
    const failed = failuresOf([row]);
    const statuses = new Set(row.rounds.flatMap((round) => Object.keys(round.statuses)));
    return [
      row.group === 'limit' &&
        drift > DRIFT &&
        `the speed of the machine changed: the rounds of ${name} differ by a factor of ${drift.toFixed(2)}`,
      // The load generator is always the limit of a constant answer: the table marks it.
      row.what !== LIMITS.hello &&
        busyOf(row) > GENERATOR_IS_LIMIT &&
        `the load generator was the limit of ${name}: it used ${percent(busyOf(row))} of its core`,
      failed > 0 && `${name}: ${failed} answers were unexpected (${[...statuses].join()}), so its rate is not valid`,
    ];
  });
  const others = rows.flatMap(({ rounds }) => rounds.map(({ othersBusy }) => othersBusy));
  const ofOthers =
    median(others) > OTHERS &&
    `other processes used ${percent(median(others))} of the machine, at times ${percent(Math.max(...others))}`;
  return [...ofRows, ofOthers].filter((warning) => warning !== false);
}

/** An empty text for a missing figure. */
const number = (value: number, digits = 0): string => (Number.isFinite(value) ? value.toFixed(digits) : '');

/** Both lines of the head, the width, and the text of a row. */
type Column = readonly [string, string, number, (row: Row, run: Run) => string];

const middle = (row: Row, of: (round: Measured) => number): number => median(row.rounds.map(of));
const millis = (value: number): string => number(value, value < 100 ? 1 : 0);
const micros = (row: Row, process: string): string => number(median(cpu(row, process)));
const figure = (row: Row, run: Run, name: FigureName, digits: number): string =>
  number(figuresOf(run, row)[name]?.median ?? Number.NaN, digits);
const marked = (row: Row): string => (busyOf(row) > GENERATOR_IS_LIMIT ? '*' : ' ');
function ofLimit(row: Row, run: Run): string {
  if (row.group === 'limit') return '';
  const limit = limitOf(run, row.group === 'workerd' ? 'bare' : 'pointRead');
  return number(median(ratios(rates(row), rates(limit))), 2);
}

const WHAT_WIDTH = 35;
const COLUMNS: readonly Column[] = [
  ['', 'per s', 7, (row) => number(median(rates(row))) + marked(row)],
  ['', 'p50', 6, (row) => millis(middle(row, ({ p50Ms }) => p50Ms))],
  ['ms', 'p95', 6, (row) => millis(middle(row, ({ p95Ms }) => p95Ms))],
  ['', 'p99', 6, (row) => millis(middle(row, ({ p99Ms }) => p99Ms))],
  ['CPU µs', 'gateway', 8, (row) => micros(row, 'gateway')],
  ['of a', 'endpoint', 9, (row) => micros(row, 'endpoint')],
  ['request', 'Postgres', 9, (row) => micros(row, 'postgres')],
  ['point', 'reads', 6, (row, run) => figure(row, run, 'postgresCpu', 1)],
  ['database', 'requests', 9, (row, run) => figure(row, run, 'databaseRequests', 2)],
  ['of', 'hello', 6, (row, run) => figure(row, run, 'ofHello', 3)],
  ['of', 'limit', 6, ofLimit],
  ['', 'failed', 7, (row) => String(failuresOf([row]))],
];

const line = (what: string, cells: readonly string[]): string =>
  `${what.padEnd(WHAT_WIDTH)}${cells.map((cell, at) => cell.padStart(COLUMNS[at]?.[2] ?? 0)).join('')}`.trimEnd();

const HEADS: Readonly<Record<Row['group'], string>> = {
  limit: 'limits of this machine',
  workerd: "workerd, Neon's endpoint, PostgreSQL",
  Deno: 'Deno, PostgreSQL over TCP',
};

export function reportOf(run: Run): string {
  const { machine, versions, at, commit, rows } = run;
  const targets = targetsOf(run);
  const width = Math.max(0, ...targets.map(({ what }) => what.length)) + 2;
  const exact = (value: number): string => value.toFixed(value < 1 ? 3 : 2);
  const ranged = ({ median: ofRounds, low, high }: Figure): string =>
    `${exact(ofRounds)} (${exact(low)} to ${exact(high)})`;
  const heads = (at: 0 | 1): string[] => COLUMNS.map((column) => column[at]);
  const lines = [
    `${at}, ${commit ?? 'not a commit'}, ${machine.processor}, ${machine.cores} cores, ${machine.memoryGb} GB, Linux ${machine.kernel}`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    '',
    line('16 connections', heads(0)),
    line(`medians of ${rows[0]?.rounds.length ?? 0} rounds`, heads(1)),
    ...(['limit', 'workerd', 'Deno'] as const).flatMap((group) => [
      HEADS[group],
      ...rows
        .filter((row) => row.group === group)
        .map((row) =>
          line(
            `  ${row.what}`,
            COLUMNS.map(([, , , textOf]) => textOf(row, run)),
          ),
        ),
    ]),
    '',
    "point reads: PostgreSQL's CPU in point reads of the same round; of hello: the rate as a share of workerd's",
    "constant answer; of limit: of the bare Worker's, on Deno of PostgreSQL's point read; database requests: without",
    `those of background work; *: the load generator used more than ${GENERATOR_IS_LIMIT} of its core, so that it was the limit`,
    '',
    'targets',
    ...targets.map(
      ({ what, target, isAtMost, seen, isHeld }) =>
        `  ${what.padEnd(width)}${isAtMost ? 'at most ' : 'at least'} ${target.toFixed(2).padStart(5)}: ${ranged(seen)}  ${isHeld ? 'held' : 'MISSED'}`,
    ),
    '',
    ...warningsOf(run).map((warning) => `warning: ${warning}`),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}
