/**
 * PostgreSQL's own time for each operation, as a ratio to bare prepared statements that read and write the same rows, the
 * audit's among them (bare.ts). The three take turns, so that a busy machine is busy for all.
 */
import { bareWrites, runBare } from './bare.ts';
import { cpuMicros } from './cpu.ts';
import { startPostgresStack } from './postgres-stack.ts';
import { inRounds, median, ratios } from './rounds.ts';

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

    const rounds = await inRounds(
      ROUNDS,
      operations.map((operation, index) => async () => {
        const each = [bare[index], () => http.ask(operation, (n += 1)), () => tcp.ask(operation, (n += 1))];
        // In turns one by one: between two requests PostgreSQL's caches cool for all of them alike.
        const inTurns = async (times: number): Promise<void> => {
          for (let i = 0; i < times; i += 1) for (const one of each) await one?.();
        };
        await inTurns(WARM_UP);
        const pids = [await ownerPid(), await http.pid(), await tcp.pid()];
        const before = pids.map(cpuMicros);
        await inTurns(TIMES);
        const spent = pids.map((pid, at) => (cpuMicros(pid) - (before[at] ?? 0)) / TIMES);
        const [floor = 0, overHttp = 0, overTcp = 0] = spent;
        return { floor, overHttp, overTcp };
      }),
    );
    return operations.map(({ what }, index) => {
      const figures = rounds[index] ?? [];
      const floor = figures.map((figure) => figure.floor);
      const overHttp = figures.map((figure) => figure.overHttp);
      const overTcp = figures.map((figure) => figure.overTcp);
      return {
        what,
        'bare µs': Math.round(median(floor)),
        'HTTP µs': Math.round(median(overHttp)),
        'TCP µs': Math.round(median(overTcp)),
        'HTTP / bare': median(ratios(overHttp, floor)).toFixed(2),
        'TCP / bare': median(ratios(overTcp, floor)).toFixed(2),
      };
    });
  } finally {
    await stop();
  }
}
