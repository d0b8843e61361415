/** A console whose site has an API key and receives messages, for the tests of a `describe`. */
import { afterAll, beforeAll, expect } from 'vitest';

import { getToken } from '../services/client.ts';
import { type ApiKey, type ApiKeyOptions, createApiKey, createSite, type SiteOptions } from '../services/seed.ts';
import { type ConsoleOptions, startConsole, type TestConsole } from './console.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import type { Runtime } from './gateway.ts';

interface ConsoleSiteOptions extends ConsoleOptions {
  readonly site?: SiteOptions;
  /** A second site; default none. */
  readonly otherSite?: SiteOptions;
  /** The key that sends messages; default none. */
  readonly key?: Partial<ApiKeyOptions>;
}

type Headers = Readonly<Record<string, string>>;

/** Its members have values once the `describe` has started. */
export interface ConsoleSite extends TestConsole {
  readonly db: TestDatabase;
  readonly site: string;
  readonly otherSite: string;
  readonly key: ApiKey;
  /** The access token of an administrator of the site. */
  readonly token: string;
  /** Calls the JSON API. @param as default the administrator's token; '' sends none */
  api(method: string, path: string, body?: unknown, headers?: Headers, as?: string): Promise<Response>;
  /** The status and JSON answer of `api`. */
  ask(...call: Parameters<ConsoleSite['api']>): Promise<{ status: number; body: Record<string, unknown> }>;
  /** The JSON answer to the administrator: to GET without a body, else to POST. Expects the status. */
  json<T>(path: string, body?: unknown, status?: number): Promise<T>;
  /** Sends an HL7 message over HTTP. @param by default the key of the site */
  send(message: BodyInit, headers?: Headers, by?: ApiKey): Promise<Response>;
}

const NO_KEY: ApiKey = { site: '', clientId: '', privateJwk: {} };

/** `stop` removes its database too. */
export async function startConsoleSite(
  runtime: Runtime,
  { site: siteOptions, otherSite, key, ...options }: ConsoleSiteOptions,
): Promise<ConsoleSite> {
  const db = await createTestDatabase();
  const site = await createSite(db.client, siteOptions);
  const started = await startConsole(runtime, db, site, options);
  const token = await started.oidc.adminToken();
  const api: ConsoleSite['api'] = (method, path, body, headers = {}, as = token) =>
    fetch(`${started.baseUrl}/admin/api${path}`, {
      method,
      headers: {
        ...(as === '' ? {} : { Authorization: `Bearer ${as}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const own = key === undefined ? NO_KEY : await createApiKey(db.client, { site, ...key });
  return {
    ...started,
    db,
    site,
    otherSite: otherSite === undefined ? '' : await createSite(db.client, otherSite),
    key: own,
    token,
    api,
    async ask(...call) {
      const response = await api(...call);
      return { status: response.status, body: await response.json() };
    },
    async json(path, body, status = 200) {
      const response = await api(body === undefined ? 'GET' : 'POST', path, body);
      expect(response.status, path).toBe(status);
      return response.json();
    },
    async send(message, headers = {}, by = own) {
      const access = await getToken(started.gateway.oauthBaseUrl, by, { audience: 'svc-hl7-http' });
      return fetch(`${started.gateway.hl7BaseUrl}/hl7/messages`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${access}`, 'Content-Type': 'text/plain', ...headers },
        body: message,
      });
    },
    async stop() {
      await started.stop();
      await db.drop();
    },
  };
}

/** Starts a console before the tests of a `describe`, and stops it after them. */
export function useConsole(runtime: Runtime, options: ConsoleSiteOptions = {}): ConsoleSite {
  const at = {} as ConsoleSite;
  beforeAll(async () => {
    Object.assign(at, await startConsoleSite(runtime, options));
  });
  afterAll(() => at.stop?.());
  return at;
}
