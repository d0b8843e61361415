/**
 * The API reference: the OpenAPI document and a page to read and try it (swagger-ui-dist), all served from here. It says
 * nothing that is not public, so it needs no sign-in.
 */
import { html } from 'hono/html';

import { addAssets } from '../http/assets.ts';
import type { Operation } from '../admin/api/operation.ts';
import { problem } from '../http/problem.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { type Config, surfaceUrls } from '../config.ts';
import type { Deps } from '../deps.ts';
import { Fault } from '../../shared/fault.ts';
import { faultOf } from '../http/fault-status.ts';
import { createSurface, pathPrefix, type Surface } from '../http/surface.ts';
import { openApiDocument } from './document.ts';

const PATH = '/docs';

/**
 * Where the reference answers: at INTEGRATION_DOCS_URL where that is `…/docs` at a host of ours, else below the console's
 * base URL. A deployment may publish its reference elsewhere; ours is then still there.
 */
export function referenceBaseUrl(config: Config): string | undefined {
  const own = surfaceUrls(config);
  const docs = config.INTEGRATION_DOCS_URL;
  const isOurs =
    docs !== undefined && docs.endsWith(PATH) && own.some((url) => new URL(url).host === new URL(docs).host);
  return isOurs ? docs.slice(0, -PATH.length) : (config.ADMIN_PUBLIC_BASE_URL ?? own[0]);
}

const Reference = ({ path }: { path: string }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>API reference · Integration gateway</title>
      <link rel="icon" href={`${path}/assets/icon.svg`} type="image/svg+xml" />
      <link rel="stylesheet" href={`${path}/assets/swagger-ui.css`} />
      <link rel="stylesheet" href={`${path}/assets/reference.css`} />
      <script src={`${path}/assets/swagger-ui.js`} defer></script>
      <script src={`${path}/assets/reference.js`} defer></script>
    </head>
    <body>
      <main id="reference" data-document={`${path}/openapi.json`}>
        <noscript>
          The reference needs JavaScript; the document itself is at <a href={`${path}/openapi.json`}>openapi.json</a>.
        </noscript>
      </main>
    </body>
  </html>
);

export function createReference(
  deps: Pick<Deps, 'config' | 'now' | 'log' | 'asset' | 'measured'>,
  operations: readonly Operation[],
): Surface {
  const { config } = deps;
  const base = referenceBaseUrl(config);
  const app = createSurface(deps, 'docs', base);
  const connectOrigins = [...new Set(surfaceUrls(config).map((url) => new URL(url).origin))];
  let document: string | undefined;

  app.get(PATH, async () => {
    const page = await html`<!doctype html>${<Reference path={`${pathPrefix(base)}${PATH}`} />}`;
    const headers = { ...securityHeaders({ connectOrigins }), 'Content-Type': 'text/html; charset=utf-8' };
    return new Response(String(page), { headers });
  });

  app.get(`${PATH}/`, (c) => c.redirect(`${base}${PATH}`, 308));

  app.get(`${PATH}/openapi.json`, () => {
    document ??= JSON.stringify(openApiDocument(config, operations));
    return new Response(document, {
      headers: {
        'Content-Type': 'application/vnd.oai.openapi+json;version=3.1',
        'Cache-Control': 'public, max-age=300',
        'Access-Control-Allow-Origin': '*',
      },
    });
  });

  addAssets(app, deps, `${PATH}/assets`);
  app.notFound((c) => problem(new Fault('not-found', 'there is nothing at this address'), c.get('requestId')));
  app.onError((error, c) => problem(faultOf(error, deps.log, 'docs', c.get('requestId')), c.get('requestId')));
  return app;
}
