/**
 * Who may call the internal path: an MLLP sidecar with a key of ours, within a minute, and only with the very body it signed
 * for (shared/mllp-contract.ts). To everybody else the path is not there. A token for a message is not used up: whoever
 * repeats the message repeats its answer (edge/docs/behaviour.md, MLLP).
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
import type { TurnedAway } from '../../store/sidecar.ts';

/** Clocks of sidecar and edge may differ so much. */
const CLOCK_TOLERANCE_SECONDS = 30;
/** A claim outlasts its token by this: the clock that forgets it, the database's on Deno, may be ahead of ours. */
const CLAIM_MARGIN_SECONDS = 60;

/**
 * Under which the single use of a sidecar's token is kept, beside those of the clients: 64 names, since on Workers one
 * name is one Durable Object, through which else every message of every site would pass.
 */
const jtiClient = (jtiHash: string): string => `mllp-sidecar-${jtiHash.charAt(0)}`;

const BEARER = /^Bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i;

/** The same for every reason: a stranger learns nothing. */
export const notThere = (cause?: unknown) => new Fault('not-found', 'no such path', { cause });

/**
 * @param body what was received
 * @throws Fault `not-found` for another body than the token was signed for
 */
export async function requireBody({ sha256 }: SidecarClaims, body: Uint8Array): Promise<void> {
  if (sha256 !== (await sha256Of(body))) throw notThere();
}

/**
 * Uses a token up.
 *
 * @throws Fault `not-found` for a second use, `unavailable` when single use cannot be checked
 */
export async function useToken({ jtiStore }: Pick<Deps, 'jtiStore'>, { exp, jti }: SidecarClaims): Promise<void> {
  const expires = exp + CLOCK_TOLERANCE_SECONDS + CLAIM_MARGIN_SECONDS;
  const jtiHash = await sha256Of(jti);
  if (!(await jtiStore.claim(jtiClient(jtiHash), jtiHash, expires, crypto.randomUUID()))) throw notThere();
}

/** Who calls: a sidecar of ours, or somebody who is not let in, of whom an operator may want to know. */
export type Caller =
  | { readonly claims: SidecarClaims; readonly clockSeconds: number; readonly key: SidecarKey }
  | { readonly turnedAway: TurnedAway | undefined; readonly cause?: unknown };

/** Such as keys of ours have: it is shown to staff, and anybody can send one. */
const KID = /^[A-Za-z0-9._~-]{1,64}$/;

/** What a stranger's token says of itself, where it looks like a sidecar's; nothing of it is sure. */
function strangerOf(token: string): TurnedAway | undefined {
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

/** A sidecar that is known by its key, whose clock is too far off. */
const lateOrEarly = (name: string, clockSeconds: number): TurnedAway => ({
  reason: 'clock',
  name,
  kid: null,
  clockSeconds,
});

/** Who sent a request, before the body of a stranger is read. */
export async function callerOf(deps: Pick<Deps, 'config' | 'now'>, request: Request): Promise<Caller> {
  const keys = deps.config.MLLP_SIDECAR_KEYS;
  const token = BEARER.exec(request.headers.get('authorization') ?? '')?.[1];
  if (token === undefined) return { turnedAway: undefined };
  if (keys === undefined) return { turnedAway: strangerOf(token) };
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
      return { turnedAway: undefined };
    if (clockSeconds < -CLOCK_TOLERANCE_SECONDS) return { turnedAway: lateOrEarly(claims.iss, clockSeconds) };
    return { claims, clockSeconds, key };
  } catch (cause) {
    // Its signature was good: times are looked at last.
    if (cause instanceof errors.JWTExpired) {
      const { data } = sidecarClaims.safeParse(cause.payload);
      return { turnedAway: data && lateOrEarly(data.iss, behind(data)), cause };
    }
    if (cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWSSignatureVerificationFailed)
      return { turnedAway: strangerOf(token), cause };
    // Bad claims or shape; whatever else is thrown is a bug of ours.
    if (cause instanceof errors.JOSEError || (cause instanceof Error && cause.name === 'ZodError'))
      return { turnedAway: undefined, cause };
    throw cause;
  }
}
