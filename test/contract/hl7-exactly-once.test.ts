/**
 * The test kills the edge and PostgreSQL while senders send messages, each until it is acknowledged. Every message is stored
 * exactly once, and every AA is true.
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
import { sized } from '../stack/tools/size.ts';

const MESSAGES = sized(200, 1000);
const PATIENTS = 40;
const SENDERS = 12;
/** A sender waits so long before it sends the same message again. */
const RESEND_MS = 50;

const message = (number: number): Uint8Array =>
  bytesOf(`${msh('ORU^R01^ORU_R01', `X${number}`)}
    PID|1||P${number % PATIENTS}^^^HOSP^MR||Doe^Jane
    OBR|1||F${number}|1^Test^L|||20260101||||||||||||||||||F
    OBX|1|NM|1^Test^L||${number}.0|mg/dL|||||F`);

describe.each(RUNTIMES)('on %s', (runtime: Runtime) => {
  test('killed and killed again', { timeout: 300_000 }, async () => {
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
    const key = await createApiKey(seed, { site, protocols: ['hl7'] });
    await seed.end();

    const database = { url, endpoint };
    let gateway: Gateway = await startGateway({ runtime, database });
    const { port, secrets } = gateway;
    const token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' });

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

    const restartEdge = async (): Promise<void> => {
      await gateway.kill();
      gateway = await startGateway({ runtime, database, port, secrets });
    };
    const restartPostgres = async (): Promise<void> => {
      await postgres.kill();
      postgres = await startPostgres({ dataDir, port: postgres.port, settings: UNSAFE_BUT_FAST });
    };
    const killer = async (): Promise<void> => {
      const acts = [restartPostgres, restartEdge, restartPostgres, restartEdge];
      for (const [at, act] of acts.entries()) {
        await until(`${at + 1} fifths`, () => acks.size >= ((at + 1) * MESSAGES) / 5);
        await act();
      }
    };

    try {
      await Promise.all([killer(), ...Array.from({ length: SENDERS }, sender)]);
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
    } finally {
      await gateway.kill();
      await endpoint.close();
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
