/** Alerts on a real PostgreSQL, from what the gateway has noted to what a receiver is sent, over a real socket. */
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { postNotices } from '../../edge/alerts/notices.ts';
import { watchAlerts } from '../../edge/alerts/watch.ts';
import { alertPurpose, webhookSecret } from '../../edge/http/webhook-signature.ts';
import type { JobKind } from '../../edge/jobs/kind.ts';
import { tick } from '../../edge/jobs/tick.ts';
import { askForAlerts } from '../../edge/store/alert.ts';
import { askForChanges, numberChanges } from '../../edge/store/change-feed.ts';
import { inSite } from '../../edge/store/in-site.ts';
import { noteUsage } from '../../edge/store/usage.ts';
import type { LogEntry } from '../../shared/log.ts';
import { type ApiKey, createApiKey, createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { edgeDatabase, useTestDatabase } from '../stack/tools/database.ts';
import { noteRefusalsSql, refusalOf } from '../stack/tools/refusal.ts';
import { testDeps } from '../stack/tools/test-deps.ts';
import { makeSecrets } from '../stack/services/secrets.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let site: string;
let key: ApiKey;
let receiver: Server;
let received: Received[];
let answers: number[];
let logged: LogEntry[];
let isProviderAway: boolean;
let kinds: { watch: JobKind; post: JobKind };
const secrets = ['a'.repeat(43), 'b'.repeat(43)];

const db = await useTestDatabase();
const database = edgeDatabase(db);
beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      response.writeHead(answers.shift() ?? 204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { env } = await makeSecrets();
  const signing = (JSON.parse(env.TOKEN_SIGNING_KEYS) as { keys: object[] }).keys;
  const deps = testDeps({
    signingKeys: signing,
    env: {
      GATEWAY_SECRET: secrets.join(','),
      JWKS_TRUSTED_HOSTS: '127.0.0.1',
      ADMIN_PUBLIC_BASE_URL: 'https://console.example',
    },
    // The receiver here has no certificate; the contract tests' has.
    fetch: (url, init) => fetch(url.replace('https:', 'http:'), init),
  });
  kinds = { watch: watchAlerts(deps.config, async () => isProviderAway), post: postNotices(deps) };
});
afterAll(() => void receiver.close());

const webhook = () => `https://127.0.0.1:${(receiver.address() as AddressInfo).port}/alerts`;

beforeEach(async () => {
  [received, answers, logged] = [[], [], []];
  isProviderAway = false;
  await db.client.query('truncate site cascade; truncate job, sidecar_seen, signing_key_seen');
  site = await createSite(db.client);
  key = await createApiKey(db.client, { site, protocols: ['hl7'] });
  await db.client.query('update site set alert_webhook = $1', [webhook()]);
  await database.run(askForAlerts());
});

/** A job's turn, now. */
async function turn(kind: 'watch' | 'post'): Promise<void> {
  await db.client.query('update job set run_after = now()');
  const deps = { database, now: () => Date.now(), log: (entry: LogEntry) => void logged.push(entry) };
  expect(await tick(deps, [kinds[kind]], 0)).toEqual({ advanced: 1, failed: 0 });
}

/** As if so much time had passed for all that is known. */
const ago = (table: string, columns: readonly string[], time: string) =>
  db.client.query(
    `update ${table} set ${columns.map((column) => `${column} = ${column} - interval '${time}'`).join(', ')}`,
  );

const firingAlerts = async () =>
  (await db.client.query('select kind, subject, notified from alert where resolved_at is null order by kind')).rows;

const failing = () =>
  db.client.query(
    `insert into hl7_message (site_id, message_id, client_id, received_at, source, source_address,
       sending_application, sending_facility, control_id, sha256, message_type, raw, outcome, has_failed)
     values ($1, gen_random_uuid(), $2, now() - interval '1 hour', 'http', '', '', '', 'C1', 'x', 'ADT', '', 'AE', true)`,
    [site, key.clientId],
  );

test('each cause opens an alert of the affected site only', async () => {
  const other = await createSite(db.client);
  const stalled = await createSite(db.client);
  await createApiKey(db.client, { site: other, protocols: ['fhir'] });
  await failing();
  await db.client.query(
    `insert into usage (site_id, bucket, surface, outcome, requests, latency)
       values ($1, date_bin('15 minutes', now(), 'epoch'), 'fhir', 'refused', 30, '{}')`,
    [site],
  );
  await db.client.query('update api_key set silent_after_minutes = 30 where client_id = $1', [key.clientId]);
  await ago('api_key', ['updated_at'], '1 hour');
  const mllp = await createApiKey(db.client, { site, protocols: ['hl7-mllp'], allowedIps: ['192.0.2.1'] });
  await db.client.query(`update api_key set jwks = null, jwks_uri = 'https://keys.example/jwks' where client_id = $1`, [
    mllp.clientId,
  ]);
  await ago('api_key', ['updated_at'], '1 hour');
  const reason = 'any text';
  await db.client.query(...noteRefusalsSql(refusalOf(mllp.clientId, { code: 'jwks_uri', reason, requests: 3 })));
  await db.client.query(`insert into sidecar_seen (issuer, last_seen) values ('ward', now() - interval '10 minutes')`);
  // A version has waited for a quarter of an hour, behind a transaction that does not end.
  await createApiKey(db.client, { site: stalled, subscriptionHosts: ['hooks.example.org'] });
  await database.run(askForChanges());
  const old = await db.connect();
  await old.query('begin');
  await old.query('select pg_current_xact_id()');
  const numbered = async () => (await inSite(database, stalled).run(numberChanges(stalled, 100)))[0];
  await db.client.query(
    `insert into resource (site_id, type, id, version, last_updated, meta, body)
     values ($1, 'Patient', gen_random_uuid(), 1, now() - interval '15 minutes', '', '')`,
    [stalled],
  );
  expect(await numbered()).toEqual({ has_more: false, is_waiting: true });
  // The job has checked without a break for an hour.
  await db.client.query(
    `update job set cursor = json_build_object('checkedAt', extract(epoch from now() - interval '1 minute') * 1000, 'since', 0)
      where kind = 'alerts'`,
  );
  await turn('watch');
  expect(await firingAlerts()).toEqual([
    { kind: 'changes-stalled', subject: '', notified: '' },
    { kind: 'error-rate', subject: 'fhir', notified: 'firing' },
    { kind: 'feed-silent', subject: key.clientId, notified: 'firing' },
    { kind: 'jwks-uri-failing', subject: mllp.clientId, notified: 'firing' },
    { kind: 'replay-needed', subject: '', notified: 'firing' },
    { kind: 'sidecar-silent', subject: 'ward', notified: 'firing' },
  ]);
  expect((await db.client.query('select from alert where site_id = $1', [other])).rowCount).toBe(0);
  await old.query('commit');
  await until('the version has its number', async () => (await numbered())?.is_waiting === false);
  const isClear = 'select clear_since is not null as clear from alert where site_id = $1';
  expect((await db.client.query(isClear, [stalled])).rows).toEqual([{ clear: false }]);
  await turn('watch');
  expect((await db.client.query(isClear, [stalled])).rows).toEqual([{ clear: true }]);
  const { rows: measured } = await db.client.query<{ kind: string; numbers: object }>(
    'select kind, numbers from alert where site_id = $1 and resolved_at is null',
    [site],
  );
  expect(Object.fromEntries(measured.map(({ kind, numbers }) => [kind, numbers]))).toEqual({
    'error-rate': { percent: 25, requests: 30, errors: 30 },
    'feed-silent': { afterMinutes: 30, since: expect.any(Number) },
    'jwks-uri-failing': { failures: 3 },
    'replay-needed': { messages: 1 },
    'sidecar-silent': { lastAt: expect.any(Number) },
  });
  expect(logged.map(({ event }) => event)).toEqual(Array(6).fill('alert.firing'));
  await turn('post');
  expect(received).toHaveLength(5);
});

test('changes that no runner compares with the filters are stalled, not those of a site without subscriptions', async () => {
  const uncompared = await createSite(db.client);
  const since = async () =>
    (
      await db.client.query<{ kinds: { 'changes-stalled': { site: string; since: number }[] } }>(
        `select alert_facts('{}') -> 'kinds' as kinds`,
      )
    ).rows[0]?.kinds['changes-stalled'].find((one) => one.site === uncompared)?.since;
  const { clientId } = await createApiKey(db.client, { site: uncompared, subscriptionHosts: ['hooks.example.org'] });
  await database.run(askForChanges());
  await db.client.query(
    `insert into change (site_id, number, type, id, version, reached)
       select $1, n, 'Patient', gen_random_uuid(), 1, now() - interval '15 minutes' from generate_series(1, 2) n`,
    [uncompared],
  );
  await db.client.query(
    `update change_position set last_number = 2, matched = 1, matched_at = now() - interval '20 minutes' where site_id = $1`,
    [uncompared],
  );
  expect(await since()).toBeUndefined();
  await db.client.query(
    `insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count)
       values ($1, gen_random_uuid(), $2, 'Patient', '', 'id-only', 'x', 'x', 'x', 1)`,
    [uncompared, clientId],
  );
  expect(Date.now() - ((await since()) ?? 0)).toBeGreaterThan(14 * 60_000);
  // A subscription that starts at an export is behind from its creation on.
  await db.client.query('update subscription set matched = 0, matched_at = now() where site_id = $1', [uncompared]);
  expect(Date.now() - ((await since()) ?? 0)).toBeLessThan(60_000);
  await db.client.query('update subscription set matched = 2 where site_id = $1', [uncompared]);
  expect(await since()).toBeUndefined();
});

test('subscriptions that fail or are an hour behind, not those that are paused, have ended or began again lately', async () => {
  const { clientId } = await createApiKey(db.client, { site, subscriptionHosts: ['hooks.example.org'] });
  await database.run(askForChanges());
  await db.client.query(
    `insert into change (site_id, number, type, id, version, reached)
       values ($1, 1, 'Patient', gen_random_uuid(), 1, now() - interval '2 hours'), ($1, 2, 'Patient', gen_random_uuid(), 1, now())`,
    [site],
  );
  const minutes = (count: number): string => new Date(Date.now() - count * 60_000).toISOString();
  /** @returns the number of subscriptions in the alert */
  const alerted = async (given: {
    readonly status: string;
    readonly failing?: number;
    readonly ended?: number;
    readonly restarted?: number;
    readonly delivered?: number;
  }): Promise<number> => {
    const { status, failing: since, ended, restarted = 300, delivered = 0 } = given;
    const times = [since, ended, restarted].map((count) => (count === undefined ? null : minutes(count)));
    await db.client.query('delete from subscription where site_id = $1', [site]);
    await db.client.query(
      `with made as (
         insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count,
             matched, status, last_event, delivered, failing_since, ends_at, restarted_at)
           values ($1, gen_random_uuid(), $2, 'Patient', '', 'id-only', 'https://hooks.example.org/', 'hooks.example.org', 'test', 10,
             2, $3, 2, $4, $5, $6, $7) returning subscription_id)
       insert into subscription_event (site_id, subscription_id, last_event, numbers) select $1, subscription_id, 2, '{1,2}' from made`,
      [site, clientId, status, delivered, ...times],
    );
    const { rows } = await db.client.query<{ found: { subject: string; subscriptions: number }[] }>(
      `select alert_facts('{}') -> 'kinds' -> 'subscription-failing' as found`,
    );
    return rows[0]?.found.find(({ subject }) => subject === clientId)?.subscriptions ?? 0;
  };
  expect(await alerted({ status: 'error' })).toBe(1);
  expect(await alerted({ status: 'active', failing: 61, restarted: 5 })).toBe(1);
  // Accepted, but too slowly: its first event has waited for two hours.
  expect(await alerted({ status: 'active' })).toBe(1);
  expect(await alerted({ status: 'active', delivered: 1 })).toBe(0);
  expect(await alerted({ status: 'active', failing: 59, restarted: 5 })).toBe(0);
  // Resumed after a pause, sent again, or from an export on.
  expect(await alerted({ status: 'active', restarted: 30 })).toBe(0);
  expect(await alerted({ status: 'off', failing: 90 })).toBe(0);
  expect(await alerted({ status: 'active', failing: 90, ended: 1 })).toBe(0);
  expect(await alerted({ status: 'error', ended: 1 })).toBe(0);
});

test.each([
  ['of another client since', 'other', 2, true],
  ['one a minute after, perhaps with kept keys', 'own', 11, true],
  ['one ten minutes after', 'own', 2, false],
] as const)(
  'a JWKS URI that failed twelve minutes ago, and good assertions: %s',
  async (_, whose, minutes, isFailing) => {
    const other = await createApiKey(db.client, { site });
    await db.client.query(
      `update api_key set jwks = null, jwks_uri = 'https://keys.example/jwks' where client_id = $1`,
      [key.clientId],
    );
    await ago('api_key', ['updated_at'], '1 hour');
    const refused = refusalOf(key.clientId, { code: 'jwks_uri', reason: 'its host answered 503', requests: 3 });
    await db.client.query(...noteRefusalsSql(refused));
    await ago('refusal', ['since', 'first_at', 'last_at'], '12 minutes');
    const { clientId } = whose === 'own' ? key : other;
    const at = Date.now() - minutes * 60_000;
    await database.run(noteUsage({ counts: [], answers: [], keys: [], kids: [{ site, clientId, kid: 'k', at }] }));
    await turn('watch');
    expect((await firingAlerts()).map(({ kind }) => kind)).toEqual(isFailing ? ['jwks-uri-failing'] : []);
    await db.client.query(...noteRefusalsSql(refused));
    await turn('watch');
    expect((await firingAlerts()).map(({ kind }) => kind)).toEqual(['jwks-uri-failing']);
  },
);

test('no feed is silent right after a break of the gateway', async () => {
  await db.client.query('update api_key set silent_after_minutes = 30');
  await createApiKey(db.client, { site, protocols: ['hl7-mllp'], allowedIps: ['192.0.2.1'] });
  await ago('api_key', ['updated_at'], '9 hours');
  await db.client.query(`insert into sidecar_seen (issuer, last_seen) values ('ward', now() - interval '9 hours')`);
  await turn('watch');
  expect(await firingAlerts()).toEqual([]);
});

test('a notice is signed by each secret, links to the console and names no person', async () => {
  await failing();
  await turn('watch');
  await turn('post');
  const [{ headers, body } = { headers: {}, body: '' }] = received;
  const { type, data } = JSON.parse(body) as { type: string; data: Record<string, unknown> };
  expect(type).toBe('alert.firing');
  expect(data).toEqual({
    alertId: expect.any(String),
    site,
    kind: 'replay-needed',
    subject: '',
    summary: expect.any(String),
    firingSince: expect.stringMatching(/Z$/),
    resolvedAt: null,
    times: 1,
    url: 'https://console.example/admin/alerts',
  });
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const signatures = await Promise.all(
    secrets.map(async (secret) => {
      const known = Buffer.from((await webhookSecret([secret], alertPurpose(site))).replace('whsec_', ''), 'base64');
      return `v1,${createHmac('sha256', known).update(signed).digest('base64')}`;
    }),
  );
  expect(headers['webhook-signature']).toBe(signatures.join(' '));
  expect(await webhookSecret(secrets, alertPurpose(site))).not.toBe(
    await webhookSecret(secrets, alertPurpose(randomUUID())),
  );
  expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
});

test('a receiver that was down for a night gets each notice with its id in the morning, and delays no other site', async () => {
  const other = await createSite(db.client);
  await createApiKey(db.client, { site: other });
  await db.client.query(`update site set alert_webhook = 'https://nowhere.invalid/x' where site_id = $1`, [other]);
  await db.client.query(
    `insert into alert (site_id, alert_id, kind, subject, firing_since, notified, notified_at) values ($1, $2, 'error-rate', 'fhir', now(), 'firing', now())`,
    [other, randomUUID()],
  );
  await db.client.query(
    `insert into alert_notice (site_id, notice_id, alert_id, state, at, next_at)
       select $1, gen_random_uuid(), a.alert_id, 'firing', now(), now() from alert a, generate_series(1, 30)`,
    [other],
  );
  await failing();
  await turn('watch');
  answers = [503, 500];
  await turn('post');
  const waits = async () =>
    (
      await db.client.query<{ minutes: number; last_answer: string }>(
        `select round(extract(epoch from next_at - now()) / 60)::int as minutes, last_answer from alert_notice where site_id = $1`,
        [site],
      )
    ).rows;
  expect(await waits()).toEqual([{ minutes: 1, last_answer: '503' }]);
  await turn('post');
  expect(received).toHaveLength(1);
  for (let hour = 0; hour < 9; hour += 1) {
    await db.client.query('update alert_notice set next_at = now() where site_id = $1', [site]);
    await ago('alert_notice', ['at'], '1 hour');
    if (hour > 0) answers = [503];
    await turn('post');
  }
  expect((await waits())[0]?.minutes).toBe(60);
  await db.client.query('update alert_notice set next_at = now() where site_id = $1', [site]);
  await turn('post');
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(
    (await db.client.query('select from alert_notice where site_id = $1 and delivered_at is not null', [site]))
      .rowCount,
  ).toBe(1);
  const tries = received.length;
  await turn('post');
  expect(received).toHaveLength(tries);
  expect(logged.filter(({ event }) => event === 'alert.not-delivered').length).toBeGreaterThan(10);
});

test('a notice is abandoned after three days, and immediately if the site has no webhook', async () => {
  await failing();
  await turn('watch');
  answers = [500];
  await ago('alert_notice', ['at'], '73 hours');
  await turn('post');
  const given = async () => (await db.client.query('select from alert_notice where given_up_at is not null')).rowCount;
  expect(await given()).toBe(1);
  await db.client.query('update alert_notice set given_up_at = null, next_at = now(), at = now()');
  await db.client.query('update site set alert_webhook = null');
  await turn('post');
  expect([await given(), received.length]).toEqual([1, 1]);
});

test('rejects a webhook at a private address when posting, and follows no redirects', async () => {
  await failing();
  for (const [url, answer] of [
    ['http://127.0.0.1/x', 'refused'],
    ['https://10.0.0.1/x', 'refused'],
    ['https://console.example/x', 'refused'],
  ]) {
    await db.client.query('truncate alert cascade');
    await db.client.query('update site set alert_webhook = $1', [url]);
    await turn('watch');
    await turn('post');
    const { rows } = await db.client.query('select last_answer, delivered_at from alert_notice');
    expect(rows).toEqual([{ last_answer: answer, delivered_at: null }]);
  }
  await db.client.query('truncate alert cascade');
  await db.client.query('update site set alert_webhook = $1', [webhook()]);
  answers = [302];
  await turn('watch');
  await turn('post');
  expect((await db.client.query('select last_answer from alert_notice')).rows).toEqual([{ last_answer: '302' }]);
});

test('an alert resolves ten minutes after its cause, and stays acknowledged until it fires again', async () => {
  await failing();
  await turn('watch');
  await db.client.query(`update alert set acknowledged_at = now(), acknowledged_by = 'Alex'`);
  await db.client.query('update hl7_message set has_failed = false');
  await turn('watch');
  expect((await db.client.query('select clear_since, acknowledged_by from alert')).rows).toEqual([
    { clear_since: expect.any(Date), acknowledged_by: 'Alex' },
  ]);
  await ago('alert', ['clear_since', 'notified_at', 'firing_since'], '20 minutes');
  await turn('watch');
  expect(
    (await db.client.query(`select from alert where resolved_at is not null and notified = 'resolved'`)).rowCount,
  ).toBe(1);
  await ago('alert', ['resolved_at', 'notified_at'], '20 minutes');
  await db.client.query('update hl7_message set has_failed = true');
  await turn('watch');
  const { rows } = await db.client.query('select times, acknowledged_by, notified from alert');
  expect(rows).toEqual([{ times: 2, acknowledged_by: null, notified: 'firing' }]);
  expect(logged.map(({ event }) => event)).toEqual(['alert.firing', 'alert.resolved', 'alert.firing']);
});

test('adds each job once, and again after the job has failed', async () => {
  await database.run(askForAlerts());
  const jobs = async () => (await db.client.query('select kind, state from job order by kind, state')).rows;
  const open = ['alert-notices', 'alerts'].map((kind) => ({ kind, state: 'open' }));
  expect(await jobs()).toEqual(open);
  await db.client.query(`update job set state = 'failed', ended_at = now() where kind = 'alerts'`);
  await database.run(askForAlerts());
  expect(await jobs()).toEqual([open[0], { kind: 'alerts', state: 'failed' }, open[1]]);
});

test('two failed checks of the provider in a row raise an alert; checks before a break do not count', async () => {
  isProviderAway = true;
  await turn('watch');
  expect(await firingAlerts()).toEqual([]);
  // As if the gateway itself had been away for an hour.
  await db.client.query(
    `update job set cursor = jsonb_set(cursor::jsonb, '{checkedAt}', to_jsonb((cursor::jsonb ->> 'checkedAt')::bigint - 3600000))::json
      where kind = 'alerts'`,
  );
  await turn('watch');
  expect(await firingAlerts()).toEqual([]);
  await turn('watch');
  expect(await firingAlerts()).toEqual([{ kind: 'provider-away', subject: '', notified: 'firing' }]);
  isProviderAway = false;
  await turn('watch');
  await ago('alert', ['clear_since'], '10 minutes');
  await turn('watch');
  expect(await firingAlerts()).toEqual([]);
});
