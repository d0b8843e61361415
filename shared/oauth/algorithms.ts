/**
 * The algorithms a client may sign its assertion with, and the type of key each needs (RFC 7518 §3.1, RFC 8037 §3.1).
 * Nothing else lists them: discovery, the checks and the choice of keys, decoys, examples and what people read all follow
 * from this table (RFC 8725 §3.1).
 */

interface Algorithm {
  /** The `kty` of its keys, and behind it their `crv` where there are several. */
  readonly keyType: string;
  /** Other values of the JWK's `alg` that mean the same (RFC 9864 renamed EdDSA). */
  readonly aliases?: readonly string[];
}

export const ASSERTION_ALGORITHMS = {
  RS256: { keyType: 'RSA' },
  RS384: { keyType: 'RSA' },
  PS256: { keyType: 'RSA' },
  PS384: { keyType: 'RSA' },
  ES256: { keyType: 'EC P-256' },
  ES384: { keyType: 'EC P-384' },
  EdDSA: { keyType: 'OKP Ed25519', aliases: ['Ed25519'] },
} as const satisfies Record<string, Algorithm>;

export type AssertionAlgorithm = keyof typeof ASSERTION_ALGORITHMS;

/** The types of key that can verify an assertion. */
export type KeyType = (typeof ASSERTION_ALGORITHMS)[AssertionAlgorithm]['keyType'];

export const ASSERTION_ALGORITHM_NAMES = Object.keys(ASSERTION_ALGORITHMS) as readonly AssertionAlgorithm[];

export function isAssertionAlgorithm(value: unknown): value is AssertionAlgorithm {
  return typeof value === 'string' && Object.hasOwn(ASSERTION_ALGORITHMS, value);
}

/** The type a key must have to verify an algorithm. */
export const keyTypeFor = (algorithm: AssertionAlgorithm): KeyType => ASSERTION_ALGORITHMS[algorithm].keyType;

/** True where the `alg` of a JWK is this algorithm, by its name or an alias. */
export function isNamed(algorithm: AssertionAlgorithm, alg: unknown): boolean {
  const { aliases = [] }: Algorithm = ASSERTION_ALGORITHMS[algorithm];
  return alg === algorithm || (typeof alg === 'string' && aliases.includes(alg));
}
