/**
 * When a public key that was replaced can be taken out of a JWKS: when nothing has signed with it for longer than the rarest
 * of a client's programs rests. What runs once a week is usual; it must not fail because a nightly one has moved already.
 */
import type { CheckedKey } from '../../../shared/oauth/jwks.ts';
import { MAX_KID_CHARACTERS } from '../../http/usage.ts';
import type { KeyKidRow } from '../../store/key-activity.ts';

const REST_DAYS = 8;

/** A key of the JWKS, and what is known of its use. */
export interface KidUse {
  /** When it was last signed with; undefined for not as far as is known. */
  readonly last: KeyKidRow | undefined;
  /** Of one that another key has replaced: from when on it can be taken out. */
  readonly removableAfter?: string;
}

const nameOf = ({ kid }: CheckedKey): string => (kid ?? '').slice(0, MAX_KID_CHARACTERS);

/**
 * By position among the keys. A key that was never used may be the next one: of it nothing is said, nor of the last that was
 * used, nor of keys that share a name.
 */
export function kidUses(keys: readonly CheckedKey[], kids: readonly KeyKidRow[]): readonly KidUse[] {
  const uses = keys.map((key) => kids.find(({ kid }) => kid === nameOf(key)));
  const newest = uses.reduce<string>((last, use) => (use !== undefined && use.last_at > last ? use.last_at : last), '');
  return keys.map((key, at) => {
    const last = uses[at];
    const isShared = keys.filter((other) => nameOf(other) === nameOf(key)).length > 1;
    if (last === undefined || last.last_at === newest || isShared) return { last };
    // Used meanwhile: the client signs with both, as several of its programs do while they change.
    const after = new Date(Date.parse(last.last_at) + REST_DAYS * 86_400_000).toISOString();
    return { last, removableAfter: after };
  });
}
