/** The Deno entry (`deno serve edge/platform/deno.ts`): environment variables to `Deps`. */
import { logLine, type Log } from '../../shared/log.ts';
import { createApp } from '../app.ts';
import { readConfig } from '../config.ts';
import { createDatabaseMeter } from './database-meter.ts';
import { createSourceAddress } from './forwarded-for.ts';
import { fetchAt } from './node/fetch-at.ts';
import { postgresJtiStore } from './postgres-jti-store.ts';
import { memoryRateLimiter } from './memory-rate-limiter.ts';
import { neonDatabase } from './neon.ts';

// oxlint-disable-next-line no-console
const log: Log = (entry) => console.log(logLine(new Date(), entry));

const config = readConfig(Deno.env.toObject());
const meter = createDatabaseMeter();
const database = neonDatabase(config, { requested: meter.note });
const now = () => Date.now();
const sourceAddress = createSourceAddress(config.TRUSTED_PROXIES);
/** The peer of each request under way: Deno tells it beside the request, not in it. */
const peers = new WeakMap<Request, string>();

const app = createApp({
  config,
  database,
  measured: meter.measured,
  // Deno Deploy; elsewhere whoever starts the program knows which it is.
  version: Deno.env.get('DENO_DEPLOYMENT_ID'),
  jtiStore: postgresJtiStore(database),
  rateLimiter: memoryRateLimiter(config, now),
  now,
  background: (work) => void work.catch((error: unknown) => log({ level: 'error', event: 'background', error })),
  log,
  fetch: (url, init) => fetch(url, init),
  fetchAt,
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

// `Deno.cron` is unstable. A tick that takes longer than the interval meets the next one, which is harmless. The timer
// holds up no graceful end.
Deno.unrefTimer(setInterval(() => void app.tick(), config.JOB_TICK_SECONDS * 1000));

export default {
  fetch(request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>): Promise<Response> {
    peers.set(request, info.remoteAddr.hostname);
    return app.fetch(request);
  },
};
