/**
 * The database answers but cannot run the query: it is read-only, full, slow, or broken permanently. For a temporary cause
 * every surface answers 503 with `Retry-After`, and no message is rejected. A fault of the gateway is 500 and keeps the
 * message. The same on workerd and on Deno.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { getToken } from '../stack/services/client.ts';
import { until } from '../stack/services/until.ts';
import { createApiKey } from '../stack/services/seed.ts';
import { RUNTIMES } from '../stack/tools/gateway.ts';
import { msh } from '../stack/tools/hl7-text.ts';
import { replyOf, startSubject, type Reply, type Subject } from './hl7/subject.ts';

/** Twice what is promised, for a busy machine. */
const PATIENCE_MS = 20_000;

/** The runtimes run in parallel, since most of the time is waiting. The cases of one runtime run in sequence. */
const IN_TURN = { concurrent: false } as const;

describe.concurrent.each(RUNTIMES)('a database that ails, on %s', (runtime) => {
  let subject: Subject;
  let fhirToken: string;
  let number = 0;
  let messages: { readonly http: string; readonly mllp: string };

  beforeAll(async () => {
    subject = await startSubject(runtime);
    const { db, site, gateway } = subject;
    const fhirKey = await createApiKey(db.client, { site, protocols: ['fhir'] });
    await createApiKey(db.client, { site, protocols: ['hl7-mllp'], allowedIps: ['192.0.2.10'] });
    fhirToken = await getToken(gateway.oauthBaseUrl, fhirKey, { audience: 'svc-fhir' });
  });
  afterAll(() => subject.stop());
  beforeEach(() => {
    number += 1;
    const message = (source: string) => `${msh('ADT^A01')}\nPID|1||${source}${number}^^^HOSP^MR||Doe^Jane`;
    messages = { http: message('H'), mllp: message('M') };
  });

  const ask = async (path: string, init: RequestInit = {}): Promise<Reply> =>
    replyOf(await fetch(subject.gateway.url + path, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) }));
  const headers = () => ({ authorization: `Bearer ${fhirToken}`, 'content-type': 'application/fhir+json' });
  const createPatient = () =>
    ask('/gateway/fhir/Patient', { method: 'POST', headers: headers(), body: '{"resourceType":"Patient"}' });
  const readPatients = () => ask('/gateway/fhir/Patient', { headers: headers() });

  /** One write for each way of writing. */
  const write = async () => ({
    fhir: await createPatient(),
    http: await subject.post(messages.http),
    mllp: await subject.forward(messages.mllp),
  });

  const comeAgain = ({ status, headers, text }: Reply) => [
    status,
    Number(headers.get('retry-after')) > 0,
    text.includes('MSA|'),
  ];
  const COME_AGAIN = [503, true, false];
  const written = async () => [
    await subject.count('from resource'),
    await subject.count('from hl7_message'),
    await subject.count('from hl7_attempt'),
  ];

  /** New connections see the changed database. */
  async function alter(change: string): Promise<void> {
    await subject.db.client.query(`alter database ${subject.db.name} ${change}`);
    await subject.db.client.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`);
  }

  /** Runs the statement on every insert of a resource while `during` runs. */
  async function withResources(statement: string, during: () => Promise<void>): Promise<void> {
    const { client } = subject.db;
    await client.query(
      `create function ail() returns trigger language plpgsql as $$ begin ${statement}; return new; end $$`,
    );
    await client.query('create trigger ail before insert on resource for each row execute function ail()');
    try {
      await during();
    } finally {
      await client.query('drop trigger ail on resource; drop function ail()');
    }
  }
  const raise = (state: string) => `raise exception 'no' using errcode = '${state}'`;

  test('read-only: not ready, 503 with Retry-After; afterwards no effect remains', IN_TURN, async () => {
    expect((await ask('/readyz')).status).toBe(200);
    const before = await written();
    await alter('set default_transaction_read_only = on');
    try {
      const answers = await write();
      expect(Object.entries(answers).map(([name, reply]) => [name, ...comeAgain(reply)])).toEqual(
        Object.keys(answers).map((name) => [name, ...COME_AGAIN]),
      );
      // An access without its row in the audit cannot be.
      expect(comeAgain(await readPatients())).toEqual(COME_AGAIN);
      const readiness = await until('it says so', async () => {
        const reply = await ask('/readyz');
        return reply.status === 503 && reply;
      });
      expect(comeAgain(readiness)).toEqual(COME_AGAIN);
      expect(readiness.text).toContain('does not accept writes');
    } finally {
      await alter('reset default_transaction_read_only');
    }
    expect(await written()).toEqual(before);

    // On Deno, the first request on a terminated connection is 503.
    await until('it is ready again', async () => (await ask('/readyz')).status === 200);
    const { fhir, http, mllp } = await write();
    expect([fhir.status, http.status, mllp.status]).toEqual([201, 200, 200]);
    expect([http.text, mllp.text].map((ack) => /MSA\|(\w+)/.exec(ack)?.[1])).toEqual(['AA', 'AA']);
  });

  test.each([
    ['a fail-over in the middle', '25006'],
    ['a disk that is full', '53100'],
    ['a lock table that is full', '53200'],
    ['a block that cannot be read', '58030'],
  ])('%s (%s): come again, and no message is rejected', IN_TURN, async (_, state) => {
    const before = await written();
    await withResources(raise(state), async () => {
      const answers = await write();
      expect(Object.values(answers).map(comeAgain)).toEqual([COME_AGAIN, COME_AGAIN, COME_AGAIN]);
    });
    expect(await written()).toEqual(before);
  });

  test.each([
    ['a privilege that is missing', '42501'],
    ['a key that is there', '23505'],
    ['an internal error', 'XX000'],
  ])('%s (%s): 500, and a message is kept until an operator fixes the cause', IN_TURN, async (_, state) => {
    const [versions = 0, stored = 0] = await written();
    await withResources(raise(state), async () => {
      const { fhir, http, mllp } = await write();
      expect([fhir.status, http.status, mllp.status]).toEqual([500, 422, 200]);
      expect([http.errors, mllp.errors]).toEqual([['E 207 MSH^1'], ['E 207 MSH^1']]);
    });
    expect((await written()).slice(0, 2)).toEqual([versions, stored + 2]);
    const waiting = "from hl7_message where outcome = 'AE' and has_failed";
    expect(await subject.count(waiting)).toBe(2);

    const [http, mllp] = [await subject.post(messages.http), await subject.forward(messages.mllp)];
    expect([http.text, mllp.text].map((ack) => /MSA\|(\w+)/.exec(ack)?.[1])).toEqual(['AA', 'AA']);
    expect(await subject.count(waiting)).toBe(0);
  });

  const SLEEPING = `from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and wait_event = 'PgSleep'`;

  test('slow: 503 with Retry-After in time, and no effect later', IN_TURN, async () => {
    const before = await written();
    await withResources('perform pg_sleep(30)', async () => {
      const answers = [createPatient(), subject.post(messages.http), subject.forward(messages.mllp)];
      const began = Date.now();
      expect((await Promise.all(answers)).map(comeAgain)).toEqual([COME_AGAIN, COME_AGAIN, COME_AGAIN]);
      expect(Date.now() - began).toBeLessThan(PATIENCE_MS);
      // PostgreSQL also stops the query after the answer.
      await until('nothing sleeps any more', async () => (await subject.count(SLEEPING)) === 0, 10_000);
    });
    expect(await written()).toEqual(before);
  });
});
