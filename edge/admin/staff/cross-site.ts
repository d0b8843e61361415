/**
 * Rejects requests that a page of another origin makes the browser send with the cookie (OWASP, cross-site request forgery).
 * The cookie's SameSite attribute is the first defence, the headers Origin and Sec-Fetch-Site are the second.
 *
 * Hono's `csrf` accepts a request if either header is right, and checks only the content types of plain forms. Here both
 * headers must be right, for every content type.
 */
import { Fault } from '../../../shared/fault.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD']);

/**
 * @param ownOrigin the console's origin, from configuration
 * @throws Fault `forbidden` unless the headers name the console's own origin
 */
export function refuseCrossSite(request: Request, ownOrigin: string): void {
  if (SAFE_METHODS.has(request.method)) return;
  const site = request.headers.get('sec-fetch-site');
  const origin = request.headers.get('origin');
  // Browsers send Origin with every POST; `null` is never the console's own page.
  if (origin === ownOrigin && (site === null || site === 'same-origin')) return;
  if (origin === null && site === 'same-origin') return;
  throw new Fault('forbidden', 'the request does not come from a page of this console', { code: 'cross_site' });
}
