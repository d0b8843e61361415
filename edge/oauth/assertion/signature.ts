/** Verifies a client assertion's signature with jose and the chosen keys (RFC 8725 §3.1). */
import { compactVerify, errors, importJWK } from 'jose';

import type { JsonObject } from '../../../shared/json.ts';
import type { AssertionAlgorithm } from '../../../shared/oauth/algorithms.ts';
import { publicMembersOf } from '../../../shared/oauth/jwks.ts';
import { decoyKey } from './decoy-key.ts';

/** Imported keys live as long as their JWK; a JWK can serve several algorithms. */
const imported = new WeakMap<JsonObject, Map<AssertionAlgorithm, CryptoKey>>();

async function importKey(jwk: JsonObject, algorithm: AssertionAlgorithm): Promise<CryptoKey> {
  const byAlgorithm = imported.get(jwk) ?? new Map<AssertionAlgorithm, CryptoKey>();
  const known = byAlgorithm.get(algorithm);
  if (known !== undefined) return known;
  const key = await importJWK(publicMembersOf(jwk), algorithm);
  if (key instanceof Uint8Array) throw new Error('a public key was imported as bytes');
  imported.set(jwk, byAlgorithm.set(algorithm, key));
  return key;
}

/** The first key that verifies `text`. */
export async function signerOf<Key extends { readonly jwk: JsonObject }>(
  text: string,
  algorithm: AssertionAlgorithm,
  keys: readonly Key[],
): Promise<Key | undefined> {
  for (const key of keys) {
    try {
      await compactVerify(text, await importKey(key.jwk, algorithm), { algorithms: [algorithm] });
      return key;
    } catch (error) {
      if (!(error instanceof errors.JOSEError) && !(error instanceof DOMException)) throw error;
    }
  }
  return undefined;
}

/** Does the work of a failing check. */
export async function checkAgainstDecoy(text: string, algorithm: AssertionAlgorithm): Promise<void> {
  await signerOf(text, algorithm, [{ jwk: decoyKey(algorithm) }]);
}
