/** The `WWW-Authenticate` challenge of a 401 or 403 (RFC 6750 §3). */

/** The realm is the whole gateway, since one token service issues all tokens. */
const REALM = 'Bearer realm="integration-gateway"';

/** @param parameters in the order of sending; values without `"` and `\` */
export function challenge(parameters: Readonly<Record<string, string>> = {}): { readonly 'WWW-Authenticate': string } {
  const sent = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
  return { 'WWW-Authenticate': [REALM, ...sent].join(', ') };
}
