/**
 * Clients of integrators, unchanged, as the recipes of the documentation use them: Authlib, MedplumClient, and the request of
 * SMART's Backend Services example. Two more are panva's libraries, which put the issuer into `aud` unless their hook changes
 * it. HAPI's recipe runs with its calls (clients/hapi-calls.ts).
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

import { MedplumClient } from '@medplum/core';
import { importJWK, type JWK, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ROOT } from '../stack/services/build.ts';
import { clientAssertion } from '../stack/services/client.ts';
import type { ApiKey } from '../stack/services/seed.ts';
import { isPythonMissing, NO_PYTHON, runPython } from '../stack/tools/python.ts';
import { until } from '../stack/services/until.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';
import { recipeOf } from './clients/recipes.ts';
import { now, startSubject, type Subject } from './oauth/subject.ts';

async function signingKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, jwk.alg);
  if (key instanceof Uint8Array) throw new Error('not a signing key');
  return key;
}

/** The exports of a recipe in edge/docs/javascript.md. */
interface Recipe {
  readonly getTokens: (issuer: string, clientId: string, key: CryptoKey, kid: string) => Promise<{ scope?: string }>;
}

/** Writes the recipe below node_modules, where its imports find the installed packages. */
async function moduleOf<Exports>(mark: string): Promise<Exports> {
  const code = await recipeOf('js', mark);
  const directory = await mkdtemp(`${ROOT}node_modules/.recipe-`);
  try {
    await writeFile(`${directory}/recipe.mjs`, code);
    return (await import(pathToFileURL(`${directory}/recipe.mjs`).href)) as Exports;
  } finally {
    await rm(directory, { recursive: true });
  }
}

interface MedplumRecipe {
  readonly connect: (base: string, endpoint: string, clientId: string, assertion: string) => Promise<MedplumClient>;
}

const withoutPython = await isPythonMissing();
const PRINT_TOKENS = 'print(json.dumps(get_tokens(given["endpoint"], given["clientId"], given["jwk"])))';
/** A program with Authlib by an author without this gateway's documentation. */
const WITHOUT_RECIPE = `
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from joserfc.jwk import JWKRegistry

def get_tokens(token_endpoint, client_id, private_jwk):
    session = OAuth2Session(
        client_id, JWKRegistry.import_key(private_jwk), token_endpoint_auth_method='private_key_jwt')
    session.register_client_auth_method(PrivateKeyJWT(token_endpoint))
    return session.fetch_token(token_endpoint, grant_type='client_credentials', scope='system/*.read')
`;

describe.each(ONE_RUNTIME)('on %s', (runtime) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await startSubject({ runtime, prefix: '/gateway' });
  });
  afterAll(() => subject.stop());

  const discovered = (key: ApiKey, authentication: openid.ClientAuth) =>
    openid.discovery(new URL(subject.gateway.oauthBaseUrl), key.clientId, undefined, authentication, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });
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
    const config = await discovered(key, authentication);
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

  test('without the hook, the answer explains the change that the integrator must make', async () => {
    const key = await subject.createKey();
    const config = await discovered(key, openid.PrivateKeyJwt(await signingKey(key.privateJwk)));
    const refused = openid.clientCredentialsGrant(config, { scope: 'system/Patient.read' });
    const { tokenEndpoint, gateway, db } = subject;
    await expect(refused).rejects.toMatchObject({
      status: 401,
      error: 'invalid_client',
      error_description: `aud was '${gateway.oauthBaseUrl}', expected '${tokenEndpoint}'`,
    });
    const kept = await until('the refusal to be kept', async () => {
      const sql = 'select reason from refusal where client_id = $1';
      const { rows } = await db.client.query<{ reason: string }>(sql, [key.clientId]);
      return rows[0]?.reason;
    });
    expect(kept).toBe(`aud was "${gateway.oauthBaseUrl}", expected "${tokenEndpoint}"`);
  });

  test('the answer to an OpenID client explains that the gateway is not an OpenID provider, with the address of the metadata', async () => {
    const { oauthBaseUrl } = subject.gateway;
    const execute = [openid.allowInsecureRequests];
    await expect(openid.discovery(new URL(oauthBaseUrl), 'x', undefined, undefined, { execute })).rejects.toThrow();
    const response = await fetch(`${oauthBaseUrl}/.well-known/openid-configuration`);
    expect([response.status, await response.json()]).toEqual([
      404,
      {
        error: 'invalid_request',
        error_description: expect.stringContaining('/.well-known/oauth-authorization-server'),
      },
    ]);
  });

  describe.each(['openid-client', 'oauth4webapi'])('the recipe of edge/docs/javascript.md for %s', (library) => {
    test('gets a token, and shows the reason of a refusal', async () => {
      const { getTokens } = await moduleOf<Recipe>(`from '${library}'`);
      const key = await subject.createKey();
      const { oauthBaseUrl } = subject.gateway;
      const privateKey = await signingKey(key.privateJwk);
      const tokens = await getTokens(oauthBaseUrl, key.clientId, privateKey, key.privateJwk.kid ?? '');
      expect(tokens.scope).toContain('system/Patient.read');
      await expect(getTokens(oauthBaseUrl, key.clientId, privateKey, 'another')).rejects.toMatchObject({
        status: 401,
        error: 'invalid_client',
        error_description: 'client authentication failed',
      });
    });
  });

  describe('Python', () => {
    const tokensOf = (key: ApiKey, recipe: string) =>
      runPython(['-c', `import json, sys\ngiven = json.load(sys.stdin)\n${recipe}\n${PRINT_TOKENS}`], {
        endpoint: subject.tokenEndpoint,
        clientId: key.clientId,
        jwk: key.privateJwk,
      });

    test.for(['ES256', 'RS384'] as const)(
      'the recipe of edge/docs/python.md for Authlib, %s',
      async (algorithm, { skip }) => {
        skip(withoutPython, NO_PYTHON);
        const recipe = await recipeOf('python', 'authlib');
        const key = await subject.createKey({ algorithm });
        expect(await tokensOf(key, recipe)).toMatchObject({ scope: expect.stringContaining('system/Patient.read') });
        const disabled = await subject.createKey({ algorithm, status: 'disabled' });
        await expect(tokensOf(disabled, recipe)).rejects.toThrow('invalid_client: client authentication failed');
      },
    );

    test('Authlib without the recipe gets an error that says what to change, once its signature verifies', async ({
      skip,
    }) => {
      skip(withoutPython, NO_PYTHON);
      const key = await subject.createKey({ algorithm: 'RS256' });
      await expect(tokensOf(key, WITHOUT_RECIPE)).rejects.toThrow(/exp is 3[56]\d\d s ahead, at most 300 are allowed/);
    });
  });

  describe('MedplumClient', () => {
    const assertionOf = (key: ApiKey) => clientAssertion(key, subject.tokenEndpoint);

    test('the recipe of edge/docs/javascript.md logs in, again too, and reads', async () => {
      const { connect } = await moduleOf<MedplumRecipe>("from '@medplum/core'");
      const key = await subject.createKey();
      const { fhirBaseUrl } = subject.gateway;
      const medplum = await connect(fhirBaseUrl, subject.tokenEndpoint, key.clientId, await assertionOf(key));
      expect((await medplum.search('Patient')).type).toBe('searchset');
      const first = medplum.getAccessToken();
      await medplum.startJwtAssertionLogin(await assertionOf(key));
      expect(medplum.getAccessToken()).not.toBe(first);
      expect((await medplum.search('Patient')).type).toBe('searchset');
      const refused = connect(fhirBaseUrl, subject.tokenEndpoint, key.clientId, 'no assertion');
      await expect(refused).rejects.toThrow('client authentication failed');
    });

    test('without the recipe gets an error that says that it requests no scope', async () => {
      const key = await subject.createKey();
      const client = new MedplumClient({
        baseUrl: subject.gateway.fhirBaseUrl,
        tokenUrl: subject.tokenEndpoint,
        fetch,
      });
      await expect(client.startJwtAssertionLogin(await assertionOf(key))).rejects.toThrow(/scope/);
      await expect(client.startClientLogin(key.clientId, 'secret')).rejects.toThrow(/client authentication failed/);
      const bearer = client.startJwtBearerLogin(key.clientId, await assertionOf(key), 'system/*.read');
      await expect(bearer).rejects.toThrow(/grant_type/);
    });
  });

  test.each(['introspection', 'revocation'] as const)('%s shows why it is rejected', async (endpoint) => {
    const key = await subject.createKey();
    const config = await discovered(key, openid.PrivateKeyJwt(await signingKey(key.privateJwk)));
    const refused =
      endpoint === 'introspection' ? openid.tokenIntrospection(config, 'a') : openid.tokenRevocation(config, 'a');
    await expect(refused).rejects.toMatchObject({ status: 401, error_description: expect.stringMatching(/^aud was/) });
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
