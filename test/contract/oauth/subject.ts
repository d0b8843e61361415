/** The subject of every case of the token service's contract: a gateway on some runtime, its database, its clients. */
import { randomUUID } from 'node:crypto';

import { importJWK, type JWK } from 'jose';
import { expect } from 'vitest';

import { createTestDatabase, type TestDatabase } from '../../stack/tools/database.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../../stack/tools/gateway.ts';
import { type ApiKey, type ApiKeyOptions, createApiKey, createSite } from '../../stack/services/seed.ts';
import { ASSERTION_TYPE } from '../../stack/services/client.ts';
import { until } from '../../stack/services/until.ts';

export interface Subject {
  readonly gateway: Gateway;
  readonly db: TestDatabase;
  readonly site: string;
  /** The published URL, which is `aud`. */
  readonly tokenEndpoint: string;
  createKey(options?: Partial<ApiKeyOptions>): Promise<ApiKey>;
  stop(): Promise<void>;
}

export async function startSubject(options: Omit<GatewayOptions, 'database'>): Promise<Subject> {
  const db = await createTestDatabase();
  const site = await createSite(db.client);
  const gateway = await startGateway({ ...options, database: db });
  return {
    gateway,
    db,
    site,
    tokenEndpoint: `${gateway.oauthBaseUrl}/oauth2/token`,
    createKey: (more = {}) => createApiKey(db.client, { site, ...more }),
    async stop() {
      await gateway.kill();
      await db.drop();
    },
  };
}

type Members = Readonly<Record<string, unknown>>;

export const now = () => Math.floor(Date.now() / 1000);

/** The claims of a correct assertion; `undefined` takes a member out. */
export function claimsOf(subject: Subject, key: Pick<ApiKey, 'clientId'>, change: Members = {}): string {
  const { clientId } = key;
  const aud = subject.tokenEndpoint;
  return JSON.stringify({ iss: clientId, sub: clientId, aud, jti: randomUUID(), exp: now() + 120, ...change });
}

export function headerOf(key: Pick<ApiKey, 'privateJwk'>, change: Members = {}): string {
  const { alg, kid } = key.privateJwk;
  return JSON.stringify({ alg, kid, typ: 'JWT', ...change });
}

const SIGNING: Readonly<Record<string, EcdsaParams | RsaPssParams | AlgorithmIdentifier>> = {
  ES256: { name: 'ECDSA', hash: 'SHA-256' },
  ES384: { name: 'ECDSA', hash: 'SHA-384' },
  RS256: { name: 'RSASSA-PKCS1-v1_5' },
  RS384: { name: 'RSASSA-PKCS1-v1_5' },
  PS256: { name: 'RSA-PSS', saltLength: 32 },
  PS384: { name: 'RSA-PSS', saltLength: 48 },
  EdDSA: { name: 'Ed25519' },
};

const b64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64url');

/** Signs any given text, as a library would not: `signingInput` defaults to the segments of both texts. */
export async function sign(
  privateJwk: JWK,
  header: string | Uint8Array,
  claims: string | Uint8Array,
  signingInput = `${b64(header)}.${b64(claims)}`,
): Promise<string> {
  const algorithm = SIGNING[privateJwk.alg ?? ''];
  const key = await importJWK(privateJwk, privateJwk.alg);
  if (algorithm === undefined || key instanceof Uint8Array) throw new Error(`no way to sign with ${privateJwk.alg}`);
  const signature = await crypto.subtle.sign(algorithm, key, Buffer.from(signingInput));
  return `${signingInput}.${b64(new Uint8Array(signature))}`;
}

/** A correct assertion but for the changes. */
export async function assertion(
  subject: Subject,
  key: Pick<ApiKey, 'clientId' | 'privateJwk'>,
  claims: Members = {},
  header: Members = {},
): Promise<string> {
  return sign(key.privateJwk, headerOf(key, header), claimsOf(subject, key, claims));
}

/** The members of a correct token request. */
export const formOf = (clientAssertion: string): Record<string, string> => ({
  grant_type: 'client_credentials',
  scope: 'system/*.read',
  client_assertion_type: ASSERTION_TYPE,
  client_assertion: clientAssertion,
});

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  readonly requestId: string;
}

/** `POST` of a form to a path of the token service; `undefined` takes a member out. */
export async function post(
  subject: Subject,
  form: Readonly<Record<string, string | undefined>> | string,
  options: { readonly path?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  const requestId = `test-${randomUUID()}`;
  const body =
    typeof form === 'string'
      ? form
      : new URLSearchParams(
          Object.entries(form).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
        );
  const response = await fetch(`${subject.gateway.oauthBaseUrl}${options.path ?? '/oauth2/token'}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-request-id': requestId,
      ...options.headers,
    },
    body: body.toString(),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text), requestId };
}

/** A token request with this assertion and a form that is else correct. */
export const present = (subject: Subject, text: string, form: Readonly<Record<string, string | undefined>> = {}) =>
  post(subject, { ...formOf(text), ...form });

/**
 * The one constant answer, row `C`.
 *
 * @param challenge for a client that used the Authorization header; null for other clients
 */
export function expectC(answer: Answer, challenge: string | null = null): void {
  expect(answer.body).toEqual({ error: 'invalid_client', error_description: 'client authentication failed' });
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toBe(challenge);
  expect(answer.headers.get('cache-control')).toBe('no-store');
}

export function expectRefusal(answer: Answer, status: number, error: string, description: RegExp): void {
  expect(answer.body).toEqual({ error, error_description: expect.stringMatching(description) });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('x-request-id')).toBe(answer.requestId);
}

export function expectToken(answer: Answer): string {
  expect(answer.body).toEqual({
    access_token: expect.any(String),
    token_type: 'Bearer',
    expires_in: expect.any(Number),
    scope: expect.any(String),
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return String(answer.body['access_token']);
}

/** The reason that the key's administrator sees. Waits, since the gateway writes it off the response path. */
export async function reasonKept(subject: Subject, answer: Answer): Promise<string> {
  return until('the refusal to be kept', async () => {
    const { rows } = await subject.db.client.query<{ code: string; reason: string }>(
      'select code, reason from refusal where $1 = any (request_ids)',
      [answer.requestId],
    );
    return rows[0] === undefined ? undefined : `${rows[0].code}: ${rows[0].reason}`;
  });
}
