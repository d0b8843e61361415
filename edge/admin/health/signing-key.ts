/** How old the key is that signs access tokens. */
import { bad, type Finding, good } from './finding.ts';

/** A ring is turned once a year at least; its key says by its `kid` when it was made (oauth/ring-rotation.ts). */
const OLD_KEY_DAYS = 365;
const DAY_MS = 86_400_000;

/**
 * @param keys of the ring or of the published JWKS, which has the same order: the first signs
 * @param nowMs milliseconds since the epoch
 */
export function signingKeyAge(keys: readonly { readonly kid: string }[], nowMs: number): Finding {
  const [signing] = keys;
  if (signing === undefined)
    return bad('signing keys', 'none is published', 'npm run -s keys -- new, and set TOKEN_SIGNING_KEYS');
  const [made = ''] = /^\d{4}-\d\d-\d\d(?=-)/.exec(signing.kid) ?? [];
  const days = Math.floor((nowMs - Date.parse(made)) / DAY_MS);
  if (days > OLD_KEY_DAYS)
    return bad('signing keys', `the key that signs is ${days} days old`, 'README.md, Rotate the signing keys');
  return good(
    'signing keys',
    `${keys.length} published, ${Number.isNaN(days) ? 'of unknown age' : `${days} days old`}`,
  );
}
