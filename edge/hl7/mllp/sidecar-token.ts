/**
 * Who may call the internal path: an MLLP sidecar with a key of ours, within a minute, and only with the very body it signed
 * for (shared/mllp-contract.ts). To everybody else the path is not there. A token for a message is not used up: whoever
 * repeats the message repeats its answer (edge/README.md, MLLP).
 */
import { createLocalJWKSet, errors, jwtVerify } from 'jose';

import { Fault } from '../../../shared/fault.ts';
import {
  SIDECAR_TOKEN_ALGORITHM,
  SIDECAR_TOKEN_AUDIENCE,
  SIDECAR_TOKEN_MAX_LIFETIME_SECONDS,
  SIDECAR_TOKEN_TYPE,
  sidecarClaims,
  type SidecarClaims,
} from '../../../shared/mllp-contract.ts';
import type { Deps } from '../../deps.ts';
import { sha256Of } from '../../http/crypto.ts';

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
const notThere = (cause?: unknown) => new Fault('not-found', 'no such path', { cause });

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

/**
 * The claims of the sidecar that sent a request, checked before the body of a stranger is read.
 *
 * @throws Fault `not-found` for anybody else
 */
export async function claimsOf(deps: Pick<Deps, 'config' | 'now'>, request: Request): Promise<SidecarClaims> {
  const keys = deps.config.MLLP_SIDECAR_KEYS;
  const token = BEARER.exec(request.headers.get('authorization') ?? '')?.[1];
  if (keys === undefined || token === undefined) throw notThere();
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      algorithms: [SIDECAR_TOKEN_ALGORITHM],
      typ: SIDECAR_TOKEN_TYPE,
      audience: SIDECAR_TOKEN_AUDIENCE,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(deps.now()),
    });
    const claims = sidecarClaims.parse(payload);
    const lifetime = claims.exp - claims.iat;
    const age = deps.now() / 1000 - claims.iat;
    if (lifetime > SIDECAR_TOKEN_MAX_LIFETIME_SECONDS || age < -CLOCK_TOLERANCE_SECONDS) throw notThere();
    return claims;
  } catch (error) {
    if (error instanceof Fault) throw error;
    // Bad signature, claims or shape; whatever else is thrown is a bug of ours.
    if (error instanceof errors.JOSEError || (error instanceof Error && error.name === 'ZodError'))
      throw notThere(error);
    throw error;
  }
}
