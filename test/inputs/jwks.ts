/** Public keys of each type, for tests of JWKS. */
import { exportJWK, generateKeyPair, type JWK } from 'jose';

import { readJwks } from '../../shared/oauth/jwks.ts';

const publicJwk = async (alg: string): Promise<JWK> =>
  exportJWK((await generateKeyPair(alg, { extractable: true })).publicKey);

export const rsa = await publicJwk('RS256');
export const ec = await publicJwk('ES256');
export const ec384 = await publicJwk('ES384');
export const ed = await publicJwk('EdDSA');

export const jwks = (...keys: unknown[]) => readJwks(JSON.stringify({ keys }));
