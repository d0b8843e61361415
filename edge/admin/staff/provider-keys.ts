/** The published keys of the staff's provider, cached by jose, and the accepted algorithms. */
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';

import { Fault } from '../../../shared/fault.ts';
import type { Deps } from '../../deps.ts';
import type { Provider } from './provider.ts';

export const PROVIDER_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
export const CLOCK_TOLERANCE_SECONDS = 30;

/** Finds the key of a token. @throws Fault `unavailable` if the provider publishes no JWKS */
export type KeysOf = (provider: Provider) => JWTVerifyGetKey;

export function createProviderKeys(deps: Pick<Deps, 'fetch'>): KeysOf {
  let keys: { uri: string; get: JWTVerifyGetKey } | undefined;
  return ({ server }) => {
    const { jwks_uri: uri } = server;
    if (uri === undefined)
      throw new Fault('unavailable', 'the OpenID provider publishes no jwks_uri: check its discovery document');
    if (keys?.uri !== uri) {
      keys = { uri, get: createRemoteJWKSet(new URL(uri), { [customFetch]: (url, init) => deps.fetch(url, init) }) };
    }
    return keys.get;
  };
}

/** A Fault if the provider's keys could not be loaded; undefined for an error of the token itself. */
export const keysAway = (error: unknown): Fault | undefined =>
  error instanceof errors.JWKSTimeout
    ? new Fault('unavailable', 'the keys of the OpenID provider cannot be reached', { cause: error })
    : undefined;
