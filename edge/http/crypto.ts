/** Web Crypto for all surfaces: digests as ids, and keys derived from GATEWAY_SECRET. */
import { encodeBase64url } from '../../shared/base64url.ts';

const utf8 = new TextEncoder();

/** A view where possible: a message may have 10 MiB. */
const ownBytes = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array<ArrayBuffer> =>
  buffer instanceof ArrayBuffer
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(new Uint8Array(buffer, byteOffset, byteLength));

/** SHA-256 of bytes, or of a text in UTF-8, as base64url. */
export async function sha256Of(of: Uint8Array | string): Promise<string> {
  const bytes = typeof of === 'string' ? utf8.encode(of) : ownBytes(of);
  return encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

async function derive(secret: string, purpose: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', utf8.encode(secret), 'HKDF', false, ['deriveKey']);
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: utf8.encode(purpose) },
    material,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  );
}

/**
 * Derives an AES-256-GCM key from a secret for one purpose (RFC 5869): a value sealed for one purpose cannot be opened for
 * another.
 *
 * @returns a function that derives the key at its first use. It caches the key instead of a promise, because on Workers a
 *   promise belongs to the request that made it.
 */
export function sealingKey(secret: string, purpose: string): () => Promise<CryptoKey> {
  let kept: CryptoKey | undefined;
  return async () => (kept ??= await derive(secret, purpose));
}

/** The keys of a list of secrets for one purpose: the first seals, every key can open. */
export interface SealingRing {
  readonly first: () => Promise<CryptoKey>;
  /** @returns the result of the first key that fits. @param open must return undefined if the key does not fit */
  readonly open: <T>(open: (key: CryptoKey) => Promise<T | undefined>) => Promise<T | undefined>;
}

/** @param secrets GATEWAY_SECRET, at least one */
export function sealingRing(secrets: readonly string[], purpose: string): SealingRing {
  const keys = secrets.map((secret) => sealingKey(secret, purpose));
  const [first] = keys;
  if (first === undefined) throw new Error('GATEWAY_SECRET must contain at least one secret');
  return {
    first,
    async open(open) {
      for (const key of keys) {
        const opened = await open(await key());
        if (opened !== undefined) return opened;
      }
      return undefined;
    },
  };
}
