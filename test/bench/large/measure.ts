/** One request after the other, in several worlds by turns: what each costs PostgreSQL, and how long one connection waits for it. */
import { cpuMicros } from '../cpu.ts';
import { inRounds, median, ratios } from '../rounds.ts';
import type { LargeGateway } from './gateway.ts';
import type { Operation } from './requests.ts';

const ROUNDS = 5;
/** Of an operation in a turn, unless they take longer than this. */
const TIMES = 10;
const TURN_MS = 1_500;

export interface Cost {
  /** Of one connection, in milliseconds: the median and the longest. */
  readonly ms: number;
  readonly longest: number;
  /** Of PostgreSQL, in microseconds a request. */
  readonly cpu: number;
}

export interface Measured {
  readonly gateway: LargeGateway;
  readonly operation: Operation;
}

interface Turn {
  /** Of each request, in milliseconds. */
  readonly took: readonly number[];
  readonly cpu: number;
}

/** @throws where an answer is wrong @returns the cost in each, and the ratio of the last one's CPU to the first one's */
export async function measureByTurns(
  each: readonly Measured[],
): Promise<{ readonly costs: Cost[]; readonly ratio: number }> {
  let n = 0;
  const turn = async ({ gateway, operation: { what, next } }: Measured): Promise<Turn> => {
    const ask = async (): Promise<number> => {
      const { request, check } = next((n += 1));
      const begun = performance.now();
      const text = await gateway.ask(request);
      const took = performance.now() - begun;
      try {
        check(text);
      } catch (cause) {
        throw new Error(`${what}: ${request.url} was answered wrongly: ${String(cause)}`, { cause });
      }
      return took;
    };
    // The connection is there, and its process is known.
    await ask();
    const pid = await gateway.pid();
    const before = cpuMicros(pid);
    const begun = performance.now();
    const took: number[] = [];
    while (took.length < TIMES && performance.now() - begun < TURN_MS) took.push(await ask());
    return { took, cpu: (cpuMicros(pid) - before) / took.length };
  };
  const turns = await inRounds(
    ROUNDS,
    each.map((one) => () => turn(one)),
  );
  const costs = turns.map((rounds): Cost => {
    const waits = rounds.flatMap(({ took }) => took);
    return { ms: median(waits), longest: Math.max(...waits), cpu: median(rounds.map(({ cpu }) => cpu)) };
  });
  const cpus = turns.map((rounds) => rounds.map(({ cpu }) => cpu));
  return { costs, ratio: median(ratios(cpus.at(-1) ?? [], cpus[0] ?? [])) };
}
