/**
 * `npm start`: the whole gateway on one machine with nothing preinstalled. Parts start in order, each with a line that
 * says so; Ctrl-C stops them in reverse. Data stays in `.local` until `npm run reset`.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { VARIABLES } from '../../../edge/config.ts';
import { alertPurpose, subscriptionPurpose, webhookSecret } from '../../../edge/http/webhook-signature.ts';
import { helpOn } from '../../../edge/platform/node/program.ts';
import { asApplication, prepareDatabase } from '../services/application-login.ts';
import { demoData, demoKeys, demoWebhook } from './demo.ts';
import { startDenoEdge } from '../services/edge-deno.ts';
import { startWranglerEdge, writeVariables } from './edge-wrangler.ts';
import { ROOT } from '../services/build.ts';
import { until } from '../services/until.ts';
import { LOCAL_FOLDER, type Ports, readPorts, STACK_FILE, type StackDescription } from './local.ts';
import { startNeonEndpoint } from '../services/neon-endpoint.ts';
import { startOidcProvider, TOKEN_TTL_SECONDS } from '../services/oidc-provider.ts';
import { assertPortsFree } from './ports.ts';
import { startPostgres } from '../services/postgres.ts';
import { localSecrets } from '../services/secrets.ts';
import { startSidecar } from '../services/sidecar.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

helpOn(`usage: npm start -- [--edge workers|deno] [--without-edge]

Starts the whole gateway on this machine. Ports: EDGE_PORT, OIDC_PORT, MLLP_PORT, SIDECAR_HEALTH_PORT, POSTGRES_PORT,
NEON_PORT and WEBHOOK_PORT. The gateway's own settings are also read from the environment. With --without-edge it waits for an edge that
you start: \`npx wrangler dev\`, for which it writes .dev.vars, or another with the same environment. LOCAL_FOLDER is
where its data is kept, default .local; \`npm run reset\` forgets it.`);

const { values: options } = parseArgs({
  options: { edge: { type: 'string', default: 'workers' }, 'without-edge': { type: 'boolean', default: false } },
  allowPositionals: true,
});
if (options.edge !== 'workers' && options.edge !== 'deno') fail('--edge takes workers or deno');

/** A person starts it. */
const FOR_EVER_MS = 24 * 3600 * 1000;

const isReady = async (url: string): Promise<boolean> =>
  (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true;

/** The running parts, in the order of their start. */
const running: { name: string; stop: () => Promise<void> }[] = [];
let stopping = false;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

interface Part {
  readonly stop?: () => Promise<void>;
  readonly close?: () => Promise<void>;
  readonly exited?: Promise<unknown>;
}

/** Starts one part, says how long it took, and ends the stack when the part ends by itself. */
async function part<T extends Part>(name: string, start: () => Promise<T>): Promise<T> {
  const started = performance.now();
  process.stdout.write(`  ${name.padEnd(34)} … `);
  const result = await start();
  say(`ready after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  const stop = result.stop ?? result.close;
  if (stop !== undefined) running.push({ name, stop: () => stop.call(result) });
  void result.exited?.then(() => {
    if (!stopping) void stopAll(1, `${name} ended by itself; its log is in ${LOCAL_FOLDER}`);
  });
  return result;
}

/** Lines appended to a file of the part's name. */
function logFile(name: string): (line: string) => void {
  const file = createWriteStream(`${LOCAL_FOLDER}/${name}.log`, { flags: 'a' });
  return (line) => void file.write(`${line}\n`);
}

async function stopAll(code: number, why?: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  if (why !== undefined) say(`\n${why}`);
  for (const { name, stop } of running.toReversed()) {
    say(`  stopping ${name}`);
    await stop().catch((error: unknown) => say(`  ${String(error)}`));
  }
  process.exit(code);
}

async function start(): Promise<void> {
  const ports = readPorts(process.env);
  const { EDGE_PORT, ...others } = ports;
  await assertPortsFree(options['without-edge'] ? others : { EDGE_PORT, ...others });
  await mkdir(LOCAL_FOLDER, { recursive: true });
  const edgeUrl = `http://127.0.0.1:${ports.EDGE_PORT}`;

  say('Starting the integration gateway');
  const postgres = await part('PostgreSQL 18', () =>
    startPostgres({ dataDir: `${LOCAL_FOLDER}/postgres`, port: ports.POSTGRES_PORT }),
  );
  // On Deno the database is spoken to over TCP.
  const overNeon = options['without-edge'] || options.edge === 'workers';
  if (overNeon) {
    await part('Neon endpoint', () => startNeonEndpoint({ databaseUrl: postgres.url, port: ports.NEON_PORT }));
  }
  await part('Migrations', async () => {
    await prepareDatabase(postgres.url).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`${why}\nIf the local data may be deleted: npm run reset, then npm start`, { cause: error });
    });
    return {};
  });
  const demo = await demoKeys(postgres.url, `${LOCAL_FOLDER}/demo.json`);
  const secrets = await localSecrets(`${LOCAL_FOLDER}/secrets.json`);
  const oidc = await part('OpenID provider', () =>
    startOidcProvider({ port: ports.OIDC_PORT, adminBaseUrl: edgeUrl, site: demo.site }),
  );

  const receiver = await part('Receiver of webhooks', () =>
    startWebhookReceiver({
      port: ports.WEBHOOK_PORT,
      secretsOf: (what) =>
        Promise.all(
          [demo.site, demo.otherSite].map((site) =>
            webhookSecret(
              [secrets.env.GATEWAY_SECRET],
              what === 'alerts' ? alertPurpose(site) : subscriptionPurpose(site, what.subscription),
            ),
          ),
        ),
      log: (line) => say(`  Receiver of webhooks: ${line}`),
    }),
  );
  await writeFile(RECEIVER_AUTHORITY, receiver.authority);
  await demoWebhook(postgres.url, demo.site, receiver.webhook);

  const env = {
    // The receiver has no public address.
    JWKS_TRUSTED_HOSTS: '127.0.0.1',
    FHIR_SUBSCRIPTIONS: process.env['FHIR_SUBSCRIPTIONS'] ?? 'on',
    ...secrets.env,
    ...oidc.env,
    DATABASE_URL: asApplication(postgres.url),
    ...(overNeon ? { DATABASE_FETCH_ENDPOINT: `http://127.0.0.1:${ports.NEON_PORT}` } : {}),
    INTEGRATION_OAUTH_PUBLIC_BASE_URL: edgeUrl,
    INTEGRATION_FHIR_PUBLIC_BASE_URL: edgeUrl,
    INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: edgeUrl,
    INTEGRATION_HL7_MTTP_DOMAIN: '127.0.0.1',
    INTEGRATION_HL7_MTTP_PORT: String(ports.MLLP_PORT),
    INTEGRATION_DOCS_URL: `${edgeUrl}/docs`,
    ADMIN_PUBLIC_BASE_URL: edgeUrl,
  };
  if (options['without-edge']) {
    await writeVariables(`${ROOT}.dev.vars`, env);
    // Wrangler's own default is not to be reached by other addresses; its port is that of wrangler.toml.
    say(
      `\n  now, in another terminal: npx wrangler dev${ports.EDGE_PORT === 28080 ? '' : ` --port ${ports.EDGE_PORT}`}\n`,
    );
    await part<Part>('Your edge', async () => {
      await until('the edge answers', () => isReady(edgeUrl), FOR_EVER_MS);
      return {};
    });
  } else {
    await startEdge(ports, env);
  }
  await part('MLLP sidecar', () =>
    startSidecar({
      edgeUrl,
      privateKey: secrets.sidecarPrivateKey,
      port: ports.MLLP_PORT,
      healthPort: ports.SIDECAR_HEALTH_PORT,
      log: logFile('sidecar'),
    }),
  );
  await part('Demo data', async () => {
    await demoData(edgeUrl, edgeUrl, demo);
    return {};
  });

  const now = Math.floor(Date.now() / 1000);
  const stack: StackDescription = {
    oauthBaseUrl: edgeUrl,
    fhirBaseUrl: edgeUrl,
    hl7HttpBaseUrl: edgeUrl,
    adminUrl: `${edgeUrl}/admin`,
    docsUrl: `${edgeUrl}/docs`,
    mllp: { host: '127.0.0.1', port: ports.MLLP_PORT },
    webhookUrl: receiver.pageUrl,
    databaseUrl: postgres.url,
    admin: oidc.admin,
    reader: oidc.reader,
    adminToken: await oidc.adminToken(),
    otherAdminToken: await oidc.signToken({ site: demo.otherSite, exp: now + TOKEN_TTL_SECONDS }),
    ...demo,
  };
  await writeFile(STACK_FILE, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
  say(await readFile(new URL('started.txt', import.meta.url), 'utf8').then((text) => fillIn(text, stack)));
}

const RECEIVER_AUTHORITY = `${LOCAL_FOLDER}/receiver-authority.pem`;

/** The settings of the gateway that are in an environment. */
const variablesOf = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(Object.keys(VARIABLES).flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));

async function startEdge(ports: Ports, env: Readonly<Record<string, string>>): Promise<void> {
  await part<Part>(options.edge === 'deno' ? 'Edge (Deno)' : 'Edge (wrangler dev)', () =>
    options.edge === 'deno'
      ? startDenoEdge({
          port: ports.EDGE_PORT,
          env,
          rateLimits: {
            tokenPerClient: 1_000_000,
            tokenPerAddress: 1_000_000,
            adminPerAddress: 1_000_000,
            perKey: 1_000_000,
          },
          caCertificate: RECEIVER_AUTHORITY,
          log: logFile('edge'),
        })
      : startWranglerEdge({
          port: ports.EDGE_PORT,
          // Deno reads the environment of this program; a Worker has only what the file says.
          env: { ...variablesOf(process.env), ...env },
          folder: LOCAL_FOLDER,
          caCertificate: RECEIVER_AUTHORITY,
          log: logFile('edge'),
        }),
  );
}

/** `{name}` in the text becomes the stack's member of that name. */
function fillIn(text: string, stack: StackDescription): string {
  const values: Record<string, string> = {
    ...Object.fromEntries(Object.entries(stack).filter(([, value]) => typeof value === 'string')),
    mllp: `${stack.mllp.host}:${stack.mllp.port}`,
    username: stack.admin.username,
    password: stack.admin.password,
    stackFile: STACK_FILE,
  };
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

process.on('SIGINT', () => void stopAll(0, 'Stopping'));
process.on('SIGTERM', () => void stopAll(0, 'Stopping'));
await start().catch((error: unknown) => {
  say('');
  return stopAll(1, error instanceof Error ? error.message : String(error));
});
