/** The token of a sidecar, built in parts so that tests can change any of them. */
import { createHash, createPrivateKey, randomUUID, sign } from 'node:crypto';

import type { JWK } from 'jose';

import type { Gateway } from './gateway.ts';

/** A sidecar's JWT for a body. */
export function sidecarToken(
  gateway: Gateway,
  body: Uint8Array,
  claims: Readonly<Record<string, unknown>> = {},
  header: Readonly<Record<string, unknown>> = {},
  sidecar: JWK = gateway.secrets.sidecarPrivateKey,
): string {
  const { kty, crv, x, y, d, kid } = sidecar;
  const iat = Math.floor(Date.now() / 1000);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = [
    part({ alg: 'ES256', typ: 'mllp-sidecar+jwt', kid, ...header }),
    part({
      iss: 'sidecar-1',
      aud: 'svc-mllp-ingest',
      iat,
      exp: iat + 60,
      jti: randomUUID(),
      src: '192.0.2.10',
      sha256: createHash('sha256').update(body).digest('base64url'),
      ...claims,
    }),
  ].join('.');
  const key = createPrivateKey({ key: { kty, crv, x, y, d } as never, format: 'jwk' });
  return `${signed}.${sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
