/**
 * PostgreSQL's own time for each operation, as a ratio to bare prepared statements that read and write the same rows, the
 * audit's among them (bare.ts). The three take turns, so that a busy machine is busy for all.
 */
import { readFileSync } from 'node:fs';

import { bareWrites, runBare } from './bare.ts';
import { startPostgresStack } from './postgres-stack.ts';

const ROUNDS = 5;
/** Of each operation in a round. */
const TIMES = 100;
/** Plans are made and kept before anything is counted. */
const WARM_UP = 10;

export interface Row {
  readonly what: string;
  readonly 'bare µs': number;
  readonly 'HTTP µs': number;
  readonly 'TCP µs': number;
  readonly 'HTTP / bare': string;
  readonly 'TCP / bare': string;
}

/** CPU time of a process so far in microseconds, to the nanosecond (Linux: the first field of /proc/[pid]/schedstat). */
const cpuOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Of one operation, each round's microseconds. */
interface Figures {
  readonly bare: number[];
  readonly http: number[];
  readonly tcp: number[];
}

export async function bench(): Promise<Row[]> {
  const { operations, http, tcp, owner, ownerPid, stop } = await startPostgresStack();
  try {
    let n = 0;
    const bare: (() => Promise<void>)[] = [];
    for (const operation of operations) {
      for (let i = 0; i < WARM_UP; i += 1) for (const way of [http, tcp]) await way.ask(operation, (n += 1));
      const writes = await bareWrites(owner, operation.words);
      const { read, what } = operation;
      bare.push(() => {
        const reads = read === undefined ? [] : [{ name: what, text: read.text, values: read.values((n += 1)) }];
        return runBare(owner, [...reads, ...writes()]);
      });
    }
    // As autovacuum does within a minute.
    await owner.query('analyze');

    const figures = operations.map((): Figures => ({ bare: [], http: [], tcp: [] }));
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [index, operation] of operations.entries()) {
        const each = [bare[index], () => http.ask(operation, (n += 1)), () => tcp.ask(operation, (n += 1))];
        // In turns one by one: between two requests PostgreSQL's caches cool for all of them alike.
        const inTurns = async (times: number): Promise<void> => {
          for (let i = 0; i < times; i += 1) for (const one of each) await one?.();
        };
        await inTurns(WARM_UP);
        const pids = [await ownerPid(), await http.pid(), await tcp.pid()];
        const before = pids.map(cpuOf);
        await inTurns(TIMES);
        const [floor = 0, overHttp = 0, overTcp = 0] = pids.map((pid, at) => (cpuOf(pid) - (before[at] ?? 0)) / TIMES);
        // The first round is there to be warm.
        if (round === 0) continue;
        figures[index]?.bare.push(floor);
        figures[index]?.http.push(overHttp);
        figures[index]?.tcp.push(overTcp);
      }
    }
    return operations.map(({ what }, index) => {
      const { bare: floor, http: overHttp, tcp: overTcp } = figures[index] ?? { bare: [], http: [], tcp: [] };
      const ratio = (values: readonly number[]): string =>
        median(values.map((value, round) => value / (floor[round] ?? Number.NaN))).toFixed(2);
      return {
        what,
        'bare µs': Math.round(median(floor)),
        'HTTP µs': Math.round(median(overHttp)),
        'TCP µs': Math.round(median(overTcp)),
        'HTTP / bare': ratio(overHttp),
        'TCP / bare': ratio(overTcp),
      };
    });
  } finally {
    await stop();
  }
}
