/** A load generator. Each connection sends the next request as soon as it has an answer. */
import { Agent, request } from 'node:http';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { text } from 'node:stream/consumers';

import { cpuMicrosOf, machineMicros } from './cpu.ts';

export interface Call {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** @throws for a wrong answer, which ends the measurement */
  readonly check?: (answer: string) => void;
}

/** A kind of request to measure. */
export interface Operation {
  readonly what: string;
  /** The status of its answer. */
  readonly expected: number;
  /** Makes a request with its unique values (a jti, a control id), before the clock of the request starts. */
  readonly next: () => Call | Promise<Call>;
  /** Makes slow inputs in advance, for some seconds of `next`. */
  readonly prepare?: () => Promise<void>;
}

export interface Measured {
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

/** How many requests are measured: those of a time after a warm-up, or a number of them. */
export type Spell = { readonly connections: number } & (
  | { readonly warmUpMs: number; readonly measureMs: number }
  | { readonly requests: number }
);

/** CPU time of the load generator, this process, so far. */
const ownMicros = (): number => Object.values(process.cpuUsage()).reduce((sum, micros) => sum + micros, 0);

/**
 * @param send returns the status of an unexpected answer
 * @param ended waits for what the requests leave behind, whose CPU time counts
 */
export async function measure<T>(
  next: () => T | Promise<T>,
  send: (call: T) => Promise<number | undefined>,
  spell: Spell,
  { cpu = {}, count }: Watched = {},
  ended: () => Promise<unknown> = async () => undefined,
): Promise<Measured> {
  const times: number[] = [];
  let failed = 0;
  const statuses: Record<string, number> = {};
  const sendWhile = (goesOn: () => boolean, isCounted: boolean): Promise<void[]> => {
    const connection = async (): Promise<void> => {
      while (goesOn()) {
        const call = await next();
        const started = performance.now();
        const wrong = await send(call);
        if (isCounted) times.push(performance.now() - started);
        if (wrong === undefined) continue;
        failed += 1;
        statuses[wrong] = (statuses[wrong] ?? 0) + 1;
      }
    };
    return Promise.all(Array.from({ length: spell.connections }, connection));
  };
  const sendFor = (ms: number, isCounted: boolean): Promise<void[]> => {
    const end = performance.now() + ms;
    return sendWhile(() => performance.now() < end, isCounted);
  };
  const groups = Object.entries(cpu);
  const spentNow = (): number[] => [...groups.map(([, pids]) => cpuMicrosOf(pids())), ownMicros(), machineMicros()];

  if ('warmUpMs' in spell) await sendFor(spell.warmUpMs, false);
  const counted = await count?.();
  const before = spentNow();
  const started = performance.now();
  if ('measureMs' in spell) await sendFor(spell.measureMs, true);
  else {
    let left = spell.requests;
    await sendWhile(() => (left -= 1) >= 0, true);
  }
  await ended();
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

/** @returns the status */
function sendCall(
  agent: Agent,
  baseUrl: string,
  { path, method = 'GET', headers, body, check }: Call,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(path, baseUrl), { agent, method, headers: { ...headers } }, (response) => {
      const status = response.statusCode ?? 0;
      if (check === undefined) {
        response.resume();
        response.on('end', () => resolve(status));
        response.on('error', reject);
      } else {
        text(response)
          .then(check)
          .then(() => resolve(status))
          .catch((cause: unknown) => reject(new Error(`${method} ${path}: ${status}, ${String(cause)}`, { cause })));
      }
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Measures over HTTP. */
export async function measureHttp(
  baseUrl: string,
  { expected, next, prepare }: Omit<Operation, 'what'>,
  spell: Spell,
  watched: Watched = {},
  ended?: () => Promise<unknown>,
): Promise<Measured> {
  await prepare?.();
  const agent = new Agent({ keepAlive: true, maxSockets: spell.connections });
  try {
    const send = async (call: Call): Promise<number | undefined> => {
      const status = await sendCall(agent, baseUrl, call);
      return status === expected ? undefined : status;
    };
    return await measure(next, send, spell, watched, ended);
  } finally {
    agent.destroy();
  }
}
