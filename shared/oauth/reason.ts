/**
 * Why a token request is refused: a stable code for lists and filters, and the exact reason in words for the
 * administrator of the key. Never sent to a caller whose signature has not verified.
 */
/** Each names the check that refused. */
export const REFUSAL_CODES = {
  form: 'the form',
  grant_type: 'grant_type',
  authentication: 'client authentication',
  format: 'the form of the assertion',
  header: 'the header of the assertion',
  alg: 'alg',
  typ: 'typ',
  kid: 'kid',
  client: 'the client',
  jwks: 'the JWKS',
  signature: 'the signature',
  iss: 'iss',
  sub: 'sub',
  aud: 'aud',
  exp: 'exp',
  nbf: 'nbf',
  iat: 'iat',
  jti: 'jti',
  replay: 'single use',
  status: 'the status of the key',
  scope: 'scope',
  audience: 'audience',
  rate: 'the rate limit',
  unavailable: 'a part of the gateway that could not be reached',
} as const;
export type RefusalCode = keyof typeof REFUSAL_CODES;

export interface Reason {
  readonly code: RefusalCode;
  /** A sentence; quotes what the caller sent, shortened and with control characters escaped. */
  readonly reason: string;
}
