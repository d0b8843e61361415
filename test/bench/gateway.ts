/**
 * The whole chain: load generator, workerd, Neon endpoint, PostgreSQL, on one machine; beside each figure the limits of
 * the same machine in the same run. Single figures are good to a factor of two, ratios are what counts.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client, Pool } from 'pg';

import { toWrite, writeResources } from '../../edge/store/resource.ts';
import { prepareDatabase } from '../stack/services/application-login.ts';
import { ASSERTION_TYPE, clientAssertion, getToken } from '../stack/services/client.ts';
import { startNeonEndpoint } from '../stack/services/neon-endpoint.ts';
import { startPostgres } from '../stack/services/postgres.ts';
import { makeSecrets } from '../stack/services/secrets.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { measure, type Call, type Measured } from './load.ts';
import { serveWorker } from './workerd.ts';

export interface Row {
  readonly what: string;
  readonly connections: number;
  readonly 'per second': number;
  readonly 'p50 ms': string;
  readonly 'p99 ms': string;
  readonly 'CPU µs of workerd': string;
  readonly failed: number;
}

const CONNECTIONS = [1, 16];
const PATIENTS = 20_000;
/** More than any run asks for, so that no assertion is used twice. */
const ASSERTIONS = 16_000;

const row = (what: string, connections: number, m: Measured): Row => ({
  what,
  connections,
  'per second': Math.round(m.perSecond),
  'p50 ms': m.p50Ms.toFixed(2),
  'p99 ms': m.p99Ms.toFixed(2),
  'CPU µs of workerd': m.cpuMicros === undefined ? '' : m.cpuMicros.toFixed(0),
  failed: m.failed,
});

/** Prepared-less point reads, as Neon's endpoint makes them: the database's own limit. */
async function measurePointReads(url: string, connections: number): Promise<Measured> {
  const pool = new Pool({ connectionString: url, max: connections });
  const started = performance.now();
  let count = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() - started < 3_000) {
      await pool.query('select body from resource where type = $1 limit 1', ['Patient']);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const ms = performance.now() - started;
  await pool.end();
  return {
    perSecond: (count / ms) * 1000,
    p50Ms: (ms / count) * connections,
    p99Ms: Number.NaN,
    failed: 0,
    cpuMicros: undefined,
  };
}

async function measureBareNode(connections: number): Promise<Measured> {
  const server = createServer((_, response) => response.end('{"ok":true}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const measured = await measure(`http://127.0.0.1:${port}`, connections, 200, () => ({ path: '/' }));
  server.close();
  return measured;
}

/** Patients as the FHIR API stores them, in bulk. */
async function fill(client: Client, site: string): Promise<string> {
  const writes = Array.from({ length: PATIENTS }, (_, i) => {
    const identifier = [{ value: `B-${i + 1}` }];
    const name = [{ text: `Bench Person ${randomUUID()}` }];
    return toWrite({ resourceType: 'Patient', identifier, name }, randomUUID(), 'create');
  });
  const { text, params } = writeResources(site, writes);
  const { rows } = await client.query<{ id: string }>(text, [...params]);
  await client.query('analyze');
  return rows[0]?.id ?? '';
}

const adt = (control: string): string =>
  `MSH|^~\\&|BENCH|SITE|GW|GW|20261101083000+0100||ADT^A04^ADT_A01|${control}|P|2.5.1\rEVN|A04|20261101083000+0100\r` +
  `PID|1||${control}^^^SITE^MR||Bench^Person||19701231|F|||1 Street^^Town^^12345^DE\rPV1|1|O\r`;

/** Everything the gateway answers, and what the machine would allow. */
export async function bench(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-pg-'));
  const postgres = await startPostgres({ dataDir: folder });
  const endpoint = await startNeonEndpoint({ databaseUrl: postgres.url });
  const applicationUrl = await prepareDatabase(postgres.url);
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  const site = await createSite(client);
  const key = await createApiKey(client, { site, tokenTtlSeconds: 3600 });
  const patient = await fill(client, site);
  const secrets = await makeSecrets();
  const worker = await serveWorker((url) => ({
    ...secrets.env,
    DATABASE_URL: applicationUrl,
    DATABASE_FETCH_ENDPOINT: endpoint.url,
    INTEGRATION_OAUTH_PUBLIC_BASE_URL: url,
    INTEGRATION_FHIR_PUBLIC_BASE_URL: url,
    INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: url,
  }));

  try {
    const assertions = await Promise.all(
      Array.from({ length: ASSERTIONS }, () =>
        clientAssertion(key, `${worker.url}/oauth2/token`, { claims: { exp: Math.floor(Date.now() / 1000) + 290 } }),
      ),
    );
    const fhir = { Authorization: `Bearer ${await getToken(worker.url, key, { audience: 'svc-fhir' })}` };
    const hl7 = { Authorization: `Bearer ${await getToken(worker.url, key, { audience: 'svc-hl7-http' })}` };
    let n = 0;
    const operations: [string, number, () => Call][] = [
      [
        'token (ES256 assertion, jti claimed)',
        200,
        () => ({
          method: 'POST',
          path: '/oauth2/token',
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({
            grant_type: 'client_credentials',
            scope: 'system/Patient.read',
            client_assertion_type: ASSERTION_TYPE,
            client_assertion: assertions.pop() ?? '',
          }).toString(),
        }),
      ],
      ['Patient read', 200, () => ({ path: `/fhir/Patient/${patient}`, headers: fhir })],
      [
        'Patient search by identifier',
        200,
        () => ({ path: `/fhir/Patient?identifier=B-${(n++ % PATIENTS) + 1}`, headers: fhir }),
      ],
      ['Patient search by name', 200, () => ({ path: '/fhir/Patient?name=c4ca42', headers: fhir })],
      [
        'Observation create',
        201,
        () => ({
          method: 'POST',
          path: '/fhir/Observation',
          headers: { ...fhir, 'Content-Type': 'application/fhir+json' },
          body: `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"29463-7"}]},"subject":{"reference":"Patient/${patient}"},"valueQuantity":{"value":71.50,"unit":"kg"}}`,
        }),
      ],
      [
        'HL7 ADT^A04 over HTTP, a new patient each',
        200,
        () => ({
          method: 'POST',
          path: '/hl7/messages',
          headers: { ...hl7, 'Content-Type': 'text/plain' },
          body: adt(`BENCH-${n++}`),
        }),
      ],
    ];

    const rows: Row[] = [];
    for (const connections of CONNECTIONS) {
      rows.push(row('limit: bare Node http', connections, await measureBareNode(connections)));
      rows.push(
        row(
          'limit: workerd, hello',
          connections,
          await measure(worker.helloUrl, connections, 200, () => ({ path: '/' }), worker.pid),
        ),
      );
      rows.push(row('limit: PostgreSQL point read', connections, await measurePointReads(postgres.url, connections)));
      for (const [what, expected, next] of operations) {
        rows.push(row(what, connections, await measure(worker.url, connections, expected, next, worker.pid)));
      }
    }
    return rows;
  } finally {
    await worker.stop();
    await client.end();
    await endpoint.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
