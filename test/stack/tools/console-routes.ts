/** Every route of the console and its API, of the very table that answers. */
import { createAdmin } from '../../../edge/admin/routes.ts';
import { createClientKeyring } from '../../../edge/oauth/client-keys.ts';
import { createWorkbench } from '../../../edge/workbench.ts';
import { makeSecrets } from '../services/secrets.ts';
import { testDeps } from './test-deps.ts';

export interface ConsoleRoute {
  readonly method: string;
  /** `/admin/keys/:clientId` */
  readonly path: string;
}

/** Each once; without what runs before all of them. */
export async function consoleRoutes(): Promise<readonly ConsoleRoute[]> {
  const { env } = await makeSecrets();
  const { keys } = JSON.parse(env.TOKEN_SIGNING_KEYS) as { keys: object[] };
  const deps = testDeps({ signingKeys: keys, env: { ADMIN_PUBLIC_BASE_URL: 'https://console.test' } });
  const { routes } = createAdmin(deps, createWorkbench(deps, createClientKeyring(deps)));
  const own = routes.filter(({ method }) => method !== 'ALL');
  return [...new Map(own.map(({ method, path }) => [`${method} ${path}`, { method, path }])).values()];
}
