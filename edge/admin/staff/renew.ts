/**
 * What somebody may do, asked anew of the provider while the session lasts, by its refresh token (OpenID Connect Core 1.0
 * §12): every 15 minutes at most, and by one request at a time. When the provider says no, the session ends; when it does
 * not answer, what it said last holds, for an hour at most (console_session_is_live).
 */
import type { Context } from 'hono';
import * as oauth from 'oauth4webapi';

import { Fault } from '../../../shared/fault.ts';
import type { Deps } from '../../deps.ts';
import { askAnew, endSession, keepAnswer } from '../../store/console-session.ts';
import { inSite } from '../../store/in-site.ts';
import { claimsOf } from './claims.ts';
import { type Actor, actorAt, type Grants, knownPermissions, toPerson } from './permissions.ts';
import { type FindProvider, oidcSettings } from './provider.ts';
import { identityOf, type Session, type Sessions } from './session.ts';
import type { TokenSeal } from './token-seal.ts';

/** As console_session_ask has it. */
const ASK_AFTER_SECONDS = 15 * 60;
/** Somebody waits for a page meanwhile. */
const ANSWER_MS = 4_000;

export const sessionEnded = (cause?: unknown) =>
  new Fault('unauthenticated', 'your session has ended: sign in again', { code: 'session_ended', cause });

/** What the provider said; undefined where it did not answer. */
type Answer = { readonly actor: Actor; readonly grants: Grants; readonly refreshToken: string } | 'refused' | undefined;

export type Renew = (c: Context, session: Session) => Promise<Session>;

export function createRenew(deps: Deps, findProvider: FindProvider, sessions: Sessions, tokens: TokenSeal): Renew {
  const seconds = () => Math.floor(deps.now() / 1000);

  /** @throws what the provider's answer was not */
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
    const person = toPerson(claims, claimRules);
    const actor = actorAt(person, session.actor.site);
    // OpenID Connect Core 1.0 §12.2: an ID token is about the same person. A session is of one site.
    if (person.subject !== session.actor.subject || actor === undefined) return 'refused';
    return { actor, grants: person.grants, refreshToken: answer.refresh_token ?? refreshToken };
  };

  const answerOf = async (session: Session, sealed: string): Promise<Answer> => {
    const refreshToken = await tokens.open(session.id, sealed);
    if (refreshToken === undefined) return 'refused';
    try {
      return await ask(session, refreshToken);
    } catch (error) {
      // RFC 6749 §5.2: the token was revoked, has expired or is somebody else's. A Fault: the claims name no site any more.
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
    const saidBefore = { ...session, actor: { ...session.actor, permissions: knownPermissions(row.permissions) } };
    if (row.refresh_token === null) {
      const known = { ...saidBefore, askedAt: seconds() - row.asked_ago };
      // While somebody else is asking, the cookie stays as it is: it would only be asked for again.
      if (row.outcome === 'known') await sessions.keep(c, known);
      return known;
    }
    const answer = await answerOf(session, row.refresh_token);
    if (answer === undefined) return saidBefore;
    if (answer === 'refused') {
      await database.run(endSession(identity));
      throw sessionEnded();
    }
    const { actor, grants, refreshToken } = answer;
    const sealed = await tokens.seal(session.id, refreshToken);
    const [kept] = await database.run(keepAnswer(identity, grants, sealed));
    if (kept === undefined) throw sessionEnded();
    const face = { siteName: kept.site_name, timeZone: kept.time_zone };
    const renewed = { ...session, ...face, actor, hasOthers: grants.size > 1, askedAt: seconds() };
    await sessions.keep(c, renewed);
    return renewed;
  };
}
