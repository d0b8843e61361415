/**
 * Bearer tokens of the staff's provider on `/admin/api`: JWT access tokens (RFC 9068), verified by the provider's
 * published keys. An ID token is not one: its `aud` is the console, not the API.
 */
import { errors, jwtVerify } from 'jose';

import { Fault } from '../../../shared/fault.ts';
import type { Deps } from '../../deps.ts';
import { type Actor, actorAt, actorsOf } from './actor.ts';
import { type Account, readAccount } from './account.ts';
import { type FindProvider, oidcSettings } from './provider.ts';
import { CLOCK_TOLERANCE_SECONDS, keysAway, type KeysOf, PROVIDER_ALGORITHMS } from './provider-keys.ts';

const REALM = 'Bearer realm="integration-gateway-admin"';
const MAX_TOKEN_CHARACTERS = 16 * 1024;
/** Names the site of a request whose token is for several sites. */
export const SITE_HEADER = 'Gateway-Site';

/** The token of a request, undefined where it has no Authorization header. */
function tokenOf(request: Request): string | undefined {
  const header = request.headers.get('authorization');
  if (header === null) return undefined;
  const [, token] = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header) ?? [];
  if (token === undefined || token.length > MAX_TOKEN_CHARACTERS)
    throw invalidToken('the token is malformed: send the JWT that the provider issued');
  return token;
}

function invalidToken(message: string): Fault {
  return new Fault('unauthenticated', message, {
    code: 'invalid_token',
    headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token", error_description="${message}"` },
  });
}

/** A request without credentials gets no error code (RFC 6750 §3.1). */
export function noCredentials(): Fault {
  return new Fault('unauthenticated', 'sign in, or send a Bearer token of the OpenID provider', {
    headers: { 'WWW-Authenticate': REALM },
  });
}

/** @throws Fault `malformed` if the site is ambiguous, `forbidden` for a site that the token is not for */
function actorOf(account: Account, site: string | null): Actor {
  const [only, ...others] = actorsOf(account);
  if (site === null && only !== undefined && others.length === 0) return only;
  if (site === null) {
    const sites = [...account.grants.keys()].join(', ');
    throw new Fault(
      'malformed',
      `the token is for several sites: send one of them in the header ${SITE_HEADER}: ${sites}`,
    );
  }
  const actor = actorAt(account, site.toLowerCase());
  if (actor === undefined) throw new Fault('forbidden', `${SITE_HEADER} names a site that the token is not for`);
  return actor;
}

/** The actor of a request's Bearer token; undefined without one. */
export type ReadBearer = (request: Request) => Promise<Actor | undefined>;

export function createBearer(deps: Deps, findProvider: FindProvider, keysOf: KeysOf): ReadBearer {
  return async (request) => {
    const token = tokenOf(request);
    if (token === undefined) return undefined;
    const { audience, claimRules } = oidcSettings(deps.config);
    const provider = await findProvider();
    const keys = keysOf(provider);
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: provider.server.issuer,
        audience,
        algorithms: PROVIDER_ALGORITHMS,
        requiredClaims: ['exp', 'sub'],
        // RFC 9068 §4: the provider may sign other kinds of tokens for this audience.
        typ: 'at+jwt',
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(deps.now()),
      });
      return actorOf(readAccount(payload, claimRules), request.headers.get(SITE_HEADER));
    } catch (error) {
      const away = keysAway(error);
      if (away !== undefined) throw away;
      if (error instanceof errors.JWTExpired) throw invalidToken('the token has expired');
      if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud') {
        throw invalidToken(`aud of the token must be ${audience}`);
      }
      if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'typ') {
        throw invalidToken('typ of the token must be at+jwt (RFC 9068): send an access token');
      }
      if (error instanceof errors.JOSEError) throw invalidToken('the token is not valid');
      throw error;
    }
  };
}
