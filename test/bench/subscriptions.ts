/**
 * The cost of 1,000 active subscriptions in a site for its writes: CPU of the gateway and of PostgreSQL. Two sites with the same
 * patients and the same history are in one database. Only one of them has subscriptions, each for half of the pairs. A pair is the
 * same number of writes to each site, in random order. The figures are of the difference within a pair.
 *
 * "alone" is the write: the feed is held, so nothing is numbered or compared. A third each of the subscriptions are of another
 * type, of another code or name, and matching. "with the feed" has the numbering and the comparison too, until nothing is left; then
 * no subscription matches. Autovacuum is off, as it would run in some pairs only: the tables are vacuumed between the pairs.
 */
import { Client } from 'pg';

import { cpuMicrosOf } from './cpu.ts';
import { until } from '../stack/services/until.ts';
import { type GatewayStack, type Operation, type SiteRequests, startGatewayStack } from './gateway-stack.ts';
import { median } from './rounds.ts';

const SUBSCRIPTIONS = 1_000;
const PATIENTS = 2_000;
const CONNECTIONS = 8;
/** A pair has as many to each site. */
const WRITES = 250;
/** For each row of the table. The rows of both runtimes take six minutes. */
const ROW_MS = 26_000;
const MIN_PAIRS = 6;
/** No write may take longer by more. */
const MAX_PERCENT = 2;
const MEASURED = ['Observation create', 'HL7 ADT, patients seen before', 'HL7 ORU, patients seen before'];
const SETTINGS = { autovacuum: 'off', checkpoint_timeout: '1h', max_wal_size: '16GB' };

export interface Row {
  readonly runtime: string;
  readonly what: string;
  readonly feed: 'alone' | 'with the feed';
  readonly pairs: number;
  readonly 'CPU µs of the gateway, 0': number;
  readonly 'with 1,000': number;
  readonly 'CPU µs of PostgreSQL, 0': number;
  readonly 'with 1,000 ': number;
  /** The median of the pairs. */
  readonly 'both, %': string;
  readonly quartiles: string;
  /** It has the true median with a probability of 95 %. */
  readonly 'the median is in': string;
  /** Only for a write alone. */
  readonly 'at most 2 %': 'yes' | 'no' | 'not shown' | '';
  readonly 'database requests': string;
}

interface Block {
  readonly gateway: number;
  readonly postgres: number;
  readonly requests: number;
}
interface Pair {
  readonly none: Block;
  readonly many: Block;
}

/** @param matching subscriptions of three that match each write */
async function subscribe(client: Client, site: string, matching: 0 | 1): Promise<void> {
  await client.query('delete from subscription');
  await client.query(
    `insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count, status,
         matched)
       select k.site_id, gen_random_uuid(), k.client_id, (array['Condition', 'Observation', 'Patient'])[1 + n % 3],
              case when n % 3 = 0 or n % 6 < 3 and $3 = 1 then '' when n % 12 < 6 and n % 3 = 1 then 'patient=' || gen_random_uuid()
                   when n % 12 < 6 then '_id=' || gen_random_uuid() when n % 3 = 1 then 'code=none-' || n else 'name=none-' || n end,
              'id-only', 'https://hooks.example.org/', 'hooks.example.org', 'bench', 100, 'active', p.last_number
         from (select * from api_key a where a.site_id = $1 and 'fhir' = any (a.protocols) limit 1) k
         join change_position p on p.site_id = k.site_id cross join generate_series(1, $2::integer) n`,
    [site, SUBSCRIPTIONS, matching],
  );
  await client.query('vacuum analyze subscription');
}

/** The next wake-up numbers nothing, as after a restoration into another server. No transaction is held open: it would keep dead rows. */
const holdFeeds = (client: Client) => client.query('update change_position set below = 4000000000000000000');
const beginFeeds = (client: Client) =>
  client.query('update change_position set below = pg_snapshot_xmin(pg_current_snapshot())::text::bigint');

const feedIsDone = (client: Client, site: string) =>
  until('the feed is done', async () => {
    const { rows } = await client.query<{ done: boolean }>(
      `select not exists (select from resource r where r.site_id = p.site_id and r.written_by >= p.below)
          and not exists (select from subscription s
                           where s.site_id = p.site_id and coalesce(s.matched, p.matched) < p.last_number) as done
         from change_position p where p.site_id = $1`,
      [site],
    );
    return rows[0]?.done;
  });

async function sendAll(baseUrl: string, { what, expected, next }: Operation): Promise<void> {
  const calls = await Promise.all(Array.from({ length: WRITES }, async () => next()));
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
  ended: () => Promise<unknown>,
): Promise<Block> {
  const { gateway: gatewayPids = () => [], postgres = () => [] } = watched.cpu;
  const spent = (): number[] => [cpuMicrosOf(gatewayPids()), cpuMicrosOf(postgres())];
  const counted = await watched.count();
  const before = spent();
  await sendAll(gateway.url, operation);
  await ended();
  const [ofGateway = 0, ofPostgres = 0] = spent().map((micros, at) => (micros - (before[at] ?? 0)) / WRITES);
  return { gateway: ofGateway, postgres: ofPostgres, requests: await counted(WRITES) };
}

const both = ({ gateway, postgres }: Block): number => gateway + postgres;

function rowOf(pairs: readonly Pair[]) {
  const middle = (of: (pair: Pair) => number): number => median(pairs.map(of));
  const more = pairs.map(({ none, many }) => (both(many) / both(none) - 1) * 100).toSorted((a, b) => a - b);
  const between = (from: number): readonly [number, number] => [
    more[from] ?? Number.NaN,
    more.at(-1 - from) ?? Number.NaN,
  ];
  const text = (range: readonly [number, number]): string => range.map((one) => one.toFixed(1)).join(' to ');
  // By the binomial distribution: each figure is above the true median with a probability of a half.
  const likely = between(Math.max(0, Math.floor(more.length / 2 - 0.98 * Math.sqrt(more.length))));
  const answer = likely[1] <= MAX_PERCENT ? 'yes' : likely[0] > MAX_PERCENT ? 'no' : 'not shown';
  return {
    pairs: pairs.length,
    'CPU µs of the gateway, 0': Math.round(middle(({ none }) => none.gateway)),
    'with 1,000': Math.round(middle(({ many }) => many.gateway)),
    'CPU µs of PostgreSQL, 0': Math.round(middle(({ none }) => none.postgres)),
    'with 1,000 ': Math.round(middle(({ many }) => many.postgres)),
    'both, %': median(more).toFixed(1),
    quartiles: text(between(Math.floor(more.length / 4))),
    'the median is in': text(likely),
    answer,
    'database requests': [middle(({ none }) => none.requests), middle(({ many }) => many.requests)]
      .map((one) => one.toFixed(2))
      .join(', '),
  } as const;
}

async function measurePairs(
  stack: GatewayStack,
  client: Client,
  sites: readonly SiteRequests[],
  what: string,
  feed: Row['feed'],
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (const full of sites) {
    await subscribe(client, full.site, feed === 'alone' ? 1 : 0);
    const end = performance.now() + ROW_MS / sites.length;
    for (let pair = 0; pair <= MIN_PAIRS / sites.length || performance.now() < end; pair += 1) {
      await client.query('vacuum analyze');
      const blocks = new Map<boolean, Block>();
      for (const one of Math.random() < 0.5 ? sites : sites.toReversed()) {
        const operation = one.operations.find((each) => each.what === what);
        if (operation === undefined) throw new Error(`no operation ${what}`);
        const ended = feed === 'alone' ? async () => undefined : () => feedIsDone(client, one.site);
        blocks.set(one === full, await measureBlock(stack, operation, ended));
      }
      const [none, many] = [blocks.get(false), blocks.get(true)];
      // The first pair of each half is the warm-up.
      if (pair > 0 && none !== undefined && many !== undefined) pairs.push({ none, many });
    }
  }
  return pairs;
}

export async function bench(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const runtime of ['workerd', 'Deno'] as const) {
    const stack = await startGatewayStack({
      runtime,
      env: { FHIR_SUBSCRIPTIONS: 'on' },
      patients: PATIENTS,
      settings: SETTINGS,
    });
    const client = new Client({ connectionString: stack.databaseUrl });
    await client.connect();
    try {
      const sites = [stack, await stack.addSite()];
      await client.query(`update api_key set subscription_hosts = '{hooks.example.org}'`);
      await client.query('select change_ask()');
      for (const feed of ['alone', 'with the feed'] as const) {
        await (feed === 'alone' ? holdFeeds(client) : beginFeeds(client));
        for (const what of MEASURED) {
          const { answer, ...figures } = rowOf(await measurePairs(stack, client, sites, what, feed));
          rows.push({ runtime, what, feed, ...figures, 'at most 2 %': feed === 'alone' ? answer : '' });
        }
      }
    } finally {
      await client.end();
      await stack.stop();
    }
  }
  return rows;
}
