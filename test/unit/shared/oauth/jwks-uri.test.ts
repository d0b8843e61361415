/** Rows 66-68, 70 and 78 of what the token service refuses: JWKS URIs. */
import { describe, expect, test } from 'vitest';

import { checkJwksUri } from '../../../../shared/oauth/jwks-uri.ts';

describe('a JWKS URI', () => {
  const context = { ownUrls: ['https://gateway.example.com/base', 'http://127.0.0.1:8080'], trustedHosts: [] };

  test.each(['https://keys.example.org/jwks', 'https://keys.example.org:8443/a?b=c', 'https://1.example.org/'])(
    '%s may be fetched',
    (uri) => {
      expect(checkJwksUri(uri, context)).toBeUndefined();
    },
  );

  test.each([
    'http://keys.example.org/jwks',
    'ftp://keys.example.org/jwks',
    'file:///etc/passwd',
    'keys.example.org',
    '',
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://192.0.2.1/',
    'https://8.8.8.8/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'https://metadata.google.internal/',
    'https://metadata/',
    'https://printer.local/',
    'https://gateway.example.com/jwks',
    'https://GATEWAY.example.com.:8443/jwks',
    'https://user@keys.example.org/',
    'https://user:password@keys.example.org/',
    'https://keys.example.org/#a',
    'https://keys.example.org/#',
    `https://keys.example.org/${'a'.repeat(2048)}`,
  ])('%s may not', (uri) => {
    expect(checkJwksUri(uri, context)).toMatch(/^it|^its host/);
  });

  test('a trusted host may be an address, but not the gateway itself', () => {
    const trusting = { ...context, trustedHosts: ['127.0.0.1'] };
    expect(checkJwksUri('https://127.0.0.1:9443/', trusting)).toBeUndefined();
    expect(checkJwksUri('https://127.0.0.1:8080/', trusting)).toMatch(/own hosts/);
    expect(checkJwksUri('http://127.0.0.1:9443/', trusting)).toMatch(/https/);
  });
});
