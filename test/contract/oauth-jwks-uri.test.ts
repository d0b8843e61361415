/** Rows 28, 41, 42 and 66-79 of what is refused: JWKS URIs, against a real HTTPS host that misbehaves in each way. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';

import type { JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { makeKeyPair } from '../stack/services/key-pair.ts';
import { useFolder } from '../stack/tools/use-folder.ts';
import { makeAuthority } from '../stack/services/certificate.ts';
import { BAD_ANSWERS, REDIRECT_TARGET } from '../stack/tools/bad-answers.ts';
import { RUNTIMES } from '../stack/tools/gateway.ts';
import { until } from '../stack/services/until.ts';
import { type Behaviour, jwks, type KeyHost, startKeyHost } from '../stack/services/key-host.ts';
import {
  type Answer,
  assertion,
  expectC,
  expectToken,
  formOf,
  present,
  reasonKept,
  startSubject,
  type Subject,
} from './oauth/subject.ts';

const authority = makeAuthority();
const key = await makeKeyPair({ kid: 'a' });
const folder = await useFolder('authority');

beforeAll(async () => {
  await writeFile(join(folder, 'authority.pem'), authority.certificate);
});

describe.each(RUNTIMES)('on %s', (runtime) => {
  let host: KeyHost;
  let stranger: KeyHost;
  let subject: Subject;
  beforeAll(async () => {
    host = await startKeyHost(authority.issue(['127.0.0.1']));
    stranger = await startKeyHost(makeAuthority().issue(['127.0.0.1']));
    subject = await startSubject({
      runtime,
      caCertificate: join(folder, 'authority.pem'),
      env: { JWKS_TRUSTED_HOSTS: '127.0.0.1' },
    });
  });
  afterAll(async () => {
    await subject.stop();
    await host.stop();
    await stranger.stop();
  });

  const clientAt = async (jwksUri: string) => ({
    ...(await subject.createKey({ jwksUri })),
    privateJwk: key.privateJwk,
  });
  const ask = async (client: { clientId: string; privateJwk: JWK }, header: object = {}) =>
    present(subject, await assertion(subject, client, {}, { ...header }));
  const path = () => `/${randomUUID()}`;
  const good: Behaviour = (response, request) => jwks([key.publicJwk])(response, request);

  test('keys are fetched, and the token is issued; 28: jku may name the URI', async () => {
    const at = path();
    const uri = host.serve(at, good);
    const client = await clientAt(uri);
    expectToken(await ask(client));
    expectToken(await ask(client, { jku: uri }));
    expectC(await ask(client, { jku: `${uri}x` }));
    expect(host.fetches(at)).toBe(1);
  });

  test('42: unusable keys beside a good one are ignored', async () => {
    const others = [
      { kty: 'OKP', crv: 'X25519', x: 'AA' },
      { kty: 'RSA', e: 'AQ', n: 'AA' },
      { kty: 'oct', k: 'AA' },
    ];
    expectToken(await ask(await clientAt(host.serve(path(), jwks([...others, key.publicJwk])))));
  });

  test('41: a private key is rejected and logged as an alert', async () => {
    const answer = await ask(await clientAt(host.serve(path(), jwks([key.privateJwk]))));
    expectC(answer);
    expect(await reasonKept(subject, answer)).toMatch(/^jwks_uri: .*PRIVATE key/);
    await until('the alert', () => subject.gateway.logs().some((line) => line.includes('"jwks.private-key"')));
  });

  test.each<[string, () => string, RegExp]>([
    ['66: http', () => host.serve(path(), good).replace('https', 'http'), /must be https/],
    ['67: an address', () => 'https://192.0.2.7/jwks', /a name, not an address/],
    ['67: an address in disguise', () => 'https://0xc0000207/jwks', /a name, not an address/],
    ['67: localhost', () => host.serve(path(), good).replace('127.0.0.1', 'localhost'), /a public name/],
    ['67: .internal', () => 'https://metadata.internal/', /\.internal/],
    ['67: a single label', () => 'https://intranet/', /a public name/],
    ['70: our own host', () => `https://127.0.0.1:${subject.gateway.port}/oauth2/jwks`, /own hosts/],
    ['78: user information', () => host.serve(path(), good).replace('//', '//a:b@'), /user information/],
    ['78: a fragment', () => `${host.serve(path(), good)}#a`, /fragment/],
    ['an untrusted certificate', () => stranger.serve('/jwks', good), /cannot be reached/],
    ['no such host', () => `https://127.0.0.1:1/`, /cannot be reached/],
  ])('%s', async (_, uri, reason) => {
    const answer = await ask(await clientAt(uri()));
    expectC(answer);
    const kept = await reasonKept(subject, answer);
    expect(kept).toMatch(/^jwks_uri: /);
    expect(kept).toMatch(reason);
  });

  const text =
    (status: number, body: string, type = 'application/json'): Behaviour =>
    (response) =>
      response.writeHead(status, { 'content-type': type }).end(body);

  // Each fetch has 3 s, so they are asked for at once.
  test.each<[string, readonly (readonly [string, Behaviour, RegExp])[]]>([
    [
      '69, 71, 72: a host that misbehaves',
      BAD_ANSWERS.map(([name, { behaviour, jwks: reason }]) => [name, behaviour, reason]),
    ],
    [
      '71, 73, 74: an answer without a usable JWKS',
      [
        ['over 64 KiB', text(200, `{"keys":[${' '.repeat(65_536)}]}`), /65536 bytes/],
        ['not found', text(404, '{"keys":[]}'), /404/],
        ['an error', text(500, ''), /500/],
        ['a web page', text(200, '<html></html>', 'text/html'), /web page/],
        ['not JSON', text(200, 'keys'), /not valid JSON/],
        ['no keys', text(200, '{"keys":{}}'), /"keys" array/],
        ['21 keys', jwks(Array<JWK>(21).fill(key.publicJwk)), /21 keys/],
      ],
    ],
  ])('%s', async (_, rows) => {
    host.serve(REDIRECT_TARGET, good);
    const asked: (readonly [at: string, ask: () => Promise<Answer>])[] = [];
    for (const [, behaviour] of rows) {
      const at = path();
      const client = await clientAt(host.serve(at, behaviour));
      asked.push([at, () => ask(client)]);
    }
    const answers = await Promise.all(asked.map(([, one]) => one()));
    for (const [n, [name, , reason]] of rows.entries()) {
      const answer = answers[n];
      if (answer === undefined) throw new Error('no answer');
      expectC(answer);
      const kept = await reasonKept(subject, answer);
      expect(kept, name).toMatch(/^jwks_uri: /);
      expect(kept, name).toMatch(reason);
      expect(host.fetches(asked[n]?.[0] ?? ''), name).toBe(1);
    }
    expect(host.fetches(REDIRECT_TARGET)).toBe(0);
  });

  test('75: a flood of random kids is one fetch', async () => {
    const at = path();
    const client = await clientAt(host.serve(at, good));
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(client, { kid: randomUUID() })));
    answers.forEach((answer) => expectC(answer));
    expect(host.fetches(at)).toBe(1);
    // Some of the many reasons are kept, and the others are counted.
    const kept = await until('refusals to be kept', async () => {
      const sql = `select reason from refusal where client_id = $1 and reason like '%the JWKS was fetched%'`;
      const { rows } = await subject.db.client.query<{ reason: string }>(sql, [client.clientId]);
      return rows[0]?.reason;
    });
    expect(kept).toMatch(/which has "a"; the JWKS was fetched \d+ s ago/);
    expectToken(await ask(client));
  });

  test('a fetch continues for the others when the request that began it has ended', async () => {
    const at = path();
    let release = (): void => undefined;
    const client = await clientAt(
      host.serve(at, (response, request) => {
        release = () => good(response, request);
      }),
    );
    const [first, second] = [await assertion(subject, client), await assertion(subject, client)];
    const gone = new AbortController();
    const body = new URLSearchParams(formOf(first));
    const abandoned = fetch(subject.tokenEndpoint, { method: 'POST', body, signal: gone.signal }).catch(() => 'gone');
    await until('the fetch', () => host.fetches(at) === 1);
    const waiting = present(subject, second);
    gone.abort();
    expect(await abandoned).toBe('gone');
    release();
    expectToken(await waiting);
    expect(host.fetches(at)).toBe(1);
  });

  test('77: no-store is fetched each time', async () => {
    const at = path();
    const client = await clientAt(host.serve(at, jwks([key.publicJwk], { 'cache-control': 'no-store' })));
    for (let i = 0; i < 3; i += 1) expectToken(await ask(client));
    expect(host.fetches(at)).toBe(3);
  });

  test('79: a removed key is rejected within max-age; rotation: a new one is accepted', async () => {
    const at = path();
    const fresh = await makeKeyPair({ kid: 'b' });
    const client = await clientAt(host.serve(at, jwks([key.publicJwk], { 'cache-control': 'max-age=1' })));
    expectToken(await ask(client));
    host.serve(at, jwks([fresh.publicJwk], { 'cache-control': 'max-age=1' }));
    await until('the old key to be refused', async () => (await ask(client)).status === 401, 20_000);
    expectToken(await ask({ ...client, privateJwk: fresh.privateJwk }));
  });
});
