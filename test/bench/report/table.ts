/** A run as text: a table for each number of connections, the targets, and warnings about doubtful figures. */
import { median, ratios } from '../rounds.ts';
import { cpu, type Figure, rates } from './figures.ts';
import { failuresOf, limitOf, type Row, type Run } from './run.ts';
import { targetsOf } from './targets.ts';
import { GENERATOR_IS_LIMIT, warningsOf } from './warnings.ts';

/** An empty text for a missing figure. */
const number = (value: number, digits = 0): string => (Number.isFinite(value) ? value.toFixed(digits) : '');
const middle = (row: Row, of: (round: Row['rounds'][number]) => number): number => median(row.rounds.map(of));

/** The limit of a row: a bare Worker for workerd; PostgreSQL's point read for Deno, which makes no subrequest. */
const ownLimit = (run: Run, { group, connections }: Row): Row | undefined =>
  group === 'limit' ? undefined : limitOf(run, group === 'workerd' ? 'bare' : 'pointRead', connections);

interface Column {
  readonly heads: readonly [string, string];
  readonly width: number;
  readonly value: (row: Row, run: Run) => string;
}

const cpuColumn = (heads: Column['heads'], width: number, process: string): Column => ({
  heads,
  width,
  value: (row) => number(median(cpu(row, process))),
});

const millisColumn = (heads: Column['heads'], of: (round: Row['rounds'][number]) => number): Column => ({
  heads,
  width: 6,
  value(row) {
    const millis = middle(row, of);
    return number(millis, millis < 100 ? 1 : 0);
  },
});

const WHAT_WIDTH = 34;
const COLUMNS: readonly Column[] = [
  {
    heads: ['', 'per s'],
    width: 7,
    value: (row) =>
      `${number(median(rates(row)))}${middle(row, (round) => round.generatorBusy) > GENERATOR_IS_LIMIT ? '*' : ' '}`,
  },
  millisColumn(['', 'p50'], ({ p50Ms }) => p50Ms),
  millisColumn(['ms', 'p95'], ({ p95Ms }) => p95Ms),
  millisColumn(['', 'p99'], ({ p99Ms }) => p99Ms),
  cpuColumn(['CPU µs', 'gateway'], 8, 'gateway'),
  cpuColumn(['of a', 'endpoint'], 9, 'endpoint'),
  cpuColumn(['request', 'Postgres'], 9, 'postgres'),
  cpuColumn(['', 'load'], 6, 'load'),
  {
    heads: ['database', 'requests'],
    width: 9,
    value: (row) =>
      number(
        middle(row, ({ databaseRequests }) => databaseRequests ?? Number.NaN),
        2,
      ),
  },
  {
    heads: ['of', 'hello'],
    width: 6,
    value: (row, run) => number(median(ratios(rates(row), rates(limitOf(run, 'hello', row.connections)))), 3),
  },
  {
    heads: ['of', 'limit'],
    width: 6,
    value(row, run) {
      const limit = ownLimit(run, row);
      return limit === undefined ? '' : number(median(ratios(rates(row), rates(limit))), 2);
    },
  },
  {
    heads: ['', 'failed'],
    width: 7,
    value: (row) => String(failuresOf({ rows: [row] })),
  },
];

const line = (what: string, cells: readonly string[]): string =>
  `${what.padEnd(WHAT_WIDTH)}${cells.map((cell, at) => cell.padStart(COLUMNS[at]?.width ?? 0)).join('')}`.trimEnd();

const HEADS: Readonly<Record<Row['group'], string>> = {
  limit: 'limits of this machine',
  workerd: "workerd, Neon's endpoint, PostgreSQL",
  Deno: 'Deno, PostgreSQL over TCP',
};

function tableOf(run: Run, connections: number): string[] {
  const rows = run.rows.filter((row) => row.connections === connections);
  const lines = [
    line(
      `${connections} connection${connections === 1 ? '' : 's'}`,
      COLUMNS.map(({ heads }) => heads[0]),
    ),
    line(
      `medians of ${rows[0]?.rounds.length ?? 0} rounds`,
      COLUMNS.map(({ heads }) => heads[1]),
    ),
  ];
  for (const [group, of] of Map.groupBy(rows, (row) => row.group)) {
    lines.push(HEADS[group]);
    for (const row of of)
      lines.push(
        line(
          `  ${row.what}`,
          COLUMNS.map(({ value }) => value(row, run)),
        ),
      );
  }
  return [...lines, ''];
}

const ranged = ({ median: middleOne, low, high }: Figure): string =>
  `${number(middleOne, 3)} (${number(low, 3)} to ${number(high, 3)})`;

export function reportOf(run: Run): string {
  const { machine, versions, at, commit } = run;
  const counts = [...new Set(run.rows.map(({ connections }) => connections))];
  const targets = targetsOf(run);
  const width = Math.max(0, ...targets.map(({ what }) => what.length)) + 2;
  const warnings = warningsOf(run);
  return [
    `${at}, ${commit ?? 'not a commit'}, ${machine.processor}, ${machine.cores} cores, ${machine.memoryGb} GB, Linux ${machine.kernel}`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    '',
    ...counts.flatMap((connections) => tableOf(run, connections)),
    'of hello: the rate as a share of the rate of a constant answer of workerd in the same round; of limit: of the bare',
    "Worker's, on Deno of PostgreSQL's point read; database requests: without those of background work;",
    `*: the load generator used more than ${GENERATOR_IS_LIMIT} of its core, so that it was the limit`,
    '',
    'targets, with 16 connections',
    ...targets.map(
      ({ what, target, isAtMost, seen, isHeld }) =>
        `  ${what.padEnd(width)}${isAtMost ? 'at most ' : 'at least'} ${target.toFixed(2)}  seen ${ranged(seen)}  ${isHeld ? 'held' : 'MISSED'}`,
    ),
    '',
    ...warnings.map((warning) => `warning: ${warning}`),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
}
