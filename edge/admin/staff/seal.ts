/**
 * Sealed values for cookies: encrypted JWTs (`dir`, A256GCM). Each purpose has its key, derived from GATEWAY_SECRET
 * (RFC 5869), so that a value of one purpose cannot be used for another.
 */
import { EncryptJWT, errors, jwtDecrypt, type JWTPayload } from 'jose';

import { sealingRing } from '../../http/crypto.ts';

export interface Seal {
  /** @param expires seconds since the epoch */
  seal(payload: JWTPayload, expires: number): Promise<string>;
  /** Undefined for a value that was not sealed for this purpose, or has expired. */
  open(sealed: string, nowMs: number): Promise<JWTPayload | undefined>;
}

export function createSeal(secrets: readonly string[], purpose: string): Seal {
  const ring = sealingRing(secrets, `gateway ${purpose}`);
  return {
    async seal(payload, expires) {
      const jwt = new EncryptJWT(payload).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).setExpirationTime(expires);
      return jwt.encrypt(await ring.first());
    },
    open: (sealed, nowMs) => ring.open((key) => openWith(key, sealed, nowMs)),
  };
}

async function openWith(key: CryptoKey, sealed: string, nowMs: number): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtDecrypt(sealed, key, {
      currentDate: new Date(nowMs),
      requiredClaims: ['exp'],
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
