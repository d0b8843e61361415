/**
 * The gateway in this process before a PostgreSQL that it asks by one connection at a time, so that the CPU of one process of
 * PostgreSQL is all that an operation costs there: over HTTP as Neon's endpoint asks it, where each statement is parsed anew,
 * and over TCP, where it is prepared.
 */
import { Client } from 'pg';

import { readConfig } from '../../edge/config.ts';
import type { Database } from '../../edge/deps.ts';
import { createFhir } from '../../edge/fhir/routes.ts';
import { createSnapshotCache } from '../../edge/hl7/ingest/snapshot/cache.ts';
import { createHl7 } from '../../edge/hl7/http/routes.ts';
import { issueAccessToken } from '../../edge/oauth/access-token.ts';
import { keyringOf } from '../../edge/oauth/keyring.ts';
import { neonDatabase } from '../../edge/platform/neon.ts';
import { readConnectionString } from '../../edge/platform/postgres/connection-string.ts';
import { postgresDatabase } from '../../edge/platform/postgres/postgres.ts';
import { prepareDatabase } from '../stack/services/application-login.ts';
import { startNeonEndpoint } from '../stack/services/neon-endpoint.ts';
import { startPostgres, UNSAFE_BUT_FAST } from '../stack/services/postgres.ts';
import { makeSecrets } from '../stack/services/secrets.ts';
import { ALL_SCOPES, createApiKey, createSite } from '../stack/services/seed.ts';
import { adt, fillPatients, oru } from './gateway-stack.ts';
import { inProcess } from './in-process.ts';
import type { Audience } from '../../shared/oauth/audience.ts';

const PATIENTS = 10_000;
/** Of the patient whose are looked for, made over each way. */
const OBSERVATIONS = 20;
/** Fewer than there are requests before anything is counted: each has come before. */
const KNOWN_PATIENTS = 10;
const ROOT_URL = 'http://gateway.bench';

export interface Operation {
  readonly what: string;
  readonly request: (n: number) => Request;
  /** What of a request is another each time, as the first has it. */
  readonly words: readonly string[];
  /** What is read, with what to find it by. */
  readonly read?: { readonly text: string; readonly values: (n: number) => string[] };
}

const RESOURCE = `r.type, r.id, r.version, to_char(r.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), r.meta, r.body`;

interface Subjects {
  readonly site: string;
  /** With Observations of two codes. */
  readonly observed: string;
  readonly patient: string;
  readonly tokens: { readonly fhir: string; readonly hl7: string };
}

const observationOf = (patient: string, code: string, value: string): string =>
  `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"${code}"}]},` +
  `"subject":{"reference":"Patient/${patient}"},"valueQuantity":{"value":${value},"unit":"kg"}}`;

function operationsOf({ site, observed, patient, tokens }: Subjects): Operation[] {
  const get = (path: string): Request =>
    new Request(`${ROOT_URL}${path}`, { headers: { Authorization: `Bearer ${tokens.fhir}` } });
  const message = (body: string): Request =>
    new Request(`${ROOT_URL}/hl7/messages`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tokens.hl7}`, 'Content-Type': 'text/plain' },
      body,
    });
  const number = (n: number): string => `B-${(n % PATIENTS) + 1}`;
  return [
    {
      what: 'Patient read',
      request: () => get(`/fhir/Patient/${patient}`),
      words: [],
      read: {
        text: `select ${RESOURCE} from resource r where r.site_id = $1::uuid and r.type = 'Patient' and r.id = $2::uuid`,
        values: () => [site, patient],
      },
    },
    {
      what: 'Patient search by identifier',
      request: (n) => get(`/fhir/Patient?identifier=${number(n)}`),
      words: [],
      read: {
        text: `select ${RESOURCE} from resource_identifier i join resource r using (site_id, type, id)
          where i.site_id = $1::uuid and i.type = 'Patient' and i.value = $2 order by i.id limit 21`,
        values: (n) => [site, number(n)],
      },
    },
    {
      what: 'Patient search by name',
      request: (n) => get(`/fhir/Patient?name=n${n % 10}x${n % 89}`),
      words: [],
      read: {
        text: `select ${RESOURCE} from patient_search s join resource r on r.site_id = s.site_id and r.type = 'Patient' and r.id = s.id
          where s.site_id = $1::uuid and s.names like $2 order by s.id limit 21`,
        values: (n) => [site, `%n${n % 10}x${n % 89}%`],
      },
    },
    {
      what: 'Observations of a patient by code',
      request: () => get(`/fhir/Observation?patient=${observed}&code=http://loinc.org%7C8867-4`),
      words: [],
      read: {
        text: `select ${RESOURCE} from resource r where r.site_id = $1::uuid and r.type = 'Observation' and r.patient_id = $2::uuid
          and exists (select from resource_token t where t.site_id = r.site_id and t.type = r.type and t.id = r.id
            and t.param = 'code' and t.system = 'http://loinc.org' and t.code = '8867-4') order by r.id limit 21`,
        values: () => [site, observed],
      },
    },
    {
      what: 'Observation create',
      request: (n) =>
        new Request(`${ROOT_URL}/fhir/Observation`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${tokens.fhir}`, 'Content-Type': 'application/fhir+json' },
          body: observationOf(patient, '29463-7', `${n}.50`),
        }),
      words: [],
    },
    {
      what: 'ADT of a new patient',
      request: (n) => message(adt(`CONTROL-${n}`, `NUMBER-${n}`)),
      words: ['CONTROL', 'NUMBER'],
    },
    {
      what: 'ORU with two results, patient seen before',
      request: (n) => message(oru(`CONTROL-${n}`, `SEEN-${n % KNOWN_PATIENTS}`)),
      words: ['CONTROL'],
    },
  ];
}

/** The gateway, and the process of PostgreSQL that it asks. */
export interface Way {
  readonly ask: (operation: Operation, n: number) => Promise<void>;
  /** Of the connection, which must have been used just now. */
  readonly pid: () => Promise<number>;
}

export interface PostgresStack {
  readonly operations: readonly Operation[];
  readonly http: Way;
  readonly tcp: Way;
  /** The owner's connection, to whom no policy applies; it sends statements without waiting for answers. */
  readonly owner: Client;
  readonly ownerPid: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

async function ask(
  surface: { fetch(request: Request): Response | Promise<Response> },
  what: string,
  request: Request,
): Promise<Response> {
  const response = await surface.fetch(request);
  if (!response.ok) throw new Error(`${what}: ${response.status} ${await response.text()}`);
  return response;
}

export async function startPostgresStack(): Promise<PostgresStack> {
  const pg = await startPostgres({ settings: UNSAFE_BUT_FAST });
  const endpoint = await startNeonEndpoint({ databaseUrl: pg.url, connections: 1 });
  const url = await prepareDatabase(pg.url);
  const owner = new Client({ connectionString: pg.url, pipeline: true });
  await owner.connect();
  const config = readConfig({
    ...(await makeSecrets()).env,
    DATABASE_URL: url,
    INTEGRATION_OAUTH_PUBLIC_BASE_URL: ROOT_URL,
    INTEGRATION_FHIR_PUBLIC_BASE_URL: ROOT_URL,
    INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: ROOT_URL,
  });
  const connection = readConnectionString(url);
  if (!('host' in connection)) throw new Error(connection.join());
  const overTcp = postgresDatabase({ connection, connections: 1, prepares: true });
  const overHttp = neonDatabase({ DATABASE_URL: url, DATABASE_FETCH_ENDPOINT: endpoint.url });

  const surfacesOf = (database: Database) => {
    const deps = inProcess(config, database);
    return { fhir: createFhir(deps), hl7: createHl7(deps, createSnapshotCache()) };
  };

  const site = await createSite(owner);
  const { clientId } = await createApiKey(owner, { site });
  const patient = await fillPatients(owner, site, PATIENTS);
  const tokenOf = (audience: Audience): Promise<string> =>
    issueAccessToken(
      keyringOf(config),
      { issuer: ROOT_URL, clientId, site, audience, scopes: ALL_SCOPES, ttlSeconds: 3600 },
      Date.now(),
    );
  const tokens = { fhir: await tokenOf('svc-fhir'), hl7: await tokenOf('svc-hl7-http') };
  const { rows: others } = await owner.query<{ id: string }>(
    `select id from resource where type = 'Patient' and id <> $1 limit 1`,
    [patient],
  );
  const observed = others[0]?.id ?? '';
  const operations = operationsOf({ site, observed, patient, tokens });

  const wayOf = async (database: Database, application: string): Promise<Way> => {
    const { fhir, hl7 } = surfacesOf(database);
    for (let n = 0; n < OBSERVATIONS; n += 1) {
      const code = n % 2 === 0 ? '8867-4' : '8480-6';
      const headers = { Authorization: `Bearer ${tokens.fhir}`, 'Content-Type': 'application/fhir+json' };
      const body = observationOf(observed, code, String(n));
      await ask(fhir, code, new Request(`${ROOT_URL}/fhir/Observation`, { method: 'POST', headers, body }));
    }
    return {
      // A pool closes a connection that was idle for some time.
      async pid() {
        const { rows } = await owner.query<{ pid: number }>(
          'select pid from pg_stat_activity where usename = $1 and application_name = $2',
          [connection.user, application],
        );
        return rows[0]?.pid ?? 0;
      },
      async ask({ what, request }, n) {
        const asked = request(n);
        await (await ask(new URL(asked.url).pathname.startsWith('/fhir/') ? fhir : hl7, what, asked)).text();
      },
    };
  };
  const { rows } = await owner.query<{ pid: number }>('select pg_backend_pid() as pid');
  return {
    operations,
    http: await wayOf(overHttp, ''),
    tcp: await wayOf(overTcp, connection.applicationName),
    owner,
    ownerPid: () => Promise.resolve(rows[0]?.pid ?? 0),
    async stop() {
      await owner.end();
      await overTcp.close();
      await endpoint.close();
      await pg.stop();
    },
  };
}
