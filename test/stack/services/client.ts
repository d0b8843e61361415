/** An integrator's side of the token request (RFC 7523 §2.2), written out so that tests can bend any part of it. */
import { randomUUID } from 'node:crypto';

import { importJWK, SignJWT, type JWTHeaderParameters, type JWTPayload } from 'jose';

import type { ApiKey } from './seed.ts';

export interface AssertionOptions {
  /** Members put over, or with `undefined` taken out of, a correct assertion. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

const without = <T extends object>(members: T): T =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;

/** @param tokenEndpoint the published URL, which is the assertion's `aud` */
export async function clientAssertion(
  key: Pick<ApiKey, 'clientId' | 'privateJwk'>,
  tokenEndpoint: string,
  options: AssertionOptions = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const { alg, kid } = key.privateJwk;
  const claims: JWTPayload = without({
    iss: key.clientId,
    sub: key.clientId,
    aud: tokenEndpoint,
    jti: randomUUID(),
    iat: now,
    exp: now + 120,
    ...options.claims,
  });
  const header = without({ alg, kid, typ: 'JWT', ...options.header }) as JWTHeaderParameters;
  return new SignJWT(claims).setProtectedHeader(header).sign(await importJWK(key.privateJwk, alg));
}

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** `POST /oauth2/token`; members of `form` are put over a correct request, `undefined` takes one out. */
export async function requestToken(
  oauthBaseUrl: string,
  key: Pick<ApiKey, 'clientId' | 'privateJwk'>,
  form: Readonly<Record<string, string | undefined>> = {},
  assertion: AssertionOptions = {},
): Promise<Response> {
  const endpoint = `${oauthBaseUrl}/oauth2/token`;
  const body = without({
    grant_type: 'client_credentials',
    scope: 'system/*.*',
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: await clientAssertion(key, endpoint, assertion),
    ...form,
  });
  return fetch(endpoint, { method: 'POST', body: new URLSearchParams(body) });
}

/** An access token, or an error with the server's answer. */
export async function getToken(
  oauthBaseUrl: string,
  key: Pick<ApiKey, 'clientId' | 'privateJwk'>,
  form: Readonly<Record<string, string | undefined>> = {},
): Promise<string> {
  const response = await requestToken(oauthBaseUrl, key, form);
  const answer = (await response.json()) as { access_token?: string };
  if (answer.access_token === undefined) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
  return answer.access_token;
}
