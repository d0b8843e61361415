/**
 * Issues and verifies access tokens: JWTs of RFC 9068 (`typ: at+jwt`, ES256). The database checks the status of the key
 * together with the data (store/api-key.ts).
 */
import { errors, jwtVerify, SignJWT } from 'jose';
import * as z from 'zod';

import { type Audience, AUDIENCES } from '../../shared/oauth/audience.ts';
import { ACCESS_TOKEN_ALGORITHM, type Keyring } from './keyring.ts';

/** RFC 9068 §2.1. */
const ACCESS_TOKEN_TYPE = 'at+jwt';
/** Far above an issued token; limits the work that a caller can cause. */
const MAX_TOKEN_CHARACTERS = 8 * 1024;

const accessTokenClaims = z.object({
  iss: z.string(),
  sub: z.string(),
  client_id: z.string(),
  aud: z.literal(AUDIENCES),
  scope: z.string(),
  site: z.uuid(),
  iat: z.number().int(),
  exp: z.number().int(),
  jti: z.string().min(1),
});
/** RFC 9068 §2.2; `iat` and `exp` in seconds since the epoch, `site` the key's site. */
export type AccessTokenClaims = z.infer<typeof accessTokenClaims>;

export interface Grant {
  readonly issuer: string;
  readonly clientId: string;
  readonly site: string;
  readonly audience: Audience;
  readonly scopes: readonly string[];
  readonly ttlSeconds: number;
}

/** Signs a token for a grant with the first key of the ring. */
export async function issueAccessToken(keyring: Keyring, grant: Grant, nowMs: number): Promise<string> {
  const { kid, key } = await keyring.signingKey();
  const issuedAt = Math.floor(nowMs / 1000);
  const claims: AccessTokenClaims = {
    iss: grant.issuer,
    sub: grant.clientId,
    client_id: grant.clientId,
    aud: grant.audience,
    scope: grant.scopes.join(' '),
    site: grant.site,
    iat: issuedAt,
    exp: issuedAt + grant.ttlSeconds,
    jti: crypto.randomUUID(),
  };
  return new SignJWT(claims).setProtectedHeader({ typ: ACCESS_TOKEN_TYPE, alg: ACCESS_TOKEN_ALGORITHM, kid }).sign(key);
}

/** A token that this ring has signed for this issuer. */
export interface SignedToken {
  readonly claims: AccessTokenClaims;
  /** Parsed from `claims.scope`. */
  readonly scopes: ReadonlySet<string>;
  readonly isExpired: boolean;
}

function signed(payload: unknown, isExpired: boolean): SignedToken | undefined {
  const { data } = accessTokenClaims.safeParse(payload);
  if (data === undefined) return undefined;
  return { claims: data, scopes: new Set(data.scope.split(' ').filter((scope) => scope !== '')), isExpired };
}

async function verify(
  keyring: Keyring,
  issuer: string,
  token: string,
  nowMs: number,
): Promise<SignedToken | undefined> {
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = typeof kid === 'string' ? await keyring.verificationKey(kid) : undefined;
        if (key === undefined) throw new errors.JWKSNoMatchingKey();
        return key;
      },
      { issuer, typ: ACCESS_TOKEN_TYPE, algorithms: [ACCESS_TOKEN_ALGORITHM], currentDate: new Date(nowMs) },
    );
    return signed(payload, false);
  } catch (error) {
    // jose checks the expiry last, so everything else has been verified.
    if (error instanceof errors.JWTExpired) return signed(error.payload, true);
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/** Verified tokens by ring: a client sends the same token for minutes, and verifying costs 0.1 ms. */
const verified = new WeakMap<Keyring, Map<string, SignedToken>>();
/** Some 6 MB; the oldest entry is dropped first. */
const MAX_VERIFIED = 2_000;

/**
 * Verifies signature, `typ`, `iss` and expiry. The surface must compare the audience.
 *
 * @returns undefined for anything but an access token of this gateway
 */
export async function readSignedToken(
  keyring: Keyring,
  issuer: string,
  token: string,
  nowMs: number,
): Promise<SignedToken | undefined> {
  if (token.length > MAX_TOKEN_CHARACTERS) return undefined;
  const known = verified.get(keyring) ?? new Map<string, SignedToken>();
  const found = known.get(token);
  if (found !== undefined && found.claims.iss === issuer && found.claims.exp > nowMs / 1000) return found;
  const read = await verify(keyring, issuer, token, nowMs);
  if (read === undefined || read.isExpired) return read;
  verified.set(keyring, known.set(token, read));
  const [oldest] = known.keys();
  if (known.size > MAX_VERIFIED && oldest !== undefined) known.delete(oldest);
  return read;
}
