/** Serves a public document to any origin, cached by its ETag (RFC 9110 §8.8.3). */
import type { Handler } from 'hono';
import { cors } from 'hono/cors';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';

import type { GatewayEnv, Surface } from './surface.ts';

/** A 304 must keep the header that lets another origin use it. */
const etags = etag({ retainedHeaders: [...RETAINED_304_HEADERS, 'access-control-allow-origin'] });

/**
 * @param document answers GET and HEAD
 * @param notAllowed answers other methods; its argument is the value of `Allow`
 */
export function publish(
  app: Surface,
  path: string,
  document: Handler<GatewayEnv>,
  notAllowed: (allow: string) => Handler<GatewayEnv>,
): void {
  app.use(path, cors({ origin: '*', allowMethods: ['GET', 'HEAD'], allowHeaders: ['Accept'], maxAge: 86_400 }), etags);
  app.get(path, document);
  app.all(path, notAllowed('GET, HEAD, OPTIONS'));
}
