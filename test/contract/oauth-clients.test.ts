/**
 * Clients that integrators use, unchanged: panva's two libraries, which put the issuer into `aud` unless their hook says
 * otherwise, and the request of SMART's own Backend Services example.
 */
import { randomUUID } from 'node:crypto';

import { importJWK, type JWK, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { RUNTIMES } from '../stack/tools/gateway.ts';
import { until } from '../stack/services/until.ts';
import { now, startSubject, type Subject } from './oauth/subject.ts';

async function signingKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, jwk.alg);
  if (key instanceof Uint8Array) throw new Error('not a signing key');
  return key;
}

describe.each(RUNTIMES)('on %s', (runtime) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await startSubject({ runtime, prefix: '/gateway' });
  });
  afterAll(() => subject.stop());

  const patients = (token: string) =>
    fetch(`${subject.gateway.fhirBaseUrl}/fhir/Patient`, { headers: { authorization: `Bearer ${token}` } });

  test.each(['ES256', 'ES384', 'RS256', 'RS384', 'PS256'] as const)('openid-client with %s', async (algorithm) => {
    const key = await subject.createKey({ algorithm });
    const authentication = openid.PrivateKeyJwt(
      { key: await signingKey(key.privateJwk), kid: key.privateJwk.kid ?? '' },
      {
        [openid.modifyAssertion]: (header, payload) => {
          header['typ'] = 'JWT';
          payload['aud'] = subject.tokenEndpoint;
        },
      },
    );
    const config = await openid.discovery(
      new URL(subject.gateway.oauthBaseUrl),
      key.clientId,
      undefined,
      authentication,
      { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
    );
    const grant = { scope: 'system/Patient.read', audience: 'svc-fhir' };
    const tokens = await openid.clientCredentialsGrant(config, grant);
    expect([tokens.scope, tokens.expires_in]).toEqual(['system/Patient.read', 300]);
    expect((await patients(tokens.access_token)).status).toBe(200);

    const introspection = await openid.tokenIntrospection(config, tokens.access_token);
    expect(introspection).toMatchObject({ active: true, client_id: key.clientId });
    await openid.tokenRevocation(config, tokens.access_token);
    expect(await openid.tokenIntrospection(config, tokens.access_token)).toEqual({ active: false });
    expect((await patients(tokens.access_token)).status).toBe(401);
  });

  test('oauth4webapi, without typ', async () => {
    const key = await subject.createKey();
    const issuer = new URL(subject.gateway.oauthBaseUrl);
    const insecure = { [oauth.allowInsecureRequests]: true };
    const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    const server = await oauth.processDiscoveryResponse(issuer, discovered);
    const client: oauth.Client = { client_id: key.clientId };
    const authentication = oauth.PrivateKeyJwt(
      { key: await signingKey(key.privateJwk), kid: key.privateJwk.kid ?? '' },
      {
        [oauth.modifyAssertion]: (_, payload) => {
          payload['aud'] = server.token_endpoint ?? '';
        },
      },
    );
    const parameters = new URLSearchParams({ scope: 'system/*.read' });
    const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, insecure);
    const tokens = await oauth.processClientCredentialsResponse(server, client, response);
    expect((await patients(tokens.access_token)).status).toBe(200);

    // As a resource server would check it.
    const request = new Request('https://resource.example/', {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    const claims = await oauth.validateJwtAccessToken(server, request, 'svc-fhir', insecure);
    expect(claims).toMatchObject({ client_id: key.clientId, sub: key.clientId });
  });

  test('without the hook the answer tells an integrator what to change', async () => {
    const key = await subject.createKey();
    const config = await openid.discovery(
      new URL(subject.gateway.oauthBaseUrl),
      key.clientId,
      undefined,
      openid.PrivateKeyJwt(await signingKey(key.privateJwk)),
      { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
    );
    const refused = openid.clientCredentialsGrant(config, { scope: 'system/Patient.read' });
    const { tokenEndpoint, gateway, db } = subject;
    const why = { error_description: `aud was '${gateway.oauthBaseUrl}', expected '${tokenEndpoint}'` };
    await expect(refused).rejects.toMatchObject({ status: 401, cause: [{ parameters: why }] });
    const kept = await until('the refusal to be kept', async () => {
      const sql = 'select reason from refusal where client_id = $1';
      const { rows } = await db.client.query<{ reason: string }>(sql, [key.clientId]);
      return rows[0]?.reason;
    });
    expect(kept).toBe(`aud was "${gateway.oauthBaseUrl}", expected "${tokenEndpoint}"`);
  });

  test.each(['RS384', 'ES384'] as const)('the Backend Services example of SMART, %s', async (algorithm) => {
    const key = await subject.createKey({ algorithm });
    const wellKnown = await fetch(`${subject.gateway.fhirBaseUrl}/fhir/.well-known/smart-configuration`, {
      headers: { accept: 'application/json' },
    });
    const smart: { token_endpoint: string } = await wellKnown.json();
    const jwt = await new SignJWT({
      iss: key.clientId,
      sub: key.clientId,
      aud: smart.token_endpoint,
      exp: now() + 300,
      jti: randomUUID(),
    })
      .setProtectedHeader({ alg: algorithm, kid: key.privateJwk.kid ?? '', typ: 'JWT' })
      .sign(await signingKey(key.privateJwk));
    const response = await fetch(smart.token_endpoint, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({
        scope: 'system/*.read',
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: jwt,
      }),
    });
    const tokens: { access_token: string; token_type: string } = await response.json();
    expect([response.status, tokens.token_type]).toEqual([200, 'Bearer']);
    expect((await patients(tokens.access_token)).status).toBe(200);
  });
});
