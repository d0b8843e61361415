/** Rows 66-68, 70 and 78 of what the token service refuses: JWKS URIs. Endpoints of Subscriptions and webhooks have the same rule. */
import { describe, expect, test } from 'vitest';

import { checkJwksUri } from '../../../../shared/oauth/jwks-uri.ts';
import { ALLOWED_URLS, FORBIDDEN_URLS } from '../../../inputs/foreign-urls.ts';

describe('a JWKS URI', () => {
  const context = { ownUrls: ['https://gateway.example.com/base', 'http://127.0.0.1:8080'], trustedHosts: [] };

  test.each(ALLOWED_URLS)('%s may be fetched', (uri) => {
    expect(checkJwksUri(uri, context)).toBeUndefined();
  });

  test.each([
    ...FORBIDDEN_URLS,
    '',
    'https://127.0.0.1/',
    'https://gateway.example.com/jwks',
    'https://GATEWAY.example.com.:8443/jwks',
    'https://gateway.example.com../jwks',
    `https://hooks.example.org/${'a'.repeat(2048)}`,
  ])('%j may not', (uri) => {
    expect(checkJwksUri(uri, context)).toMatch(/^it|^its host/);
  });

  test('a trusted host may be an address, but not the gateway itself', () => {
    const trusting = { ...context, trustedHosts: ['127.0.0.1'] };
    expect(checkJwksUri('https://127.0.0.1:9443/', trusting)).toBeUndefined();
    expect(checkJwksUri('https://127.0.0.1:8080/', trusting)).toMatch(/own hosts/);
    expect(checkJwksUri('http://127.0.0.1:9443/', trusting)).toMatch(/https/);
    for (const uri of FORBIDDEN_URLS) expect(checkJwksUri(uri, trusting), uri).toMatch(/^it|^its host/);
  });
});
