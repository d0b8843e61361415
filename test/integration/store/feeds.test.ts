/**
 * The figures of each sender: counts of the site's day, of the same hour before on the site's clock, and the cost of
 * the query.
 */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { viewFeeds } from '../../../edge/admin/feeds/view.ts';
import { type FeedRow, feedsNow } from '../../../edge/store/admin-feed.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { connectionsOf, connectionSources } from '../../../edge/store/mllp-connection.ts';
import { noteRefusals } from '../../../edge/store/refusal.ts';
import { noteConnections, type OwnedConnections } from '../../../edge/store/sidecar.ts';
import { type KeyCount, noteUsage } from '../../../edge/store/usage.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { useTestDatabase, ownerDatabase } from '../../stack/tools/database.ts';
import { explain } from '../../stack/tools/plan.ts';
import { refusalOf } from '../../stack/tools/refusal.ts';
import { sized } from '../../stack/tools/size.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const db = await useTestDatabase();
const database = ownerDatabase(db);

interface Feeding {
  readonly site: string;
  readonly clientId: string;
}

async function start(timeZone?: string): Promise<Feeding> {
  const site = await createSite(db.client, timeZone === undefined ? {} : { timeZone });
  const { clientId } = await createApiKey(db.client, { site, name: 'LAB', protocols: ['hl7'] });
  return { site, clientId };
}
/** So many messages in the quarter of an hour of an instant, long ago or not. */
async function sent({ site, clientId }: Feeding, at: number, messages: number, application = 'LAB'): Promise<void> {
  await db.client.query(
    `insert into key_usage (site_id, client_id, bucket, surface, application, facility, accepted, refused, rejected)
       values ($1, $2, date_bin('15 minutes', to_timestamp($3 / 1000.0), 'epoch'), 'hl7', $4, '', $5, 0, 0)`,
    [site, clientId, at, application, messages],
  );
  await db.client.query(
    `insert into feed as f (site_id, client_id, surface, application, facility, first_at, last_at)
       values ($1, $2, 'hl7', $4, '', to_timestamp($3 / 1000.0), to_timestamp($3 / 1000.0))
     on conflict (site_id, client_id, surface, application, facility) do update
       set first_at = least(f.first_at, excluded.first_at), last_at = greatest(f.last_at, excluded.last_at)`,
    [site, clientId, at, application],
  );
}
const rowsAt = ({ site }: Feeding, now: number): Promise<FeedRow[]> => inSite(database, site).run(feedsNow(site, now));
const verdictAt = async (feeding: Feeding, now: number) =>
  viewFeeds(await rowsAt(feeding, now), [], [], now, true).feeds[0]?.senders[0]?.verdict;

describe('the usual count', () => {
  test('the usual count for a sender by day, at night and on its silent Sundays, and for a sender that stops', async () => {
    const feeding = await start('Europe/Vienna');
    // Five weeks, Mondays to Saturdays, 08:00 to 18:00 in Vienna; ends on Friday 2026-06-12 at 10:00.
    const end = Date.parse('2026-06-12T10:00:00+02:00');
    for (let day = 35; day >= 0; day -= 1) {
      const midnight = Date.parse('2026-06-12T00:00:00+02:00') - day * DAY_MS;
      if (new Date(midnight + 12 * HOUR_MS).getUTCDay() === 0) continue;
      for (let quarter = 32; quarter < 72; quarter += 1) {
        const at = midnight + quarter * 15 * MINUTE_MS;
        if (at < end) await sent(feeding, at, 10);
      }
    }
    expect(await verdictAt(feeding, end + 5 * MINUTE_MS)).toBe('usual');
    expect(await verdictAt(feeding, end + 50 * MINUTE_MS)).toBe('silent');
    const [row] = await rowsAt(feeding, end);
    expect([row?.accepted, row?.hour]).toEqual([80, 40]);
    expect(row?.weeks_hour).toBe('{40,40,40,40}');
    await db.client.query('delete from key_usage where site_id = $1 and bucket >= $2', [
      feeding.site,
      new Date(end - DAY_MS),
    ]);
    // If it had ended its Thursday as always, no alert would expect it in the night.
    await sent(feeding, end - 16.25 * HOUR_MS, 10);
    await db.client.query(`update feed set last_at = to_timestamp($2 / 1000.0) where site_id = $1`, [
      feeding.site,
      end - 16.1 * HOUR_MS,
    ]);
    expect(await verdictAt(feeding, end - 5 * HOUR_MS)).toBe('usual');
    expect(await verdictAt(feeding, end - HOUR_MS)).toBe('silent');
  });

  test.each([
    ['the clock was set forward', '2026-03-30T09:00:00+02:00', '+01:00'],
    ['the clock was set back', '2026-10-26T09:00:00+01:00', '+02:00'],
  ])('is that of the hour that the clock shows, also when %s', async (_, now, offsetBefore) => {
    const feeding = await start('Europe/Vienna');
    const monday = now.slice(0, 10);
    // From 08:00 to 09:00 on the Mondays before, by the clock of then.
    for (let week = 4; week >= 1; week -= 1) {
      const eight = Date.parse(`${monday}T08:00:00${offsetBefore}`) - week * 7 * DAY_MS;
      for (let quarter = 0; quarter < 4; quarter += 1) await sent(feeding, eight + quarter * 15 * MINUTE_MS, 10);
    }
    const nine = Date.parse(now);
    await sent(feeding, nine - 10 * MINUTE_MS, 40);
    await db.client.query(`update feed set first_at = first_at - interval '1 day' where site_id = $1`, [feeding.site]);
    const [row] = await rowsAt(feeding, nine);
    expect([row?.hour, row?.weeks_hour, row?.accepted]).toEqual([40, '{40,40,40,40}', 40]);
  });

  test('is unknown for a new sender, and for a site that does not keep counts for so long', async () => {
    const feeding = await start();
    const now = Date.now();
    await sent(feeding, now - 2 * DAY_MS, 50);
    expect(await verdictAt(feeding, now)).toBe('too-new');
    for (let week = 1; week <= 4; week += 1) await sent(feeding, now - week * 7 * DAY_MS - 30 * MINUTE_MS, 50);
    await db.client.query(`update feed set first_at = now() - interval '60 days' where site_id = $1`, [feeding.site]);
    expect(await verdictAt(feeding, now)).not.toBe('too-new');
    await db.client.query('update site set keep_usage_days = 3 where site_id = $1', [feeding.site]);
    expect(await verdictAt(feeding, now)).toBe('too-new');
  });
});

test('today begins at midnight on the clocks of the site', async () => {
  const feeding = await start('Asia/Kolkata');
  const midnight = Date.parse('2026-06-12T00:00:00+05:30');
  await sent(feeding, midnight - 15 * MINUTE_MS, 7);
  await sent(feeding, midnight, 5);
  const [row] = await rowsAt(feeding, midnight + 3 * HOUR_MS);
  expect(row?.accepted).toBe(5);
});

test('a key is its Client ID, under any display name; senders of one key are separate; and each site has separate feeds', async () => {
  const [feeding, other] = [await start(), await start()];
  const now = Date.now();
  await sent(feeding, now, 3);
  await sent(feeding, now, 2, 'RIS');
  await sent(other, now, 100);
  await db.client.query(`update api_key set name = 'Laboratory' where client_id = $1`, [feeding.clientId]);
  const rows = await rowsAt(feeding, now);
  expect(
    rows
      .map(({ name, application, accepted }) => [name, application, accepted])
      .toSorted((a, b) => String(a).localeCompare(String(b))),
  ).toEqual([
    ['Laboratory', 'LAB', 3],
    ['Laboratory', 'RIS', 2],
  ]);
});

test('the fault of a key is the last one above a 404; a key without messages has its fault too', async () => {
  const feeding = await start();
  const noKey = { surface: 'mllp', answer: 'AR', code: 'no-key', reason: 'not among the Allowed IPs' } as const;
  const missing = {
    surface: 'fhir',
    answer: '404',
    code: 'not-found',
    reason: 'nothing of this id',
    requests: 5,
  } as const;
  await database.run(
    noteRefusals([
      refusalOf(feeding.clientId, { ...noKey, lastAt: Date.now() - MINUTE_MS }),
      refusalOf(feeding.clientId, missing),
    ]),
  );
  const [row] = await rowsAt(feeding, Date.now());
  expect(row).toMatchObject({ surface: null, refusals: 6, fault_code: 'no-key', fault_surface: 'mllp' });
});

test('bytes without a sender make no feed until one is accepted, and are counted', async () => {
  const { site, clientId } = await start();
  const note = (accepted: number, rejected: number) => {
    const key: KeyCount = {
      site,
      clientId,
      surface: 'hl7',
      application: '',
      facility: '',
      at: Date.now(),
      accepted,
      refused: 0,
      rejected,
    };
    return database.run(noteUsage({ counts: [], answers: [], keys: [key], kids: [] }));
  };
  const feeds = async () =>
    (await db.client.query('select first_at, last_at from feed where site_id = $1', [site])).rows;
  await note(0, 3);
  expect(await feeds()).toEqual([]);
  const count = 'select accepted::int, rejected::int from key_usage where site_id = $1';
  expect((await db.client.query(count, [site])).rows).toEqual([{ accepted: 0, rejected: 3 }]);
  await note(1, 0);
  expect(await feeds()).toHaveLength(1);
  await note(0, 1);
  expect(await feeds()).toEqual([{ first_at: expect.any(Date), last_at: expect.any(Date) }]);
});

test('a sender with another name in each message has twenty names, and the others are counted', async () => {
  const { site, clientId } = await start();
  const keyOf = (n: number): KeyCount => ({
    site,
    clientId,
    surface: 'hl7',
    application: `A${n}`,
    facility: '',
    at: Date.now(),
    accepted: 1,
    refused: 0,
    rejected: 0,
  });
  for (let n = 0; n < 100; n += 10) {
    const keys = Array.from({ length: 10 }, (_, k) => keyOf(n + k));
    await database.run(noteUsage({ counts: [], answers: [], keys, kids: [] }));
  }
  const { rows } = await db.client.query('select application from feed where site_id = $1', [site]);
  expect(rows).toHaveLength(21);
  const sum = 'select sum(accepted)::int as accepted from key_usage where site_id = $1';
  expect((await db.client.query(sum, [site])).rows).toEqual([{ accepted: 100 }]);
});

// At full size, which takes minutes, a million.
const QUARTERS = sized(250, 2_500);

test('the cost of a page depends on its site only, among a hundred sites', async () => {
  const { client } = db;
  await client.query(
    `with s as (insert into site (site_id, name) select gen_random_uuid(), 'crowd' from generate_series(1, 100) returning site_id),
       k as (insert into api_key (site_id, client_id, name, status, jwks, token_ttl_seconds, protocols)
         select s.site_id, 'svc-' || gen_random_uuid(), 'K' || n, 'active', '{}', 300, '{hl7}' from s, generate_series(1, 4) n
         returning site_id, client_id),
       f as (insert into feed (site_id, client_id, surface, application, facility, first_at, last_at)
         select site_id, client_id, 'hl7', 'LAB', '', now() - interval '60 days', now() from k)
     insert into key_usage (site_id, client_id, bucket, surface, application, facility, accepted, refused, rejected)
       select k.site_id, k.client_id, date_bin('15 minutes', now(), 'epoch') - n * interval '15 minutes', 'hl7', 'LAB', '', 9, 1, 0
         from k, generate_series(0, ${QUARTERS}) n`,
  );
  await client.query('analyze key_usage, feed, api_key, refusal');
  const { rows } = await client.query<{ site_id: string }>(`select site_id from site where name = 'crowd' limit 1`);
  const application = await db.connect();
  try {
    const site = rows[0]?.site_id ?? '';
    const query = feedsNow(site, Date.now());
    // The other site has 4 keys with 20 ranges each: a few pages of an index for each.
    expect((await explain(application, site, query)).pages).toBeLessThan(3_000);
    const found = await application.query(query.text, [...query.params]);
    expect(found.rows).toHaveLength(4);
  } finally {
    await application.end();
  }
});

test('the connections of a key are kept for a day, 300 at most, and the last of each address for longer', async () => {
  const { site, clientId } = await start();
  const run = randomUUID();
  const now = Date.now();
  const record = (over: Partial<OwnedConnections>): OwnedConnections => ({
    id: randomUUID(),
    src: '10.0.0.1',
    isTls: false,
    owners: [{ site, clientId, senders: ['LAB / NORD'] }],
    openedAt: now - 48 * HOUR_MS,
    closedAt: null,
    reason: null,
    connections: 1,
    ...over,
  });
  const note = (records: readonly OwnedConnections[], ofRun = run) =>
    database.run(noteConnections('ward', ofRun, undefined, records));
  const closedAt = (ms: number, over: Partial<OwnedConnections> = {}) =>
    record({ closedAt: now - ms, reason: 'sender-closed', ...over });
  const read = async () =>
    (await inSite(database, site).run(connectionsOf(site, clientId))).map((row) => [row.source_address, row.reason]);
  const sources = async () =>
    (await inSite(database, site).run(connectionSources(site)))
      .filter((row) => row.client_id === clientId)
      .map((row) => [row.source_address, row.open, row.reason]);

  await note([
    closedAt(30 * HOUR_MS),
    closedAt(40 * HOUR_MS),
    closedAt(26 * HOUR_MS, { src: '10.0.0.2' }),
    closedAt(37 * 24 * HOUR_MS, { src: '10.0.0.3' }),
  ]);
  expect(await read()).toEqual([]);
  expect(await sources()).toEqual([
    ['10.0.0.2', 0, 'sender-closed'],
    ['10.0.0.1', 0, 'sender-closed'],
  ]);
  // A failed handshake from an address that has sent two days ago.
  await note([
    record({ owners: [], closedAt: now, reason: 'tls-handshake' }),
    record({ src: '10.0.0.2', connections: 4 }),
  ]);
  expect(await read()).toEqual([
    ['10.0.0.2', null],
    ['10.0.0.1', 'tls-handshake'],
  ]);
  expect(await sources()).toEqual([
    ['10.0.0.2', 4, null],
    ['10.0.0.1', 0, 'tls-handshake'],
  ]);
  await note([record({ src: '10.0.0.2' }), ...Array.from({ length: 400 }, (_, n) => closedAt(n * 1000))]);
  expect((await read()).length).toBe(301);
  // The process ended: the next one reports for its name. Until then the state is unknown after five minutes.
  await db.client.query(`update mllp_connection set reported_at = now() - interval '6 minutes' where run = $1`, [run]);
  expect(await sources()).toContainEqual(['10.0.0.2', 0, 'sidecar-silent']);
  await note([], randomUUID());
  expect(await sources()).toContainEqual(['10.0.0.2', 0, 'sidecar-stopped']);
});
