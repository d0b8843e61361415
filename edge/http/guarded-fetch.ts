/**
 * A request to an address that an administrator has given us, trusting neither: https to a public host that is none of
 * ours, without redirects, within a deadline (OWASP, server-side request forgery).
 */
import { checkJwksUri } from '../../shared/oauth/jwks-uri.ts';
import { type Addresses, type Config, ownUrls } from '../config.ts';
import type { Deps } from '../deps.ts';
import type { Deadline } from './deadline.ts';
import { isPublicAddress } from './public-address.ts';

export interface FailedFetch {
  /** `refused`: it may not be fetched, now or ever; `unreachable`: nothing came of it now, another time something may. */
  readonly failed: 'refused' | 'unreachable';
  /** A clause that goes on from "the JWKS URI cannot be used: …". */
  readonly reason: string;
}

export const refused = (reason: string): FailedFetch => ({ failed: 'refused', reason });
export const unreachable = (reason: string): FailedFetch => ({ failed: 'unreachable', reason });

/** What of a runtime such a request needs: also a program without the rest. */
export type GuardedFetching = Pick<Deps, 'fetch' | 'fetchAt' | 'resolveHost'> & {
  readonly config: Addresses & Pick<Config, 'JWKS_TRUSTED_HOSTS'>;
};

export interface GuardedRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** @returns why an address may not be asked, whatever it leads to; or undefined */
export const checkForeignUrl = (config: GuardedFetching['config'], url: string): string | undefined =>
  checkJwksUri(url, { ownUrls: ownUrls(config), trustedHosts: config.JWKS_TRUSTED_HOSTS });

/** The response, whatever its status. @throws what the connection or the deadline fails with */
export async function guardedFetch(
  deps: GuardedFetching,
  url: string,
  request: GuardedRequest,
  { signal, passed }: Deadline,
): Promise<Response | FailedFetch> {
  const problem = checkForeignUrl(deps.config, url);
  if (problem !== undefined) return refused(problem);
  const { hostname } = new URL(url);
  let asked: Promise<Response> | undefined;
  if (!deps.config.JWKS_TRUSTED_HOSTS.includes(hostname)) {
    const addresses = await Promise.race([deps.resolveHost(hostname), passed]);
    if (addresses.length === 0) return unreachable('its host name has no address');
    if (!addresses.every(isPublicAddress)) return refused('its host name leads to a private address');
    // Where the runtime allows it, what was looked at is where it goes, whatever the name leads to a moment later.
    asked = deps.fetchAt?.(addresses, url, { ...request, signal });
  }
  asked ??= deps.fetch(url, { ...request, redirect: 'manual', cache: 'no-store', signal });
  return Promise.race([asked, passed]);
}
