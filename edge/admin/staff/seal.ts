/**
 * Sealed values for cookies: encrypted JWTs (`dir`, A256GCM) whose key is derived from GATEWAY_SECRET (RFC 5869), one
 * key for each purpose, so that a value made for one cannot be used for another.
 */
import { EncryptJWT, errors, jwtDecrypt, type JWTPayload } from 'jose';

export interface Seal {
  /** @param expires seconds since the epoch */
  seal(payload: JWTPayload, expires: number): Promise<string>;
  /** Undefined for anything that was not sealed here for this purpose, or has expired. */
  open(sealed: string, nowMs: number): Promise<JWTPayload | undefined>;
}

const encode = (text: string) => new TextEncoder().encode(text);

async function deriveKey(secret: string, purpose: string): Promise<Uint8Array> {
  const material = await crypto.subtle.importKey('raw', encode(secret), 'HKDF', false, ['deriveBits']);
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: encode(`gateway ${purpose}`) };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, material, 256));
}

export function createSeal(secret: string, purpose: string): Seal {
  let derived: Promise<Uint8Array> | undefined;
  const key = () => (derived ??= deriveKey(secret, purpose));
  return {
    async seal(payload, expires) {
      const jwt = new EncryptJWT(payload).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).setExpirationTime(expires);
      return jwt.encrypt(await key());
    },
    async open(sealed, nowMs) {
      try {
        const { payload } = await jwtDecrypt(sealed, await key(), {
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
    },
  };
}
