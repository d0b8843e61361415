/** A load generator of bounded length: so many connections, each asking again as soon as it was answered. */
import { Agent, request } from 'node:http';

import { cpuMicros } from './cpu.ts';

export interface Call {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Answers whose status was not the expected one: a rate with failures is no rate. */
  readonly failed: number;
  /** CPU microseconds a request of each group of watched processes. */
  readonly cpuMicros: readonly number[];
}

const WARM_UP_MS = 1_000;
const MEASURE_MS = 4_000;

function send(agent: Agent, baseUrl: string, call: Call): Promise<number> {
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

/**
 * @param next makes each request: what must be unique (a jti, a control id) is made there, before the clock starts
 * @param watched groups of processes whose CPU time is counted, as they are at a moment
 */
export async function measure(
  baseUrl: string,
  connections: number,
  expected: number,
  next: () => Call | Promise<Call>,
  watched: readonly (() => readonly number[])[] = [],
): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  let failed = 0;
  const run = async (untilMs: number, record: boolean): Promise<void> => {
    while (performance.now() < untilMs) {
      const call = await next();
      const started = performance.now();
      const status = await send(agent, baseUrl, call);
      if (record) times.push(performance.now() - started);
      if (status !== expected) failed += 1;
    }
  };
  const phase = (ms: number, record: boolean): Promise<void[]> => {
    const end = performance.now() + ms;
    return Promise.all(Array.from({ length: connections }, () => run(end, record)));
  };

  await phase(WARM_UP_MS, false);
  const cpu = (): number[] => watched.map((pids) => pids().reduce((sum, pid) => sum + cpuMicros(pid), 0));
  const cpuBefore = cpu();
  const started = performance.now();
  await phase(MEASURE_MS, true);
  const seconds = (performance.now() - started) / 1000;
  const spent = cpu().map((micros, group) => (micros - (cpuBefore[group] ?? 0)) / times.length);
  agent.destroy();

  times.sort((a, b) => a - b);
  const quantile = (q: number): number => times[Math.min(times.length - 1, Math.floor(times.length * q))] ?? 0;
  return {
    perSecond: times.length / seconds,
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
    p99Ms: quantile(0.99),
    failed,
    cpuMicros: spent,
  };
}
