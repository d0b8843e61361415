/**
 * The program for Deno as an operator runs it, with a PostgreSQL over TCP. It has only the permissions of
 * edge/platform/gateway-deno.sh. The cases cover each mode of TLS, and the program's end.
 */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Agent, createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';

import { useFolder } from '../stack/tools/use-folder.ts';
import { prepareDatabase } from '../stack/services/application-login.ts';
import { makeAuthority } from '../stack/services/certificate.ts';
import { getToken } from '../stack/services/client.ts';
import { startDenoEdge } from '../stack/services/edge-deno.ts';
import { freePort } from '../stack/services/free-port.ts';
import { type Postgres, startPostgres, UNSAFE_BUT_FAST } from '../stack/services/postgres.ts';
import { makeSecrets, type Secrets } from '../stack/services/secrets.ts';
import { type ApiKey, createApiKey, createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { runAdminHere } from '../stack/tools/command-line.ts';

const FAR = { tokenPerClient: 1e6, tokenPerAddress: 1e6, adminPerAddress: 1e6, perKey: 1e6 };

const folder = await useFolder('deno');
let postgres: Postgres;
let client: Client;
let url: string;
let secrets: Secrets;
let key: ApiKey;

beforeAll(async () => {
  const authority = makeAuthority();
  await writeFile(`${folder}/ca.pem`, authority.certificate);
  await writeFile(`${folder}/other-ca.pem`, makeAuthority().certificate);
  postgres = await startPostgres({ settings: UNSAFE_BUT_FAST, tls: authority.issue(['localhost']) });
  url = await prepareDatabase(postgres.url);
  client = new Client({ connectionString: postgres.url });
  await client.connect();
  key = await createApiKey(client, { site: await createSite(client) });
  secrets = await makeSecrets();
});
afterAll(async () => {
  await client.end();
  await postgres.stop();
});

async function start(database: string, { permissions = [] as readonly string[], env = {} } = {}) {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const surfaces = {
    INTEGRATION_OAUTH_PUBLIC_BASE_URL: base,
    INTEGRATION_FHIR_PUBLIC_BASE_URL: base,
    ...('ADMIN_OIDC_ISSUER' in env ? { ADMIN_PUBLIC_BASE_URL: base } : {}),
  };
  const edge = await startDenoEdge({
    port,
    env: { ...secrets.env, ...surfaces, DATABASE_URL: database, ...env },
    rateLimits: FAR,
    permissions,
  });
  return { ...edge, base, port };
}

describe('TLS', () => {
  const to = (host: string, parameters: string): string => {
    const there = new URL(url);
    there.hostname = host;
    return `${there.href}?${parameters.replaceAll('FOLDER', folder)}`;
  };

  test.each([
    ['localhost', 'sslmode=require', 200],
    ['localhost', 'sslmode=verify-full&sslrootcert=FOLDER/ca.pem', 200],
    ['127.0.0.1', 'sslmode=verify-ca&sslrootcert=FOLDER/ca.pem', 200],
    ['127.0.0.1', 'sslmode=verify-full&sslrootcert=FOLDER/ca.pem', 503],
    ['localhost', 'sslmode=verify-full&sslrootcert=FOLDER/other-ca.pem', 503],
    ['localhost', 'sslmode=require&sslrootcert=FOLDER/other-ca.pem', 503],
    ['localhost', 'sslmode=verify-full', 503],
  ])('%s %s: %d, and a command connects likewise', async (host, parameters, status) => {
    const { stderr } = await runAdminHere(['site', 'list'], { DATABASE_URL: to(host, parameters) });
    expect(stderr.startsWith('row security hides all sites'), stderr).toBe(status === 200);
    const edge = await start(to(host, parameters), { permissions: [`--allow-read=dist,${folder}`] });
    try {
      const ready = await fetch(`${edge.base}/readyz`);
      expect([ready.status, await ready.text()]).toEqual([status, expect.any(String)]);
      const { rows } = await client.query(
        `select ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'integration-gateway'`,
      );
      expect(rows.every(({ ssl }) => ssl === true)).toBe(true);
    } finally {
      await edge.kill();
    }
  });
});

test.each([
  [
    'a database on another machine and no setting for TLS',
    'postgres://u:secret@db.example.org/d',
    {},
    /DATABASE_URL must set the protection of the connection: sslmode=/,
  ],
  [
    'several wrong and misspelt variables',
    'mysql://u:secret@db.example.org/d',
    { FHIR_SERCH: 'us-core', GATEWAY_SECRET: '' },
    /DATABASE_URL must be .*; GATEWAY_SECRET is missing; FHIR_SERCH is not a setting: did you mean FHIR_SEARCH\?/,
  ],
  [
    'an address that this machine does not have',
    'postgres://u:secret@127.0.0.1/d',
    { HOST: '192.0.2.1' },
    /^HOST 192\.0\.2\.1, PORT \d+: /,
  ],
])('with %s it does not start, and one line of JSON has the reasons', async (_, database, env, reasons) => {
  const [title, ...lines] = await start(database, { env }).then(
    () => [],
    (error: Error) => error.message.trim().split('\n'),
  );
  expect(title).toBe('deno ended:');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { time: expect.any(String), level: 'error', event: 'configuration', detail: expect.stringMatching(reasons) },
  ]);
  expect(lines[0]).not.toContain('secret');
});

test('a misspelt variable is a warning; the version is the operator’s, else that of the package', async () => {
  const one = await start(`${url}?sslmode=require`, { env: { FHIR_SERCH: 'us-core', GATEWAY_VERSION: 'a1b2c3' } });
  const warning = one.logs().find((line) => line.includes('"event":"configuration"'));
  expect(JSON.parse(warning ?? '{}')).toMatchObject({
    level: 'warn',
    detail: 'FHIR_SERCH is not a setting: did you mean FHIR_SEARCH?',
  });
  expect(await (await fetch(`${one.base}/readyz`)).json()).toMatchObject({ version: 'a1b2c3' });
  await one.kill();
  const other = await start(`${url}?sslmode=require`);
  expect(await (await fetch(`${other.base}/readyz`)).json()).toMatchObject({
    version: expect.stringMatching(/^\d+\./),
  });
  await other.kill();
});

const exportedSpans = z
  .object({
    resourceSpans: z.array(
      z.object({ scopeSpans: z.array(z.object({ spans: z.array(z.looseObject({ spanId: z.string() })) })) }),
    ),
  })
  .transform(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );

test('Deno exports by OpenTelemetry the span that the request’s log line names, and to no other address', async () => {
  const exported: z.infer<typeof exportedSpans> = [];
  const others: IncomingHttpHeaders[] = [];
  /** The collector, and the staff's OpenID provider. */
  const host = createServer((incoming, outgoing) => {
    if (incoming.url?.startsWith('/.well-known/') === true) others.push(incoming.headers);
    void buffer(incoming).then((body) => {
      if (incoming.url === '/v1/traces') exported.push(...exportedSpans.parse(JSON.parse(String(body))));
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(host, 'listening');
  onTestFinished(() => void host.close());
  const there = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const edge = await start(url, {
    env: {
      OTEL_DENO: 'true',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_ENDPOINT: there,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      ADMIN_OIDC_ISSUER: there,
      ADMIN_OIDC_CLIENT_ID: 'console',
      ADMIN_OIDC_CLIENT_SECRET: 'secret',
    },
  });
  onTestFinished(() => edge.kill());
  const [traceId, parentSpanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const ofCaller = { traceparent: `00-${traceId}-${parentSpanId}-01`, baggage: 'patient=Doe' };
  for (const [path, headers, expected] of [
    ['/fhir/metadata', ofCaller, { traceId, parentSpanId }],
    ['/fhir/metadata', {}, {}],
    ['/admin', ofCaller, { traceId, parentSpanId }],
  ] as const) {
    const { headers: answered } = await fetch(`${edge.base}${path}`, { headers });
    const line = await until('the request is logged', () =>
      edge.logs().find((each) => each.includes('"http.request"') && each.includes(`"${answered.get('x-request-id')}"`)),
    );
    const logged = JSON.parse(line) as { traceId: string; spanId: string };
    expect(logged).toMatchObject(expected);
    const span = await until('its span is exported', () => exported.find(({ spanId }) => spanId === logged.spanId));
    expect(span).toMatchObject({ traceId: logged.traceId, ...expected });
  }
  expect(others).not.toEqual([]);
  expect(JSON.stringify(others)).not.toMatch(/4bf92f3577b34da6|Doe/);
});

describe('at its end', () => {
  /** On a connection that is kept, as clients do. */
  async function ask(agent: Agent, base: string, token: string, method = 'GET', body = ''): Promise<number> {
    const outgoing = request(`${base}/fhir/Patient`, {
      agent,
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' },
    });
    outgoing.end(body);
    const [incoming] = await once(outgoing, 'response');
    await buffer(incoming);
    return incoming.statusCode;
  }

  test('requests in progress are answered, new ones are rejected, and no process remains', async () => {
    const edge = await start(url);
    const agent = new Agent({ keepAlive: true });
    const token = await getToken(edge.base, key, { audience: 'svc-fhir' });
    expect(await ask(agent, edge.base, token)).toBe(200);

    // Writes that run until they are let go.
    await client.query(
      `create table let_go (); grant select on let_go to gateway_app;
       create function slow() returns trigger language plpgsql as $$ begin
         while not exists (select from let_go) loop perform pg_sleep(0.1); end loop;
         return new; end $$;
       create trigger slow before insert on resource for each row execute function slow()`,
    );
    try {
      const writes = [1, 2, 3].map(() => ask(agent, edge.base, token, 'POST', '{"resourceType":"Patient"}'));
      await until('the writes to run', async () => {
        const { rows } = await client.query(`select from pg_stat_activity where wait_event = 'PgSleep'`);
        return rows.length === 3;
      });
      const stopped = edge.stop();
      await until('no caller is accepted', async () =>
        fetch(`${edge.base}/healthz`).then(
          () => false,
          () => true,
        ),
      );
      await client.query('insert into let_go default values');
      await until('it says so', () => edge.logs().join('\n').includes('"event":"stopping"'));
      expect(await Promise.all(writes)).toEqual([201, 201, 201]);
      await stopped;
      expect(await edge.exited).toBe(0);
    } finally {
      await client.query('drop trigger slow on resource; drop function slow(); drop table let_go');
      agent.destroy();
    }
    // Connections are closed in good order, and what was counted is written. A server process outlives its connection.
    await until('its connections have ended', async () => {
      const { rows } = await client.query(
        `select from pg_stat_activity where application_name = 'integration-gateway'`,
      );
      return rows.length === 0;
    });
    const { rows } = await client.query(`select sum(requests)::int as counted from usage where surface = 'fhir'`);
    expect(rows).toEqual([{ counted: 4 }]);
  });

  test('a request that does not end in time is cut off and logged', async () => {
    const edge = await start(url, { env: { SHUTDOWN_GRACE_SECONDS: '0.2' } });
    const token = await getToken(edge.base, key, { audience: 'svc-fhir' });
    const lock = new Client({ connectionString: postgres.url });
    await lock.connect();
    await lock.query('begin; lock table resource in access exclusive mode');
    const asked = fetch(`${edge.base}/fhir/Patient`, { headers: { authorization: `Bearer ${token}` } }).catch(
      () => 'cut off',
    );
    await until('it waits', async () => (await client.query('select from pg_locks where not granted')).rows.length > 0);
    await edge.stop();
    expect([await asked, await edge.exited]).toEqual(['cut off', 1]);
    await until('it says so', () => edge.logs().join('\n').includes('some work did not end in time'));
    await lock.end();
  });
});
