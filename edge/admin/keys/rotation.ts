/**
 * The time after which a replaced public key can be removed from a JWKS: eight days without use. A weekly program of the
 * client may still use the key when a nightly one has changed it.
 */
import type { CheckedKey } from '../../../shared/oauth/jwks.ts';
import { MAX_KID_CHARACTERS } from '../../http/usage.ts';
import type { KeyKidRow } from '../../store/key-activity.ts';

const UNUSED_DAYS = 8;

/** The use of a key of a JWKS. */
export interface KidUse {
  /** The last use; undefined if none is known. */
  readonly last: KeyKidRow | undefined;
  /** For a replaced key, the time after which it can be removed. */
  readonly removableAfter?: string;
}

const nameOf = ({ kid }: CheckedKey): string => (kid ?? '').slice(0, MAX_KID_CHARACTERS);

/**
 * The use of each key, by its position. `removableAfter` is undefined for the last used key and for keys that share a kid. It
 * is undefined for an unused key too, which may be the next one.
 */
export function kidUses(keys: readonly CheckedKey[], kids: readonly KeyKidRow[]): readonly KidUse[] {
  const uses = keys.map((key) => kids.find(({ kid }) => kid === nameOf(key)));
  const newest = uses.reduce<string>((last, use) => (use !== undefined && use.last_at > last ? use.last_at : last), '');
  return keys.map((key, at) => {
    const last = uses[at];
    const isShared = keys.filter((other) => nameOf(other) === nameOf(key)).length > 1;
    if (last === undefined || last.last_at === newest || isShared) return { last };
    // The client may sign with both keys while its programs change.
    const removableAfter = new Date(Date.parse(last.last_at) + UNUSED_DAYS * 86_400_000).toISOString();
    return { last, removableAfter };
  });
}
