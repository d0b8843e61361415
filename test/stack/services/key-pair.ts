/** Key pairs as JWKs, for clients, sidecars and providers of the local stack and the tests. */
import { exportJWK, generateKeyPair, type JWK } from 'jose';

export interface KeyPair {
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
}

/** @param members put into both halves, such as `kid` and `use` */
export async function makeKeyPair(members: Readonly<Partial<JWK>> = {}, alg = 'ES256', options = {}): Promise<KeyPair> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true, ...options });
  return {
    publicJwk: { ...(await exportJWK(publicKey)), alg, ...members },
    privateJwk: { ...(await exportJWK(privateKey)), alg, ...members },
  };
}
