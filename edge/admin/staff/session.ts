/**
 * The console's session in its sealed cookie: account, site and permissions. So a page knows them before its first query,
 * and the query's round trip also checks that the session has not ended (edge/docs/behaviour.md, Administration).
 */
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as z from 'zod';

import type { Deps } from '../../deps.ts';
import type { SessionIdentity } from '../../store/console-session.ts';
import { type Actor, toActor } from './actor.ts';
import { createSeal } from './seal.ts';

/** The same as in console_session_is_live. The seal expires with the session. */
export const SESSION_SECONDS = 8 * 3600;
/** The browser keeps the cookie one hour longer, so that a form that is sent too late is shown again (../sign-in/unsent.tsx). */
const COOKIE_SECONDS = SESSION_SECONDS + 3600;
const TRANSACTION_SECONDS = 10 * 60;
/** As the current time, it makes no seal expired. */
const NEVER_EXPIRED_MS = 0;

// `__Host-`: this host only, every path, never without `Secure` (RFC 6265bis §4.1.3.2).
const ATTRIBUTES = { prefix: 'host', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' } as const;
const SESSION = 'gateway-session';
const TRANSACTION = 'gateway-sign-in';
/** The site of this browser's last session: a sign-in starts there if the account still has it. */
const LAST_SITE = 'gateway-site';
const LAST_SITE_SECONDS = 400 * 86_400;

/** The state of a sign-in until the provider answers. */
const transaction = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), returnTo: z.string() });
type Transaction = z.infer<typeof transaction>;

const cookie = z.object({
  session: z.uuid(),
  sub: z.string(),
  name: z.string(),
  site: z.string(),
  permissions: z.array(z.string()),
  siteName: z.string(),
  timeZone: z.string(),
  hasOthers: z.boolean(),
  endsAt: z.number(),
  askedAt: z.number(),
  mayAsk: z.boolean(),
});

export interface Session {
  readonly id: string;
  readonly actor: Actor;
  readonly siteName: string;
  /** The site's, an IANA name. */
  readonly timeZone: string;
  /** The account has other sites too. */
  readonly hasOthers: boolean;
  /** Seconds since the epoch. */
  readonly endsAt: number;
  /** Time of the provider's last answer about permissions, in seconds since the epoch. */
  readonly askedAt: number;
  /** The provider issued a refresh token. */
  readonly mayAsk: boolean;
}

export const identityOf = ({ id, actor }: Session): SessionIdentity => ({ site: actor.site, session: id });

export interface Sessions {
  begin(c: Context, started: Transaction): Promise<void>;
  /** Reads the sign-in's state and deletes its cookie. */
  finish(c: Context): Promise<Transaction | undefined>;
  keep(c: Context, session: Session): Promise<void>;
  /** Reads the cookie. Only the database knows whether the session has ended. */
  read(c: Context): Promise<Session | undefined>;
  /** True for a cookie that the gateway sealed, also if the session has ended. */
  isSealed(c: Context): Promise<boolean>;
  drop(c: Context): void;
  lastSite(c: Context): string | undefined;
}

export function createSessions(deps: Pick<Deps, 'config' | 'now'>): Sessions {
  const sessions = createSeal(deps.config.GATEWAY_SECRET, 'admin session');
  const transactions = createSeal(deps.config.GATEWAY_SECRET, 'admin sign-in');
  const seconds = () => Math.floor(deps.now() / 1000);

  return {
    async begin(c, started) {
      const sealed = await transactions.seal({ ...started }, seconds() + TRANSACTION_SECONDS);
      setCookie(c, TRANSACTION, sealed, { ...ATTRIBUTES, maxAge: TRANSACTION_SECONDS });
    },
    async finish(c) {
      const sealed = getCookie(c, TRANSACTION, 'host');
      deleteCookie(c, TRANSACTION, ATTRIBUTES);
      if (sealed === undefined) return undefined;
      return transaction.safeParse(await transactions.open(sealed, deps.now())).data;
    },
    async keep(c, { id, actor, siteName, timeZone, hasOthers, endsAt, askedAt, mayAsk }) {
      const { subject: sub, name, site, permissions } = actor;
      const payload: z.infer<typeof cookie> = {
        session: id,
        sub,
        name,
        site,
        permissions: [...permissions],
        siteName,
        timeZone,
        hasOthers,
        endsAt,
        askedAt,
        mayAsk,
      };
      const sealed = await sessions.seal(payload, endsAt);
      setCookie(c, SESSION, sealed, { ...ATTRIBUTES, maxAge: COOKIE_SECONDS });
      if (hasOthers) setCookie(c, LAST_SITE, site, { ...ATTRIBUTES, maxAge: LAST_SITE_SECONDS });
    },
    async read(c) {
      const sealed = getCookie(c, SESSION, 'host');
      if (sealed === undefined) return undefined;
      const { data } = cookie.safeParse(await sessions.open(sealed, deps.now()));
      if (data === undefined) return undefined;
      const { session: id, siteName, timeZone, hasOthers, endsAt, askedAt, mayAsk } = data;
      return { id, actor: toActor(data), siteName, timeZone, hasOthers, endsAt, askedAt, mayAsk };
    },
    async isSealed(c) {
      const sealed = getCookie(c, SESSION, 'host');
      return sealed !== undefined && (await sessions.open(sealed, NEVER_EXPIRED_MS)) !== undefined;
    },
    drop: (c) => void deleteCookie(c, SESSION, ATTRIBUTES),
    lastSite: (c) => getCookie(c, LAST_SITE, 'host'),
  };
}
