/**
 * A request to a URL that an administrator has entered. Neither the URL nor its host is trusted: only https to a public
 * host outside the gateway, no redirects, a deadline (OWASP, server-side request forgery).
 */
import { checkJwksUri } from '../../shared/oauth/jwks-uri.ts';
import { type Addresses, type Config, ownUrls } from '../config.ts';
import type { Deps } from '../deps.ts';
import type { Deadline } from './deadline.ts';
import { isPublicAddress } from './public-address.ts';

export interface FailedFetch {
  /** `refused`: the URL must never be fetched; `unreachable`: the attempt failed, another may succeed. */
  readonly failed: 'refused' | 'unreachable';
  /** A clause for "the JWKS URI cannot be used: …". */
  readonly reason: string;
}

const refused = (reason: string): FailedFetch => ({ failed: 'refused', reason });
export const unreachable = (reason: string): FailedFetch => ({ failed: 'unreachable', reason });

/** The parts of a runtime that such a request needs. */
export type GuardedFetching = Pick<Deps, 'fetch' | 'fetchAt' | 'resolveHost'> & {
  readonly config: Addresses & Pick<Config, 'JWKS_TRUSTED_HOSTS'>;
};

export interface GuardedRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** @returns the reason to reject a URL before resolving its host, or undefined */
export const checkForeignUrl = (config: GuardedFetching['config'], url: string): string | undefined =>
  checkJwksUri(url, { ownUrls: ownUrls(config), trustedHosts: config.JWKS_TRUSTED_HOSTS });

/** Returns the response with any status. @throws the error of the connection or the deadline */
export async function guardedFetch(
  deps: GuardedFetching,
  url: string,
  request: GuardedRequest,
  { signal, expired }: Deadline,
): Promise<Response | FailedFetch> {
  const problem = checkForeignUrl(deps.config, url);
  if (problem !== undefined) return refused(problem);
  const { hostname } = new URL(url);
  let asked: Promise<Response> | undefined;
  if (!deps.config.JWKS_TRUSTED_HOSTS.includes(hostname)) {
    const addresses = await Promise.race([deps.resolveHost(hostname), expired]);
    if (addresses.length === 0) return unreachable('its host name does not resolve to an address');
    if (!addresses.every(isPublicAddress)) return refused('its host name resolves to a private address');
    // If the runtime can, it connects to a checked address, so that a DNS change after the check has no effect.
    asked = deps.fetchAt?.(addresses, url, { ...request, signal });
  }
  asked ??= deps.fetch(url, { ...request, redirect: 'manual', cache: 'no-store', signal });
  return Promise.race([asked, expired]);
}
