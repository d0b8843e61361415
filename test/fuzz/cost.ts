/**
 * Requests that grow, the same for the same seed. A request uses at most 1 s of CPU and 64 MiB of memory above rest. Twice the
 * input needs at most 2.5 times the work. Both are measured outside the gateway, because workerd stops its clock while it
 * computes.
 */
import { existsSync } from 'node:fs';

import fc from 'fast-check';
import type { Client } from 'pg';

import { growthFor, LINEAR, sizesOf } from '../stack/tools/growth.ts';
import { cpuMsOf, forgetPeak, memoryOf, peakOf } from '../stack/tools/process-cost.ts';
import { type Came, sendFrame, sendHttp } from './attempt.ts';
import { type CostLimits, COUNTED_SHAPES, type Grown, type RequestShape, storeRows, TEXT_SHAPES } from './shapes.ts';
import type { World } from './world.ts';

export interface CostOptions {
  /** How many shapes: lists first, then texts in places. */
  readonly shapes: number;
  /** Only shapes whose surface and dimension contain this text. */
  readonly only?: string | undefined;
  readonly seed: number;
  /**
   * The part of a shape's largest size that is sent, all of it by default. On a busy machine, a request of the largest size may run
   * out of time. Over MLLP the sidecar then sends it again, and the work of all its attempts would count.
   */
  readonly part?: number | undefined;
  /** Undefined: growth alone, which a busy machine does not change. */
  readonly limits?: CostLimits | undefined;
  /** A connection to the gateway's database. */
  readonly client: Pick<Client, 'query'>;
  readonly say?: (line: string) => void;
}

export interface Cost {
  readonly shape: string;
  readonly status: string;
  readonly cpuMs: number;
  readonly databaseMs: number;
  readonly mebibytes: number;
  /** Undefined where the largest request is too cheap to matter. */
  readonly growth: number | undefined;
}

export interface CostReport {
  /** The most expensive first. */
  readonly costs: readonly Cost[];
  readonly problems: readonly string[];
}

export const LIMITS: CostLimits = { cpuMs: 1_000, databaseMs: 1_000, mebibytes: 64 };
/** Below it, no growth matters, and the noise of a process is as large. */
const CHEAP_MS = 100;
/** Measurements of each size before growth counts as too high; the cheapest of a size counts. */
const MAX_ROUNDS = 6;
/** Sessions and tokens are renewed after so many shapes. */
const ROUND = 200;

const hasFailed = (status: string): boolean => /^5\d\d$|^hangs$|^no answer$/.test(status);

const drawn = (all: readonly RequestShape[], count: number, seed: number): readonly RequestShape[] =>
  fc.sample(fc.shuffledSubarray([...all], { minLength: count, maxLength: count }), { seed, numRuns: 1 })[0] ?? [];

const nameOf = ({ surface, what }: RequestShape): string => `${surface}: ${what}`;

export async function measureCosts(
  world: World,
  { shapes, only = '', seed, part = 1, limits, client, say = () => undefined }: CostOptions,
): Promise<CostReport> {
  const { gateway } = world.console;
  const send = (grown: Grown): Promise<Came> =>
    grown.over === 'http' ? sendHttp(gateway.port, grown.attempt) : sendFrame(world.sidecar.port, grown.content);
  const databaseCpuMs = async (): Promise<ReadonlyMap<number, number>> => {
    const { rows } = await client.query<{ pid: number }>(
      'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    // The gateway may have closed a connection meanwhile.
    return new Map(rows.filter(({ pid }) => existsSync(`/proc/${pid}/task`)).map(({ pid }) => [pid, cpuMsOf(pid)]));
  };
  const measured = async (shape: RequestShape, size: number) => {
    const grown = shape.draft(world, size);
    const database = await databaseCpuMs();
    forgetPeak(gateway.pid);
    const [cpu, memory] = [cpuMsOf(gateway.pid), memoryOf(gateway.pid)];
    const { status } = await send(grown);
    const [cpuMs, mebibytes] = [cpuMsOf(gateway.pid) - cpu, peakOf(gateway.pid) - memory];
    const after = await databaseCpuMs();
    const databaseMs = after.entries().reduce((sum, [pid, ms]) => sum + ms - (database.get(pid) ?? 0), 0);
    return { status, cpuMs, databaseMs, mebibytes };
  };

  const named = (all: readonly RequestShape[]) => all.filter((shape) => nameOf(shape).includes(only));
  const [counted, texts] = [named(COUNTED_SHAPES), named(TEXT_SHAPES)];
  const chosen = [
    ...drawn(counted, Math.min(shapes, counted.length), seed),
    ...drawn(texts, Math.min(Math.max(0, shapes - counted.length), texts.length), seed),
  ];
  await storeRows(world);
  const costs: Cost[] = [];
  const problems: string[] = [];
  for (const [at, shape] of chosen.entries()) {
    if (at % ROUND === ROUND - 1) {
      await world.refresh();
      say(`${at} shapes, ${problems.length} problems`);
    }
    const name = nameOf(shape);
    const [smallSize, largeSize] = sizesOf(Math.ceil(shape.size * part));
    let large = await measured(shape, largeSize);
    let growth: number | undefined;
    if (large.cpuMs > CHEAP_MS) {
      let small = await measured(shape, smallSize);
      growth = growthFor(small.cpuMs, large.cpuMs);
      for (
        let round = 1;
        round < MAX_ROUNDS && (growth > LINEAR || large.cpuMs > (limits?.cpuMs ?? Infinity));
        round += 1
      ) {
        const [one, other] = [await measured(shape, smallSize), await measured(shape, largeSize)];
        if (one.cpuMs < small.cpuMs) small = one;
        const mebibytes = Math.min(large.mebibytes, other.mebibytes);
        large = { ...(other.cpuMs < large.cpuMs ? other : large), mebibytes };
        growth = growthFor(small.cpuMs, large.cpuMs);
      }
    }
    const isOver = ({ mebibytes, databaseMs }: Pick<Cost, 'mebibytes' | 'databaseMs'>): boolean =>
      limits !== undefined && (mebibytes > limits.mebibytes || databaseMs > limits.databaseMs);
    // Other programs on the machine also cost PostgreSQL time.
    for (let round = 1; round < MAX_ROUNDS && isOver(large); round += 1) {
      const { mebibytes, databaseMs } = await measured(shape, largeSize);
      large = {
        ...large,
        mebibytes: Math.min(large.mebibytes, mebibytes),
        databaseMs: Math.min(large.databaseMs, databaseMs),
      };
    }
    // A busy machine may let a request run out of time.
    for (let round = 1; round < MAX_ROUNDS && hasFailed(large.status); round += 1)
      large = { ...large, status: (await measured(shape, largeSize)).status };
    const cost: Cost = { shape: name, growth, ...large };
    costs.push(cost);
    const line = lineOf(cost);
    const broken = (what: string, isBroken: boolean): void => {
      if (!isBroken) return;
      problems.push(`${what}: ${line}`);
      say(`${what}: ${line}`);
    };
    broken('grows too fast', growth !== undefined && growth > LINEAR);
    broken('fails', hasFailed(large.status));
    if (limits === undefined) continue;
    broken('uses too much CPU', large.cpuMs > limits.cpuMs);
    broken('keeps the database busy', large.databaseMs > limits.databaseMs);
    broken('uses too much memory', large.mebibytes > limits.mebibytes);
  }
  return { costs: costs.toSorted((a, b) => b.cpuMs - a.cpuMs), problems };
}

/** One line of a report. */
export const lineOf = ({ shape, status, cpuMs, databaseMs, mebibytes, growth }: Cost): string =>
  `${shape} (${status}) ${Math.round(cpuMs)} ms, database ${Math.round(databaseMs)} ms, ${Math.round(mebibytes)} MiB${growth === undefined ? '' : `, ${growth.toFixed(2)} times when doubled`}`;
