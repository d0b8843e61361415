/** A load generator for a limited time. Each connection sends the next request as soon as it has an answer. */
import { Agent, request } from 'node:http';
import { availableParallelism } from 'node:os';
import process from 'node:process';

import { cpuMicrosOf, machineMicros } from './cpu.ts';

export interface Call {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** The requests, and how to send them. */
export interface Asked<T> {
  /** Makes each request with its unique values (a jti, a control id), before the clock starts. */
  readonly next: () => T | Promise<T>;
  /** @returns the status of an unexpected answer */
  readonly send: (question: T) => Promise<number | undefined>;
}

export interface Measured {
  /** Answers in the measured time. */
  readonly answers: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Unexpected answers: with failures, the rate is not valid. */
  readonly failed: number;
  /** The number of failures by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** CPU microseconds a request of each group of watched processes, and of the load generator itself. */
  readonly cpuMicros: Readonly<Record<string, number>>;
  /** Database requests of an operation, if they are counted. */
  readonly databaseRequests?: number;
  /** The share of its core that the load generator used: near 1, the generator was the limit. */
  readonly generatorBusy: number;
  /** The share of the machine that other processes used. */
  readonly othersBusy: number;
}

export interface Watched {
  /** The running processes of each group. */
  readonly cpu?: Readonly<Record<string, () => readonly number[]>>;
  /** Starts to count database requests. @returns calculates the requests for each of a number of answers */
  readonly count?: () => Promise<(answers: number) => Promise<number>>;
}

export interface Spell {
  readonly connections: number;
  readonly warmUpMs?: number;
  readonly measureMs?: number;
}

const WARM_UP_MS = 1_000;
const MEASURE_MS = 4_000;

/** CPU time of the load generator, this process, so far. */
function ownMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

export async function measure<T>(
  { next, send }: Asked<T>,
  { connections, warmUpMs = WARM_UP_MS, measureMs = MEASURE_MS }: Spell,
  { cpu = {}, count }: Watched = {},
): Promise<Measured> {
  const times: number[] = [];
  let failed = 0;
  const statuses: Record<string, number> = {};
  const phase = (ms: number, isCounted: boolean): Promise<void[]> => {
    const end = performance.now() + ms;
    const run = async (): Promise<void> => {
      while (performance.now() < end) {
        const question = await next();
        const started = performance.now();
        const wrong = await send(question);
        if (isCounted) times.push(performance.now() - started);
        if (wrong === undefined) continue;
        failed += 1;
        statuses[wrong] = (statuses[wrong] ?? 0) + 1;
      }
    };
    return Promise.all(Array.from({ length: connections }, run));
  };
  const groups = Object.entries(cpu);
  const spentNow = (): number[] => [...groups.map(([, pids]) => cpuMicrosOf(pids())), ownMicros(), machineMicros()];

  await phase(warmUpMs, false);
  const counted = await count?.();
  const before = spentNow();
  const started = performance.now();
  await phase(measureMs, true);
  const seconds = (performance.now() - started) / 1000;
  const spent = spentNow().map((micros, at) => micros - (before[at] ?? 0));
  const [machine = 0, own = 0] = spent.toReversed();
  const ofWatched = spent.slice(0, -1).reduce((sum, micros) => sum + micros, 0);

  const answers = times.length;
  times.sort((a, b) => a - b);
  const quantile = (q: number): number => times[Math.min(answers - 1, Math.floor(answers * q))] ?? 0;
  return {
    answers,
    perSecond: answers / seconds,
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
    p99Ms: quantile(0.99),
    failed,
    statuses,
    cpuMicros: Object.fromEntries(
      [...groups.map(([name]) => name), 'load'].map((name, at) => [name, (spent[at] ?? 0) / answers]),
    ),
    ...(counted === undefined ? {} : { databaseRequests: await counted(answers) }),
    generatorBusy: own / 1e6 / seconds,
    othersBusy: Math.min(1, Math.max(0, machine - ofWatched) / 1e6 / seconds / availableParallelism()),
  };
}

function sendCall(agent: Agent, baseUrl: string, call: Call): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(call.path, baseUrl),
      { agent, method: call.method ?? 'GET', headers: { ...call.headers } },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(call.body);
  });
}

/** Measures over HTTP. @param expected the status of a correct answer */
export async function measureHttp(
  baseUrl: string,
  expected: number,
  next: () => Call | Promise<Call>,
  spell: Spell,
  watched: Watched = {},
): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: spell.connections });
  try {
    const send = async (call: Call): Promise<number | undefined> => {
      const status = await sendCall(agent, baseUrl, call);
      return status === expected ? undefined : status;
    };
    return await measure({ next, send }, spell, watched);
  } finally {
    agent.destroy();
  }
}
