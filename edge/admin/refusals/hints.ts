/** For each check that can refuse a request, what to change: shown beside the exact reason (design decisions, section 6). */
const HINTS: Readonly<Record<string, string>> = {
  form: 'Send the parameters once each, as application/x-www-form-urlencoded in the body of a POST.',
  grant_type: 'Send grant_type=client_credentials: it is the only grant.',
  authentication: 'Send client_assertion_type and client_assertion, and no other client authentication.',
  format:
    'Send the signed JWT as your library prints it: three base64url parts with dots between, nothing around them.',
  header: 'Keep the header to alg, typ and kid.',
  alg: 'Sign with an algorithm that the discovery document lists, and that the key itself allows.',
  typ: 'Set the header typ to JWT, or leave it out.',
  kid: 'Send the kid of a key in the JWKS, or add the signing key to the JWKS.',
  client: 'Set iss and sub to the Client ID of this page.',
  jwks: 'Look at the JWKS of this API key: it has to be reachable and to hold a usable public key.',
  signature: 'Sign with the private key whose public half is in the JWKS of this API key.',
  iss: 'Set iss to the Client ID.',
  sub: 'Set sub to the Client ID, the same as iss.',
  aud: 'Set aud to the token_endpoint of the discovery document, exactly as it is posted to.',
  exp: 'Set exp to at most five minutes ahead, in seconds, and check that the clock is synchronised (NTP).',
  nbf: 'Leave nbf out, or check that the clock is synchronised (NTP).',
  iat: 'Set iat to the time of the request in seconds, and check that the clock is synchronised (NTP).',
  jti: 'Send a new random jti, such as a UUID, with every assertion.',
  replay: 'Make a new assertion for every token request, and keep the token until it expires.',
  status: 'Enable the API key, if it is meant to be used.',
  scope: 'Ask for scopes that are among the Allowed scopes, or allow them to this API key.',
  audience: 'Ask for svc-fhir or svc-hl7-http, and allow the audience and its protocol to this API key.',
  rate: 'Keep each token until it expires instead of asking for one per request.',
  unavailable: 'Try again: a part of the gateway could not be reached at that moment.',
  'no-key': 'Change the API key, or the sender, so that the reason no longer holds.',
  ambiguous: 'Narrow the Allowed IPs or set the sender fields, so that no other site has an equally fitting key.',
};

/** @returns a sentence, or null for a check that has none */
export function hintFor(code: string): string | null {
  return Object.hasOwn(HINTS, code) ? (HINTS[code] ?? null) : null;
}
