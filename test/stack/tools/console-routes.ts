/** Every route of the console and its API, of the very table that answers. */
import { createAdmin } from '../../../edge/admin/routes.ts';
import { createClientKeyring } from '../../../edge/oauth/client-keys.ts';
import { createWorkbench } from '../../../edge/workbench.ts';
import { testDeps } from './test-deps.ts';

export interface ConsoleRoute {
  readonly method: string;
  /** `/admin/keys/:clientId` */
  readonly path: string;
}

/** Each once; without what runs before all of them. */
export function consoleRoutes(): readonly ConsoleRoute[] {
  const deps = testDeps({ env: { ADMIN_PUBLIC_BASE_URL: 'https://console.test' } });
  const { routes } = createAdmin(deps, createWorkbench(deps, createClientKeyring(deps)));
  const own = routes.filter(({ method }) => method !== 'ALL');
  return [...new Map(own.map(({ method, path }) => [`${method} ${path}`, { method, path }])).values()];
}
