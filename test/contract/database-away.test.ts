/**
 * A database that accepts connections and does not answer: every surface answers 503 with `Retry-After` in time. A request with
 * this answer has no later effect when the database continues. The same on workerd and on Deno.
 */
import { readFile } from 'node:fs/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { getToken, requestToken } from '../stack/services/client.ts';
import { type ApiKey, createApiKey, createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { signIn, startConsole, type TestConsole } from '../stack/tools/console.ts';
import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import { RUNTIMES } from '../stack/tools/gateway.ts';
import type { HttpBrowser } from '../stack/tools/http-browser.ts';
import { startSilentProxy, type SilentProxy } from '../stack/tools/silent-proxy.ts';
import { sidecarToken } from '../stack/tools/sidecar-token.ts';

/** Twice what is promised, for a busy machine; what hangs is seen all the same. */
const PATIENCE_MS = 20_000;

/** The runtimes run in parallel, since most of the time is waiting. The cases of one runtime run in sequence. */
const IN_TURN = { concurrent: false } as const;

describe.concurrent.each(RUNTIMES)('a database that does not answer, on %s', (runtime) => {
  let db: TestDatabase;
  let proxy: SilentProxy;
  let stack: TestConsole;
  let key: ApiKey;
  let browser: HttpBrowser;
  let message: Uint8Array<ArrayBuffer>;
  let fhirToken: string;
  let hl7Token: string;
  let adminToken: string;

  beforeAll(async () => {
    // One connection: what is asked while it is stopped cannot be answered over another that was opened meanwhile.
    db = await createTestDatabase({ connections: 1 });
    const overTcp = runtime === 'deno';
    proxy = await startSilentProxy(overTcp ? db.endpoint.wirePort : db.endpoint.port);
    const site = await createSite(db.client);
    key = await createApiKey(db.client, { site, protocols: ['fhir', 'hl7', 'hl7-mllp'] });
    const url = new URL(db.url);
    url.port = String(proxy.port);
    const env: Record<string, string> = overTcp
      ? { DATABASE_URL: url.href, DATABASE_CONNECTIONS: '1' }
      : { DATABASE_FETCH_ENDPOINT: `http://127.0.0.1:${proxy.port}/sql` };
    stack = await startConsole(runtime, db, site, { env });
    message = Uint8Array.from(await readFile(new URL('../messages/demo/adt-a04.hl7', import.meta.url)));
    fhirToken = await getToken(stack.gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
    hl7Token = await getToken(stack.gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' });
    adminToken = await stack.oidc.adminToken();
    browser = await signIn(stack);
  });
  afterAll(async () => {
    await stack.stop();
    await proxy.close();
    await db.drop();
  });

  const ask = (path: string, bearer: string, type?: string, body?: BodyInit): Promise<Response> =>
    fetch(`${stack.gateway.url}${path}`, {
      headers: { authorization: `Bearer ${bearer}`, ...(type === undefined ? {} : { 'content-type': type }) },
      ...(body === undefined ? {} : { method: 'POST', body }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });

  const createPatient = () => ask('/fhir/Patient', fhirToken, 'application/fhir+json', '{"resourceType":"Patient"}');

  const written = async (): Promise<unknown> => {
    const { rows } = await db.client.query(
      'select (select count(*)::int from resource) as resources, (select count(*)::int from hl7_message) as messages',
    );
    return rows[0];
  };

  /** Nothing runs in the database any more. */
  const atRest = () =>
    until('the database is at rest', async () => {
      const { rows } = await db.client.query(`select from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`);
      return rows.length === 0;
    });

  test('every surface answers 503 with Retry-After, and no request has an effect later', IN_TURN, async () => {
    proxy.silence();
    const asked: Record<string, Promise<Response>> = {
      readyz: ask('/readyz', ''),
      token: requestToken(stack.gateway.oauthBaseUrl, key),
      'fhir read': ask('/fhir/Patient', fhirToken),
      'fhir write': createPatient(),
      'hl7 over http': ask('/hl7/messages', hl7Token, 'text/plain', message),
      mllp: ask('/internal/mllp/messages', sidecarToken(stack.gateway, message), 'application/hl7-v2', message),
      'mllp ranges': ask('/internal/mllp/allowed-ranges', sidecarToken(stack.gateway, new Uint8Array(0))),
      'admin api': ask('/admin/api/api-keys', adminToken),
      'admin page': browser.ask(`${stack.baseUrl}/admin/keys`),
    };
    const answers = await Promise.all(
      Object.entries(asked).map(async ([name, answer]) => {
        const { status, headers } = await answer;
        return [name, status, Number(headers.get('retry-after')) > 0];
      }),
    );
    expect(answers).toEqual(Object.keys(asked).map((name) => [name, 503, true]));
    expect(proxy.held()).toBeGreaterThan(0);
    const scraped = await ask('/metrics', stack.gateway.secrets.env.METRICS_TOKEN ?? '');
    const metrics = await scraped.text();
    expect([scraped.status, metrics]).toEqual([200, expect.stringMatching(/^gateway_database_up 0$/m)]);
    expect(metrics).toMatch(/^gateway_info\{/m);
    expect(metrics).not.toContain('gateway_jobs');

    // One line alerts a person. Each failure during the outage is in the log line of its request.
    const lines = () =>
      stack.gateway
        .logs()
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    const refused = () => lines().filter(({ event, status }) => event === 'http.request' && status === 503);
    // A program's output arrives on another channel than its answers.
    await until('each is in the log', () => refused().length >= 9);
    expect(refused()).toHaveLength(9);
    expect(lines().filter(({ level }) => level === 'error')).toMatchObject([
      { event: 'dependency.away', subject: 'database' },
    ]);
    expect(lines().filter(({ event }) => event === 'dependency.back')).toEqual([]);

    proxy.speak();
    expect((await createPatient()).status).toBe(201);
    await until('its return is logged', () => lines().some(({ event }) => event === 'dependency.back'));
    expect(lines().filter(({ event }) => event === 'dependency.back')).toMatchObject([
      { level: 'info', subject: 'database', durationMs: expect.any(Number) },
    ]);
    await atRest();
    expect(await written()).toEqual({ resources: 1, messages: 0 });
  });

  test('processes of the database that are stopped, and go on later', IN_TURN, async () => {
    // The gateway closes a connection that is idle for some seconds.
    expect((await createPatient()).status).toBe(201);
    const stopped = new Set<number>();
    let before: unknown;
    let answer: Response | undefined;
    try {
      // A job of the gateway may open another connection meanwhile.
      for (let round = 0; round < 3 && answer?.status !== 503; round += 1) {
        const { rows } = await db.client.query<{ pid: number }>(
          `select pid from pg_stat_activity
            where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
        );
        expect(rows.length).toBeGreaterThan(0);
        for (const { pid } of rows) process.kill(pid, 'SIGSTOP');
        for (const { pid } of rows) stopped.add(pid);
        before = await written();
        answer = await createPatient();
      }
      expect([answer?.status, Number(answer?.headers.get('retry-after')) > 0]).toEqual([503, true]);
    } finally {
      for (const pid of stopped) process.kill(pid, 'SIGCONT');
    }
    await atRest();
    expect(await written()).toEqual(before);
    expect((await createPatient()).status).toBe(201);
  });
});
