/** The entry for Workers: makes `Deps` from bindings and secrets, once per isolate. */
import { resolve4, resolve6 } from 'node:dns/promises';

import { env, waitUntil } from 'cloudflare:workers';

import { logLine, type Log } from '../../shared/log.ts';
import { createApp, type App } from '../app.ts';
import { ConfigError } from '../../shared/environment.ts';
import { misspeltVariables, readConfig } from '../config.ts';
import { durableJtiStore, type JtiStore } from './cloudflare/jti-store.ts';
import { bindingRateLimiter } from './cloudflare/rate-limiter.ts';
import { siteFeed } from './cloudflare/site-feed.ts';
import { backgroundFailed } from '../http/fault-status.ts';
import { createMemory } from '../http/memory.ts';
import { createOutage } from '../http/outage.ts';
import { createDatabaseMeter } from './database-meter.ts';
import { gzip } from './gzip.ts';
import { neonDatabase } from './neon.ts';

export { JtiStore } from './cloudflare/jti-store.ts';
/** Wrangler.toml names the class. */
export const SiteFeed = siteFeed(async (site) => started()?.serveChanges(site));

interface Bindings {
  JTI_STORE: DurableObjectNamespace<JtiStore>;
  SITE_FEED: DurableObjectNamespace<InstanceType<typeof SiteFeed>>;
  TOKEN_CLIENT_LIMIT: RateLimit;
  TOKEN_ADDRESS_LIMIT: RateLimit;
  ADMIN_ADDRESS_LIMIT: RateLimit;
  KEY_LIMIT: RateLimit;
  ASSETS: Fetcher;
  /** Absent if the Worker runs without Wrangler. */
  VERSION?: WorkerVersionMetadata;
}

/** Workers Logs reads a line of JSON from the console and indexes its fields. */
// oxlint-disable-next-line no-console
const log: Log = (entry) => console.log(logLine(new Date(), entry));

let app: App | undefined;

function start(): App {
  const bindings = env as unknown as Bindings & Record<string, unknown>;
  const config = readConfig(bindings);
  const misspelt = misspeltVariables(bindings);
  if (misspelt.length > 0) log({ level: 'warn', event: 'configuration', detail: misspelt.join('; ') });
  const meter = createDatabaseMeter(createMemory(config.MAX_HELD_BYTES, Date.now));
  const background = (work: Promise<unknown>): void =>
    waitUntil(work.catch((error: unknown) => log(backgroundFailed(error))));
  return createApp({
    config,
    database: neonDatabase(config, { requested: meter.note, share: meter.share, log }),
    measured: meter.measured,
    share: meter.share,
    version: bindings.VERSION?.id,
    jtiStore: durableJtiStore(bindings.JTI_STORE, createOutage('jti store', log, Date.now)),
    rateLimiter: bindingRateLimiter(bindings),
    now: () => Date.now(),
    background,
    wake: (site) => background(bindings.SITE_FEED.getByName(site).wake(site)),
    log,
    fetch: (url, init) => fetch(url, init),
    resolveHost: async (hostname) => {
      const found = await Promise.allSettled([resolve4(hostname), resolve6(hostname)]);
      return found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    },
    // The binding uses only the path.
    asset: (path) => bindings.ASSETS.fetch(new URL(path, 'https://assets.invalid/')),
    gzip,
    // Cloudflare accepts gzip and br itself, and decompresses for a client that does not.
    acceptEncoding: ({ cf, headers }: Request<unknown, Partial<IncomingRequestCfProperties>>) =>
      cf?.clientAcceptEncoding ?? headers.get('accept-encoding'),
    // Cloudflare sets this header and drops the client's.
    sourceAddress: (request) => request.headers.get('cf-connecting-ip') ?? 'unknown',
  });
}

/** Undefined if the configuration has problems, which are then logged. */
function started(): App | undefined {
  try {
    return (app ??= start());
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log({ level: 'error', event: 'configuration', detail: error.problems.join('; ') });
    return undefined;
  }
}

const notConfigured = () =>
  Response.json({ error: 'not configured' }, { status: 503, headers: { 'X-Content-Type-Options': 'nosniff' } });

export default {
  async fetch(request): Promise<Response> {
    return started()?.fetch(request) ?? notConfigured();
  },
  /** Called once a minute: [triggers] in wrangler.toml. */
  async scheduled(): Promise<void> {
    await started()?.tick();
  },
} satisfies ExportedHandler;
