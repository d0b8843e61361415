/**
 * The test kills the edge and PostgreSQL while senders send messages, each until it is acknowledged. Every message is stored
 * exactly once, and every AA is true. Meanwhile subscribers, whose connections break, get each version at least once and in order.
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
import { eventsIn } from './fhir/notifications.ts';
import { sized } from '../stack/tools/size.ts';

const MESSAGES = sized(200, 4000);
const KILLS = sized(4, 40);
/** Versions of one document that a FHIR client writes. */
const DOCUMENT_VERSIONS = sized(40, 400);
const SUBSCRIBED = ['Patient', 'Observation', 'DiagnosticReport', 'DocumentReference'];
const PATIENTS = 40;
const SENDERS = 12;
/** A sender waits so long before it sends the same message again. */
const RESEND_MS = 50;

const message = (number: number): Uint8Array =>
  bytesOf(`${msh('ORU^R01^ORU_R01', `X${number}`)}
    PID|1||P${number % PATIENTS}^^^HOSP^MR||Doe^Jane
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

describe.each(RUNTIMES)('on %s', (runtime: Runtime) => {
  test('killed and killed again', { timeout: sized(300_000, 1_800_000) }, async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'gateway-exactly-once-'));
    let postgres = await startPostgres({ dataDir, settings: UNSAFE_BUT_FAST });
    const url = await prepareDatabase(postgres.url);
    const endpoint = await startDatabaseEndpoints({ databaseUrl: postgres.url });
    const query = async <Row extends object>(sql: string): Promise<Row[]> => {
      const client = new Client({ connectionString: postgres.url });
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
    const env = { FHIR_SUBSCRIPTIONS: 'on', JWKS_TRUSTED_HOSTS: '127.0.0.1', JOB_TICK_SECONDS: '0.5' };
    const options = { runtime, database, env, caCertificate: host.caCertificate };
    let gateway: Gateway = await startGateway(options);
    const { port, secrets } = gateway;
    const token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' });
    const fhirToken = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
    const root = `${gateway.fhirBaseUrl}/fhir`;
    const fhir = async (method: string, path: string, body?: object): Promise<Response> =>
      fetch(`${root}${path}`, {
        method,
        headers: { authorization: `Bearer ${fhirToken}`, 'content-type': 'application/fhir+json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(10_000),
      });
    const created = async (resource: { readonly resourceType: string }): Promise<string> => {
      const response = await fhir('POST', `/${resource.resourceType}`, resource);
      expect(response.status).toBe(201);
      return ((await response.json()) as { id: string }).id;
    };
    const subscribers = new Map<string, ReturnType<typeof brokenReceiver> & { readonly id: string }>();
    for (const type of SUBSCRIBED) {
      const receiver = brokenReceiver(`/${runtime}/${type}`);
      const id = await created({
        resourceType: 'Subscription',
        status: 'requested',
        reason: 'test',
        criteria: `${root}/SubscriptionTopic/${type}-changed`,
        channel: { type: 'rest-hook', endpoint: receiver.url, payload: 'application/fhir+json' },
      } as { resourceType: string });
      subscribers.set(type, { ...receiver, id });
    }

    const acks = new Map<number, string>();
    const contradictions: string[] = [];
    /** One attempt. If the answer is missing or has no ACK, the sender sends again. */
    const send = async (number: number): Promise<string | undefined> => {
      try {
        const response = await fetch(`http://127.0.0.1:${port}/hl7/messages`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
          body: Uint8Array.from(message(number)),
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
    const writer = async (): Promise<void> => {
      const id = await created(document(1));
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
      gateway = await startGateway({ ...options, port, secrets });
    };
    const restartPostgres = async (): Promise<void> => {
      await postgres.kill();
      postgres = await startPostgres({ dataDir, port: postgres.port, settings: UNSAFE_BUT_FAST });
    };
    const killer = async (): Promise<void> => {
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await until(
          `message ${kill} of ${KILLS + 1} parts`,
          () => acks.size >= (kill * MESSAGES) / (KILLS + 1),
          300_000,
        );
        await (kill % 2 === 1 ? restartPostgres() : restartEdge());
      }
    };

    try {
      await Promise.all([killer(), writer(), ...Array.from({ length: SENDERS }, sender)]);
      expect(contradictions).toEqual([]);
      const stored = await query<{ control_id: string; outcome: string; ack: Buffer }>(
        'select control_id, outcome, ack from hl7_message',
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
      expect(subscribers.get('DocumentReference')?.events.length).toBeGreaterThanOrEqual(DOCUMENT_VERSIONS);
    } finally {
      await gateway.kill();
      await endpoint.close();
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
