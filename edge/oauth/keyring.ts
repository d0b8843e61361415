/**
 * The keys that sign access tokens, from one secret (`TOKEN_SIGNING_KEYS`, a private JWKS). The first key signs; all are
 * published and verify. To rotate: publish the new key, wait, let it sign, retire the old one (keys-cli.ts).
 */
import { importJWK } from 'jose';

import type { Es256PrivateJwk } from '../../shared/es256-jwk.ts';
import type { Config } from '../config.ts';

export const ACCESS_TOKEN_ALGORITHM = 'ES256';

/** A public key in `/oauth2/jwks` (RFC 7517 §4). */
interface PublishedJwk {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: typeof ACCESS_TOKEN_ALGORITHM;
}

export interface Keyring {
  readonly published: readonly PublishedJwk[];
  /** The key that signs now. */
  signingKey(): Promise<{ readonly kid: string; readonly key: CryptoKey }>;
  /** The key with this `kid`; undefined if the ring does not contain it. */
  verificationKey(kid: string): Promise<CryptoKey | undefined>;
}

/** Lists the members, so that a private one cannot be included. */
const publish = (jwk: Es256PrivateJwk): PublishedJwk => ({
  kty: 'EC',
  crv: 'P-256',
  x: jwk.x,
  y: jwk.y,
  kid: jwk.kid,
  use: 'sig',
  alg: ACCESS_TOKEN_ALGORITHM,
});

const importEs256 = (jwk: Es256PrivateJwk | PublishedJwk): Promise<CryptoKey> =>
  importJWK({ ...jwk }, ACCESS_TOKEN_ALGORITHM);

function createKeyring(jwks: readonly Es256PrivateJwk[]): Keyring {
  const [signer] = jwks;
  if (signer === undefined) throw new Error('TOKEN_SIGNING_KEYS must contain at least one key');
  const published = jwks.map(publish);
  // The cache contains keys instead of promises: on Workers a promise belongs to the request that made it.
  const imported = new Map<string, CryptoKey>();
  let privateKey: CryptoKey | undefined;

  return {
    published,
    async signingKey() {
      privateKey ??= await importEs256({
        kty: 'EC',
        crv: 'P-256',
        x: signer.x,
        y: signer.y,
        d: signer.d,
        kid: signer.kid,
      });
      return { kid: signer.kid, key: privateKey };
    },
    async verificationKey(kid) {
      const known = imported.get(kid);
      if (known !== undefined) return known;
      const jwk = published.find((key) => key.kid === kid);
      if (jwk === undefined) return undefined;
      const key = await importEs256(jwk);
      imported.set(kid, key);
      return key;
    },
  };
}

const rings = new WeakMap<object, Keyring>();

/** The keyring of a configuration; its keys are imported once. */
export function keyringOf(config: Pick<Config, 'TOKEN_SIGNING_KEYS'>): Keyring {
  const known = rings.get(config.TOKEN_SIGNING_KEYS);
  if (known !== undefined) return known;
  const ring = createKeyring(config.TOKEN_SIGNING_KEYS.keys);
  rings.set(config.TOKEN_SIGNING_KEYS, ring);
  return ring;
}
