/**
 * Refuses what another site makes a browser send with our cookie (OWASP, cross-site request forgery): the cookie's
 * SameSite is the first wall, what the browser says of the request's origin the second. Tokens in a header need neither.
 *
 * Not Hono's `csrf`: it lets a request pass when either header looks right, where both must here, and it looks only at the
 * content types that a plain form can send, so that JSON would rest on the browser's preflight alone.
 */
import { Fault } from '../../../shared/fault.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD']);

/**
 * @param ownOrigin the console's origin, from configuration
 * @throws Fault `forbidden` unless the browser says that the request comes from our own pages
 */
export function refuseCrossSite(request: Request, ownOrigin: string): void {
  if (SAFE_METHODS.has(request.method)) return;
  const site = request.headers.get('sec-fetch-site');
  const origin = request.headers.get('origin');
  // Browsers send Origin with every POST; a page with no referrer policy of ours may send `null`, which is not us.
  if (origin === ownOrigin && (site === null || site === 'same-origin')) return;
  if (origin === null && site === 'same-origin') return;
  throw new Fault('forbidden', 'the request does not come from a page of this console', { code: 'cross_site' });
}
