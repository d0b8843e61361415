/** Checks the age of the key that signs access tokens. */
import { daysSince, madeAt, SIGNING_KEY_MAX_AGE_DAYS } from '../../../shared/oauth/signing-kid.ts';
import { bad, type Finding, good } from './finding.ts';

/**
 * @param keys the keys of the ring or of the published JWKS; the first key signs
 * @param nowMs milliseconds since the epoch
 * @param firstSeen when the gateway first saw it sign
 */
export function signingKeyAge(keys: readonly { readonly kid: string }[], nowMs: number, firstSeen?: number): Finding {
  const [signing] = keys;
  if (signing === undefined)
    return bad('signing keys', 'none is published', 'npm run -s keys -- new, and set TOKEN_SIGNING_KEYS');
  const made = madeAt(signing.kid, firstSeen);
  const days = made === undefined ? undefined : daysSince(made, nowMs);
  if (days !== undefined && days > SIGNING_KEY_MAX_AGE_DAYS)
    return bad(
      'signing keys',
      `the key that signs is ${days} days old`,
      'edge/docs/operate.md, Rotate the signing keys',
    );
  return good(
    'signing keys',
    `${keys.length} published; the signing key is ${days === undefined ? 'of unknown age' : `${days} days old`}`,
  );
}
