/** Access tokens that a test signs with the gateway's own key, so that any part of them can be bent. */
import { randomUUID } from 'node:crypto';

import { importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';

import type { ApiKey } from '../services/seed.ts';
import type { Gateway } from './gateway.ts';

/**
 * @param claims put over those of a correct token for FHIR, which is valid for 60 s
 * @param header put over a correct one
 * @param by another key that signs
 */
export async function forgedToken(
  { secrets, oauthBaseUrl }: Pick<Gateway, 'secrets' | 'oauthBaseUrl'>,
  { clientId, site }: Pick<ApiKey, 'clientId' | 'site'>,
  claims: JWTPayload = {},
  header: object = {},
  by?: CryptoKey,
): Promise<string> {
  const ring: { keys: JWK[] } = JSON.parse(secrets.env.TOKEN_SIGNING_KEYS);
  const signer = ring.keys[0] ?? {};
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({
    client_id: clientId,
    site,
    scope: 'system/Patient.read',
    jti: randomUUID(),
    iat: now,
    iss: oauthBaseUrl,
    sub: clientId,
    aud: 'svc-fhir',
    exp: now + 60,
    ...claims,
  })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: signer.kid ?? '', ...header })
    .sign(by ?? (await importJWK(signer, 'ES256')));
}
