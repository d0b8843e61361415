/** Serves the static files of the console, the documentation and the API reference (edge/deps.ts). */
import type { Deps } from '../deps.ts';
import { gzipAnswer, gzipFrom } from './compression.ts';
import type { Surface } from './surface.ts';

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
};
const NAME = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(css|js|json|svg)$/;
/** File names do not change with the content, so browsers must revalidate with the ETag. */
const CACHE_CONTROL = 'public, max-age=300';

/** Adds `{path}/:file` for the files that the build has made, and their gzip. */
export function addAssets(app: Surface, deps: Pick<Deps, 'asset' | 'acceptEncoding'>, path: string): void {
  app.get(`${path}/:file`, async (c) => {
    const [file, extension] = NAME.exec(c.req.param('file')) ?? [];
    if (file === undefined) return c.notFound();
    const isGzip = (gzipFrom(deps.acceptEncoding(c.req.raw)) ?? Infinity) < Infinity;
    const found = await deps.asset(isGzip ? `${file}.gz` : file);
    if (!found.ok) return c.notFound();
    const headers = new Headers({
      'Content-Type': TYPES[extension ?? ''] ?? 'application/octet-stream',
      'Cache-Control': CACHE_CONTROL,
      Vary: 'Accept-Encoding',
      'X-Content-Type-Options': 'nosniff',
    });
    const etag = found.headers.get('etag');
    if (etag !== null) headers.set('ETag', etag);
    if (etag !== null && c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers });
    return isGzip ? gzipAnswer(found.body, { headers }) : new Response(found.body, { headers });
  });
}
