/** Authenticates and authorizes: the first step of every route of the console and of its API. */
import type { Context } from 'hono';

import type { Fault } from '../../../shared/fault.ts';
import type { Database, Deps } from '../../deps.ts';
import { audited, type AuditActor } from '../../store/audit.ts';
import { assertSession, assertSessionLasts } from '../../store/console-session.ts';
import type { GatewayEnv } from '../../http/surface.ts';
import { auditActorOf } from './audit-actor.ts';
import { noCredentials, type ReadBearer } from './bearer-token.ts';
import { refuseCrossSite } from './cross-site.ts';
import { guard } from './guard.ts';
import { type Actor, requirePermission } from './actor.ts';
import type { Permission } from '../../permissions.ts';
import { oidcSettings } from './provider.ts';
import { type Renew, sessionEnded } from './renew.ts';
import { identityOf, type Session, type Sessions } from './session.ts';

/** Sent by console.js when it refreshes a section: such a request does not extend the session. */
const REFRESH_HEADER = 'Gateway-Refresh';

/**
 * The actor of a request, with a database that asserts the session in each transaction and writes the audit events that a
 * batch notes.
 */
export interface Caller {
  readonly actor: Actor;
  readonly auditActor: AuditActor;
  readonly database: Database;
}

export type Visitor = Caller & Session;

export interface Access {
  /**
   * Authenticates a request to the API by Bearer token or session.
   *
   * @throws Fault 401 without either, 403 without the permission or from a page of another origin
   */
  api(c: Context<GatewayEnv>, permission: Permission | readonly Permission[]): Promise<Caller>;
  /** Authenticates a request for a page, by session only. */
  page(c: Context<GatewayEnv>, permission?: Permission): Promise<Visitor>;
  /** Writes the session to the cookie. */
  keep(c: Context<GatewayEnv>, session: Session): Promise<void>;
  /** The session for an error page; undefined if it is absent or has ended. At most one round trip. */
  sessionOfError(c: Context<GatewayEnv>): Promise<Session | undefined>;
  /** The session in the cookie of a sign-out, also if it has ended. */
  sessionToEnd(c: Context<GatewayEnv>): Promise<Session | undefined>;
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
    const auditActor = auditActorOf(deps, c, actor);
    return { actor, auditActor, database: audited(database, site, auditActor) };
  };

  const bySession = async (c: Context<GatewayEnv>, missing: () => Fault): Promise<Visitor> => {
    const read = await cookieOf(c);
    if (read === undefined) throw missing();
    const session = await renew(c, read);
    const isRefresh = c.req.header(REFRESH_HEADER) !== undefined;
    const assertion = (isRefresh ? assertSessionLasts : assertSession)(identityOf(session));
    const { database, assertOnce } = guard(deps.database, assertion);
    c.set('assertSession', assertOnce);
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
    async sessionOfError(c) {
      const session = await sessions.read(c);
      if (session === undefined) return undefined;
      const assertOnce =
        c.get('assertSession') ?? guard(deps.database, assertSessionLasts(identityOf(session))).assertOnce;
      try {
        await assertOnce();
        return session;
      } catch {
        return undefined;
      }
    },
    sessionToEnd: cookieOf,
  };
}
