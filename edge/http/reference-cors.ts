/**
 * What lets the API reference's page call a surface at another host (Fetch standard, §3.2 CORS protocol): its own origin,
 * compared as a whole, without credentials; a page of any other origin is told nothing. Documents that anybody may read are
 * `publish`'s.
 */
import { cors } from 'hono/cors';

import type { Addresses } from '../config.ts';
import { changeHeaders } from './answer-headers.ts';
import { referenceOrigin } from './reference-address.ts';
import type { Surface } from './surface.ts';

/** What a request of the page may carry beside what every page may send. */
export const CALLERS_HEADERS = [
  'Accept',
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-Modified-Since',
  'If-None-Exist',
  'If-None-Match',
  'If-Unmodified-Since',
  'Prefer',
  'X-Request-Id',
];

/** What a script sees of an answer beside its type and length. */
export const ANSWERS_HEADERS = [
  'Accept-Patch',
  'Allow',
  'Content-Location',
  'ETag',
  'Expires',
  'Last-Modified',
  'Location',
  'Retry-After',
  'WWW-Authenticate',
  'X-Progress',
  'X-Request-Id',
];

/** How long a browser may keep the answer to a preflight: as long as discovery documents. */
const MAX_AGE_SECONDS = 300;

/** @param path what is answered so, also where it is refused; to be added before its routes */
export function letReferenceCall(app: Surface, path: string, config: Addresses, methods: readonly string[]): void {
  const origin = referenceOrigin(config);
  if (origin === undefined) return;
  const allow = cors({
    origin,
    allowMethods: [...methods],
    allowHeaders: CALLERS_HEADERS,
    exposeHeaders: ANSWERS_HEADERS,
    maxAge: MAX_AGE_SECONDS,
  });
  app.use(path, async (c, next) => {
    if (c.req.header('origin') === origin) return allow(c, next);
    await next();
    // A cache must not give one origin what another was answered (Fetch §3.2.5).
    changeHeaders(c, (headers) => headers.append('Vary', 'Origin'));
  });
}
