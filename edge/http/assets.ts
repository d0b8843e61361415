/** Serves the static files of the console, the documentation and the API reference (edge/deps.ts). */
import type { Deps } from '../deps.ts';
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

/** Adds `{path}/:file` for the files that the build has made. */
export function addAssets(app: Surface, { asset }: Pick<Deps, 'asset'>, path: string): void {
  app.get(`${path}/:file`, async (c) => {
    const [file, extension] = NAME.exec(c.req.param('file')) ?? [];
    if (file === undefined) return c.notFound();
    const found = await asset(file);
    if (!found.ok) return c.notFound();
    const headers = new Headers({ 'Content-Type': TYPES[extension ?? ''] ?? 'application/octet-stream' });
    const etag = found.headers.get('etag');
    headers.set('Cache-Control', CACHE_CONTROL);
    headers.set('X-Content-Type-Options', 'nosniff');
    if (etag === null) return new Response(found.body, { headers });
    headers.set('ETag', etag);
    if (c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers });
    return new Response(found.body, { headers });
  });
}
