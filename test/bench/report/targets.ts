/** The targets of the gateway, and the result of a run for each. */
import { ratios } from '../rounds.ts';
import { cpu, type Figure, figureOf, figuresOf } from './figures.ts';
import { limitOf, type Row, type Run } from './run.ts';

export interface Seen {
  readonly what: string;
  readonly target: number;
  readonly isAtMost: boolean;
  readonly seen: Figure;
  readonly isHeld: boolean;
}

const CONNECTIONS = 16;
const READ = 'Patient read';

/** The lowest share of the rate of workerd's constant answer. */
const SHARES: Readonly<Record<'workerd' | 'Deno', Readonly<Record<string, number>>>> = {
  workerd: {
    [READ]: 0.09,
    'Patient search by identifier': 0.08,
    'Patient search by name': 0.07,
    'Observation create': 0.06,
  },
  Deno: {
    [READ]: 0.17,
    'Patient search by identifier': 0.15,
    'Patient search by name': 0.1,
    'Observation create': 0.08,
    'HL7 ADT, a new patient each': 0.05,
    'HL7 ADT, patients seen before': 0.05,
  },
};

/** The highest ratio of the CPU of a read to that of a Worker that verifies a token and makes one subrequest. */
const READ_IN_BARE_CPU = 1.25;

/** @returns every target whose operation was measured */
export function targetsOf(run: Run): Seen[] {
  const rowOf = (group: Row['group'], what: string): Row | undefined =>
    run.rows.find((row) => row.group === group && row.what === what && row.connections === CONNECTIONS);
  const seen: Seen[] = [];
  const read = rowOf('workerd', READ);
  if (read !== undefined) {
    const figure = figureOf(ratios(cpu(read, 'gateway'), cpu(limitOf(run, 'bare', CONNECTIONS), 'gateway')));
    const isHeld = figure.median <= READ_IN_BARE_CPU;
    const what = 'workerd: Patient read, CPU in requests of the bare Worker';
    seen.push({ what, target: READ_IN_BARE_CPU, isAtMost: true, seen: figure, isHeld });
  }
  for (const group of ['workerd', 'Deno'] as const)
    for (const [what, target] of Object.entries(SHARES[group])) {
      const row = rowOf(group, what);
      const figure = row === undefined ? undefined : figuresOf(run, row).ofHello;
      if (figure === undefined) continue;
      const isHeld = figure.median >= target;
      seen.push({ what: `${group}: ${what}, share of hello`, target, isAtMost: false, seen: figure, isHeld });
    }
  return seen;
}
