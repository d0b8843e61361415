/** A private ES256 key as a JWK (RFC 7517 §4, RFC 7518 §6.2). It signs access tokens and the sidecar's requests. */
import * as z from 'zod';

/** Other members are dropped. */
export const es256PrivateJwk = z.object(
  {
    kty: z.literal('EC'),
    crv: z.literal('P-256'),
    x: z.string(),
    y: z.string(),
    d: z.string(),
    kid: z.string().min(1),
  },
  'must be a private EC P-256 JWK with a kid',
);
export type Es256PrivateJwk = z.infer<typeof es256PrivateJwk>;
