/**
 * Asks the provider for a session's permissions again, with its refresh token (OpenID Connect Core 1.0 §12): at most every
 * 15 minutes, by one request at a time. If the provider refuses, the session ends. If it does not answer, the last
 * permissions stay valid, for at most an hour (console_session_is_live).
 */
import type { Context } from 'hono';
import * as oauth from 'oauth4webapi';

import { Fault } from '../../../shared/fault.ts';
import type { Deps } from '../../deps.ts';
import { askAnew, endSession, keepAnswer } from '../../store/console-session.ts';
import { inSite } from '../../store/in-site.ts';
import { claimsOf } from './claims.ts';
import { type Actor, actorAt } from './actor.ts';
import { type Grants, readAccount } from './account.ts';
import { knownPermissions } from '../../permissions.ts';
import { type FindProvider, oidcSettings } from './provider.ts';
import { identityOf, type Session, type Sessions } from './session.ts';
import type { TokenSeal } from './token-seal.ts';

/** The same as in console_session_ask. */
const ASK_AFTER_SECONDS = 15 * 60;
/** Short, because a page waits for it. */
const ANSWER_MS = 4_000;

export const sessionEnded = (cause?: unknown) =>
  new Fault('unauthenticated', 'your session has ended: sign in again', { code: 'session_ended', cause });

/** The provider's answer; undefined if it did not answer. */
type Answer = { readonly actor: Actor; readonly grants: Grants; readonly refreshToken: string } | 'refused' | undefined;

export type Renew = (c: Context, session: Session) => Promise<Session>;

export function createRenew(deps: Deps, findProvider: FindProvider, sessions: Sessions, tokens: TokenSeal): Renew {
  const seconds = () => Math.floor(deps.now() / 1000);

  /** @throws the errors of oauth4webapi for an answer that is not a success */
  const ask = async (session: Session, refreshToken: string): Promise<Answer> => {
    const found = await findProvider();
    const http = { ...found.http, signal: () => AbortSignal.timeout(ANSWER_MS) };
    const provider = { ...found, http };
    const { server, client, authentication } = provider;
    const response = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, http);
    const answer = await oauth.processRefreshTokenResponse(server, client, response);
    const { claimRules } = oidcSettings(deps.config);
    const claims = await claimsOf(provider, claimRules, answer, session.actor.subject);
    if (claims === undefined) return undefined;
    const account = readAccount(claims, claimRules);
    const actor = actorAt(account, session.actor.site);
    // OpenID Connect Core 1.0 §12.2: the subject stays the same. The site must still be among the grants.
    if (account.subject !== session.actor.subject || actor === undefined) return 'refused';
    return { actor, grants: account.grants, refreshToken: answer.refresh_token ?? refreshToken };
  };

  const answerOf = async (session: Session, sealed: string): Promise<Answer> => {
    const refreshToken = await tokens.open(session.id, sealed);
    if (refreshToken === undefined) return 'refused';
    try {
      return await ask(session, refreshToken);
    } catch (error) {
      // RFC 6749 §5.2: the token was revoked, has expired or belongs to another client. Fault: the claims name no site.
      const isRefused = error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant';
      if (isRefused || (error instanceof Fault && error.kind === 'forbidden')) return 'refused';
      deps.log({ level: 'warn', event: 'session.ask', site: session.actor.site, actor: session.actor.subject, error });
      return undefined;
    }
  };

  return async (c, session) => {
    if (!session.mayAsk || seconds() - session.askedAt < ASK_AFTER_SECONDS) return session;
    const identity = identityOf(session);
    const database = inSite(deps.database, identity.site);
    const [row] = await database.run(askAnew(identity));
    if (row === undefined) throw sessionEnded();
    const unchanged = { ...session, actor: { ...session.actor, permissions: knownPermissions(row.permissions) } };
    if (row.refresh_token === null) {
      const known = { ...unchanged, askedAt: seconds() - row.asked_ago };
      // While another request asks, the cookie stays unchanged, so that the next request looks again.
      if (row.outcome === 'known') await sessions.keep(c, known);
      return known;
    }
    const answer = await answerOf(session, row.refresh_token);
    if (answer === undefined) return unchanged;
    if (answer === 'refused') {
      await database.run(endSession(identity));
      throw sessionEnded();
    }
    const { actor, grants, refreshToken } = answer;
    const sealed = await tokens.seal(session.id, refreshToken);
    const [kept] = await database.run(keepAnswer(identity, grants, sealed));
    if (kept === undefined) throw sessionEnded();
    const site = { siteName: kept.site_name, timeZone: kept.time_zone };
    const renewed = { ...session, ...site, actor, hasOthers: grants.size > 1, askedAt: seconds() };
    await sessions.keep(c, renewed);
    return renewed;
  };
}
