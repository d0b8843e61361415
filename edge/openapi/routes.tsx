/**
 * Serves the documentation (edge/docs) and the API reference: the OpenAPI documents, pages to read and try them (swagger-ui-dist),
 * and pages about errors, MLLP and versions. All of it is public, so it needs no sign-in.
 */
import { addAssets } from '../http/assets.ts';
import type { Operation } from '../admin/api/operation.ts';
import { compressedAnswer } from '../http/compression.ts';
import { problem } from '../http/problem.ts';
import { calledByTrying, originsOf, REFERENCE_PATH } from '../http/reference-address.ts';
import { type PolicyOptions, securityHeaders } from '../http/security-headers.ts';
import type { Deps } from '../deps.ts';
import { CHAPTERS, fragmentName } from '../docs/contents.ts';
import { Fault } from '../../shared/fault.ts';
import { faultOf } from '../http/fault-status.ts';
import { createSurface, type Surface } from '../http/surface.ts';
import { administrationDocument, partnerDocument } from './document.ts';
import { ChangesPage } from './pages/changes.tsx';
import { ChapterPage } from './pages/chapter.tsx';
import { ErrorsPage } from './pages/errors.tsx';
import { PAGES, printed } from './pages/frame.tsx';
import { MllpPage } from './pages/mllp.tsx';
import { TryPage } from './pages/try.tsx';
import { AdministrationReference, calledOrigins, PartnerReference } from './pages/try-out.tsx';

/** An OpenAPI document does not change while the program runs; the first request makes it. */
function addDocument(
  app: Surface,
  deps: Pick<Deps, 'gzip' | 'acceptEncoding'>,
  path: string,
  make: () => object,
): void {
  let text: string | undefined;
  app.get(path, (c) => {
    text ??= JSON.stringify(make());
    return compressedAnswer(deps, c.req.raw, text, {
      headers: {
        'Content-Type': 'application/vnd.oai.openapi+json;version=3.1',
        'Cache-Control': 'public, max-age=300',
        'Access-Control-Allow-Origin': '*',
      },
    });
  });
}

/** @param baseUrl below which it answers; there may be another elsewhere (edge/http/reference-address.ts) */
export function createReference(
  deps: Pick<Deps, 'config' | 'now' | 'log' | 'asset' | 'measured' | 'gzip' | 'acceptEncoding'>,
  baseUrl: string,
  operations: readonly Operation[],
): Surface {
  const { config } = deps;
  const app = createSurface(deps, 'docs', baseUrl);
  const site = { config, baseUrl };

  const addPage = (path: string, page: () => unknown, policy: PolicyOptions = {}): void => {
    app.get(`${REFERENCE_PATH}${path}`, async (c) => {
      const headers = { ...securityHeaders(policy), 'Content-Type': 'text/html; charset=utf-8' };
      return compressedAnswer(deps, c.req.raw, await printed(await page()), { headers });
    });
  };
  addPage(PAGES.api.path, () => <PartnerReference site={site} />, { connectOrigins: calledOrigins(config) });
  for (const chapter of CHAPTERS)
    addPage(`/${chapter.page}`, async () => {
      const fragment = await (await deps.asset(fragmentName(chapter.page))).text();
      return <ChapterPage {...{ site, chapter, fragment }} />;
    });
  const called = calledByTrying(config);
  addPage(PAGES.try.path, () => <TryPage {...{ site, called }} />, {
    connectOrigins: originsOf(Object.values(called)),
  });
  addPage(PAGES.mllp.path, () => <MllpPage site={site} />);
  addPage(PAGES.errors.path, () => <ErrorsPage site={site} />);
  addPage(PAGES.changes.path, () => <ChangesPage site={site} />);
  // Requests tried there use the reader's session at the console, so the page must have the console's host.
  const { ADMIN_PUBLIC_BASE_URL: admin } = config;
  if (admin === undefined || new URL(admin).origin === new URL(baseUrl).origin) {
    addPage(PAGES.admin.path, () => <AdministrationReference site={site} />);
  } else {
    app.get(`${REFERENCE_PATH}${PAGES.admin.path}`, (c) => c.redirect(`${admin}${REFERENCE_PATH}/admin`, 307));
  }

  app.get(`${REFERENCE_PATH}/`, (c) => c.redirect(`${baseUrl}${REFERENCE_PATH}`, 308));
  addDocument(app, deps, `${REFERENCE_PATH}/openapi.json`, () => partnerDocument(config));
  addDocument(app, deps, `${REFERENCE_PATH}${PAGES.admin.path}/openapi.json`, () =>
    administrationDocument(config, operations),
  );

  addAssets(app, deps, `${REFERENCE_PATH}/assets`);
  app.notFound((c) => problem(new Fault('not-found', 'There is no page at this address.'), c.get('requestId')));
  app.onError((error, c) => problem(faultOf(error, deps.log, 'docs', c.get('requestId')), c.get('requestId')));
  return app;
}
