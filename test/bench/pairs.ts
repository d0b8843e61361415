/**
 * The extra CPU of an operation in a site that has something more than another (extras.ts). Two sites with the same patients are in
 * one database, and each is the one with more for half of the time. Requests to both alternate in pairs of blocks, in random order:
 * a machine that is slow for a while slows both. The figures are of the difference within a pair. Autovacuum is off, as it would
 * run in some pairs only: the tables are vacuumed between the pairs.
 */
import process from 'node:process';

import { type Extra, EXTRAS } from './extras.ts';
import { measureHttp, type Measured } from './load.ts';
import { addSite, type SiteRequests } from './operations.ts';
import { median } from './rounds.ts';
import type { BenchOptions } from './run.ts';
import { RUNTIMES, type Stack, startStack } from './stack.ts';

const CONNECTIONS = 8;
const MIN_PAIRS = 6;
const PATIENTS = 2_000;
const STACK = {
  settings: { autovacuum: 'off', checkpoint_timeout: '1h', max_wal_size: '16GB' },
  env: () => ({ FHIR_SUBSCRIPTIONS: 'on' }),
};

type Pair = Readonly<Record<'without' | 'with', Measured>>;

async function measurePairs(
  stack: Stack,
  sites: readonly SiteRequests[],
  { requests, vacuumAfter, give, ended = async () => undefined }: Extra,
  what: string,
  seconds: number,
): Promise<Pair[]> {
  const { client, url, watched } = stack;
  const measureBlock = async ({ site, operations }: SiteRequests): Promise<Measured> => {
    const operation = operations.find((each) => each.what === what);
    if (operation === undefined) throw new Error(`no operation ${what}`);
    const spell = { connections: CONNECTIONS, requests };
    const measured = await measureHttp(url, operation, spell, watched, () => ended(client, site));
    if (measured.failed > 0) throw new Error(`${what}: ${Object.keys(measured.statuses).join()}`);
    return measured;
  };
  const pairs: Pair[] = [];
  for (const [more, less] of [sites, sites.toReversed()]) {
    if (more === undefined || less === undefined) throw new Error('a pair has two sites');
    await give(client, more.site, less.site);
    const end = performance.now() + (seconds * 1000) / 2;
    for (let pair = 0; pair <= MIN_PAIRS / 2 || performance.now() < end; pair += 1) {
      if (pair % vacuumAfter === 0) await client.query('vacuum analyze');
      const isFirst = Math.random() < 0.5;
      const first = await measureBlock(isFirst ? more : less);
      const second = await measureBlock(isFirst ? less : more);
      // The first pair of each half is the warm-up.
      if (pair > 0) pairs.push(isFirst ? { with: first, without: second } : { with: second, without: first });
    }
  }
  return pairs;
}

/** CPU of the gateway and PostgreSQL. */
const both = ({ cpuMicros: { gateway = 0, postgres = 0 } }: Measured): number => gateway + postgres;

/** The row of a table. @param maxPercent the target, if there is one */
function rowOf(pairs: readonly Pair[], maxPercent: number | undefined): object {
  const middle = (side: keyof Pair, of: (measured: Measured) => number): number =>
    median(pairs.map((pair) => of(pair[side])));
  const micros = (process: string): string =>
    (['without', 'with'] as const)
      .map((side) => middle(side, ({ cpuMicros }) => cpuMicros[process] ?? 0).toFixed(0))
      .join(' → ');
  const more = pairs.map((pair) => (both(pair.with) / both(pair.without) - 1) * 100).toSorted((a, b) => a - b);
  // By the binomial distribution: each figure is above the true median with a probability of a half.
  const from = Math.max(0, Math.floor(more.length / 2 - 0.98 * Math.sqrt(more.length)));
  const [low = Number.NaN, high = Number.NaN] = [more[from], more.at(-1 - from)];
  const verdict = (most: number): string => (high <= most ? 'yes' : low > most ? 'no' : 'not shown');
  return {
    pairs: pairs.length,
    'CPU µs of the gateway': micros('gateway'),
    'of PostgreSQL': micros('postgres'),
    'both, % more': median(more).toFixed(1),
    'true median, by 95 %': `${low.toFixed(1)} to ${high.toFixed(1)}`,
    target: maxPercent === undefined ? '' : `${maxPercent} %: ${verdict(maxPercent)}`,
    'database requests': (['without', 'with'] as const)
      .map((side) => middle(side, ({ databaseRequests = Number.NaN }) => databaseRequests).toFixed(2))
      .join(' → '),
  };
}

/** @param seconds for each row instead of the time of its extra */
export async function bench({ seconds }: BenchOptions): Promise<object[]> {
  const rows: object[] = [];
  for (const runtime of RUNTIMES) {
    for (const extra of EXTRAS) {
      const stack = await startStack(runtime, STACK);
      try {
        const sites = [
          await addSite(stack, { patients: PATIENTS }),
          await addSite(stack, { patients: PATIENTS, hasSidecar: false }),
        ];
        for (const what of extra.operations) {
          process.stderr.write(`${runtime}, ${extra.name}: ${what}\n`);
          const pairs = await measurePairs(stack, sites, extra, what, seconds ?? extra.seconds);
          rows.push({ runtime, extra: extra.name, what, ...rowOf(pairs, extra.maxPercent) });
        }
      } finally {
        await stack.stop();
      }
    }
  }
  return rows;
}
