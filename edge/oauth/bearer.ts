/**
 * The bearer check of every surface (RFC 6750). It verifies only the token. `assertCaller`, the first statement of the
 * request's database batch, checks the status and scopes of the key and the revocation of the token. The
 * surfaces' mappers add `challengeOf` to its Fault.
 */
import { Fault } from '../../shared/fault.ts';
import type { Audience } from '../../shared/oauth/audience.ts';
import type { Deps } from '../deps.ts';
import { queryPairsOf } from '../http/address.ts';
import { readBody } from '../http/body.ts';
import { AFTER_THE_WINDOW } from '../http/fault-status.ts';
import type { CallerIdentity } from '../store/api-key.ts';
import { readSignedToken, type SignedToken } from './access-token.ts';
import { challenge } from './challenge.ts';
import { keyringOf } from './keyring.ts';

/** The client, its scopes, and the surface. */
export type Caller = CallerIdentity;

/** A form is read only to detect a token that must not be in it. */
const MAX_FORM_BYTES = 16 * 1024;

/** RFC 6750 §2.1: `b64token`. Two headers arrive joined by a comma, which it cannot contain. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

function refuse(code: 'invalid_token' | 'invalid_request', message: string): Fault {
  return new Fault(code === 'invalid_token' ? 'unauthenticated' : 'malformed', message, {
    code,
    headers: challenge({ error: code, error_description: message }),
  });
}

/** True for a token in a form field: RFC 6750 §2.2 allows it, the gateway does not, and the answer should say so. */
async function hasTokenInForm(request: Request): Promise<boolean> {
  const type = request.headers.get('content-type') ?? '';
  if (request.body === null || request.bodyUsed || !/^application\/x-www-form-urlencoded\b/i.test(type)) return false;
  try {
    const bytes = await readBody(request.clone(), MAX_FORM_BYTES);
    return new URLSearchParams(new TextDecoder().decode(bytes)).has('access_token');
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/**
 * The token in the Authorization header.
 *
 * @throws Fault `unauthenticated` without an error code if it is missing (RFC 6750 §3.1). `malformed` with
 *   `invalid_request` if it is in the query or in a form, or there are two.
 */
export async function bearerToken(request: Request): Promise<string> {
  if (queryPairsOf(request.url).some(([name]) => name === 'access_token')) {
    throw refuse('invalid_request', 'send the access token in the Authorization header, not in the query');
  }
  const header = request.headers.get('authorization');
  if (header !== null && /(?:^|, *)Bearer\b/i.test(header)) {
    const token = BEARER.exec(header)?.[1];
    if (token !== undefined) return token;
    throw refuse('invalid_request', 'the Authorization header must contain exactly one Bearer token');
  }
  if (await hasTokenInForm(request)) {
    throw refuse('invalid_request', 'send the access token in the Authorization header, not in a form');
  }
  throw new Fault('unauthenticated', 'an access token is required: send it in the Authorization header', {
    headers: challenge(),
  });
}

/**
 * A request's access token for any audience.
 *
 * @param countFor called with the client of a genuine token, even if it has expired, so that the request is counted
 * @throws Fault as `bearerToken`; `invalid_token` for a token that is not genuine or has expired; `unavailable` if no token
 *   service is configured
 */
export async function readBearer(
  deps: Pick<Deps, 'config' | 'now'>,
  request: Request,
  countFor?: (site: string, clientId: string) => void,
): Promise<SignedToken> {
  const issuer = deps.config.INTEGRATION_OAUTH_PUBLIC_BASE_URL;
  if (issuer === undefined)
    throw new Fault('unavailable', 'the token service is not configured: INTEGRATION_OAUTH_PUBLIC_BASE_URL is missing');
  const token = await bearerToken(request);
  const read = await readSignedToken(keyringOf(deps.config), issuer, token, deps.now());
  if (read === undefined) throw refuse('invalid_token', 'the access token is not valid');
  const { claims, isExpired } = read;
  countFor?.(claims.site, claims.client_id);
  if (isExpired) throw refuse('invalid_token', 'the access token has expired: request a new one');
  return read;
}

/**
 * Authenticates a request to a resource surface and counts it against the key's rate limit.
 *
 * @param countFor called with the client of a genuine token, so that the request is counted even if it is refused
 * @throws Fault 401 `unauthenticated` (with `invalid_token`, or without a code if there is no token), 400 `malformed`
 *   (`invalid_request`), 429 `throttled`; each has its headers
 */
export async function authenticate(
  deps: Pick<Deps, 'config' | 'now' | 'rateLimiter'>,
  request: Request,
  audience: Audience,
  countFor?: (site: string, clientId: string) => void,
): Promise<Caller> {
  const { claims, scopes } = await readBearer(deps, request, countFor);
  if (claims.aud !== audience) {
    throw refuse('invalid_token', `the access token is for another audience: this surface needs ${audience}`);
  }
  if (!(await deps.rateLimiter.allow('key', claims.client_id))) {
    throw new Fault('throttled', 'too many requests with this API key', { headers: AFTER_THE_WINDOW });
  }
  return {
    site: claims.site,
    clientId: claims.client_id,
    tokenId: claims.jti,
    scopes,
    audience: claims.aud,
  };
}

/** @throws Fault 403 `forbidden`, `insufficient_scope`, which names the sufficient scopes (RFC 6750 §3.1) */
export function requireScopes(caller: Caller, scopes: readonly string[]): void {
  if (scopes.every((scope) => caller.scopes.has(scope))) return;
  const needed = scopes.join(' ');
  throw new Fault('forbidden', `the access token lacks a scope: ${needed} is needed`, {
    code: 'insufficient_scope',
    headers: challenge({ error: 'insufficient_scope', scope: needed }),
  });
}

/**
 * Does the work of a request. If the database reports that the key lost some scopes, nothing was written, and the work is
 * done again with the remaining scopes.
 *
 * @throws Fault as `work` does
 */
export async function withAllowedScopes<Done>(caller: Caller, work: (caller: Caller) => Promise<Done>): Promise<Done> {
  try {
    return await work(caller);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'insufficient_scope' || error.rows === undefined) throw error;
    const lost = new Set(error.rows);
    return withAllowedScopes({ ...caller, scopes: new Set([...caller.scopes].filter((_, n) => !lost.has(n))) }, work);
  }
}

/** The headers for a Fault: its own, and the challenge if the database raised it. */
export function challengeOf(fault: Fault): Readonly<Record<string, string>> {
  if (fault.kind !== 'unauthenticated' || fault.headers['WWW-Authenticate'] !== undefined) return fault.headers;
  return { ...fault.headers, ...challenge({ error: 'invalid_token', error_description: fault.message }) };
}
