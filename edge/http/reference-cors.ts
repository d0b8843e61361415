/**
 * Lets the API reference's page call a surface at another host (Fetch standard, §3.2 CORS protocol). Only its exact origin
 * is allowed, without credentials. `publish` handles public documents.
 */
import { cors } from 'hono/cors';

import type { Addresses } from '../config.ts';
import { changeHeaders } from './answer-headers.ts';
import { referenceOrigin } from './reference-address.ts';
import type { Surface } from './surface.ts';

/** Request headers that the page may send besides the safelisted ones. */
const CALLERS_HEADERS = [
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

/** Response headers that a script can read besides the safelisted ones. */
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

/** The caching time of a preflight's answer, as for discovery documents. */
const MAX_AGE_SECONDS = 300;

/** @param path gets the headers on rejected requests too; call this before adding its routes */
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
    // A cache must not return one origin's answer to another (Fetch §3.2.5).
    changeHeaders(c, (headers) => headers.append('Vary', 'Origin'));
  });
}
