/**
 * `POST /admin/back-channel-logout`: the provider reports that a session has ended (OpenID Connect Back-Channel Logout 1.0).
 * Only the logout token authenticates the request; it has no cookie.
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
import type { FindProvider, Provider } from '../staff/provider.ts';
import { CLOCK_TOLERANCE_SECONDS, keysAway, type KeysOf, PROVIDER_ALGORITHMS } from '../staff/provider-keys.ts';

export const LOGOUT_PATH = '/admin/back-channel-logout';
const MAX_FORM_BYTES = 16 * 1024;
/** The longest accepted age of a logout token, and how long its `jti` is stored. */
const MAX_AGE_SECONDS = 3600;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** §2.4 requires `logout+jwt`; older providers send another type or none. */
const TYPES: readonly (string | undefined)[] = ['logout+jwt', 'JWT', undefined];

/** §2.4: `sid`, `sub` or both; the event as an object; no `nonce`, so that an ID token is not accepted. */
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

/** Verifies a token in the order of §2.6. @throws Fault `malformed` */
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
      throw invalid('logout_token is not a logout token: events and sid or sub are required, nonce is not allowed');
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
    if (error instanceof errors.JOSEError)
      throw invalid('logout_token is not valid: check iss, aud, exp, iat and the signature', error);
    throw error;
  }
}

export function addBackChannelLogout(app: Surface, deps: Deps, findProvider: FindProvider, keysOf: KeysOf): void {
  /** @throws Fault `malformed`; `unavailable` if the keys or the database cannot be reached: the same token may be sent again */
  const logOut = async (c: Context<GatewayEnv>): Promise<number> => {
    const tokens = (await readForm(c, MAX_FORM_BYTES)).getAll('logout_token');
    const [token] = tokens;
    if (token === undefined || tokens.length > 1) throw invalid('logout_token is required exactly once');
    const verified = await verify(token, await findProvider(), keysOf, deps.now());
    const [row] = await deps.database.run(endByProvider(verified));
    if (row === undefined || row.ended === null) throw invalid('logout_token was already used');
    return row.ended;
  };

  app.post(LOGOUT_PATH, async (c) => {
    // §2.8 forbids caching.
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
