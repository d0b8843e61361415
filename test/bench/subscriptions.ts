/**
 * The cost of 1,000 active subscriptions in a site for its writes: CPU of the gateway and of PostgreSQL. Two sites with the same
 * patients and the same history are in one database. Only one of them has subscriptions, each for half of the pairs. A pair is the
 * same number of writes to each site, in random order. The figures are of the difference within a pair.
 *
 * "alone" is the write: the feed is held, so nothing is numbered or compared. A third each of the subscriptions are of another
 * type, of another code or name, and matching. "with the feed" has the numbering and the comparison too, until nothing is left; then
 * no subscription matches. Autovacuum is off, as it would run in some pairs only: the tables are vacuumed between the pairs.
 */
import type { Client } from 'pg';

import { until } from '../stack/services/until.ts';
import { onBothRuntimes, type PairRow, rowOf } from './pairs.ts';

const SUBSCRIPTIONS = 1_000;
const WRITES = 250;
/** For each row of the table. The rows of both runtimes take six minutes. */
const ROW_MS = 26_000;
/** No write may take longer by more. */
const MAX_PERCENT = 2;
const MEASURED = ['Observation create', 'HL7 ADT, patients seen before', 'HL7 ORU, patients seen before'];

export interface Row extends PairRow {
  readonly runtime: string;
  readonly what: string;
  readonly feed: 'alone' | 'with the feed';
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

export const bench = (): Promise<Row[]> =>
  onBothRuntimes({ FHIR_SUBSCRIPTIONS: 'on' }, async ({ runtime, client, measure }) => {
    await client.query(`update api_key set subscription_hosts = '{hooks.example.org}'`);
    await client.query('select change_ask()');
    const rows: Row[] = [];
    for (const feed of ['alone', 'with the feed'] as const) {
      await (feed === 'alone' ? holdFeeds(client) : beginFeeds(client));
      for (const what of MEASURED) {
        const pairs = await measure({
          what,
          rowMs: ROW_MS,
          writes: WRITES,
          vacuumAfter: 1,
          begin: (more) => subscribe(client, more, feed === 'alone' ? 1 : 0),
          ended: (site) => (feed === 'alone' ? Promise.resolve() : feedIsDone(client, site)),
        });
        const row = rowOf(pairs, MAX_PERCENT);
        rows.push({ runtime, what, feed, ...row, 'is at most': feed === 'alone' ? row['is at most'] : '' });
      }
    }
    return rows;
  });
