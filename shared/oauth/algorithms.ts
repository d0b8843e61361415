/**
 * The algorithms of client assertions, and the type of key that each needs (RFC 7518 §3.1, RFC 8037 §3.1). This is the only
 * list: discovery, checks, choice of keys, decoys, examples and texts use it (RFC 8725 §3.1).
 */

interface Algorithm {
  /** `kty`, and `crv` if the type has several curves. */
  readonly keyType: string;
  /** Synonyms in a JWK's `alg` (RFC 9864 renamed EdDSA). */
  readonly aliases?: readonly string[];
}

const ASSERTION_ALGORITHMS = {
  RS256: { keyType: 'RSA' },
  RS384: { keyType: 'RSA' },
  PS256: { keyType: 'RSA' },
  PS384: { keyType: 'RSA' },
  ES256: { keyType: 'EC P-256' },
  ES384: { keyType: 'EC P-384' },
  EdDSA: { keyType: 'OKP Ed25519', aliases: ['Ed25519'] },
} as const satisfies Record<string, Algorithm>;

export type AssertionAlgorithm = keyof typeof ASSERTION_ALGORITHMS;

export type KeyType = (typeof ASSERTION_ALGORITHMS)[AssertionAlgorithm]['keyType'];

export const ASSERTION_ALGORITHM_NAMES = Object.keys(ASSERTION_ALGORITHMS) as readonly AssertionAlgorithm[];

export function isAssertionAlgorithm(value: unknown): value is AssertionAlgorithm {
  return typeof value === 'string' && Object.hasOwn(ASSERTION_ALGORITHMS, value);
}

export const keyTypeFor = (algorithm: AssertionAlgorithm): KeyType => ASSERTION_ALGORITHMS[algorithm].keyType;

/** True if the `alg` of a JWK is this algorithm or an alias. */
export function isNamed(algorithm: AssertionAlgorithm, alg: unknown): boolean {
  const { aliases = [] }: Algorithm = ASSERTION_ALGORITHMS[algorithm];
  return alg === algorithm || (typeof alg === 'string' && aliases.includes(alg));
}
