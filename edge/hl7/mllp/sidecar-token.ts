/**
 * Authenticates an MLLP sidecar: a registered key, a token of at most a minute, and exactly the body that it was signed for
 * (shared/mllp-contract.ts). For other callers the path does not exist. A message's token may be used again, because a repeated
 * message only gets its answer again (edge/docs/behaviour.md, MLLP).
 */
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';

import { Fault } from '../../../shared/fault.ts';
import {
  SIDECAR_TOKEN_ALGORITHM,
  SIDECAR_TOKEN_AUDIENCE,
  SIDECAR_TOKEN_MAX_LIFETIME_SECONDS,
  SIDECAR_TOKEN_TYPE,
  sidecarClaims,
  type SidecarClaims,
} from '../../../shared/mllp-contract.ts';
import type { SidecarKey } from '../../config.ts';
import type { Deps } from '../../deps.ts';
import { sha256Of } from '../../http/crypto.ts';
import type { RejectedSidecar } from '../../store/sidecar.ts';

/** The allowed difference between the clocks of sidecar and edge. */
const CLOCK_TOLERANCE_SECONDS = 30;
/** A claim outlives its token by this: the clock that deletes it, on Deno the database's, may be ahead of the edge's. */
const CLAIM_MARGIN_SECONDS = 60;

/**
 * The owner of a sidecar's token in the JtiStore, beside those of clients. There are 64, because on Workers one name is one
 * Durable Object, and one alone would serve the messages of all sites.
 */
const jtiClient = (jtiHash: string): string => `mllp-sidecar-${jtiHash.charAt(0)}`;

const BEARER = /^Bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i;

/** The same for every reason, so that a stranger learns nothing. */
export const notThere = (cause?: unknown) => new Fault('not-found', 'no such path', { cause });

/**
 * @param body the received bytes
 * @throws Fault `not-found` if the token was signed for another body
 */
export async function requireBody({ sha256 }: SidecarClaims, body: Uint8Array): Promise<void> {
  if (sha256 !== (await sha256Of(body))) throw notThere();
}

/**
 * Marks a token as used.
 *
 * @throws Fault `not-found` for a second use, `unavailable` if single use cannot be checked
 */
export async function useToken({ jtiStore }: Pick<Deps, 'jtiStore'>, { exp, jti }: SidecarClaims): Promise<void> {
  const expires = exp + CLOCK_TOLERANCE_SECONDS + CLAIM_MARGIN_SECONDS;
  const jtiHash = await sha256Of(jti);
  if (!(await jtiStore.claim(jtiClient(jtiHash), jtiHash, expires, crypto.randomUUID()))) throw notThere();
}

/** A registered sidecar, or a rejected caller that an operator may want to see. */
export type Caller =
  | { readonly claims: SidecarClaims; readonly clockSeconds: number; readonly key: SidecarKey }
  | { readonly rejectedSidecar: RejectedSidecar | undefined; readonly cause?: unknown };

/** Sent by strangers and shown to staff: only characters that registered keys have. */
const KID = /^[A-Za-z0-9._~-]{1,64}$/;

/** The claims of a stranger's token that looks like a sidecar's; none of them is verified. */
function strangerOf(token: string): RejectedSidecar | undefined {
  try {
    const { typ, alg, kid } = decodeProtectedHeader(token);
    if (typ !== SIDECAR_TOKEN_TYPE || alg !== SIDECAR_TOKEN_ALGORITHM) return undefined;
    if (decodeJwt(token).aud !== SIDECAR_TOKEN_AUDIENCE) return undefined;
    return {
      reason: 'unknown-key',
      name: '',
      kid: kid !== undefined && KID.test(kid) ? kid : null,
      clockSeconds: null,
    };
  } catch {
    return undefined;
  }
}

/** A registered sidecar whose clock is too far off. */
const lateOrEarly = (name: string, clockSeconds: number): RejectedSidecar => ({
  reason: 'clock',
  name,
  kid: null,
  clockSeconds,
});

/** Authenticates the sender of a request, before a stranger's body is read. */
export async function callerOf(deps: Pick<Deps, 'config' | 'now'>, request: Request): Promise<Caller> {
  const keys = deps.config.MLLP_SIDECAR_KEYS;
  const token = BEARER.exec(request.headers.get('authorization') ?? '')?.[1];
  if (token === undefined) return { rejectedSidecar: undefined };
  if (keys === undefined) return { rejectedSidecar: strangerOf(token) };
  const behind = (claims: SidecarClaims): number => Math.round(deps.now() / 1000 - claims.iat);
  try {
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(keys), {
      algorithms: [SIDECAR_TOKEN_ALGORITHM],
      typ: SIDECAR_TOKEN_TYPE,
      audience: SIDECAR_TOKEN_AUDIENCE,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(deps.now()),
    });
    const claims = sidecarClaims.parse(payload);
    const clockSeconds = behind(claims);
    const key = keys.keys.find(({ kid }) => kid === protectedHeader.kid);
    if (key === undefined || claims.exp - claims.iat > SIDECAR_TOKEN_MAX_LIFETIME_SECONDS)
      return { rejectedSidecar: undefined };
    if (clockSeconds < -CLOCK_TOLERANCE_SECONDS) return { rejectedSidecar: lateOrEarly(claims.iss, clockSeconds) };
    return { claims, clockSeconds, key };
  } catch (cause) {
    // The signature was valid: jose checks times last.
    if (cause instanceof errors.JWTExpired) {
      const { data } = sidecarClaims.safeParse(cause.payload);
      return { rejectedSidecar: data && lateOrEarly(data.iss, behind(data)), cause };
    }
    if (cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWSSignatureVerificationFailed)
      return { rejectedSidecar: strangerOf(token), cause };
    // Invalid claims or shape. Any other error is a bug of the gateway.
    if (cause instanceof errors.JOSEError || (cause instanceof Error && cause.name === 'ZodError'))
      return { rejectedSidecar: undefined, cause };
    throw cause;
  }
}
