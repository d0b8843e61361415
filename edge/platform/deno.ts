/**
 * The program for Deno (`deno run edge/platform/deno.ts`): makes `Deps` from environment variables. It listens on loopback
 * by default. On SIGTERM or SIGINT it accepts no new requests, answers those in progress, ends its background work and
 * closes its connections to the database.
 */
import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';

import manifest from '../../package.json' with { type: 'json' };
import { ConfigError } from '../../shared/environment.ts';
import { logLine, type Log } from '../../shared/log.ts';
import { createApp } from '../app.ts';
import { type Config, misspeltVariables, readConfig } from '../config.ts';
import type { Database, PoolUse } from '../deps.ts';
import { createMemory } from '../http/memory.ts';
import { createDatabaseMeter, type DatabaseMeter } from './database-meter.ts';
import { createSourceAddress } from './forwarded-for.ts';
import { gzip } from './gzip.ts';
import { watchLoopDelay } from './loop-delay.ts';
import { fetchAt } from './node/fetch-at.ts';
import { postgresJtiStore } from './postgres-jti-store.ts';
import { memoryRateLimiter } from './memory-rate-limiter.ts';
import { isNeon, neonDatabase } from './neon.ts';
import { readConnectionString } from './postgres/connection-string.ts';
import { postgresDatabase } from './postgres/postgres.ts';
import { createUnderWay } from './under-way.ts';
import { wakeUps } from './wake-ups.ts';

// oxlint-disable-next-line no-console
const log: Log = (entry) => console.log(logLine(new Date(), entry));

const { config, meter, database, poolUse, close } = configured(Deno.env.toObject());
const loopDelay = watchLoopDelay();
const now = () => Date.now();
const sourceAddress = createSourceAddress(config.TRUSTED_PROXIES);
const underWay = createUnderWay(log);
const ends = new AbortController();
/** The peer of each request in progress, which Deno passes beside the request. */
const peers = new WeakMap<Request, string>();

/** Without this, Deno's tracing would send the caller's trace and `baggage` to every fetched host. */
const ofNoTrace = <T>(work: () => T): T => context.with(ROOT_CONTEXT, work);

/** Exits with 1 after one line that names every wrong or misspelt variable. */
function configured(env: Readonly<Record<string, string>>) {
  try {
    const read = readConfig(env);
    const misspelt = misspeltVariables(env);
    if (misspelt.length > 0) log({ level: 'warn', event: 'configuration', detail: misspelt.join('; ') });
    const connections = isNeon(read) ? undefined : read.DATABASE_CONNECTIONS;
    const meter = createDatabaseMeter(createMemory(read.MAX_HELD_BYTES, Date.now, connections));
    return { config: read, meter, ...connect(read, meter) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log({ level: 'error', event: 'configuration', detail: error.problems.join('; ') });
    return Deno.exit(1);
  }
}

/** Uses Neon's HTTP driver for Neon, and TCP for any other PostgreSQL. */
function connect(
  from: Config,
  meter: DatabaseMeter,
): {
  readonly database: Database;
  readonly poolUse?: () => PoolUse;
  readonly close: () => Promise<void>;
} {
  const options = { requested: meter.note, share: meter.share, log };
  if (isNeon(from)) return { database: neonDatabase(from, options), close: async () => undefined };
  const connection = readConnectionString(from.DATABASE_URL);
  if (!('host' in connection)) throw new ConfigError(connection.map((problem) => `DATABASE_URL ${problem}`));
  const overTcp = postgresDatabase({
    ...options,
    connection,
    connections: from.DATABASE_CONNECTIONS,
    prepares: from.DATABASE_STATEMENTS === 'prepared',
  });
  return { database: overTcp, poolUse: overTcp.use, close: () => overTcp.close() };
}

const wake = wakeUps((site) => app.serveChanges(site));

const app = createApp({
  config,
  database,
  measured: meter.measured,
  share: meter.share,
  // Deno Deploy sets the second.
  version: config.GATEWAY_VERSION ?? Deno.env.get('DENO_DEPLOYMENT_ID') ?? manifest.version,
  processUse: () => {
    const { rss, heapUsed } = Deno.memoryUsage();
    return { residentBytes: rss, heapBytes: heapUsed, loopDelay: loopDelay(), pool: poolUse?.() };
  },
  jtiStore: postgresJtiStore(database),
  rateLimiter: memoryRateLimiter(config, now),
  now,
  background: underWay.add,
  wake,
  ending: ends.signal,
  log,
  exportedSpan: () => {
    const { traceId, spanId } = trace.getActiveSpan()?.spanContext() ?? {};
    return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
  },
  fetch: (url, init) => ofNoTrace(() => fetch(url, init)),
  fetchAt: (...asked) => ofNoTrace(() => fetchAt(...asked)),
  resolveHost: async (hostname) => {
    const found = await Promise.allSettled([Deno.resolveDns(hostname, 'A'), Deno.resolveDns(hostname, 'AAAA')]);
    return found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  },
  asset: async (path) => {
    const file = await Deno.readFile(new URL(`../../dist/assets/${path}`, import.meta.url)).catch(() => undefined);
    return file === undefined ? new Response(null, { status: 404 }) : new Response(file);
  },
  gzip,
  acceptEncoding: (request) => request.headers.get('accept-encoding'),
  sourceAddress: (request) => sourceAddress(peers.get(request) ?? 'unknown', request.headers.get('x-forwarded-for')),
});

// `Deno.cron` is unstable. Overlapping timer are harmless.
const timer = setInterval(() => underWay.add(app.tick()), config.JOB_TICK_SECONDS * 1000);

let isDraining = false;
/** Exits with 1 after one line if the address cannot be listened on. */
function listen() {
  const { HOST: hostname, PORT: port } = config;
  try {
    return Deno.serve(
      {
        hostname,
        port,
        onListen: (address) =>
          log({ level: 'info', event: 'listening', host: address.hostname, port: address.port, pid: Deno.pid }),
      },
      (request, info) => {
        if (isDraining && /\/(?:healthz|readyz)$/.test(new URL(request.url).pathname))
          return Response.json({ status: 'stopping' }, { status: 503 });
        peers.set(request, info.remoteAddr.hostname);
        return app.fetch(request);
      },
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    log({ level: 'error', event: 'configuration', detail: `HOST ${hostname}, PORT ${port}: ${reason}` });
    return Deno.exit(1);
  }
}
const seconds = (count: number): Promise<false> => new Promise((resolve) => setTimeout(resolve, count * 1000, false));

async function end(): Promise<void> {
  log({ level: 'info', event: 'stopping' });
  clearInterval(timer);
  // A connection that is accepted but not served when the port closes would be lost: a proxy leaves before that.
  isDraining = true;
  await seconds(config.SHUTDOWN_DRAIN_SECONDS);
  const ended = (async () => {
    await server.shutdown();
    // After the last answer, which is counted too.
    ends.abort();
    await underWay.settled();
    await close();
    return true;
  })();
  const isInTime = await Promise.race([ended, seconds(config.SHUTDOWN_GRACE_SECONDS)]);
  if (isInTime) log({ level: 'info', event: 'stopped' });
  else log({ level: 'warn', event: 'stopped', detail: 'some work did not end in time' });
  Deno.exit(isInTime ? 0 : 1);
}
let ending: Promise<void> | undefined;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  Deno.addSignalListener(signal, () => {
    // A second signal exits immediately.
    if (ending !== undefined) Deno.exit(1);
    ending = end();
  });
}

// After the handlers: who reads that it listens may send a signal at once.
const server = listen();
