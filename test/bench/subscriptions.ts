/**
 * The cost of 1,000 active subscriptions in a site for its writes: CPU of the gateway and of PostgreSQL, with and without them in turns. A
 * third each are of another type, of another code or name, and matching. "alone" is the write: the feed is held, so nothing is
 * numbered, compared or posted. "with the feed" has the numbering and the comparison too; then no subscription matches.
 */
import { Client } from 'pg';

import { startGatewayStack } from './gateway-stack.ts';
import { measureHttp, type Measured } from './load.ts';
import { inRounds, median, ratios } from './rounds.ts';

const SUBSCRIPTIONS = 1_000;
const ROUNDS = 8;
const SPELL = { connections: 8, warmUpMs: 300, measureMs: 1_500 };
const WRITES = ['Observation create', 'HL7 ADT, patients seen before', 'HL7 ORU, patients seen before'];

export interface Row {
  readonly runtime: string;
  readonly what: string;
  readonly feed: 'alone' | 'with the feed';
  readonly 'CPU µs of the gateway, 0': number;
  readonly 'with 1,000': number;
  readonly 'CPU µs of PostgreSQL, 0': number;
  readonly 'with 1,000 ': number;
  /** The median of the rounds. */
  readonly 'both, %': string;
  /** The quartiles of the rounds. */
  readonly 'from to': string;
  readonly 'database requests': string;
}

/** @param matching subscriptions of three that match each write */
const fill = (client: Client, matching: 0 | 1) =>
  client.query(
    `insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count, status)
       select k.site_id, gen_random_uuid(), k.client_id, (array['Condition', 'Observation', 'Patient'])[1 + n % 3],
              case when n % 3 = 0 then '' when n % 6 < 3 and $2 = 1 then '' when n % 3 = 1 then 'code=none' else 'name=none' end,
              'id-only', 'https://hooks.example.org/', 'hooks.example.org', 'bench', 100, 'active'
         from (select * from api_key a where 'fhir' = any (a.protocols) limit 1) k cross join generate_series(1, $1::integer) n`,
    [SUBSCRIPTIONS, matching],
  );

const cpuOf = ({ cpuMicros }: Measured): number => (cpuMicros['gateway'] ?? 0) + (cpuMicros['postgres'] ?? 0);
const middle = (measured: readonly Measured[], of: (one: Measured) => number | undefined): number =>
  median(measured.map((one) => of(one) ?? Number.NaN));

export async function bench(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const runtime of ['workerd', 'Deno'] as const) {
    const { gateway, operations, databaseUrl, watched, stop } = await startGatewayStack({
      runtime,
      env: { FHIR_SUBSCRIPTIONS: 'on' },
    });
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      await client.query(`update api_key set subscription_hosts = '{hooks.example.org}'`);
      await client.query('select change_ask()');
      for (const feed of ['alone', 'with the feed'] as const) {
        for (const { what, expected, next } of operations.filter((one) => WRITES.includes(one.what))) {
          const measure = async (hasSubscriptions: boolean): Promise<Measured> => {
            await client.query('delete from subscription');
            if (hasSubscriptions) await fill(client, feed === 'alone' ? 1 : 0);
            await client.query('vacuum analyze subscription');
            if (feed === 'with the feed') return measureHttp(gateway.url, expected, next, SPELL, watched);
            await client.query('begin');
            await client.query('select from change_position for update');
            const measured = await measureHttp(gateway.url, expected, next, SPELL, watched);
            await client.query('commit');
            return measured;
          };
          const [none = [], many = []] = await inRounds(ROUNDS, [() => measure(false), () => measure(true)]);
          if ([...none, ...many].some(({ failed }) => failed > 0)) throw new Error(`${what} failed`);
          const more = ratios(many.map(cpuOf), none.map(cpuOf)).map((ratio) => (ratio - 1) * 100);
          const sorted = more.toSorted((a, b) => a - b);
          rows.push({
            runtime,
            what,
            feed,
            'CPU µs of the gateway, 0': Math.round(middle(none, ({ cpuMicros }) => cpuMicros['gateway'])),
            'with 1,000': Math.round(middle(many, ({ cpuMicros }) => cpuMicros['gateway'])),
            'CPU µs of PostgreSQL, 0': Math.round(middle(none, ({ cpuMicros }) => cpuMicros['postgres'])),
            'with 1,000 ': Math.round(middle(many, ({ cpuMicros }) => cpuMicros['postgres'])),
            'both, %': median(more).toFixed(1),
            'from to': `${sorted[Math.floor(ROUNDS / 4)]?.toFixed(1)} to ${sorted[Math.floor((ROUNDS * 3) / 4)]?.toFixed(1)}`,
            'database requests': [none, many]
              .map((one) => middle(one, ({ databaseRequests }) => databaseRequests).toFixed(2))
              .join(', '),
          });
        }
      }
    } finally {
      await client.end();
      await stop();
    }
  }
  return rows;
}
