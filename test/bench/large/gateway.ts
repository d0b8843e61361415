/** The gateway in this process with one TCP connection to PostgreSQL, and requests of the clients and staff of several sites. */
import { viewCheck } from '../../../edge/admin/workbench/operations.ts';
import { randomUUID } from 'node:crypto';

import type { Client } from 'pg';

import { createAdmin } from '../../../edge/admin/routes.ts';
import { ALL_PERMISSIONS } from '../../../edge/permissions.ts';
import { createSeal } from '../../../edge/admin/staff/seal.ts';
import { readConfig } from '../../../edge/config.ts';
import { createFhir } from '../../../edge/fhir/routes.ts';
import { createMemory } from '../../../edge/http/memory.ts';
import { createSnapshotCache } from '../../../edge/hl7/ingest/snapshot/cache.ts';
import { createHl7 } from '../../../edge/hl7/http/routes.ts';
import { issueAccessToken } from '../../../edge/oauth/access-token.ts';
import { createClientKeyring } from '../../../edge/oauth/client-keys.ts';
import { keyringOf } from '../../../edge/oauth/keyring.ts';
import { gzip } from '../../../edge/platform/gzip.ts';
import { readConnectionString } from '../../../edge/platform/postgres/connection-string.ts';
import { postgresDatabase } from '../../../edge/platform/postgres/postgres.ts';
import { createWorkbench } from '../../../edge/workbench.ts';
import { makeSecrets } from '../../stack/services/secrets.ts';
import { ALL_SCOPES } from '../../stack/services/seed.ts';
import type { Deps } from '../../../edge/deps.ts';
import type { Audience } from '../../../shared/oauth/audience.ts';

const ROOT_URL = 'http://gateway.bench';
const HOUR_SECONDS = 3600;
const FHIR_JSON = { 'Content-Type': 'application/fhir+json' };

/** A site with a key for FHIR and one for HL7. */
export interface SiteKeys {
  readonly site: string;
  readonly fhirClient: string;
  readonly hl7Client: string;
}

/** Makes requests of a site's clients and staff. */
export interface Asker extends SiteKeys {
  /** A GET, or a POST with a body. */
  readonly fhir: (path: string, body?: string) => Request;
  readonly put: (path: string, body: string) => Request;
  readonly hl7: (message: string) => Request;
  readonly admin: (path: string) => Request;
}

export interface LargeGateway {
  /** @throws for an answer that is not a success */
  readonly ask: (request: Request) => Promise<string>;
  readonly askerOf: (keys: SiteKeys) => Promise<Asker>;
  /** PostgreSQL's process of the connection. A request must have used the connection immediately before. */
  readonly pid: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/** @param url the application's connection string @param owner the owner's connection to the same database */
export async function startLargeGateway(url: string, owner: Client): Promise<LargeGateway> {
  const config = readConfig({
    ...(await makeSecrets()).env,
    DATABASE_URL: url,
    FHIR_SEARCH: 'us-core',
    INTEGRATION_OAUTH_PUBLIC_BASE_URL: ROOT_URL,
    INTEGRATION_FHIR_PUBLIC_BASE_URL: ROOT_URL,
    INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: ROOT_URL,
    ADMIN_PUBLIC_BASE_URL: ROOT_URL,
    ADMIN_OIDC_ISSUER: 'http://127.0.0.1',
    ADMIN_OIDC_CLIENT_ID: 'bench',
  });
  const connection = readConnectionString(url);
  if (!('host' in connection)) throw new Error(connection.join());
  const database = postgresDatabase({ connection, connections: 1, prepares: true });
  const deps: Deps = {
    config,
    database,
    measured: async (work) => ({ result: await work(), database: { requests: 0, ms: 0 } }),
    share: createMemory(Infinity, Date.now),
    jtiStore: { claim: async () => true },
    rateLimiter: { allow: async () => true },
    now: () => Date.now(),
    background: () => undefined,
    log: () => undefined,
    fetch: (address, init) => fetch(address, init),
    resolveHost: async () => [],
    asset: async () => new Response(null, { status: 404 }),
    gzip,
    acceptEncoding: ({ headers }) => headers.get('accept-encoding'),
    sourceAddress: () => '192.0.2.10',
  };
  const surfaces = {
    fhir: createFhir(deps),
    hl7: createHl7(deps, { snapshots: createSnapshotCache() }, viewCheck),
    admin: createAdmin(deps, createWorkbench(deps, createClientKeyring(deps))),
  };
  const tokenOf = (site: string, clientId: string, audience: Audience): Promise<string> =>
    issueAccessToken(
      keyringOf(config),
      { issuer: ROOT_URL, clientId, site, audience, scopes: ALL_SCOPES, ttlSeconds: HOUR_SECONDS },
      Date.now(),
    );

  /** The cookie of an administrator with a session. */
  const cookieOf = async (site: string): Promise<string> => {
    const session = randomUUID();
    const { rows } = await owner.query<{ site_name: string; time_zone: string }>(
      `select site_name, time_zone from console_session_begin($1, $2, 'bench', 'Bench', null, '192.0.2.10', 'bench', $3, null, null)`,
      [site, session, ALL_PERMISSIONS],
    );
    const now = Math.floor(Date.now() / 1000);
    const sealed = await createSeal(config.GATEWAY_SECRET, 'admin session').seal(
      {
        session,
        sub: 'bench',
        name: 'Bench',
        site,
        permissions: [...ALL_PERMISSIONS],
        siteName: rows[0]?.site_name,
        timeZone: rows[0]?.time_zone,
        hasOthers: false,
        endsAt: now + HOUR_SECONDS,
        askedAt: now,
        mayAsk: false,
      },
      now + HOUR_SECONDS,
    );
    return `__Host-gateway-session=${sealed}`;
  };

  return {
    async ask(request) {
      const [, root = ''] = new URL(request.url).pathname.split('/');
      const surface = root === 'fhir' || root === 'hl7' || root === 'admin' ? surfaces[root] : undefined;
      const response = await surface?.fetch(request);
      const text = (await response?.text()) ?? '';
      if (response?.ok !== true) throw new Error(`${request.method} ${request.url}: ${response?.status} ${text}`);
      return text;
    },
    async askerOf({ site, fhirClient, hl7Client }) {
      const fhir = { Authorization: `Bearer ${await tokenOf(site, fhirClient, 'svc-fhir')}` };
      const hl7 = { Authorization: `Bearer ${await tokenOf(site, hl7Client, 'svc-hl7-http')}` };
      const cookie = await cookieOf(site);
      return {
        site,
        fhirClient,
        hl7Client,
        fhir(path, body) {
          const url = path.startsWith('http') ? path : `${ROOT_URL}/fhir${path}`;
          if (body === undefined) return new Request(url, { headers: fhir });
          return new Request(url, { method: 'POST', headers: { ...fhir, ...FHIR_JSON }, body });
        },
        put: (path, body) =>
          new Request(`${ROOT_URL}/fhir${path}`, { method: 'PUT', headers: { ...fhir, ...FHIR_JSON }, body }),
        hl7: (body) =>
          new Request(`${ROOT_URL}/hl7/messages`, {
            method: 'POST',
            headers: { ...hl7, 'Content-Type': 'text/plain' },
            body,
          }),
        admin: (path) => new Request(`${ROOT_URL}/admin${path}`, { headers: { cookie } }),
      };
    },
    async pid() {
      const { rows } = await owner.query<{ pid: number }>(
        'select pid from pg_stat_activity where usename = $1 and application_name = $2 and datname = $3',
        [connection.user, connection.applicationName, connection.database],
      );
      return rows[0]?.pid ?? 0;
    },
    close: () => database.close(),
  };
}
