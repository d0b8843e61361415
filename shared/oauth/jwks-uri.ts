/**
 * Decides which JWKS URIs may be fetched: https, and a public host that is not the gateway's. This check uses the text
 * only; `isPublicAddress` checks the resolved address (OWASP, server-side request forgery).
 */

export interface JwksUriContext {
  /** The gateway's base URLs. */
  readonly ownUrls: readonly string[];
  /** Hosts that may be fetched although they are not public, in tests and local stacks. */
  readonly trustedHosts: readonly string[];
}

/** Names that never leave a machine or a network (RFC 6761, RFC 6762, RFC 8375, RFC 9476). */
const PRIVATE_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'lan',
  'home',
  'home.arpa',
  'onion',
  'alt',
  'arpa',
] as const;
const MAX_URI_CHARACTERS = 2048;

const hostOf = (url: URL): string => url.hostname.replace(/\.$/, '');

/** The URL parser has already written every spelling of an IPv4 address (`0x7f.1`, `2130706433`) as dotted decimal. */
const isAddress = (host: string): boolean => host.startsWith('[') || /^[0-9.]+$/.test(host);

/** @returns the reason to reject the URI, or undefined */
export function checkJwksUri(uri: string, { ownUrls, trustedHosts }: JwksUriContext): string | undefined {
  if (!URL.canParse(uri) || uri.length > MAX_URI_CHARACTERS) return 'it is not a URL';
  const url = new URL(uri);
  if (url.protocol !== 'https:') return 'it must be https';
  if (url.username !== '' || url.password !== '') return 'it must not have user information';
  if (uri.includes('#')) return 'it must not have a fragment';
  const host = hostOf(url);
  const trusted = trustedHosts.includes(host);
  // A trusted host is one machine with many ports; on other hosts every port belongs to the gateway.
  const own = ownUrls
    .map((own) => new URL(own))
    .some((own) => (trusted ? own.host === url.host : hostOf(own) === host));
  if (own) return "it must not be one of the gateway's own hosts";
  if (trusted) return undefined;
  if (isAddress(host)) return 'its host must be a name, not an address';
  const labels = host.split('.');
  if (labels.length < 2 || labels.includes('')) return 'its host must be a public name';
  const suffix = PRIVATE_SUFFIXES.find((name) => host.endsWith(`.${name}`));
  return suffix === undefined ? undefined : `its host must be a public name, not one below .${suffix}`;
}
