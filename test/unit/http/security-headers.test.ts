import { expect, test } from 'vitest';

import { securityHeaders } from '../../../edge/http/security-headers.ts';

test('pages have a policy without inline script, other hosts or frames', () => {
  const policy = securityHeaders({ formOrigins: ['https://id.example'] })['Content-Security-Policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'self' https://id.example");
  expect(policy).not.toMatch(/unsafe|\*/);
});
