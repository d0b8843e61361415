/**
 * The program for Deno (`deno run edge/platform/deno.ts`): environment variables to `Deps`. It listens on loopback unless it is told
 * otherwise. At SIGTERM or SIGINT it takes no new request, answers those that are under way, ends its background work
 * and says good-bye to the database.
 */
import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';

import { ConfigError } from '../../shared/environment.ts';
import { logLine, type Log } from '../../shared/log.ts';
import { createApp } from '../app.ts';
import { type Config, readConfig, VARIABLES } from '../config.ts';
import type { Database } from '../deps.ts';
import { createDatabaseMeter } from './database-meter.ts';
import { createSourceAddress } from './forwarded-for.ts';
import { fetchAt } from './node/fetch-at.ts';
import { postgresJtiStore } from './postgres-jti-store.ts';
import { memoryRateLimiter } from './memory-rate-limiter.ts';
import { isNeon, neonDatabase } from './neon.ts';
import { readConnectionString } from './postgres/connection-string.ts';
import { postgresDatabase } from './postgres/postgres.ts';
import { createUnderWay } from './under-way.ts';

// oxlint-disable-next-line no-console
const log: Log = (entry) => console.log(logLine(new Date(), entry));

// Each by its name: the program needs, and is given, no other.
const config = readConfig(Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, Deno.env.get(name)])));
const meter = createDatabaseMeter();
const { database, close } = connect(config);
const now = () => Date.now();
const sourceAddress = createSourceAddress(config.TRUSTED_PROXIES);
const underWay = createUnderWay(log);
const ends = new AbortController();
/** The peer of each request under way: Deno tells it beside the request, not in it. */
const peers = new WeakMap<Request, string>();

/** Where Deno exports spans, it would tell whom we ask the trace of who asked us, and the `baggage` that came with it. */
const ofNoTrace = <T>(work: () => T): T => context.with(ROOT_CONTEXT, work);

/** Neon's over HTTP, any other over TCP. */
function connect(from: Config): { readonly database: Database; readonly close: () => Promise<void> } {
  const options = { requested: meter.note, log };
  if (isNeon(from)) return { database: neonDatabase(from, options), close: async () => undefined };
  const connection = readConnectionString(from.DATABASE_URL);
  if (!('host' in connection)) throw new ConfigError(connection.map((problem) => `DATABASE_URL ${problem}`));
  const overTcp = postgresDatabase({
    ...options,
    connection,
    connections: from.DATABASE_CONNECTIONS,
    prepares: from.DATABASE_STATEMENTS === 'prepared',
  });
  return { database: overTcp, close: () => overTcp.close() };
}

const app = createApp({
  config,
  database,
  measured: meter.measured,
  // Deno Deploy; elsewhere whoever starts the program knows which it is.
  version: Deno.env.get('DENO_DEPLOYMENT_ID'),
  jtiStore: postgresJtiStore(database),
  rateLimiter: memoryRateLimiter(config, now),
  now,
  background: underWay.add,
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
  sourceAddress: (request) => sourceAddress(peers.get(request) ?? 'unknown', request.headers.get('x-forwarded-for')),
});

// `Deno.cron` is unstable. A tick that takes longer than the interval meets the next one, which is harmless.
const ticks = setInterval(() => underWay.add(app.tick()), config.JOB_TICK_SECONDS * 1000);

const server = Deno.serve(
  {
    hostname: config.HOST,
    port: config.PORT,
    onListen: ({ hostname, port }) => log({ level: 'info', event: 'listening', host: hostname, port, pid: Deno.pid }),
  },
  (request, info) => {
    peers.set(request, info.remoteAddr.hostname);
    return app.fetch(request);
  },
);

async function end(): Promise<void> {
  log({ level: 'info', event: 'stopping' });
  clearInterval(ticks);
  const ended = (async () => {
    await server.shutdown();
    // Not before the last answer, which is counted too.
    ends.abort();
    await underWay.settled();
    await close();
    return true;
  })();
  const late = new Promise<false>((resolve) => setTimeout(resolve, config.SHUTDOWN_GRACE_SECONDS * 1000, false));
  const isInTime = await Promise.race([ended, late]);
  if (isInTime) log({ level: 'info', event: 'stopped' });
  else log({ level: 'warn', event: 'stopped', detail: 'work was cut off' });
  Deno.exit(isInTime ? 0 : 1);
}
let ending: Promise<void> | undefined;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  Deno.addSignalListener(signal, () => {
    // Whoever asks twice does not want to wait.
    if (ending !== undefined) Deno.exit(1);
    ending = end();
  });
}
