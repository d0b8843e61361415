/** Measures requests one after another, alternating between worlds: the CPU of PostgreSQL, and the time that one connection waits. */
import { cpuMicros } from '../cpu.ts';
import { inRounds, median, ratios } from '../rounds.ts';
import type { LargeGateway } from './gateway.ts';
import type { Operation } from './requests.ts';

const ROUNDS = 5;
/** Requests of an operation in a round; the time limit ends a round earlier. */
const TIMES = 10;
const ROUND_MS = 1_500;

export interface Cost {
  /** The median time of one connection, in milliseconds. */
  readonly ms: number;
  readonly longest: number;
  /** CPU time of PostgreSQL, in microseconds for each request. */
  readonly cpu: number;
}

export interface Measured {
  readonly gateway: LargeGateway;
  readonly operation: Operation;
}

interface Round {
  /** The time of each request, in milliseconds. */
  readonly times: readonly number[];
  readonly cpu: number;
}

/** @throws if an answer is wrong @returns the cost in each world, and the ratio of the last world's CPU to the first one's */
export async function measureAlternately(
  each: readonly Measured[],
): Promise<{ readonly costs: Cost[]; readonly ratio: number }> {
  let n = 0;
  const measureRound = async ({ gateway, operation: { what, next } }: Measured): Promise<Round> => {
    const ask = async (): Promise<number> => {
      const { request, check } = next((n += 1));
      const begun = performance.now();
      const text = await gateway.ask(request);
      const took = performance.now() - begun;
      try {
        check(text);
      } catch (cause) {
        throw new Error(`${what}: ${request.url} has a wrong answer: ${String(cause)}`, { cause });
      }
      return took;
    };
    // Opens the connection, so that its process is known.
    await ask();
    const pid = await gateway.pid();
    const before = cpuMicros(pid);
    const begun = performance.now();
    const times: number[] = [];
    while (times.length < TIMES && performance.now() - begun < ROUND_MS) times.push(await ask());
    return { times, cpu: (cpuMicros(pid) - before) / times.length };
  };
  const measured = await inRounds(
    ROUNDS,
    each.map((one) => () => measureRound(one)),
  );
  const costs = measured.map((rounds): Cost => {
    const waits = rounds.flatMap(({ times }) => times);
    return { ms: median(waits), longest: Math.max(...waits), cpu: median(rounds.map(({ cpu }) => cpu)) };
  });
  const cpus = measured.map((rounds) => rounds.map(({ cpu }) => cpu));
  return { costs, ratio: median(ratios(cpus.at(-1) ?? [], cpus[0] ?? [])) };
}
