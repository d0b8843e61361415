/**
 * The console and its JSON API (design decisions, section 6) as a table of contents. Errors are problem details below
 * `/admin/api`, pages elsewhere.
 */
import type { Deps } from '../deps.ts';
import { Fault } from '../../shared/fault.ts';
import { faultOf } from '../http/fault-status.ts';
import { createSurface, type Surface } from '../http/surface.ts';
import { createAccess } from './access.ts';
import { addAssets } from './assets.ts';
import { keyOperations } from './key-operations.ts';
import { messageOperations } from './message-operations.ts';
import { addOperations, API_PATH, type Operation } from './operation.ts';
import { overviewOperations } from './overview-operations.ts';
import { addPages } from './pages/routes.tsx';
import { errorPage } from './pages/error.tsx';
import { problem } from './problem.ts';
import { createProvider } from './provider.ts';
import { createSessions } from './session.ts';
import { addSignIn } from './sign-in.ts';
import { workbenchOperations } from './workbench-operations.ts';
import type { Workbench } from './workbench.ts';

/** Everything of `/admin/api`, also for the OpenAPI document. */
export function adminOperations(deps: Deps, workbench: Workbench): Operation[] {
  return [
    ...keyOperations(deps),
    ...overviewOperations(deps),
    ...messageOperations(deps, workbench),
    ...workbenchOperations(deps, workbench),
  ];
}

export function createAdmin(deps: Deps, workbench: Workbench): Surface {
  const app = createSurface(deps, 'admin', deps.config.ADMIN_PUBLIC_BASE_URL);
  const findProvider = createProvider(deps);
  const sessions = createSessions(deps);
  const access = createAccess(deps, findProvider, sessions);

  addSignIn(app, deps, findProvider, sessions, access);
  addOperations(app, access, adminOperations(deps, workbench));
  addAssets(app, deps, '/admin/assets');
  addPages(app, { deps, workbench, access });

  const isApi = (path: string) => path === API_PATH || path.startsWith(`${API_PATH}/`);

  app.notFound((c) => {
    const fault = new Fault('not-found', 'there is nothing at this address');
    return isApi(c.req.path) ? problem(fault, c.get('requestId')) : errorPage(deps.config, fault, c.get('requestId'));
  });

  app.onError((error, c) => {
    const requestId = c.get('requestId');
    const fault = faultOf(error, deps.log, 'admin', requestId);
    if (isApi(c.req.path)) return problem(fault, requestId);
    // Who is not signed in and wants to look at a page is brought there.
    if (fault?.kind === 'unauthenticated' && c.req.method === 'GET') {
      const { pathname, search } = new URL(c.req.url);
      const returnTo = encodeURIComponent(pathname.slice(pathname.indexOf('/admin')) + search);
      return c.redirect(`${deps.config.ADMIN_PUBLIC_BASE_URL ?? ''}/admin/sign-in?returnTo=${returnTo}`);
    }
    return errorPage(deps.config, fault, requestId);
  });

  return app;
}
