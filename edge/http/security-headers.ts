/**
 * The browser policy of the gateway's pages: no inline script or style, no other host, no frames (Content Security Policy
 * Level 3). A form may redirect to the OpenID provider, where signing out ends.
 *
 * Hono's `secureHeaders` would add the same headers to every answer of a surface; a page's policy depends on the page.
 */

export interface PolicyOptions {
  /** Origins that a form of the page may redirect to. */
  readonly formOrigins?: readonly string[];
  /** Origins that the page's scripts may call. */
  readonly connectOrigins?: readonly string[];
}

export function securityHeaders({ formOrigins = [], connectOrigins = [] }: PolicyOptions = {}): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    ["connect-src 'self'", ...connectOrigins].join(' '),
    ["form-action 'self'", ...formOrigins].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'Cache-Control': 'no-store',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  };
}
