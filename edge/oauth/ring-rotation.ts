/**
 * Creates and rotates the ring of signing keys (`TOKEN_SIGNING_KEYS`) in safe steps:
 *
 * 1. Publish a new key, and wait until every cache has it.
 * 2. Let it sign, and wait until the tokens of the old key have expired.
 * 3. Retire the old key.
 */
import { exportJWK, generateKeyPair } from 'jose';

import { type Es256PrivateJwk, es256PrivateJwk } from '../../shared/es256-jwk.ts';
import { madeAt, signingKid } from '../../shared/oauth/signing-kid.ts';
import type { SigningRing } from '../config.ts';
import { ACCESS_TOKEN_ALGORITHM } from './keyring.ts';

/** Caches keep the JWKS for 300 s; twice that is safe. */
const PUBLISHED_EVERYWHERE_MINUTES = 10;
/** The maximum lifetime of an access token is 3600 s (edge/docs/behaviour.md, Token service). */
const LONGEST_TOKEN_MINUTES = 60;

const RETIRE = `deploy this, wait ${LONGEST_TOKEN_MINUTES} minutes, then: retire (npm run -s keys -- retire)`;

export interface Step {
  readonly ring: SigningRing;
  /** The next step, as a sentence. */
  readonly next: string;
}

/** @param nowMs milliseconds since the epoch, which become a part of the `kid` */
async function newSigningKey(nowMs: number): Promise<Es256PrivateJwk> {
  const { privateKey } = await generateKeyPair(ACCESS_TOKEN_ALGORITHM, { extractable: true });
  const kid = signingKid(nowMs, crypto.randomUUID().slice(0, 8));
  return es256PrivateJwk.parse({ ...(await exportJWK(privateKey)), kid });
}

/** A ring with one key. */
export async function newRing(nowMs: number): Promise<Step> {
  const ring = { keys: [await newSigningKey(nowMs)] };
  return { ring, next: 'store this as the secret TOKEN_SIGNING_KEYS; to rotate later: npm run -s keys -- publish' };
}

/** Adds a new key, published but not signing yet. */
export async function publishKey(ring: SigningRing, nowMs: number): Promise<Step> {
  const added = { keys: [...ring.keys, await newSigningKey(nowMs)] };
  return {
    ring: added,
    next: `deploy this, wait ${PUBLISHED_EVERYWHERE_MINUTES} minutes, then: sign (npm run -s keys -- sign)`,
  };
}

/** True if the time of the first kid is before that of the second. */
const isOlder = (one: Es256PrivateJwk, other: Es256PrivateJwk): boolean =>
  (madeAt(one.kid) ?? 0) < (madeAt(other.kid) ?? 0);

/** Lets the newest key sign. The others stay published, for their tokens. A second time, it changes nothing. */
export function signWithNewest(ring: SigningRing): Step {
  const [signing] = ring.keys;
  const newest = ring.keys.at(-1);
  if (signing === undefined || newest === undefined || ring.keys.length === 1)
    return { ring, next: 'there is only one key: publish a new one first (npm run -s keys -- publish)' };
  if (isOlder(newest, signing)) return { ring, next: `the newest key signs already: ${RETIRE}` };
  const turned = { keys: [newest, ...ring.keys.slice(0, -1)] };
  return { ring: turned, next: RETIRE };
}

/** Keeps only the key that signs, unless a newer key waits to sign. */
export function retireOthers(ring: SigningRing): Step {
  const [signing] = ring.keys;
  if (signing !== undefined && ring.keys.some((key) => isOlder(signing, key)))
    return { ring, next: 'the newest key does not sign yet: sign first (npm run -s keys -- sign)' };
  return { ring: { keys: ring.keys.slice(0, 1) }, next: 'deploy this; the rotation is complete' };
}
