/**
 * The algorithms a client may sign its assertion with, and the key each needs. Nothing else lists them: discovery, the
 * header check and the choice of a key read this table (RFC 8725 §3.1).
 */

export interface KeyNeed {
  readonly kty: 'RSA' | 'EC' | 'OKP';
  readonly crv?: 'P-256' | 'P-384' | 'Ed25519';
  /** Other values of the JWK's `alg` that mean the same (RFC 9864 renamed EdDSA). */
  readonly aliases?: readonly string[];
}

export const ASSERTION_ALGORITHMS = {
  RS256: { kty: 'RSA' },
  RS384: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  PS384: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', aliases: ['Ed25519'] },
} as const satisfies Record<string, KeyNeed>;

export type AssertionAlgorithm = keyof typeof ASSERTION_ALGORITHMS;

export const ASSERTION_ALGORITHM_NAMES = Object.keys(ASSERTION_ALGORITHMS) as readonly AssertionAlgorithm[];

export function isAssertionAlgorithm(value: unknown): value is AssertionAlgorithm {
  return typeof value === 'string' && Object.hasOwn(ASSERTION_ALGORITHMS, value);
}

/** What a key must be to verify an algorithm. */
export function keyNeed(algorithm: AssertionAlgorithm): KeyNeed {
  return ASSERTION_ALGORITHMS[algorithm];
}
