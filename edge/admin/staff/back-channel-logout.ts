/**
 * `POST /admin/back-channel-logout`: the provider says that somebody signed out there, or was made to (OpenID Connect
 * Back-Channel Logout 1.0). Who calls proves it by the logout token alone; no cookie comes with it.
 */
import type { Context } from 'hono';
import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isText } from '../../../shared/text.ts';
import type { Deps } from '../../deps.ts';
import { sha256Of } from '../../http/crypto.ts';
import type { GatewayEnv, Surface } from '../../http/surface.ts';
import { endByProvider, type LogoutToken } from '../../store/console-session.ts';
import { readForm } from '../web/form.ts';
import type { FindProvider, Provider } from './provider.ts';
import { CLOCK_TOLERANCE_SECONDS, keysAway, type KeysOf, PROVIDER_ALGORITHMS } from './provider-keys.ts';

export const LOGOUT_PATH = '/admin/back-channel-logout';
const MAX_FORM_BYTES = 16 * 1024;
/** However long a token says that it lives: its `jti` is remembered for that time. */
const MAX_AGE_SECONDS = 3600;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** §2.4 wants it said which kind of token it is; older providers leave it out. */
const TYPES: readonly (string | undefined)[] = ['logout+jwt', 'JWT', undefined];

/** §2.4: `sid`, `sub` or both; the event as an object; never a `nonce`, so that no ID token passes for a logout token. */
const logoutClaims = z
  .object({
    iat: z.number(),
    jti: z.string().min(1).max(255),
    sub: z.string().min(1).refine(isText).optional(),
    sid: z.string().min(1).refine(isText).optional(),
    events: z.looseObject({ [EVENT]: z.looseObject({}) }),
    nonce: z.undefined().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined);

const invalid = (description: string, cause?: unknown) =>
  new Fault('malformed', description, { code: 'invalid_request', cause });

/** §2.6, in its order. @throws Fault `malformed` */
async function verify(token: string, provider: Provider, keysOf: KeysOf, nowMs: number): Promise<LogoutToken> {
  const { server, clientId } = provider;
  try {
    const { payload } = await jwtVerify(token, keysOf(provider), {
      issuer: server.issuer,
      audience: clientId,
      algorithms: PROVIDER_ALGORITHMS,
      requiredClaims: ['exp', 'iat', 'jti'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      maxTokenAge: MAX_AGE_SECONDS,
      currentDate: new Date(nowMs),
    });
    const { data } = logoutClaims.safeParse(payload);
    if (data === undefined || !TYPES.includes(decodeProtectedHeader(token).typ)) {
      throw invalid('this is no logout token');
    }
    return {
      jtiHash: await sha256Of(data.jti),
      expires: data.iat + MAX_AGE_SECONDS + 2 * CLOCK_TOLERANCE_SECONDS,
      subject: data.sub ?? null,
      providerSession: data.sid ?? null,
    };
  } catch (error) {
    const away = keysAway(error);
    if (away !== undefined) throw away;
    if (error instanceof errors.JOSEError) throw invalid('the logout token is not valid', error);
    throw error;
  }
}

export function addBackChannelLogout(app: Surface, deps: Deps, findProvider: FindProvider, keysOf: KeysOf): void {
  /** @throws Fault `malformed`, or `unavailable` where the keys or the database are away: the same token may come again */
  const logOut = async (c: Context<GatewayEnv>): Promise<number> => {
    const tokens = (await readForm(c, MAX_FORM_BYTES)).getAll('logout_token');
    const [token] = tokens;
    if (token === undefined || tokens.length > 1) throw invalid('one logout_token is needed');
    const named = await verify(token, await findProvider(), keysOf, deps.now());
    const [row] = await deps.database.run(endByProvider(named));
    if (row === undefined || row.ended === null) throw invalid('the logout token was used before');
    return row.ended;
  };

  app.post(LOGOUT_PATH, async (c) => {
    // §2.8: neither answer may be kept.
    c.header('Cache-Control', 'no-store');
    try {
      const count = await logOut(c);
      deps.log({ level: 'info', event: 'session.logout', requestId: c.get('requestId'), count });
      return c.body(null, 200);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'invalid_request') throw error;
      deps.log({ level: 'warn', event: 'session.logout', requestId: c.get('requestId'), fault: 'refused' });
      return c.json({ error: 'invalid_request', error_description: error.message }, 400);
    }
  });
}
