/** A gateway with a site whose keys send messages over HTTP and, as a sidecar would forward them, over MLLP. */
import type { JWK } from 'jose';

import { getToken } from '../../stack/services/client.ts';
import { makeSecrets } from '../../stack/services/secrets.ts';
import { createTestDatabase, type TestDatabase } from '../../stack/tools/database.ts';
import { startGateway, type Gateway, type Runtime } from '../../stack/tools/gateway.ts';
import { type ApiKey, createApiKey, createSite } from '../../stack/services/seed.ts';
import { bytesOf, errorsOf } from '../../stack/tools/hl7-text.ts';
import { sidecarToken } from '../../stack/tools/sidecar-token.ts';

const BOUND_RANGES = ['192.0.2.64/26', '2001:db8:b::/48'];

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** `E 101 PID^1^3` of each ERR. */
  readonly errors: readonly string[];
}

export interface Subject {
  readonly gateway: Gateway;
  readonly db: TestDatabase;
  readonly site: string;
  readonly key: ApiKey;
  readonly token: string;
  /** The private key of a sidecar that is registered for `BOUND_RANGES` and for this site alone. */
  readonly boundSidecar: JWK;
  post(message: string | Uint8Array, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** As a sidecar does; members of `claims` are put over correct ones. */
  forward(message: string | Uint8Array, claims?: Readonly<Record<string, unknown>>, init?: Forward): Promise<Reply>;
  count(sql: string): Promise<number>;
  stop(): Promise<void>;
}

interface Forward {
  readonly method?: string;
  readonly path?: string;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly token?: string | undefined;
  /** The private key of another sidecar. */
  readonly by?: JWK;
  /** Headers of the request, beside the default ones. */
  readonly headers?: Readonly<Record<string, string>>;
}

export async function startSubject(runtime: Runtime): Promise<Subject> {
  const db = await createTestDatabase();
  const site = await createSite(db.client, { timeZone: 'Europe/Vienna' });
  const [secrets, bound] = await Promise.all([makeSecrets(), makeSecrets()]);
  const { d: _, ...boundKey } = bound.sidecarPrivateKey;
  const { keys }: { readonly keys: readonly object[] } = JSON.parse(secrets.env.MLLP_SIDECAR_KEYS);
  const registered = [...keys, { ...boundKey, ranges: BOUND_RANGES, sites: [site] }];
  const gateway = await startGateway({
    runtime,
    database: db,
    prefix: '/gateway',
    secrets: { ...secrets, env: { ...secrets.env, MLLP_SIDECAR_KEYS: JSON.stringify({ keys: registered }) } },
  });
  const key = await createApiKey(db.client, { site, protocols: ['hl7'] });
  const token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' });
  const url = `${gateway.hl7BaseUrl}/hl7/messages`;

  return {
    gateway,
    db,
    site,
    key,
    token,
    boundSidecar: bound.sidecarPrivateKey,
    async post(message, headers = {}) {
      return replyOf(
        await fetch(url, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain', ...headers },
          body: Uint8Array.from(bytesOf(message)),
        }),
      );
    },
    async forward(
      message,
      claims = {},
      { method = 'POST', path = '/internal/mllp/messages', header, token: given, headers = {}, by } = {},
    ) {
      const body = Uint8Array.from(bytesOf(message));
      const bearer = given ?? sidecarToken(gateway, body, claims, header, by);
      return replyOf(
        await fetch(gateway.url + path, {
          method,
          headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/hl7-v2', ...headers },
          ...(method === 'GET' ? {} : { body }),
        }),
      );
    },
    async count(sql) {
      const { rows } = await db.client.query<{ count: number }>(`select count(*)::int as count ${sql}`);
      return rows[0]?.count ?? 0;
    },
    async stop() {
      await gateway.kill();
      await db.drop();
    },
  };
}

export async function replyOf(response: Response): Promise<Reply> {
  const text = new TextDecoder('latin1').decode(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, text, errors: errorsOf(text) };
}
