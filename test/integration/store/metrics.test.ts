/** The sums behind /metrics on a real PostgreSQL: they only grow, and a feed is as alive as its last message. */
import { expect, test } from 'vitest';

import { type Family, exposition } from '../../../edge/metrics/exposition.ts';
import { familiesOf } from '../../../edge/metrics/families.ts';
import { readMetrics } from '../../../edge/store/metrics.ts';
import { type Counted, type KeyCount, LATENCY_BOUNDS_MS, noteUsage } from '../../../edge/store/usage.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { edgeDatabase, useTestDatabase } from '../../stack/tools/database.ts';

const db = await useTestDatabase();
const database = edgeDatabase(db);
const site = await createSite(db.client);
const key = await createApiKey(db.client, { site, protocols: ['hl7'] });

const latency = (step: number) =>
  Array.from({ length: LATENCY_BOUNDS_MS.length + 1 }, (_, at) => (at === step ? 3 : 0));

const keyCount = (of: string, clientId: string, at = Date.now()): KeyCount => ({
  site: of,
  clientId,
  surface: 'hl7',
  application: 'LAB',
  facility: 'HOSP',
  at,
  accepted: 3,
  refused: 0,
  rejected: 0,
});

const counted = (more: Partial<Counted> = {}): Counted => ({
  counts: [
    { site, at: Date.now(), surface: 'hl7', outcome: 'ok', requests: 3, durationMs: 1_500, latency: latency(2) },
    { site, at: Date.now(), surface: 'hl7', outcome: 'refused', requests: 3, durationMs: 9, latency: latency(11) },
  ],
  answers: [{ site, surface: 'hl7', answer: 'AA', answers: 3 }],
  keys: [keyCount(site, key.clientId)],
  kids: [],
  ...more,
});

const KIDS = ['2026-01-02-abcd', 'old-ring'];

const families = async (limit = 100): Promise<Map<string, Family>> => {
  const [row] = await database.run(readMetrics(limit, KIDS));
  if (row === undefined) throw new Error('one row is expected');
  return new Map(familiesOf(row, { schema: 1, version: undefined, kids: KIDS }).map((family) => [family.name, family]));
};
const samplesOf = async (name: string) => (await families()).get(name)?.samples ?? [];

test('a count that is written twice is added, and stays when the traffic tables drop it', async () => {
  await database.run(noteUsage(counted()));
  await database.run(noteUsage(counted()));
  await db.client.query('delete from usage');
  const samples = await samplesOf('gateway_request_duration_seconds');
  const ok = samples.filter(({ labels }) => labels['outcome'] === 'ok');
  expect(ok.map(({ suffix, labels, value }) => [suffix, labels['le'], value]).slice(0, 4)).toEqual([
    ['_bucket', '0.002', 0],
    ['_bucket', '0.005', 0],
    ['_bucket', '0.01', 6],
    ['_bucket', '0.02', 6],
  ]);
  expect(ok.slice(-2).map(({ suffix, value }) => [suffix, value])).toEqual([
    ['_sum', 3],
    ['_count', 6],
  ]);
  const refused = samples.filter(({ labels }) => labels['outcome'] === 'refused');
  expect(refused.find(({ labels }) => labels['le'] === '5')?.value).toBe(0);
  expect(refused.find(({ labels }) => labels['le'] === '+Inf')?.value).toBe(6);
  expect(await samplesOf('gateway_acks_total')).toEqual([{ labels: { site, surface: 'hl7', code: 'AA' }, value: 6 }]);
});

test('a clock that is ahead makes no feed younger than now, and a clock that is behind makes no feed older than before', async () => {
  const [before] = await samplesOf('gateway_feed_last_message_timestamp_seconds');
  await database.run(noteUsage(counted({ keys: [keyCount(site, key.clientId, Date.now() + 86_400_000)] })));
  const [ahead] = await samplesOf('gateway_feed_last_message_timestamp_seconds');
  expect(ahead?.value).toBeLessThanOrEqual(Date.now() / 1000 + 60);
  await database.run(noteUsage(counted({ keys: [keyCount(site, key.clientId, 1)] })));
  const [behind] = await samplesOf('gateway_feed_last_message_timestamp_seconds');
  expect(behind?.value).toBe(ahead?.value);
  expect(Number(behind?.value)).toBeGreaterThanOrEqual(Number(before?.value));
});

test('writes nothing for deleted sites and keys, and everything else', async () => {
  const gone = '00000000-0000-7000-8000-000000000000';
  const [before] = await samplesOf('gateway_acks_total');
  await database.run(
    noteUsage(
      counted({
        answers: [
          { site: gone, surface: 'hl7', answer: 'AA', answers: 1 },
          { site, surface: 'hl7', answer: 'AA', answers: 1 },
        ],
        keys: [keyCount(gone, key.clientId)],
      }),
    ),
  );
  const [after, ...more] = await samplesOf('gateway_acks_total');
  expect([Number(after?.value) - Number(before?.value), more]).toEqual([1, []]);
});

test('a disabled key does not make a feed, and feeds above the limit are left out and reported', async () => {
  await createApiKey(db.client, { site, protocols: ['hl7'] }).then(({ clientId }) =>
    database.run(noteUsage(counted({ keys: [keyCount(site, clientId)] }))),
  );
  expect(await samplesOf('gateway_feed_last_message_timestamp_seconds')).toHaveLength(2);
  const [leftOut] = (await families(1)).get('gateway_metrics_left_out')?.samples ?? [];
  expect(leftOut).toEqual({ labels: { of: 'usage' }, value: 1 });
  await db.client.query("update api_key set status = 'disabled'");
  expect(await samplesOf('gateway_feed_last_message_timestamp_seconds')).toEqual([]);
});

test('messages to replay, sidecars and jobs', async () => {
  await db.client.query("insert into sidecar_seen (issuer) values ('ward\"1\\')");
  await db.client.query(
    `insert into job (job_id, kind, cursor, asked_by, run_after) values
       (gen_random_uuid(), 'reindex', '{}', 'test', now() - interval '1 hour')`,
  );
  const text = exposition([...(await families()).values()]);
  expect(text).toContain('gateway_sidecar_last_seen_timestamp_seconds{sidecar="ward\\"1\\\\"}');
  expect(text).toContain('gateway_jobs{kind="reindex",state="open"} 1\n');
  const [due] = await samplesOf('gateway_job_due_seconds');
  expect(Math.round(Number(due?.value) / 60)).toBe(60);
  expect(text).toContain('# TYPE gateway_messages_to_replay gauge\n');
});

test('returns alerts by state, and the creation times of signing keys', async () => {
  for (const kind of ['feed-silent', 'jwks-uri-failing', 'replay-needed', 'sidecar-silent']) {
    await db.client.query(
      `insert into alert (site_id, alert_id, kind, subject, firing_since) values ($1, gen_random_uuid(), $2, 'x', now())`,
      [site, kind],
    );
  }
  await db.client.query("update alert set acknowledged_at = now(), acknowledged_by = 'ada' where kind = 'feed-silent'");
  await db.client.query("update alert set resolved_at = now() where kind = 'replay-needed'");
  await db.client.query(
    "insert into alert_silence (site_id, kind, subject, silenced_by) values ($1, 'jwks-uri-failing', 'x', 'ada')",
    [site],
  );
  expect(await samplesOf('gateway_alerts')).toEqual([
    { labels: { site, kind: 'feed-silent', state: 'acknowledged' }, value: 1 },
    { labels: { site, kind: 'jwks-uri-failing', state: 'silenced' }, value: 1 },
    { labels: { site, kind: 'sidecar-silent', state: 'firing' }, value: 1 },
  ]);
  const created = () => samplesOf('gateway_signing_key_created_timestamp_seconds');
  const day = { labels: { kid: '2026-01-02-abcd', use: 'signs' }, value: Date.parse('2026-01-02') / 1000 };
  expect(await created()).toEqual([day]);
  await db.client.query("insert into signing_key_seen (kid, first_seen) values ('old-ring', to_timestamp(1700000000))");
  expect(await created()).toEqual([day, { labels: { kid: 'old-ring', use: 'published' }, value: 1_700_000_000 }]);
});

test('subscriptions: status, lag and posts of a site, also after they are deleted, and paused ones without lag', async () => {
  const { clientId } = await createApiKey(db.client, { site, subscriptionHosts: ['hooks.example.org'] });
  await db.client.query(
    `insert into change (site_id, number, type, id, version, reached)
       values ($1, 1, 'Patient', gen_random_uuid(), 1, now() - interval '90 seconds')`,
    [site],
  );
  await db.client.query(
    `with made as (
       insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count,
           matched, status, last_event, accepted, failed, ends_at)
         select $1, gen_random_uuid(), $2, 'Patient', '', 'id-only', 'https://hooks.example.org/', 'hooks.example.org', 'test', 10, 1,
                s, 1, 5, 2, case s when 'requested' then now() end
           from unnest('{requested,active,off}'::text[]) s returning subscription_id)
     insert into subscription_event (site_id, subscription_id, last_event, numbers) select $1, subscription_id, 1, '{1}' from made`,
    [site, clientId],
  );
  const status = async () =>
    Object.fromEntries(
      (await samplesOf('gateway_subscriptions')).map(({ labels, value }) => [labels['status'], value]),
    );
  expect(await status()).toEqual({ requested: 0, active: 1, error: 0, off: 2 });
  expect(await samplesOf('gateway_subscription_lag_events')).toEqual([{ labels: { site }, value: 1 }]);
  const [lag] = await samplesOf('gateway_subscription_lag_seconds');
  expect(lag?.value).toBeGreaterThanOrEqual(90);
  expect(lag?.value).toBeLessThan(3600);
  const posts = [
    { labels: { site, outcome: 'accepted' }, value: 15 },
    { labels: { site, outcome: 'failed' }, value: 6 },
  ];
  expect(await samplesOf('gateway_notifications_total')).toEqual(posts);
  await db.client.query(
    'select d.id from subscription s cross join subscription_delete(s.site_id, null, s.subscription_id) d',
  );
  expect(await status()).toEqual({ requested: 0, active: 0, error: 0, off: 0 });
  expect(await samplesOf('gateway_notifications_total')).toEqual(posts);
});
