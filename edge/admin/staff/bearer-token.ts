/**
 * Bearer tokens of the staff's provider on `/admin/api`: JWT access tokens (RFC 9068), verified by the provider's
 * published keys. An ID token is not one: its `aud` is the console, not the API.
 */
import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';

import { Fault } from '../../../shared/fault.ts';
import type { Deps } from '../../deps.ts';
import { type Actor, toActor } from './permissions.ts';
import { type FindProvider, oidcSettings } from './provider.ts';

const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const REALM = 'Bearer realm="integration-gateway-admin"';
const CLOCK_TOLERANCE_SECONDS = 30;
const MAX_TOKEN_CHARACTERS = 16 * 1024;

/** The token of a request, undefined where it has no Authorization header. */
function tokenOf(request: Request): string | undefined {
  const header = request.headers.get('authorization');
  if (header === null) return undefined;
  const [, token] = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header) ?? [];
  if (token === undefined || token.length > MAX_TOKEN_CHARACTERS) throw invalidToken('the token is malformed');
  return token;
}

function invalidToken(message: string): Fault {
  return new Fault('unauthenticated', message, {
    code: 'invalid_token',
    headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token", error_description="${message}"` },
  });
}

/** No credentials at all: RFC 6750 §3.1 wants no error code. */
export function noCredentials(): Fault {
  return new Fault('unauthenticated', 'sign in, or send a Bearer token of the OpenID provider', {
    headers: { 'WWW-Authenticate': REALM },
  });
}

/** Whom a request's Bearer token speaks for; undefined where it brings none. */
export type ReadBearer = (request: Request) => Promise<Actor | undefined>;

export function createBearer(deps: Deps, findProvider: FindProvider): ReadBearer {
  let keys: { uri: string; get: JWTVerifyGetKey } | undefined;

  const keysAt = (uri: string): JWTVerifyGetKey => {
    if (keys?.uri !== uri) {
      keys = { uri, get: createRemoteJWKSet(new URL(uri), { [customFetch]: (url, init) => deps.fetch(url, init) }) };
    }
    return keys.get;
  };

  return async (request) => {
    const token = tokenOf(request);
    if (token === undefined) return undefined;
    const { audience, claimNames } = oidcSettings(deps.config);
    const { server } = await findProvider();
    if (server.jwks_uri === undefined) throw new Fault('unavailable', 'the OpenID provider publishes no keys');
    try {
      const { payload } = await jwtVerify(token, keysAt(server.jwks_uri), {
        issuer: server.issuer,
        audience,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(deps.now()),
      });
      return toActor(payload, claimNames);
    } catch (error) {
      if (error instanceof errors.JWKSTimeout) {
        throw new Fault('unavailable', 'the keys of the OpenID provider cannot be reached', { cause: error });
      }
      if (error instanceof errors.JWTExpired) throw invalidToken('the token has expired');
      if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud') {
        throw invalidToken(`the token is for another audience: ${audience} is needed`);
      }
      if (error instanceof errors.JOSEError) throw invalidToken('the token is not valid');
      throw error;
    }
  };
}
