/** Discovery and keys: true in every field, cacheable, readable from any origin. */
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';

import { ALL_SCOPES } from '../../stack/services/seed.ts';
import { assertion, expectToken, present, type Subject } from './subject.ts';

type Document = Readonly<Record<string, unknown>>;

export function discoveryCases(subject: () => Subject): void {
  const get = async (url: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url, { headers });
    const text = await response.text();
    const document: Document = text === '' ? {} : JSON.parse(text);
    return { response, document };
  };
  const oauth = () => subject().gateway.oauthBaseUrl;
  const smart = () => `${oauth()}/.well-known/smart-configuration`;
  const metadata = () => `${oauth()}/.well-known/oauth-authorization-server`;

  test('the SMART configuration, the same at both bases', async () => {
    const { response, document } = await get(smart());
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(document).toEqual({
      issuer: oauth(),
      jwks_uri: `${oauth()}/oauth2/jwks`,
      token_endpoint: `${oauth()}/oauth2/token`,
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['RS256', 'RS384', 'PS256', 'PS384', 'ES256', 'ES384', 'EdDSA'],
      grant_types_supported: ['client_credentials'],
      scopes_supported: ALL_SCOPES,
      code_challenge_methods_supported: ['S256'],
      introspection_endpoint: `${oauth()}/oauth2/introspect`,
      revocation_endpoint: `${oauth()}/oauth2/revoke`,
      capabilities: ['client-confidential-asymmetric', 'permission-v1'],
    });
    const fhir = await get(`${subject().gateway.fhirBaseUrl}/fhir/.well-known/smart-configuration`);
    expect(fhir.document).toEqual(document);
  });

  test('serves RFC 8414 metadata, also at the address with the path of the issuer', async () => {
    const { document } = await get(metadata());
    expect(document).toMatchObject({ issuer: oauth(), token_endpoint: `${oauth()}/oauth2/token` });
    expect([document['capabilities'], document['code_challenge_methods_supported']]).toEqual([undefined, undefined]);
    for (const value of Object.values(document)) expect(value).not.toEqual([]);
    const { origin, pathname } = new URL(oauth());
    const moved = await get(`${origin}/.well-known/oauth-authorization-server${pathname === '/' ? '' : pathname}`);
    expect(moved.document).toEqual(document);
  });

  test('the published keys verify a token, and have no private member', async () => {
    const token = expectToken(await present(subject(), await assertion(subject(), await subject().createKey())));
    const { document } = await get(`${oauth()}/oauth2/jwks`);
    expect(document).toEqual({
      keys: [
        {
          kty: 'EC',
          crv: 'P-256',
          x: expect.any(String),
          y: expect.any(String),
          kid: expect.any(String),
          use: 'sig',
          alg: 'ES256',
        },
      ],
    });
    const keys = createRemoteJWKSet(new URL(`${oauth()}/oauth2/jwks`));
    await expect(
      jwtVerify(token, keys, { issuer: oauth(), audience: 'svc-fhir', typ: 'at+jwt' }),
    ).resolves.toBeDefined();
  });

  describe.each([
    ['SMART configuration', smart],
    ['metadata', metadata],
    ['keys', () => `${oauth()}/oauth2/jwks`],
  ])('%s', (_, url) => {
    test('are cacheable, with an ETag', async () => {
      const { response } = await get(url());
      expect(response.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
      const etag = response.headers.get('etag') ?? '';
      expect(etag).toMatch(/^"/);
      const again = await get(url(), { 'if-none-match': etag });
      expect(again.response.status).toBe(304);
      expect(again.response.headers.get('access-control-allow-origin')).toBe('*');
    });

    test('may be read from any origin', async () => {
      const { response } = await get(url(), { origin: 'https://app.example' });
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      const preflight = await fetch(url(), {
        method: 'OPTIONS',
        headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
      expect(preflight.headers.get('access-control-allow-methods')).toContain('GET');
    });

    test('answer GET and HEAD only', async () => {
      expect((await fetch(url(), { method: 'HEAD' })).status).toBe(200);
      const posted = await fetch(url(), { method: 'POST' });
      expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    });
  });

  test('another path is 404 in the format of the service', async () => {
    const { response, document } = await get(`${oauth()}/oauth2/authorize`);
    expect([response.status, document['error']]).toEqual([404, 'invalid_request']);
  });

  test('a Host header of the client changes nothing', async () => {
    const { document } = await get(smart(), { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' });
    expect(document['token_endpoint']).toBe(`${oauth()}/oauth2/token`);
  });
}
