/**
 * The test kills the edge, PostgreSQL and the receiver while senders send messages, each until it is acknowledged. Every message is
 * stored exactly once, and every AA is true. Meanwhile subscribers, whose connections break, get each version at least once and in
 * order. At full size on Deno, 100,000 versions are written under 100 kills.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { Client } from 'pg';
import { describe, expect, test } from 'vitest';

import { prepareDatabase } from '../stack/services/application-login.ts';
import { getToken } from '../stack/services/client.ts';
import { RUNTIMES, startGateway, type Gateway, type Runtime } from '../stack/tools/gateway.ts';
import { startDatabaseEndpoints } from '../stack/services/database-endpoints.ts';
import { startPostgres, UNSAFE_BUT_FAST } from '../stack/services/postgres.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { bytesOf, msh } from '../stack/tools/hl7-text.ts';
import { useKeyHost } from '../stack/tools/use-key-host.ts';
import { eventsIn, eventTimesIn } from './fhir/notifications.ts';
import { isFull, partOf, sized } from '../stack/tools/size.ts';

interface Size {
  /** Each makes two versions. */
  readonly messages: number;
  readonly kills: number;
  /** Versions of one document that a FHIR client writes. */
  readonly documentVersions: number;
  readonly patients: number;
}
/** Each program is killed once. */
const SMALL = { messages: 90, kills: 3, documentVersions: 20, patients: 20 };
const LARGE = { messages: 6000, kills: 40, documentVersions: 400, patients: 40 };
const LARGEST = { messages: partOf(45_000), kills: partOf(100), documentVersions: partOf(10_000), patients: 500 };
const sizeOf = (runtime: Runtime): Size => sized(SMALL, runtime === 'deno' ? LARGEST : LARGE);
/** A killed receiver accepts no connection for so long. */
const RECEIVER_AWAY_MS = 500;
const SUBSCRIBED = ['Patient', 'Observation', 'DiagnosticReport', 'DocumentReference'];
const SENDERS = 12;
/** The kills happen in this share of the messages. The rest measures the time from a write to its delivery. */
const KILLED_SHARE = 0.5;
/** After the last start, what waited is delivered first. */
const SETTLED_MS = 5000;
/** Well within the 300 s of a token. */
const RENEW_AFTER_MS = 150_000;
/** A sender waits so long before it sends the same message again. */
const RESEND_MS = 50;

const message = (number: number, patients: number): Uint8Array =>
  bytesOf(`${msh('ORU^R01^ORU_R01', `X${number}`)}
    PID|1||P${number % patients}^^^HOSP^MR||Doe^Jane
    OBR|1||F${number}|1^Test^L|||20260101||||||||||||||||||F
    OBX|1|NM|1^Test^L||${number}.0|mg/dL|||||F`);

const host = await useKeyHost();

/** A subscriber whose connections break: before it has read a notification, or after it has stored it. */
function brokenReceiver(path: string) {
  const events: { readonly event: number; readonly focus: string }[] = [];
  let posts = 0;
  const url = host.serve(path, (response, request) => {
    const turn = (posts += 1) % 5;
    if (turn === 1) return void request.destroy();
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      events.push(...eventsIn(JSON.parse(text)));
      if (turn === 3) response.destroy();
      else response.writeHead(200).end();
    });
  });
  return { url, events };
}

/** A subscriber that only its kills interrupt: the time between each write and its first delivery. */
function promptReceiver(path: string) {
  const delays = new Map<string, { readonly at: number; readonly ms: number }>();
  const url = host.serve(path, (response, request) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      response.writeHead(200).end();
      for (const { event, time } of eventTimesIn(JSON.parse(text)))
        if (!delays.has(event)) delays.set(event, { at: time, ms: Date.now() - time });
    });
  });
  return { url, delays };
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

/** test/e2e/sidecar-faults.test.ts kills a gateway on Deno. */
const KILLED = sized<readonly Runtime[]>(['workerd'], RUNTIMES);

describe.each(KILLED)('on %s', (runtime: Runtime) => {
  const { messages: MESSAGES, kills: KILLS, documentVersions: DOCUMENT_VERSIONS, patients: PATIENTS } = sizeOf(runtime);
  test('killed and killed again', { timeout: sized(300_000, 7_200_000) }, async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'gateway-exactly-once-'));
    let postgres = await startPostgres({ dataDir, settings: UNSAFE_BUT_FAST });
    const url = await prepareDatabase(postgres.url);
    const endpoint = await startDatabaseEndpoints({ databaseUrl: postgres.url });
    const query = async <Row extends object>(sql: string): Promise<Row[]> => {
      const client = new Client({ connectionString: postgres.url });
      // A killed server also ends a connection that no query waits for.
      client.on('error', () => undefined);
      await client.connect();
      const { rows } = await client.query<Row>(sql);
      await client.end();
      return rows;
    };
    const seed = new Client({ connectionString: postgres.url });
    await seed.connect();
    const site = await createSite(seed);
    const key = await createApiKey(seed, {
      site,
      protocols: ['hl7', 'fhir'],
      subscriptionHosts: [`127.0.0.1:${host.port}`],
    });
    await seed.end();

    const database = { url, endpoint };
    const env = { FHIR_SUBSCRIPTIONS: 'on', JWKS_TRUSTED_HOSTS: '127.0.0.1' };
    const options = { runtime, database, caCertificate: host.caCertificate };
    const ticking = { ...env, JOB_TICK_SECONDS: '0.5' };
    let gateway: Gateway = await startGateway({ ...options, env: ticking });
    const { port, secrets } = gateway;
    const tokens = new Map<string, { readonly token: string; readonly at: number }>();
    /** Tokens expire during the full size. */
    const tokenFor = async (audience: 'svc-hl7-http' | 'svc-fhir'): Promise<string> => {
      const known = tokens.get(audience);
      if (known !== undefined && Date.now() - known.at < RENEW_AFTER_MS) return known.token;
      const token = await getToken(gateway.oauthBaseUrl, key, { audience });
      tokens.set(audience, { token, at: Date.now() });
      return token;
    };
    const root = `${gateway.fhirBaseUrl}/fhir`;
    const fhir = async (method: string, path: string, body?: object): Promise<Response> =>
      fetch(`${root}${path}`, {
        method,
        headers: { authorization: `Bearer ${await tokenFor('svc-fhir')}`, 'content-type': 'application/fhir+json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(10_000),
      });
    const created = async (resource: { readonly resourceType: string }): Promise<string> => {
      const response = await fhir('POST', `/${resource.resourceType}`, resource);
      expect(response.status).toBe(201);
      return ((await response.json()) as { id: string }).id;
    };
    const subscribers = new Map<string, ReturnType<typeof brokenReceiver> & { readonly id: string }>();
    const subscribe = (type: string, endpoint: string): Promise<string> =>
      created({
        resourceType: 'Subscription',
        status: 'requested',
        reason: 'test',
        criteria: `${root}/SubscriptionTopic/${type}-changed`,
        channel: { type: 'rest-hook', endpoint, payload: 'application/fhir+json' },
      } as { resourceType: string });
    for (const type of SUBSCRIBED) {
      const receiver = brokenReceiver(`/${encodeURIComponent(runtime)}/${type}`);
      subscribers.set(type, { ...receiver, id: await subscribe(type, receiver.url) });
    }
    const prompt = promptReceiver(`/${encodeURIComponent(runtime)}/prompt`);
    await subscribe('Observation', prompt.url);

    const acks = new Map<number, string>();
    const contradictions: string[] = [];
    /** One attempt. If the answer is missing or has no ACK, the sender sends again. */
    const send = async (number: number): Promise<string | undefined> => {
      try {
        const response = await fetch(`http://127.0.0.1:${port}/hl7/messages`, {
          method: 'POST',
          headers: { authorization: `Bearer ${await tokenFor('svc-hl7-http')}`, 'content-type': 'text/plain' },
          body: Uint8Array.from(message(number, PATIENTS)),
          signal: AbortSignal.timeout(10_000),
        });
        const text = await response.text();
        if (response.status === 200) return text;
        if (response.status === 503 && !response.headers.has('retry-after'))
          contradictions.push('503 without Retry-After');
        if (response.status < 500 || text.includes('MSA|')) contradictions.push(`${response.status} ${text}`);
      } catch {
        // Refused, reset or cut off in the middle.
      }
      return undefined;
    };

    const queue = Array.from({ length: MESSAGES }, (_, number) => number);
    const sender = async (): Promise<void> => {
      for (let number = queue.pop(); number !== undefined; number = queue.pop()) {
        for (let ack = await send(number); ; ack = await send(number)) {
          if (ack !== undefined) {
            acks.set(number, ack);
            break;
          }
          await delay(RESEND_MS);
        }
      }
    };

    const document = (version: number) => ({
      resourceType: 'DocumentReference',
      status: 'current',
      description: `version ${version}`,
      content: [{ attachment: { contentType: 'text/plain' } }],
    });
    const id = await created(document(1));
    const writer = async (): Promise<void> => {
      for (let version = 2; version <= DOCUMENT_VERSIONS; version += 1) {
        // The same content again makes no version.
        const put = () => fhir('PUT', `/DocumentReference/${id}`, { ...document(version), id }).catch(() => undefined);
        while ((await put())?.status !== 200) await delay(RESEND_MS);
      }
    };
    /** As if the pauses between two posts and the leases of killed runners had passed. */
    const pass = async (): Promise<void> => {
      await query(`update subscription set next_at = now(), lease_until = null where status <> 'off';
        update job set run_after = now(), lease_until = null where state = 'open'`).catch(() => undefined);
      await gateway.tick?.().catch(() => undefined);
    };

    const restartEdge = async (): Promise<void> => {
      await gateway.kill();
      gateway = await startGateway({ ...options, env: ticking, port, secrets });
    };
    const restartPostgres = async (): Promise<void> => {
      await postgres.kill();
      postgres = await startPostgres({ dataDir, port: postgres.port, settings: UNSAFE_BUT_FAST });
    };
    const killer = async (): Promise<void> => {
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await until(`kill ${kill} of ${KILLS}`, () => acks.size >= (kill * MESSAGES * KILLED_SHARE) / KILLS, 300_000);
        await [() => host.restart(RECEIVER_AWAY_MS), restartPostgres, restartEdge][kill % 3]?.();
      }
      if (isFull) {
        await until('the failed posts have been repeated', async () => {
          const [waiting] = await query(`select from subscription where attempts > 0 and endpoint like '%/prompt'`);
          return waiting === undefined;
        });
        // Until the writes end, nothing but the wake-up of each write delivers.
        await gateway.stop();
        gateway = await startGateway({ ...options, env, port, secrets });
        undisturbedFrom = Date.now() + SETTLED_MS;
      }
      ended.abort();
    };
    let undisturbedFrom = Infinity;
    const ended = new AbortController();
    /** The pauses of failed posts, which are longer than the test, pass quickly. */
    const passing = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        await delay(2000);
        await pass();
      }
    };

    try {
      await Promise.all([killer(), writer(), passing(), ...Array.from({ length: SENDERS }, sender)]);
      expect(contradictions).toEqual([]);
      if (isFull) await restartEdge();
      const stored = await query<{ control_id: string; outcome: string; ack: Buffer }>(
        'select m.control_id, m.outcome, a.ack from hl7_message m join hl7_attempt a using (site_id, message_id) where a.number = 1',
      );
      expect(stored).toHaveLength(MESSAGES);
      expect(new Set(stored.map(({ control_id }) => control_id)).size).toBe(MESSAGES);
      // The stored ACK equals the sender's answer.
      const kept = new Map(stored.map(({ control_id, ack }) => [control_id, ack.toString()]));
      for (const [number, ack] of acks) expect(ack).toBe(kept.get(`X${number}`));

      const [counts] = await query(`select
        (select count(*)::int from resource where type = 'Observation') as observations,
        (select count(*)::int from resource where type = 'Observation' and version = 1) as first_versions,
        (select count(*)::int from resource where type = 'Patient') as patients,
        (select count(*)::int from report) as reports,
        (select count(*)::int from hl7_message_resource) as links`);
      expect(counts).toEqual({
        observations: MESSAGES,
        first_versions: MESSAGES,
        patients: PATIENTS,
        reports: MESSAGES,
        links: 3 * MESSAGES,
      });

      for (const [type, { id, events }] of subscribers) {
        const versions = await query<{ focus: string }>(`
          select type || '/' || id || '/_history/' || version as focus from (
            select type, id, version from resource union all select type, id, version from resource_history) v
           where type = '${type}' order by id, version`);
        const wanted = versions.map(({ focus }) => focus);
        await until(
          `all of ${type} arrives`,
          async () => {
            await pass();
            return new Set(events.map(({ focus }) => focus)).size >= wanted.length;
          },
          sized(60_000, 600_000),
        );
        // A repeated event has the same number.
        const byNumber = new Map(events.map(({ event, focus }) => [event, focus]));
        expect(new Set(events.map(({ event, focus }) => `${event} ${focus}`)).size).toBe(byNumber.size);
        expect([...byNumber.keys()]).toEqual(wanted.map((_, n) => n + 1));
        expect([...byNumber.values()].toSorted()).toEqual(wanted.toSorted());
        const ofDocument = [...byNumber.values()].filter((focus) => focus.startsWith('DocumentReference'));
        expect(ofDocument).toEqual(ofDocument.map((focus, n) => focus.replace(/\d+$/, String(n + 1))));

        const asked: string[] = [];
        for (let first = 1; first <= wanted.length;) {
          const page = eventsIn(
            await (await fhir('GET', `/Subscription/${id}/$events?eventsSinceNumber=${first}`)).json(),
          );
          expect(page.map(({ event }) => event)).toEqual(page.map((_, n) => first + n));
          asked.push(...page.map(({ focus }) => focus));
          first += page.length;
        }
        expect(asked).toEqual([...byNumber.values()]);
      }
      const all = [...prompt.delays.values()];
      const delays = all.filter(({ at }) => at >= undisturbedFrom).map(({ ms }) => ms);
      if (isFull)
        console.log(
          `${runtime}: ${MESSAGES} messages, ${KILLS} kills; write to delivery without kills: ${delays.length} versions, ` +
            `median ${percentile(delays, 0.5)} ms, p95 ${percentile(delays, 0.95)} ms; with kills: ` +
            `p95 ${percentile(
              all.map(({ ms }) => ms),
              0.95,
            )} ms`,
        );
      expect(subscribers.get('DocumentReference')?.events.length).toBeGreaterThanOrEqual(DOCUMENT_VERSIONS);
    } finally {
      await gateway.kill();
      await endpoint.close();
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
