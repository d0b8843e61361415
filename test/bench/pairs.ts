/**
 * The extra CPU of an operation in a site with something more than another. Requests to both sites alternate in pairs of blocks, in
 * random order. So a machine that is slow for a while slows both. The figures are of the difference within a pair. Autovacuum is off,
 * as it would run in some pairs only: the tables are vacuumed between the pairs.
 */
import { Client } from 'pg';

import { cpuMicrosOf } from './cpu.ts';
import { type GatewayStack, type Operation, type SiteRequests, startGatewayStack } from './gateway-stack.ts';
import { median } from './rounds.ts';

const CONNECTIONS = 8;
const MIN_PAIRS = 6;
const PATIENTS = 2_000;
/** Settings of PostgreSQL. */
const SETTINGS = { autovacuum: 'off', checkpoint_timeout: '1h', max_wal_size: '16GB' };

export interface PairRow {
  readonly pairs: number;
  readonly 'CPU µs of the gateway, without': number;
  readonly with: number;
  readonly 'CPU µs of PostgreSQL, without': number;
  readonly 'with ': number;
  /** The median of the pairs. */
  readonly 'both, %': string;
  readonly quartiles: string;
  /** It has the true median with a probability of 95 %. */
  readonly 'the median is in': string;
  readonly 'is at most': string;
  readonly 'database requests': string;
}

interface Block {
  readonly gateway: number;
  readonly postgres: number;
  readonly requests: number;
}
export interface Pair {
  readonly without: Block;
  readonly with: Block;
}

async function sendAll(baseUrl: string, { what, expected, next }: Operation, writes: number): Promise<void> {
  const calls = await Promise.all(Array.from({ length: writes }, async () => next()));
  const connection = async (): Promise<void> => {
    for (let call = calls.pop(); call !== undefined; call = calls.pop()) {
      const { path, method = 'GET', headers = {}, body = '' } = call;
      const answer = await fetch(`${baseUrl}${path}`, { method, headers, body: String(body) });
      await answer.arrayBuffer();
      if (answer.status !== expected) throw new Error(`${what}: ${answer.status}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
}

async function measureBlock(
  { gateway, watched }: GatewayStack,
  operation: Operation,
  writes: number,
  ended: () => Promise<unknown>,
): Promise<Block> {
  const { gateway: gatewayPids = () => [], postgres = () => [] } = watched.cpu;
  const spent = (): number[] => [cpuMicrosOf(gatewayPids()), cpuMicrosOf(postgres())];
  const counted = await watched.count();
  const before = spent();
  await sendAll(gateway.url, operation, writes);
  await ended();
  const [ofGateway = 0, ofPostgres = 0] = spent().map((micros, at) => (micros - (before[at] ?? 0)) / writes);
  return { gateway: ofGateway, postgres: ofPostgres, requests: await counted(writes) };
}

const both = ({ gateway, postgres }: Block): number => gateway + postgres;

/** @param maxPercent the target */
export function rowOf(pairs: readonly Pair[], maxPercent: number): PairRow {
  const middle = (of: (pair: Pair) => number): number => median(pairs.map(of));
  const more = pairs.map((pair) => (both(pair.with) / both(pair.without) - 1) * 100).toSorted((a, b) => a - b);
  const between = (from: number): readonly [number, number] => [
    more[from] ?? Number.NaN,
    more.at(-1 - from) ?? Number.NaN,
  ];
  const text = (range: readonly [number, number]): string => range.map((one) => one.toFixed(1)).join(' to ');
  // By the binomial distribution: each figure is above the true median with a probability of a half.
  const likely = between(Math.max(0, Math.floor(more.length / 2 - 0.98 * Math.sqrt(more.length))));
  const answer = likely[1] <= maxPercent ? 'yes' : likely[0] > maxPercent ? 'no' : 'not shown';
  return {
    pairs: pairs.length,
    'CPU µs of the gateway, without': Math.round(middle(({ without }) => without.gateway)),
    with: Math.round(middle((pair) => pair.with.gateway)),
    'CPU µs of PostgreSQL, without': Math.round(middle(({ without }) => without.postgres)),
    'with ': Math.round(middle((pair) => pair.with.postgres)),
    'both, %': median(more).toFixed(1),
    quartiles: text(between(Math.floor(more.length / 4))),
    'the median is in': text(likely),
    'is at most': `${maxPercent} %: ${answer}`,
    'database requests': [middle(({ without }) => without.requests), middle((pair) => pair.with.requests)]
      .map((one) => one.toFixed(2))
      .join(', '),
  };
}

interface Measured {
  /** The operation. */
  readonly what: string;
  readonly rowMs: number;
  /** A pair has as many requests to each site. */
  readonly writes: number;
  /** The tables are vacuumed after so many pairs. */
  readonly vacuumAfter: number;
  /** Prepares the sites before that half. */
  readonly begin: (more: string, less: string) => Promise<void>;
  /** Waits for what the requests to a site leave behind. */
  readonly ended?: (site: string) => Promise<unknown>;
}

/** @param sites each is the one with more for half of the time */
async function measurePairs(
  stack: GatewayStack,
  client: Client,
  sites: readonly SiteRequests[],
  { what, rowMs, writes, vacuumAfter, begin, ended = async () => undefined }: Measured,
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (const full of sites) {
    await begin(full.site, sites.find(({ site }) => site !== full.site)?.site ?? '');
    const end = performance.now() + rowMs / sites.length;
    for (let pair = 0; pair <= MIN_PAIRS / sites.length || performance.now() < end; pair += 1) {
      if (pair % vacuumAfter === 0) await client.query('vacuum analyze');
      const blocks = new Map<boolean, Block>();
      for (const one of Math.random() < 0.5 ? sites : sites.toReversed()) {
        const operation = one.operations.find((each) => each.what === what);
        if (operation === undefined) throw new Error(`no operation ${what}`);
        blocks.set(one === full, await measureBlock(stack, operation, writes, () => ended(one.site)));
      }
      const [less, more] = [blocks.get(false), blocks.get(true)];
      // The first pair of each half is the warm-up.
      if (pair > 0 && less !== undefined && more !== undefined) pairs.push({ without: less, with: more });
    }
  }
  return pairs;
}

export interface TwoSites {
  readonly runtime: string;
  readonly client: Client;
  readonly sites: readonly SiteRequests[];
  readonly measure: (measured: Measured) => Promise<Pair[]>;
}

/**
 * Starts a gateway on each runtime, with two sites of the same patients.
 *
 * @param env settings of the gateway
 * @returns the rows of both
 */
export async function onBothRuntimes<Row>(
  env: Readonly<Record<string, string>>,
  rowsOf: (at: TwoSites) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const runtime of ['workerd', 'Deno'] as const) {
    const stack = await startGatewayStack({ runtime, env, patients: PATIENTS, settings: SETTINGS });
    const client = new Client({ connectionString: stack.databaseUrl });
    await client.connect();
    try {
      const sites = [stack, await stack.addSite()];
      const measure = (measured: Measured) => measurePairs(stack, client, sites, measured);
      rows.push(...(await rowsOf({ runtime, client, sites, measure })));
    } finally {
      await client.end();
      await stack.stop();
    }
  }
  return rows;
}
