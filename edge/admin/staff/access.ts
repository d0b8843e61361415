/** Who calls, and whether they may: the first step of every route of the console and of its API. */
import type { Context } from 'hono';

import type { Deps } from '../../deps.ts';
import { type ReadBearer, createBearer, noCredentials } from './bearer-token.ts';
import { refuseCrossSite } from './cross-site.ts';
import { type Actor, type Permission, requirePermission } from './permissions.ts';
import { type FindProvider, oidcSettings } from './provider.ts';
import type { Session, Sessions } from './session.ts';

export interface Access {
  /**
   * Who calls the API, by Bearer token or session.
   *
   * @throws Fault 401 without either, 403 without the permission or from another site's page
   */
  api(c: Context, permission: Permission | readonly Permission[]): Promise<Actor>;
  /** Who looks at a page: sessions only. */
  page(c: Context, permission?: Permission): Promise<Session>;
}

export function createAccess(deps: Deps, findProvider: FindProvider, sessions: Sessions): Access {
  const readBearer: ReadBearer = createBearer(deps, findProvider);

  const bySession = async (c: Context): Promise<Session> => {
    const origin = new URL(oidcSettings(deps.config).baseUrl).origin;
    const session = await sessions.read(c);
    if (session === undefined) throw noCredentials();
    refuseCrossSite(c.req.raw, origin);
    return session;
  };

  return {
    async api(c, permission) {
      const actor = (await readBearer(c.req.raw)) ?? (await bySession(c)).actor;
      c.set('use', { site: actor.site, actor: actor.subject });
      requirePermission(actor, permission);
      return actor;
    },
    async page(c, permission) {
      const session = await bySession(c);
      c.set('use', { site: session.actor.site, actor: session.actor.subject });
      if (permission !== undefined) requirePermission(session.actor, permission);
      return session;
    },
  };
}
