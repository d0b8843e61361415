/**
 * The sidecar's JWT (shared/mllp-contract.ts). Each attempt gets a new one, so that an intercepted token is useless later
 * and for another body. It states what the listener saw, never who the sender is.
 */
import { createPrivateKey, hash, randomUUID, sign } from 'node:crypto';

import type { Es256PrivateJwk } from '../shared/es256-jwk.ts';
import {
  SIDECAR_TOKEN_ALGORITHM,
  SIDECAR_TOKEN_AUDIENCE,
  SIDECAR_TOKEN_MAX_LIFETIME_SECONDS,
  SIDECAR_TOKEN_TYPE,
  type SidecarClaims,
  type SidecarState,
} from '../shared/mllp-contract.ts';

/** The listener's view of a peer. */
export interface PeerIdentity {
  /** Source address, after the PROXY protocol. */
  readonly address: string;
  /** Subject of the peer's verified certificate. */
  readonly tlsSubject?: string | undefined;
}

/** @returns a compact JWS over the peer, `sha256` (base64url, of the request's body) and the sidecar's state */
export type SignToken = (peer: PeerIdentity, sha256: string, state?: SidecarState) => string;

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Base64url SHA-256. */
export const sha256Of = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64url');

/** @throws if the JWK is not a private P-256 key, at start instead of at the first message */
export function createSigner(name: string, jwk: Es256PrivateJwk): SignToken {
  const { kty, crv, x, y, d, kid } = jwk;
  const key = createPrivateKey({ key: { kty, crv, x, y, d }, format: 'jwk' });
  const header = base64url({ alg: SIDECAR_TOKEN_ALGORITHM, typ: SIDECAR_TOKEN_TYPE, kid });

  return ({ address, tlsSubject }, sha256, state) => {
    const iat = Math.floor(Date.now() / 1000);
    const claims: SidecarClaims = {
      iss: name,
      aud: SIDECAR_TOKEN_AUDIENCE,
      iat,
      exp: iat + SIDECAR_TOKEN_MAX_LIFETIME_SECONDS,
      jti: randomUUID(),
      src: address,
      ...(tlsSubject === undefined ? {} : { tls: tlsSubject }),
      sha256,
      ...(state === undefined ? {} : { state }),
    };
    const signed = `${header}.${base64url(claims)}`;
    // JWS needs r and s concatenated (RFC 7518 §3.4), not DER.
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  };
}
