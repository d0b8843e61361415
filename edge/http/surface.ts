/**
 * The base of every surface: a Hono application below its base URL's path prefix that gives each request an id and writes
 * one access-log line. Routes are written without the prefix (`/fhir/:type`).
 */
import { Hono } from 'hono';
import { matchedRoutes } from 'hono/route';

import { type Addresses, surfaceUrls } from '../config.ts';
import { withoutFinalSlashes } from '../../shared/final-slashes.ts';
import type { Deps, Share } from '../deps.ts';
import { Fault } from '../../shared/fault.ts';
import { continueTrace } from '../../shared/trace-context.ts';
import { uuidv7 } from '../../shared/uuid.ts';
import { pathOf } from './address.ts';
import { changeHeaders } from './answer-headers.ts';
import { isRequestId } from './request-id.ts';
import { createTableRouter } from './table-router.ts';
import type { CountUse, Use } from './usage.ts';

/** The facts of one request. */
export interface GatewayEnv {
  Variables: {
    requestId: string;
    /** The share of the memory of this request (console). */
    share?: Share;
    /** The client of the request, set when it is authenticated; for counting and logging. */
    use?: Use;
    /** Asserts the console session of a request that has run no query (edge/admin/staff/guard.ts). */
    assertSession?: () => Promise<void>;
    /** The submitted form of a page, once it has been read. */
    form?: URLSearchParams;
  };
}

export type Surface = Hono<GatewayEnv>;

/** The path of a base URL without a trailing slash: `/a/b` for `https://host/a/b`, empty for `https://host`. */
export function pathPrefix(baseUrl: string | undefined): string {
  return !baseUrl ? '' : withoutFinalSlashes(new URL(baseUrl).pathname);
}

/** Only https for a year (RFC 6797 §6.1). Subdomains and the preload list are the operator's decision. */
const STRICT_TRANSPORT = 'max-age=31536000';

/** Content-Length (RFC 9110 §8.6); undefined if it is absent or the body is chunked. */
const bodyLength = (given: string | undefined): number | undefined =>
  given !== undefined && /^\d{1,15}$/.test(given) ? Number(given) : undefined;

/**
 * @param name for the log: `oauth`, `fhir`, `hl7`, `admin`
 * @param baseUrl the public base URL, whose path is the prefix. If undefined, the surface is not configured and every
 *   request is a Fault `unavailable`. The empty string is a surface on every host
 * @param countUse counts requests with a known site, on surfaces that the console's traffic page shows
 */
export function createSurface(
  deps: Pick<Deps, 'now' | 'log' | 'measured' | 'exportedSpan'> & { readonly config: Addresses },
  name: string,
  baseUrl: string | undefined,
  countUse?: CountUse,
): Surface {
  const prefix = pathPrefix(baseUrl);
  // A surface without an address is reached by the addresses of the others.
  const isHttps = (baseUrl ? [baseUrl] : surfaceUrls(deps.config)).some((url) => url.startsWith('https:'));
  const app = new Hono<GatewayEnv>({
    router: createTableRouter(),
    getPath: (request) => {
      // Many clients escape the $ of an operation, which RFC 3986 §3.3 allows unescaped.
      const pathname = pathOf(request.url).replaceAll('%24', '$');
      return prefix !== '' && pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : pathname;
    },
  });

  app.use(async (c, next) => {
    const started = deps.now();
    const given = c.req.header('x-request-id') ?? '';
    const requestId = isRequestId(given) ? given : uuidv7(started);
    c.set('requestId', requestId);
    const span = continueTrace(c.req.header('traceparent'), deps.exportedSpan?.());
    const { database } = await deps.measured(next);
    // The client of a HEAD gets no body, and the body would hold its memory.
    if (c.req.method === 'HEAD') await c.res.body?.cancel();
    changeHeaders(c, (headers) => {
      headers.set('X-Request-Id', requestId);
      headers.set('X-Content-Type-Options', 'nosniff');
      // Browsers store redirects too. On the way back they would repeat one with the state of a completed sign-in.
      if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
      if (isHttps) headers.set('Strict-Transport-Security', STRICT_TRANSPORT);
    });
    const durationMs = deps.now() - started;
    const use = c.get('use');
    countUse?.(use, c.res.status, durationMs);
    deps.log({
      level: 'info',
      event: 'http.request',
      requestId,
      ...span,
      surface: name,
      method: c.req.method,
      route: matchedRoutes(c).findLast((route) => route.path !== '/*')?.path ?? 'none',
      status: c.res.status,
      durationMs,
      databaseRequests: database.requests,
      databaseMs: database.ms,
      bytes: bodyLength(c.req.header('content-length')),
      clientId: use?.clientId,
      site: use?.site,
      actor: use?.actor,
    });
  });

  if (baseUrl === undefined) {
    app.use(() => {
      throw new Fault('unavailable', `the ${name} surface is not configured: its public base URL is missing`);
    });
  }
  return app;
}
