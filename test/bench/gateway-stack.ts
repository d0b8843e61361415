/**
 * The whole chain for a measurement: workerd or Deno, a line that takes time, PostgreSQL with patients in it, before workerd's
 * a Neon endpoint, and what is asked of the gateway.
 */
import { randomUUID } from 'node:crypto';

import type { Client } from 'pg';

import { toWrite, writeResources } from '../../edge/store/resource.ts';
import { es256PrivateJwk } from '../../shared/es256-jwk.ts';
import { MLLP_CONTENT_TYPE, MLLP_MESSAGES_PATH } from '../../shared/mllp-contract.ts';
import { createSigner, sha256Of } from '../../sidecar/token.ts';
import { ASSERTION_TYPE, clientAssertion, getToken } from '../stack/services/client.ts';
import { createApiKey } from '../stack/services/seed.ts';
import { childrenOf } from './cpu.ts';
import { startBenchDatabase } from './database.ts';
import { serveDeno } from './deno.ts';
import { serveLimits, type Limits } from './limits.ts';
import { startLine } from './line.ts';
import type { Call } from './load.ts';
import { serveWorker, type ServedWorker } from './workerd.ts';

const PATIENTS = 20_000;
/** More than any run asks for, so that no assertion is used twice. */
const ASSERTIONS = 16_000;

/** What is asked, the status that it is answered with, and each request. */
export type Operation = readonly [what: string, expected: number, next: () => Call];

export interface GatewayStack {
  readonly gateway: Pick<ServedWorker, 'url' | 'pid'>;
  /** What workerd could do at most. */
  readonly limits: Limits;
  /** A read, of which `limits.bareUrl` does the least that a Worker has to. */
  readonly bareRead: () => Call;
  /** PostgreSQL's processes at a moment. */
  readonly databasePids: () => readonly number[];
  readonly databaseUrl: string;
  readonly operations: readonly Operation[];
  readonly stop: () => Promise<void>;
}

/** Patients as the FHIR API stores them, in bulk, with the numbers from `B-1`. @returns the first one's id */
export async function fillPatients(client: Client, site: string, patients: number): Promise<string> {
  const writes = Array.from({ length: patients }, (_, i) => {
    const identifier = [{ value: `B-${i + 1}` }];
    const name = [{ text: `Bench Person ${randomUUID()}` }];
    return toWrite({ resourceType: 'Patient', identifier, name }, randomUUID(), 'create');
  });
  const { text, params } = writeResources(site, writes);
  const { rows } = await client.query<{ id: string }>(text, [...params]);
  // Not the tables that are empty still: plans would be made, and kept, for tables that stay so.
  await client.query(
    'analyze resource, resource_identifier, resource_token, patient_search, patient_identity, patient_trait',
  );
  return rows[0]?.id ?? '';
}

const PID = (mrn: string): string => `PID|1||${mrn}^^^SITE^MR||Bench^Person||19701231|F|||1 Street^^Town^^12345^DE`;
const msh = (type: string, control: string): string =>
  `MSH|^~\\&|BENCH|SITE|GW|GW|20261101083000+0100||${type}|${control}|P|2.5.1`;
export const adt = (control: string, mrn: string): string =>
  `${msh('ADT^A04^ADT_A01', control)}\rEVN|A04|20261101083000+0100\r${PID(mrn)}\rPV1|1|O\r`;
export const oru = (control: string, mrn: string): string =>
  `${msh('ORU^R01^ORU_R01', control)}\r${PID(mrn)}\rOBR|1|P${control}|F${control}|CBC^Blood count^L|||20261101080000+0100` +
  `|||||||||||||||20261101082900+0100|||F\rOBX|1|NM|718-7^Hemoglobin^LN||13.2|g/dL|12-16|N|||F\rOBX|2|NM|6690-2^WBC^LN||7.1|10*3/uL|4-11|N|||F\r`;
/** Of so many patients that come again and again. */
const KNOWN_PATIENTS = 100;

/** From where the sidecar has its messages. */
const ADDRESS = '192.0.2.10';

export interface GatewayStackOptions {
  readonly runtime: 'workerd' | 'Deno';
  /** Between the gateway and the database's door, there and back; default none. */
  readonly delayMs?: number;
}

export async function startGatewayStack({ runtime, delayMs = 0 }: GatewayStackOptions): Promise<GatewayStack> {
  const database = await startBenchDatabase();
  const { postgres, postmaster, endpoint, client, site, secrets } = database;
  const line = await startLine(runtime === 'Deno' ? postgres.port : endpoint.port, delayMs);
  const key = await createApiKey(client, { site, tokenTtlSeconds: 3600 });
  await createApiKey(client, { site, protocols: ['hl7-mllp'], allowedIps: [ADDRESS] });
  const patient = await fillPatients(client, site, PATIENTS);
  const address = new URL(database.applicationUrl);
  if (runtime === 'Deno') address.port = String(line.port);
  const overNeon = { DATABASE_FETCH_ENDPOINT: `http://127.0.0.1:${line.port}/sql` };
  const door = { DATABASE_URL: address.href, ...(runtime === 'Deno' ? {} : overNeon) };
  const env = (url: string): Record<string, string> => database.env(url, door);
  const gateway = runtime === 'Deno' ? await serveDeno(env) : await serveWorker(env);
  const { keys } = JSON.parse(secrets.env.TOKEN_SIGNING_KEYS) as { readonly keys: readonly object[] };
  const limits = await serveLimits({
    key: JSON.stringify(keys[0]),
    issuer: gateway.url,
    endpointUrl: endpoint.url,
    databaseUrl: postgres.url,
    query: 'select body from resource where site_id = $1::uuid and type = $2 and id = $3::uuid',
    params: [site, 'Patient', patient],
  });
  const stop = async (): Promise<void> => {
    await gateway.stop();
    await limits.stop();
    await line.close();
    await database.stop();
  };

  const assertions = await Promise.all(
    Array.from({ length: ASSERTIONS }, () =>
      clientAssertion(key, `${gateway.url}/oauth2/token`, { claims: { exp: Math.floor(Date.now() / 1000) + 290 } }),
    ),
  );
  const fhir = { Authorization: `Bearer ${await getToken(gateway.url, key, { audience: 'svc-fhir' })}` };
  const hl7 = { Authorization: `Bearer ${await getToken(gateway.url, key, { audience: 'svc-hl7-http' })}` };
  const signToken = createSigner('bench', es256PrivateJwk.parse(secrets.sidecarPrivateKey));
  const overHttp = (body: string): Call => ({
    method: 'POST',
    path: '/hl7/messages',
    headers: { ...hl7, 'Content-Type': 'text/plain' },
    body,
  });
  const overMllp = (body: string): Call => ({
    method: 'POST',
    path: MLLP_MESSAGES_PATH,
    headers: {
      Authorization: `Bearer ${signToken({ address: ADDRESS }, sha256Of(Buffer.from(body)))}`,
      'Content-Type': MLLP_CONTENT_TYPE,
    },
    body,
  });
  let n = 0;
  const known = (): string => `KNOWN-${n % KNOWN_PATIENTS}`;
  const operations: Operation[] = [
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
    ['HL7 ADT over HTTP, a new patient each', 200, () => overHttp(adt(`BENCH-${n++}`, `NEW-${n}`))],
    ['HL7 ADT over HTTP, patients seen before', 200, () => overHttp(adt(`BENCH-${n++}`, known()))],
    ['HL7 ORU over HTTP, patients seen before', 200, () => overHttp(oru(`BENCH-${n++}`, known()))],
    ['HL7 ADT of a sidecar, a new patient each', 200, () => overMllp(adt(`BENCH-${n++}`, `NEW-${n}`))],
    ['HL7 ADT of a sidecar, patients seen before', 200, () => overMllp(adt(`BENCH-${n++}`, known()))],
  ];

  return {
    gateway,
    limits,
    bareRead: () => ({ path: '/', headers: fhir }),
    databaseUrl: postgres.url,
    databasePids: () => [postmaster, ...childrenOf(postmaster)],
    operations,
    stop,
  };
}
