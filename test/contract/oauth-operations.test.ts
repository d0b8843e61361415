/** Rows 55, 58, 60 and what operators do: restarts, outages, limits, rotation, and how many round trips a token costs. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { decodeProtectedHeader } from 'jose';
import { describe, expect, test } from 'vitest';

import { runProgram } from '../stack/tools/command-line.ts';
import { createTestDatabase } from '../stack/tools/database.ts';
import { freePort } from '../stack/services/free-port.ts';
import { RUNTIMES, startGateway } from '../stack/tools/gateway.ts';
import { lockWaits } from '../stack/tools/lock-waits.ts';
import { withinOneMinute } from '../stack/tools/one-minute.ts';
import { makeSecrets } from '../stack/services/secrets.ts';
import { getToken } from '../stack/services/client.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { testOfOne } from './on-runtimes.ts';
import {
  assertion,
  expectRefusal,
  expectToken,
  present,
  reasonKept,
  startSubject,
  type Subject,
} from './oauth/subject.ts';

/** A request with a Host header of our choice, which fetch would not send. */
async function httpRequest(port: number, host: string, path: string, type: string, body: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Type: ${type}\r\n`);
  socket.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  let answer = '';
  socket.on('data', (bytes: Buffer) => (answer += bytes.toString('latin1')));
  await once(socket, 'close');
  return answer;
}

interface Ring {
  readonly keys: readonly { readonly kid: string }[];
}

/** The ring that `npm run keys` makes of another, or a first one. */
async function keys(command: 'new' | 'publish' | 'sign' | 'retire', ring?: Ring): Promise<Ring> {
  const { stdout } = await runProgram('keys', [command], {}, JSON.stringify(ring));
  return JSON.parse(stdout) as Ring;
}

async function withSubject(options: Parameters<typeof startSubject>[0], work: (subject: Subject) => Promise<void>) {
  const subject = await startSubject(options);
  try {
    await work(subject);
  } finally {
    await subject.stop();
  }
}

const readPatients = (subject: Pick<Subject, 'gateway'>, token: string) =>
  fetch(`${subject.gateway.fhirBaseUrl}/fhir/Patient`, { headers: { authorization: `Bearer ${token}` } });

describe.each(RUNTIMES)('on %s', (runtime) => {
  const ofOne = testOfOne(runtime);

  test('55: an assertion stays used when everything was killed and started again', async () => {
    const persistDir = await mkdtemp(join(tmpdir(), 'gateway-claims-'));
    const database = await createTestDatabase();
    const again = { runtime, persistDir, database, port: await freePort(), secrets: await makeSecrets() };
    try {
      const gateway = await startGateway(again);
      const site = await createSite(database.client);
      const subject = { gateway, db: database, site, tokenEndpoint: `${gateway.oauthBaseUrl}/oauth2/token` } as Subject;
      const text = await assertion(subject, await createApiKey(database.client, { site }));
      expectToken(await present(subject, text));
      await gateway.kill();

      const second = await startGateway(again);
      expectRefusal(await present({ ...subject, gateway: second }, text), 401, 'invalid_client', /already been used/);
      await second.kill();
    } finally {
      await database.drop();
      await rm(persistDir, { recursive: true, force: true });
    }
  });

  test('58: the database away is 503 with Retry-After', async () => {
    await withSubject({ runtime }, async (subject) => {
      const next = await assertion(subject, await subject.createKey());
      await subject.db.endpoint.close();
      const away = await present(subject, next);
      expect([away.status, away.body['error']]).toEqual([503, 'temporarily_unavailable']);
      expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
    });
  });

  test('58: the store of claims broken is 503 with Retry-After, never a token', async () => {
    const persistDir = await mkdtemp(join(tmpdir(), 'gateway-claims-'));
    await withSubject({ runtime, persistDir }, async (subject) => {
      expectToken(await present(subject, await assertion(subject, await subject.createKey())));
      if (runtime !== 'workerd') await subject.db.client.query('drop function jti_claim_add');
      else await rm(persistDir, { recursive: true });
      const answer = await present(subject, await assertion(subject, await subject.createKey()));
      expectRefusal(answer, 503, 'temporarily_unavailable', /jti store is temporarily unavailable/);
      expect(answer.headers.get('retry-after')).toBe('5');
      expect(await reasonKept(subject, answer)).toMatch(/^unavailable: /);
    });
    await rm(persistDir, { recursive: true, force: true });
  });

  if (runtime !== 'workerd') {
    // A Durable Object cannot be held up from outside; the deadline is the same code (unit test of `attemptClaim`).
    test('58: the store of claims slow is 503', async () => {
      await withSubject({ runtime }, async (subject) => {
        const { client } = subject.db;
        const text = await assertion(subject, await subject.createKey());
        await client.query('begin');
        await client.query('lock table jti_claim in access exclusive mode');
        expect((await present(subject, text)).status).toBe(503);
        await client.query('rollback');
        await until('the attempts that hung to end', async () => (await lockWaits(client)) === 0);
        // The earlier assertion may be used or not. After a 503 a client makes a new assertion.
        expectToken(await present(subject, await assertion(subject, await subject.createKey())));
      });
    });
  }

  test('a token is one round trip and the claim, a refusal one; no answer waits for the row of a refusal', async () => {
    await withSubject({ runtime }, async (subject) => {
      const key = await subject.createKey();
      const claims = runtime === 'workerd' ? 0 : 1;
      for (let i = 0; i < 3; i += 1) {
        const text = await assertion(subject, key);
        const before = subject.db.endpoint.requests();
        expectToken(await present(subject, text));
        expect(subject.db.endpoint.requests() - before).toBe(1 + claims);
      }
      const wrong = await assertion(subject, key, { aud: 'x' });
      const before = subject.db.endpoint.requests();
      const refused = await present(subject, wrong);
      expect(refused.status).toBe(401);
      expect(await reasonKept(subject, refused)).toMatch(/^aud: /);
      expect(subject.db.endpoint.requests() - before).toBe(1);
    });
  });

  test('60: a client over its limit waits, and its assertion is not used up', async () => {
    const once = async (subject: Subject): Promise<void> => {
      const [key, other] = [await subject.createKey(), await subject.createKey()];
      for (let i = 0; i < 3; i += 1) expectToken(await present(subject, await assertion(subject, key)));
      const refused = await present(subject, await assertion(subject, key));
      expectRefusal(refused, 429, 'temporarily_unavailable', /too many token requests from this client/);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expectToken(await present(subject, await assertion(subject, other)));
      // A client without the key cannot use up its limit.
      const forged = { clientId: other.clientId, privateJwk: { ...key.privateJwk, kid: other.privateJwk.kid ?? '' } };
      for (let i = 0; i < 5; i += 1)
        expect((await present(subject, await assertion(subject, forged))).status).toBe(401);
      expectToken(await present(subject, await assertion(subject, other)));
      // Checks of messages have the same limit, and do not use up that of the tokens.
      const sender = await createApiKey(subject.db.client, { site: subject.site, protocols: ['hl7'] });
      const token = await getToken(subject.gateway.oauthBaseUrl, sender, { audience: 'svc-hl7-http' });
      const checks: Response[] = [];
      for (let i = 0; i < 4; i += 1) {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/plain' };
        checks.push(await fetch(`${subject.gateway.hl7BaseUrl}/hl7/check`, { method: 'POST', headers, body: 'MSH|' }));
      }
      expect(checks.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
      expect(checks[3]?.headers.get('retry-after')).toBe('60');
    };
    await withSubject({ runtime, rateLimits: { tokenPerClient: 3 } }, (subject) =>
      withinOneMinute(() => once(subject)),
    );
  });

  test('60: an address over its limit, a key over its limit', async () => {
    const once = async (subject: Subject): Promise<void> => {
      const token = expectToken(await present(subject, await assertion(subject, await subject.createKey())));
      for (let i = 0; i < 3; i += 1) expect((await present(subject, 'x')).status).toBe(401);
      const refused = await present(subject, 'x');
      expectRefusal(refused, 429, 'temporarily_unavailable', /from this address/);

      const statuses = [];
      for (let i = 0; i < 3; i += 1) statuses.push((await readPatients(subject, token)).status);
      expect(statuses).toEqual([200, 200, 429]);
    };
    // All requests have the same address, so each attempt starts a new gateway with new counts.
    const limits = { tokenPerAddress: 4, perKey: 2 };
    await withinOneMinute(() => withSubject({ runtime, rateLimits: limits }, once));
  });

  ofOne('rotation: publish, sign, retire, and no request fails', async () => {
    const database = await createTestDatabase();
    const [port, secrets, site] = [await freePort(), await makeSecrets(), await createSite(database.client)];
    const key = await createApiKey(database.client, { site });
    const tokens: string[] = [];

    /** One deployment with this ring: every token so far works, and a new one is signed by its first key. */
    const deploy = async (ring: Ring) => {
      const env = { TOKEN_SIGNING_KEYS: JSON.stringify(ring) };
      const gateway = await startGateway({ runtime, database, port, secrets, env });
      const subject = { gateway, db: database, site, tokenEndpoint: `${gateway.oauthBaseUrl}/oauth2/token` } as Subject;
      const published: { keys: { kid: string }[] } = await (await fetch(`${gateway.oauthBaseUrl}/oauth2/jwks`)).json();
      expect(published.keys.map(({ kid }) => kid)).toEqual(ring.keys.map(({ kid }) => kid));
      const token = expectToken(await present(subject, await assertion(subject, key)));
      expect(decodeProtectedHeader(token).kid).toBe(ring.keys[0]?.kid);
      tokens.push(token);
      const statuses = await Promise.all(tokens.map(async (one) => (await readPatients(subject, one)).status));
      await gateway.kill();
      return statuses;
    };
    try {
      const made = await keys('new');
      const published = await keys('publish', made);
      const turned = await keys('sign', published);
      expect(await deploy(made)).toEqual([200]);
      expect(await deploy(published)).toEqual([200, 200]);
      expect(await deploy(turned)).toEqual([200, 200, 200]);
      // The first two tokens have expired by now. Tokens of the new key remain valid.
      expect(await deploy(await keys('retire', turned))).toEqual([401, 401, 200, 200]);
    } finally {
      await database.drop();
    }
  });

  ofOne('separate hosts: each surface answers for its own, and aud is the published address', async () => {
    const env = {
      INTEGRATION_OAUTH_PUBLIC_BASE_URL: 'https://login.example.org/auth',
      INTEGRATION_FHIR_PUBLIC_BASE_URL: 'https://api.example.org',
    };
    await withSubject({ runtime, env }, async (subject) => {
      const published = 'https://login.example.org/auth/oauth2/token';
      const local = { ...subject, tokenEndpoint: published };
      const key = await subject.createKey();
      const text = await assertion(local, key);
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        scope: 'system/*.read',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: text,
      });
      const send = (host: string, path: string) =>
        httpRequest(subject.gateway.port, host, path, 'application/x-www-form-urlencoded', body.toString());
      expect(await send('api.example.org', '/auth/oauth2/token')).toMatch(/^HTTP\/1\.1 404 /);
      expect(await send('login.example.org', '/oauth2/token')).toMatch(/^HTTP\/1\.1 404 /);
      expect(await send('login.example.org', '/auth/oauth2/token')).toMatch(/^HTTP\/1\.1 200 /);
    });
  });

  ofOne('not configured: 503 in the format of the service', async () => {
    await withSubject({ runtime, env: { INTEGRATION_OAUTH_PUBLIC_BASE_URL: '' } }, async (subject) => {
      for (const path of ['/.well-known/smart-configuration', '/oauth2/jwks', '/oauth2/token']) {
        const response = await fetch(`${subject.gateway.url}${path}`);
        expect([response.status, await response.json()]).toEqual([
          503,
          { error: 'temporarily_unavailable', error_description: expect.stringContaining('not configured') },
        ]);
      }
    });
  });
});
