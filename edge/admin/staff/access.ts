/** Who calls, and whether they may: the first step of every route of the console and of its API. */
import type { Context } from 'hono';

import type { Fault } from '../../../shared/fault.ts';
import type { Database, Deps } from '../../deps.ts';
import { audited, type AuditActor } from '../../store/audit.ts';
import { assertSession, assertSessionLasts } from '../../store/console-session.ts';
import type { GatewayEnv } from '../../http/surface.ts';
import { askerOf } from './asker.ts';
import { noCredentials, type ReadBearer } from './bearer-token.ts';
import { refuseCrossSite } from './cross-site.ts';
import { guard } from './guard.ts';
import { type Actor, type Permission, requirePermission } from './permissions.ts';
import { oidcSettings } from './provider.ts';
import { type Renew, sessionEnded } from './renew.ts';
import { identityOf, type Session, type Sessions } from './session.ts';

/** Of a request that a page makes by itself, to refresh what it shows (console.js). */
const REFRESH_HEADER = 'Gateway-Refresh';

/**
 * Who calls, and the database as they may use it: with a session, as long as it lasts, and with a row of the audit for
 * whatever a batch says that they were shown or have changed.
 */
export interface Caller {
  readonly actor: Actor;
  /** The same for the audit. */
  readonly asker: AuditActor;
  readonly database: Database;
}

export type Visitor = Caller & Session;

export interface Access {
  /**
   * Who calls the API, by Bearer token or session.
   *
   * @throws Fault 401 without either, 403 without the permission or from another site's page
   */
  api(c: Context<GatewayEnv>, permission: Permission | readonly Permission[]): Promise<Caller>;
  /** Who looks at a page: sessions only. */
  page(c: Context<GatewayEnv>, permission?: Permission): Promise<Visitor>;
  /** What the cookie is to say from now on. */
  keep(c: Context<GatewayEnv>, session: Session): Promise<void>;
  /** Who looks at the page of an error; undefined where nobody is signed in (any more). Asks the database at most once. */
  onlooker(c: Context<GatewayEnv>): Promise<Session | undefined>;
  /** What the cookie says of whoever wants to sign out, whether or not the session is still one. */
  leaving(c: Context<GatewayEnv>): Promise<Session | undefined>;
}

export function createAccess(deps: Deps, readBearer: ReadBearer, sessions: Sessions, renew: Renew): Access {
  const cookieOf = async (c: Context<GatewayEnv>): Promise<Session | undefined> => {
    const origin = new URL(oidcSettings(deps.config).baseUrl).origin;
    const session = await sessions.read(c);
    if (session !== undefined) refuseCrossSite(c.req.raw, origin);
    return session;
  };

  const callerOf = (c: Context<GatewayEnv>, actor: Actor, database: Database): Caller => {
    const { site, subject } = actor;
    c.set('use', { site, actor: subject });
    const asker = askerOf(deps, c, actor);
    return { actor, asker, database: audited(database, site, asker) };
  };

  const bySession = async (c: Context<GatewayEnv>, missing: () => Fault): Promise<Visitor> => {
    const read = await cookieOf(c);
    if (read === undefined) throw missing();
    const session = await renew(c, read);
    const isByItself = c.req.header(REFRESH_HEADER) !== undefined;
    const assertion = (isByItself ? assertSessionLasts : assertSession)(identityOf(session));
    const { database, settle } = guard(deps.database, assertion);
    c.set('settle', settle);
    return { ...session, ...callerOf(c, session.actor, database) };
  };

  return {
    async api(c, permission) {
      const byToken = await readBearer(c.req.raw);
      const caller = byToken === undefined ? await bySession(c, noCredentials) : callerOf(c, byToken, deps.database);
      requirePermission(caller.actor, permission);
      return caller;
    },
    async page(c, permission) {
      const visitor = await bySession(c, sessionEnded);
      if (permission !== undefined) requirePermission(visitor.actor, permission);
      return visitor;
    },
    keep: (c, session) => sessions.keep(c, session),
    async onlooker(c) {
      const session = await sessions.read(c);
      if (session === undefined) return undefined;
      const settle = c.get('settle') ?? guard(deps.database, assertSessionLasts(identityOf(session))).settle;
      try {
        await settle();
        return session;
      } catch {
        return undefined;
      }
    },
    leaving: cookieOf,
  };
}
