/** The target of the requests: a gateway with two sites, its console, the staff's provider and a sidecar. */
import type { Client } from 'pg';

import { getToken } from '../stack/services/client.ts';
import { type ApiKey, createApiKey, createSite } from '../stack/services/seed.ts';
import { type SidecarProcess, startSidecar } from '../stack/services/sidecar.ts';
import { type Bench, createBench } from './bench.ts';
import { signIn, startConsole, type TestConsole } from '../stack/tools/console.ts';
import type { GatewayOptions, Runtime } from '../stack/tools/gateway.ts';

/** An operation of `/admin/api`, as the gateway's own document describes it. */
interface AdminOperation {
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  readonly parameters: readonly string[];
}

export interface World {
  readonly console: TestConsole;
  readonly sidecar: SidecarProcess;
  /** A key of the site that owns the data. */
  readonly key: ApiKey;
  /** Keys of the site whose settings staff change, which nothing else needs. */
  readonly victims: readonly ApiKey[];
  readonly operations: readonly AdminOperation[];
  readonly bench: Bench;
  /** Access tokens by audience, one to be asked about and revoked, and a member of staff's for `/admin/api`. */
  readonly tokens: Readonly<Record<'fhir' | 'hl7' | 'changedHl7' | 'spare' | 'staff' | 'bench', string>>;
  /** Ids by the name of what they are of: resources by their type, `messages`. They grow as things are made. */
  readonly ids: Map<string, string[]>;
  /** Addresses of the console that its pages have linked to. */
  readonly pages: Set<string>;
  /** The cookie of the console's sessions; sessions are ended now and then. */
  cookie: string;
  /** Renews them: a token that has not expired, a session that has not ended. */
  refresh(): Promise<World>;
  stop(): Promise<void>;
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly parameters?: readonly { in: string; name: string }[] }>>>
  >;
}

async function operationsOf(baseUrl: string): Promise<AdminOperation[]> {
  const document = (await (await fetch(`${baseUrl}/docs/admin/openapi.json`)).json()) as Document;
  return Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/admin/api'))
    .flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { parameters = [] }]) =>
        ['get', 'post', 'put', 'patch'].includes(method)
          ? [
              {
                method: method.toUpperCase(),
                path,
                parameters: parameters.filter((each) => each.in === 'query').map(({ name }) => name),
              },
            ]
          : [],
      ),
    );
}

/** @returns the cookies of a new session */
async function sessionCookies(console: TestConsole): Promise<string> {
  const browser = await signIn(console);
  const jar = browser.cookies.get(new URL(console.baseUrl).host) ?? new Map<string, string>();
  return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
}

export async function startWorld(
  runtime: Runtime,
  database: GatewayOptions['database'] & { readonly client: Pick<Client, 'query'> },
): Promise<World> {
  const { client } = database;
  const site = await createSite(client, { name: 'Steady' });
  const changing = await createSite(client, { name: 'Changing' });
  const console = await startConsole(runtime, database, changing, { env: { JOB_TICK_SECONDS: '2' } });
  const key = await createApiKey(client, { site, tokenTtlSeconds: 3600 });
  await createApiKey(client, { site, protocols: ['hl7-mllp'], allowedIps: ['127.0.0.1'] });
  const changingKey = await createApiKey(client, { site: changing, tokenTtlSeconds: 3600 });
  const victims = [
    await createApiKey(client, { site: changing, name: 'Victim' }),
    await createApiKey(client, { site: changing, name: 'Another victim' }),
  ];
  const sidecar = await startSidecar({
    edgeUrl: console.gateway.url,
    privateKey: console.gateway.secrets.sidecarPrivateKey,
  });
  const bench = await createBench(client, console);
  const fresh = async () => ({
    bench: await getToken(console.gateway.oauthBaseUrl, bench.key, { audience: 'svc-hl7-http' }),
    fhir: await getToken(console.gateway.oauthBaseUrl, key, { audience: 'svc-fhir' }),
    hl7: await getToken(console.gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' }),
    changedHl7: await getToken(console.gateway.oauthBaseUrl, changingKey, { audience: 'svc-hl7-http' }),
    spare: await getToken(console.gateway.oauthBaseUrl, key),
    staff: await console.oidc.signToken({}),
  });
  const world: World = {
    console,
    sidecar,
    key,
    victims,
    bench,
    operations: await operationsOf(console.baseUrl),
    tokens: await fresh(),
    ids: new Map(),
    pages: new Set(['/admin']),
    cookie: await sessionCookies(console),
    refresh: async () => Object.assign(world, { tokens: await fresh(), cookie: await sessionCookies(console) }),
    async stop() {
      await sidecar.kill();
      await console.stop();
    },
  };
  return world;
}
