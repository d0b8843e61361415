/**
 * What every page of ours tells the browser: no inline script or style, nothing from another host, no frames (Content
 * Security Policy Level 3). A form may lead to the OpenID provider, which is where signing out ends.
 *
 * Not Hono's `secureHeaders`: it is a middleware that puts its headers on every answer of a surface, the JSON API's and the
 * assets' too. A page's policy depends on the page, and a value can be tested without an application.
 */

export interface PolicyOptions {
  /** Origins that a form of the page may lead to, by redirect. */
  readonly formOrigins?: readonly string[];
  /** Origins that a script of the page may call. */
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
