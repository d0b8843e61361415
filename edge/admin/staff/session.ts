/**
 * The console's session: all of it in one encrypted cookie, so that no store has to be asked and nothing has to be
 * forgotten. It lasts 8 hours; what it says of permissions is as old as the sign-in.
 */
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { z } from 'zod';

import type { Deps } from '../../deps.ts';
import { type Actor, toActor } from './permissions.ts';
import { createSeal } from './seal.ts';

const SESSION_SECONDS = 8 * 3600;
const TRANSACTION_SECONDS = 10 * 60;
/** Browsers keep cookies up to 4 KiB; a larger ID token is left out, and the provider then asks before it signs out. */
const MAX_ID_TOKEN_CHARACTERS = 2000;

// `__Host-`: this host only, every path, never without `Secure` (RFC 6265bis §4.1.3.2).
const ATTRIBUTES = { prefix: 'host', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' } as const;
const SESSION = 'gateway-session';
const TRANSACTION = 'gateway-sign-in';

/** What a sign-in under way must remember until the provider answers. */
const transaction = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), returnTo: z.string() });
export type Transaction = z.infer<typeof transaction>;

const session = z.object({
  sub: z.string(),
  name: z.string(),
  site: z.string(),
  permissions: z.array(z.string()),
  siteName: z.string(),
  idToken: z.string().optional(),
});

export interface Session {
  readonly actor: Actor;
  readonly siteName: string;
  readonly idToken: string | undefined;
}

export interface Sessions {
  begin(c: Context, started: Transaction): Promise<void>;
  /** The sign-in under way; it is used up. */
  finish(c: Context): Promise<Transaction | undefined>;
  open(c: Context, session: Session): Promise<void>;
  read(c: Context): Promise<Session | undefined>;
  close(c: Context): void;
}

export function createSessions(deps: Deps): Sessions {
  const sessions = createSeal(deps.config.GATEWAY_SECRET, 'admin session');
  const transactions = createSeal(deps.config.GATEWAY_SECRET, 'admin sign-in');
  const inSeconds = (seconds: number) => Math.floor(deps.now() / 1000) + seconds;

  return {
    async begin(c, started) {
      const sealed = await transactions.seal({ ...started }, inSeconds(TRANSACTION_SECONDS));
      setCookie(c, TRANSACTION, sealed, { ...ATTRIBUTES, maxAge: TRANSACTION_SECONDS });
    },
    async finish(c) {
      const sealed = getCookie(c, TRANSACTION, 'host');
      deleteCookie(c, TRANSACTION, ATTRIBUTES);
      if (sealed === undefined) return undefined;
      return transaction.safeParse(await transactions.open(sealed, deps.now())).data;
    },
    async open(c, { actor, siteName, idToken }) {
      const { subject: sub, name, site, permissions } = actor;
      const kept = idToken !== undefined && idToken.length <= MAX_ID_TOKEN_CHARACTERS ? { idToken } : {};
      const payload = { sub, name, site, permissions: [...permissions], siteName, ...kept };
      const sealed = await sessions.seal(payload, inSeconds(SESSION_SECONDS));
      setCookie(c, SESSION, sealed, { ...ATTRIBUTES, maxAge: SESSION_SECONDS });
    },
    async read(c) {
      const sealed = getCookie(c, SESSION, 'host');
      if (sealed === undefined) return undefined;
      const { data } = session.safeParse(await sessions.open(sealed, deps.now()));
      if (data === undefined) return undefined;
      return { actor: toActor(data), siteName: data.siteName, idToken: data.idToken };
    },
    close: (c) => void deleteCookie(c, SESSION, ATTRIBUTES),
  };
}
