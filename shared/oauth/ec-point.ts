/** Checks that an EC public key is a point on its curve (NIST SP 800-186 §3.2.1): not every runtime does on import. */

import type { KeyType } from './algorithms.ts';

type CurveOf<Type> = Type extends `EC ${infer Name}` ? Name : never;
export type Curve = CurveOf<KeyType>;

interface Domain {
  readonly bytes: number;
  readonly p: bigint;
  readonly b: bigint;
}

/** y² = x³ − 3x + b (mod p). */
const DOMAINS: Readonly<Record<Curve, Domain>> = {
  'P-256': {
    bytes: 32,
    p: 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn,
    b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
  },
  'P-384': {
    bytes: 48,
    p: 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffffn,
    b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
  },
};

const integer = (bytes: Uint8Array): bigint =>
  BigInt(`0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`);

/** The size of a curve's keys. */
export const curveBits = (curve: Curve): number => DOMAINS[curve].bytes * 8;

/**
 * @param x the coordinate, undefined if it is not base64url
 * @returns the problem, or undefined
 */
export function checkEcPoint(curve: Curve, x: Uint8Array | undefined, y: Uint8Array | undefined): string | undefined {
  const { bytes, p, b } = DOMAINS[curve];
  // RFC 7518 §6.2.1.2: coordinates have the full length of the curve.
  if (x?.length !== bytes || y?.length !== bytes) return `x and y are not ${bytes} bytes each`;
  const [X, Y] = [integer(x), integer(y)];
  if (X >= p || Y >= p) return 'a coordinate is too large for the curve';
  return (Y * Y - (X * X * X - 3n * X + b)) % p === 0n ? undefined : 'the point is not on the curve';
}
