/** Verifies a client assertion's signature with jose and the chosen keys (RFC 8725 §3.1). */
import { compactVerify, errors, importJWK } from 'jose';

import type { JsonObject } from '../../../shared/json.ts';
import { type AssertionAlgorithm, keyTypeFor, type KeyType } from '../../../shared/oauth/algorithms.ts';
import { publicMembersOf } from '../../../shared/oauth/jwks.ts';

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

/** Public keys without private halves. */
const DECOYS: Readonly<Record<KeyType, JsonObject>> = {
  RSA: {
    kty: 'RSA',
    n: 'qyL6RHa188uUvGznNelN3CRSaBojBewlbtNV_P-6QfrjQLxq8xyVn-NDP0oETgfYEsIswy_jkdEkj7emnsBBCfV5xD2oJ7bbcjnXqIFStaqlmoAcqadukqj7304P6u1CbekBuiZ-cl3mgwT1MvrdrtN4XAuSf3G12ryqUbPCvLjR5vrRJ_M-E3Vrbb7iSc03vvNVQrhGc1kpB0jCSUBFHckB69dp5QLl3trqYtx8w4CDILg-vQQPxN-ysWyobeP7GSgZ5JhPGSgO38s1chK4tnhCCsN81PiHm_8EY3GoK1nXCZQ_jHizUxRvSFMjzdiPLzhr8jUmqb_d5eZl1h_htQ',
    e: 'AQAB',
  },
  'EC P-256': {
    kty: 'EC',
    crv: 'P-256',
    x: 'pQGqcrMFta1Aki_zpiD3z8hnQbE56U9epG9Acz3066Y',
    y: '5ziSheRXV9-mpVAQT52CrYyaDbaRvSsR7njlNkjF3tw',
  },
  'EC P-384': {
    kty: 'EC',
    crv: 'P-384',
    x: 'Aj_jBXCo7PZluiQYuKHmQGPeqiFwwYbFn_7wqH90-SsyAfi3bFUgVXUTFAUJB-I6',
    y: 'bHSysqYcUDvSnVJtc6z7lu9Pi5eu5sDia1gmtilyMnTvDbWHxtb1rEd9e4tglDyc',
  },
  'OKP Ed25519': { kty: 'OKP', crv: 'Ed25519', x: 'c41nr78ZzdOiLi1kj3sRgMpPbQLx1smVfbkmMwoBc1E' },
};

/** Does the work of a failing check, so that the answer for an unknown client or key takes as long as for a known key. */
export async function checkAgainstDecoy(text: string, algorithm: AssertionAlgorithm): Promise<void> {
  await signerOf(text, algorithm, [{ jwk: DECOYS[keyTypeFor(algorithm)] }]);
}
