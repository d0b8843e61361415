/**
 * The console's session as its cookie knows it: who, of which site, what they may do. The cookie is sealed, so that a page
 * knows whom it is for before it asks the database, which says in the same round trip whether the session is still one
 * (edge/docs/behaviour.md, Administration).
 */
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as z from 'zod';

import type { Deps } from '../../deps.ts';
import type { SessionIdentity } from '../../store/console-session.ts';
import { type Actor, toActor } from './permissions.ts';
import { createSeal } from './seal.ts';

/** As console_session_is_live has it. The seal ends with it. */
export const SESSION_SECONDS = 8 * 3600;
/** The browser keeps the cookie for an hour more: a form that was sent too late is then given back (../web/unsent.tsx). */
const COOKIE_SECONDS = SESSION_SECONDS + 3600;
const TRANSACTION_SECONDS = 10 * 60;
/** A time at which no seal has expired. */
const NEVER_EXPIRED_MS = 0;

// `__Host-`: this host only, every path, never without `Secure` (RFC 6265bis §4.1.3.2).
const ATTRIBUTES = { prefix: 'host', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' } as const;
const SESSION = 'gateway-session';
const TRANSACTION = 'gateway-sign-in';
/** Which site this browser was at last; whoever has no right to it any more is brought to another. */
const LAST_SITE = 'gateway-site';
const LAST_SITE_SECONDS = 400 * 86_400;

/** What a sign-in under way must remember until the provider answers. */
const transaction = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), returnTo: z.string() });
export type Transaction = z.infer<typeof transaction>;

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
  /** The site's, an IANA name: whose clocks pages show. */
  readonly timeZone: string;
  /** They may see other sites as well. */
  readonly hasOthers: boolean;
  /** Seconds since the epoch. */
  readonly endsAt: number;
  /** When the provider last said what somebody may do, in seconds since the epoch. */
  readonly askedAt: number;
  /** The provider gave a token to ask it anew with. */
  readonly mayAsk: boolean;
}

export const identityOf = ({ id, actor }: Session): SessionIdentity => ({ site: actor.site, session: id });

export interface Sessions {
  begin(c: Context, started: Transaction): Promise<void>;
  /** The sign-in under way; it is used up. */
  finish(c: Context): Promise<Transaction | undefined>;
  keep(c: Context, session: Session): Promise<void>;
  /** What the cookie says; whether the session has ended meanwhile only the database knows. */
  read(c: Context): Promise<Session | undefined>;
  /** True for a cookie that the gateway sealed, also when its session has ended. */
  isSealed(c: Context): Promise<boolean>;
  drop(c: Context): void;
  /** The site of the last session of this browser. */
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
