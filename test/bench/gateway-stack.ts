/**
 * The complete chain for a measurement: workerd with a Neon endpoint, or Deno; a line with a delay; and PostgreSQL with
 * patients. The operations are the requests to the gateway.
 */
import { randomUUID } from 'node:crypto';

import type { Client } from 'pg';

import { toWrite, writeResources } from '../../edge/store/resource.ts';
import { es256PrivateJwk } from '../../shared/es256-jwk.ts';
import { MLLP_CONTENT_TYPE, MLLP_MESSAGES_PATH } from '../../shared/mllp-contract.ts';
import { createSigner, sha256Of } from '../../sidecar/token.ts';
import { ASSERTION_TYPE, clientAssertion, getToken } from '../stack/services/client.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { type BenchDatabase, startBenchDatabase } from './database.ts';
import { serveDeno } from './deno.ts';
import type { BareRequest } from './limits.ts';
import { startLine } from './line.ts';
import type { Call, Watched } from './load.ts';
import { serveWorker, type ServedWorker } from './workerd.ts';

const PATIENTS = 20_000;
/** More than one measurement uses. They are signed before it, so that signing is not measured. */
const ASSERTIONS = 2_000;
/** Not longer than the five minutes that an assertion may be valid. */
const ASSERTION_SECONDS = 290;

/** A kind of request to measure. */
export interface Operation {
  readonly what: string;
  /** The status of its answer. */
  readonly expected: number;
  readonly next: () => Call | Promise<Call>;
  /** Makes slow inputs in advance, for some seconds of `next`. */
  readonly prepare?: () => Promise<void>;
}

type Headers = Readonly<Record<string, string>>;

/** A site and the requests to it. */
export interface SiteRequests {
  readonly site: string;
  readonly operations: readonly Operation[];
}

export interface GatewayStack extends SiteRequests {
  readonly gateway: Served['gateway'];
  /** Adds a site with as many patients, without MLLP. */
  readonly addSite: () => Promise<SiteRequests>;
  /** The least work of a Worker for a read of the same Patient, and the headers of such a read. */
  readonly bare: BareRequest;
  readonly bareHeaders: Headers;
  readonly databaseUrl: string;
  /** The running processes of PostgreSQL. */
  readonly databasePids: () => readonly number[];
  /** Every process of the stack, and the database requests. */
  readonly watched: Required<Watched>;
  readonly stop: () => Promise<void>;
}

/** Stores many patients as the FHIR API does, with identifiers from `B-1`. @returns the id of one of them */
async function fillPatients(client: Client, site: string, patients: number): Promise<string> {
  const writes = Array.from({ length: patients }, (_, i) => {
    const identifier = [{ value: `B-${i + 1}` }];
    const name = [{ text: `Bench Person ${randomUUID()}` }];
    return toWrite({ resourceType: 'Patient', identifier, name }, randomUUID(), 'create');
  });
  const { text, params } = writeResources(site, writes);
  const { rows } = await client.query<{ id: string }>(text, [...params]);
  // Not the empty tables: PostgreSQL would make and keep plans for empty tables.
  await client.query(
    'analyze resource, resource_identifier, resource_token, patient_search, patient_identity, patient_trait',
  );
  return rows[0]?.id ?? '';
}

const PID = (mrn: string): string => `PID|1||${mrn}^^^SITE^MR||Bench^Person||19701231|F|||1 Street^^Town^^12345^DE`;
const msh = (type: string, control: string): string =>
  `MSH|^~\\&|BENCH|SITE|GW|GW|20261101083000+0100||${type}|${control}|P|2.5.1`;
const adt = (control: string, mrn: string): string =>
  `${msh('ADT^A04^ADT_A01', control)}\rEVN|A04|20261101083000+0100\r${PID(mrn)}\rPV1|1|O\r`;
const oru = (control: string, mrn: string): string =>
  `${msh('ORU^R01^ORU_R01', control)}\r${PID(mrn)}\rOBR|1|P${control}|F${control}|CBC^Blood count^L|||20261101080000+0100` +
  `|||||||||||||||20261101082900+0100|||F\rOBX|1|NM|718-7^Hemoglobin^LN||13.2|g/dL|12-16|N|||F\rOBX|2|NM|6690-2^WBC^LN||7.1|10*3/uL|4-11|N|||F\r`;
/** The number of patients whose messages repeat. */
const KNOWN_PATIENTS = 100;

/** The source address of the sidecar's messages. */
const ADDRESS = '192.0.2.10';

export interface GatewayStackOptions {
  readonly runtime: 'workerd' | 'Deno';
  /** The added round trip between the gateway and the endpoint of the database; the default is 0. */
  readonly delayMs?: number;
  /** Patients of each site. */
  readonly patients?: number;
  /** Settings of PostgreSQL. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Variables of the gateway, over those of the stack. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function startGatewayStack({
  runtime,
  delayMs = 0,
  env = {},
  settings,
  patients = PATIENTS,
}: GatewayStackOptions): Promise<GatewayStack> {
  const started = await startBenchDatabase(settings);
  const database: BenchDatabase = { ...started, env: (url, access) => ({ ...started.env(url, access), ...env }) };
  const { postgres, endpoint, client, site, secrets } = database;
  const databasePort = runtime === 'Deno' ? postgres.port : endpoint.port;
  const line = delayMs === 0 ? undefined : await startLine(databasePort, delayMs);
  await createApiKey(client, { site, protocols: ['hl7-mllp'], allowedIps: [ADDRESS] });
  const served = await serve(runtime, database, line?.port ?? databasePort);
  const { gateway } = served;
  const { keys } = JSON.parse(secrets.env.TOKEN_SIGNING_KEYS) as { readonly keys: readonly object[] };
  const stop = async (): Promise<void> => {
    await served.stop();
    await line?.close();
    await database.stop();
  };

  const signToken = createSigner('bench', es256PrivateJwk.parse(secrets.sidecarPrivateKey));
  const requestsOf = async (
    of: string,
  ): Promise<SiteRequests & { readonly patient: string; readonly fhir: Headers }> => {
    const key = await createApiKey(client, { site: of, tokenTtlSeconds: 3600 });
    const patient = await fillPatients(client, of, patients);
    const newAssertion = (): Promise<string> =>
      clientAssertion(key, `${gateway.url}/oauth2/token`, {
        claims: { exp: Math.floor(Date.now() / 1000) + ASSERTION_SECONDS },
      });
    let assertions: string[] = [];
    const fhir = { Authorization: `Bearer ${await getToken(gateway.url, key, { audience: 'svc-fhir' })}` };
    const hl7 = { Authorization: `Bearer ${await getToken(gateway.url, key, { audience: 'svc-hl7-http' })}` };
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
      {
        what: 'token (ES256, jti claimed)',
        expected: 200,
        async next() {
          const form = new URLSearchParams({
            grant_type: 'client_credentials',
            scope: 'system/Patient.read',
            client_assertion_type: ASSERTION_TYPE,
            client_assertion: assertions.pop() ?? (await newAssertion()),
          });
          const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
          return { method: 'POST', path: '/oauth2/token', headers, body: form.toString() };
        },
        async prepare() {
          assertions = await Promise.all(Array.from({ length: ASSERTIONS }, newAssertion));
        },
      },
      { what: 'Patient read', expected: 200, next: () => ({ path: `/fhir/Patient/${patient}`, headers: fhir }) },
      {
        what: 'Patient search by identifier',
        expected: 200,
        next: () => ({ path: `/fhir/Patient?identifier=B-${(n++ % patients) + 1}`, headers: fhir }),
      },
      {
        what: 'Patient search by name',
        expected: 200,
        next: () => ({ path: '/fhir/Patient?name=c4ca42', headers: fhir }),
      },
      {
        what: 'Observation create',
        expected: 201,
        next: () => ({
          method: 'POST',
          path: '/fhir/Observation',
          headers: { ...fhir, 'Content-Type': 'application/fhir+json' },
          body: `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"29463-7"}]},"subject":{"reference":"Patient/${patient}"},"valueQuantity":{"value":71.50,"unit":"kg"}}`,
        }),
      },
      {
        what: 'HL7 ADT, a new patient each',
        expected: 200,
        next: () => overHttp(adt(`BENCH-${n++}`, `NEW-${n}`)),
      },
      {
        what: 'HL7 ADT, patients seen before',
        expected: 200,
        next: () => overHttp(adt(`BENCH-${n++}`, known())),
      },
      {
        what: 'HL7 ORU, patients seen before',
        expected: 200,
        next: () => overHttp(oru(`BENCH-${n++}`, known())),
      },
      {
        what: 'sidecar ADT, a new patient each',
        expected: 200,
        next: () => overMllp(adt(`BENCH-${n++}`, `NEW-${n}`)),
      },
      {
        what: 'sidecar ADT, patients seen before',
        expected: 200,
        next: () => overMllp(adt(`BENCH-${n++}`, known())),
      },
    ];
    return { site: of, operations, patient, fhir };
  };
  const { operations, patient, fhir } = await requestsOf(site);

  return {
    gateway,
    site,
    operations,
    addSite: async () => requestsOf(await createSite(client)),
    bare: {
      key: JSON.stringify(keys[0]),
      issuer: gateway.url,
      endpointUrl: endpoint.url,
      databaseUrl: postgres.url,
      query: 'select body from resource where site_id = $1::uuid and type = $2 and id = $3::uuid',
      params: [site, 'Patient', patient],
    },
    bareHeaders: fhir,
    databaseUrl: postgres.url,
    databasePids: database.pids,
    watched: {
      cpu: {
        gateway: () => [gateway.pid],
        ...(runtime === 'Deno' ? {} : { endpoint: () => [endpoint.pid] }),
        postgres: database.pids,
      },
      count: served.count,
    },
    stop,
  };
}

/** A running gateway, and the count of its database requests. */
interface Served {
  readonly gateway: Pick<ServedWorker, 'url' | 'pid'>;
  readonly count: Required<Watched>['count'];
  readonly stop: () => Promise<void>;
}

/** @param port the port of the line, or of the database */
async function serve(runtime: GatewayStackOptions['runtime'], database: BenchDatabase, port: number): Promise<Served> {
  const address = new URL(database.applicationUrl);
  if (runtime === 'Deno') {
    address.port = String(port);
    const gateway = await serveDeno((url) => database.env(url, { DATABASE_URL: address.href }));
    const count: Served['count'] = async () => {
      const before = gateway.logged();
      return async () => {
        const after = gateway.logged();
        return (after.databaseRequests - before.databaseRequests) / (after.answers - before.answers);
      };
    };
    return { gateway, count, stop: () => gateway.stop() };
  }
  const access = { DATABASE_URL: address.href, DATABASE_FETCH_ENDPOINT: `http://127.0.0.1:${port}/sql` };
  const gateway = await serveWorker((url) => database.env(url, access));
  const count: Served['count'] = async () => {
    const before = await database.endpoint.requests();
    return async (answers) => ((await database.endpoint.requests()) - before) / answers;
  };
  return { gateway, count, stop: () => gateway.stop() };
}
