/** Rows 67-79 where time or addresses matter: when a JWKS URI is fetched, for how long it is kept, what is refused. */
import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, test } from 'vitest';

import { fetchJwks, maxAgeSeconds } from '../../../edge/http/fetch-jwks.ts';
import { type ClientKeys, createClientKeyring } from '../../../edge/oauth/client-keys.ts';
import type { ClientRow } from '../../../edge/store/client.ts';
import { testDeps } from '../../stack/tools/test-deps.ts';

const pair = await generateKeyPair('ES256', { extractable: true });
const { d, ...open } = await exportJWK(pair.privateKey);
const DOCUMENT = JSON.stringify({ keys: [open] });
const URI = 'https://keys.example.org/jwks';
const signingKeys = [{ ...open, d, kid: 'a' }];

const client = (change: Partial<ClientRow> = {}): ClientRow => ({
  site_id: '0193e8a0-0000-7000-8000-00000000000a',
  client_id: 'svc-0193e8a0-0000-7000-8000-000000000001',
  status: 'active',
  jwks_uri: URI,
  jwks: null,
  token_ttl_seconds: 300,
  allowed_scopes: [],
  allowed_audiences: [],
  protocols: ['fhir'],
  ...change,
});

/** A host on the internet, as the platform shows it. */
function host(answer: (url: string, init: RequestInit | undefined) => Response | Promise<Response>) {
  const state = { now: 1_000_000, fetches: 0, logged: [] as string[], background: [] as Promise<unknown>[] };
  const deps = testDeps({
    signingKeys,
    now: () => state.now,
    fetch: async (url, init) => {
      state.fetches += 1;
      return answer(url, init);
    },
    resolveHost: async () => ['8.8.8.8', '2606:4700::1'],
    background: (work) => state.background.push(work),
    log: ({ event }) => state.logged.push(event),
  });
  return { ...createClientKeyring(deps), deps, state };
}
const ok = (headers: Record<string, string> = {}, body = DOCUMENT) => new Response(body, { headers });
const count = (keys: ClientKeys | { notNow: string }) => ('jwks' in keys ? keys.jwks.keys.length : keys);

describe('a JWKS URI', () => {
  test('is cached for max-age, not longer', async () => {
    const { keysOf, state } = host(() => ok({ 'cache-control': 'max-age=60' }));
    expect(count(await keysOf(client()))).toBe(1);
    state.now += 59_999;
    await keysOf(client());
    expect(state.fetches).toBe(1);
    state.now += 1;
    await keysOf(client());
    expect(state.fetches).toBe(2);
  });

  test.each<[string, Record<string, string>, number]>([
    ['nothing said', {}, 300],
    ['77: years', { 'cache-control': 'public, max-age=99999999' }, 3600],
    ['77: no-store', { 'cache-control': 'no-store, max-age=60' }, 0],
    ['no-cache', { 'cache-control': 'No-Cache' }, 0],
    ['a cache before it', { 'cache-control': 'max-age=100', age: '40' }, 60],
    ['a cache too old', { 'cache-control': 'max-age=100', age: '400' }, 0],
    ['s-maxage only', { 'cache-control': 's-maxage=7' }, 300],
    ['nonsense', { 'cache-control': 'max-age=x', age: '-1' }, 300],
  ])('%s: kept for so long', (_, headers, seconds) => {
    expect(maxAgeSeconds(new Headers(headers))).toBe(seconds);
  });

  test('no-store is fetched each time', async () => {
    const { keysOf, state } = host(() => ok({ 'cache-control': 'no-store' }));
    for (let i = 0; i < 3; i += 1) await keysOf(client());
    expect(state.fetches).toBe(3);
  });

  test('concurrent fetches are one fetch, which continues after its first request has ended', async () => {
    const { keysOf, refreshedKeysOf, state } = host(() => ok());
    const all = await Promise.all([keysOf(client()), keysOf(client()), refreshedKeysOf(client())]);
    expect(all.map(count)).toEqual([1, 1, 1]);
    expect([state.fetches, state.background.length]).toEqual([1, 1]);
  });

  test('75: keys are fetched again at most every 30 s, counted from the last attempt', async () => {
    const { keysOf, refreshedKeysOf, state } = host(() => ok());
    await keysOf(client());
    state.now += 12_000;
    expect(await refreshedKeysOf(client())).toEqual({ notNow: expect.stringContaining('was fetched 12 s ago') });
    state.now += 18_000;
    expect(count(await refreshedKeysOf(client()))).toBe(1);
    await refreshedKeysOf(client());
    expect(state.fetches).toBe(2);
  });

  test('a host that fails is left alone for 30 s', async () => {
    const { keysOf, refreshedKeysOf, state } = host(() => new Response('', { status: 500 }));
    for (let i = 0; i < 3; i += 1) {
      expect(await keysOf(client())).toEqual({
        code: 'jwks_uri',
        reason: 'the JWKS URI cannot be used: its host answered 500',
      });
      expect(await refreshedKeysOf(client())).toHaveProperty('notNow');
    }
    expect(state.fetches).toBe(1);
    state.now += 30_000;
    await keysOf(client());
    expect(state.fetches).toBe(2);
  });

  test('a repeated fetch that fails keeps the keys that are fresh, and no others', async () => {
    let isAway = false;
    const { keysOf, refreshedKeysOf, state } = host(() => (isAway ? new Response('', { status: 503 }) : ok()));
    await keysOf(client());
    isAway = true;
    state.now += 30_000;
    expect(await refreshedKeysOf(client())).toMatchObject({ code: 'jwks_uri', reason: expect.stringContaining('503') });
    expect(count(await keysOf(client()))).toBe(1);
    expect(await refreshedKeysOf(client())).toHaveProperty('notNow');
    expect(state.fetches).toBe(2);
    state.now += 270_000;
    expect(await keysOf(client())).toMatchObject({ code: 'jwks_uri' });
  });

  test('another URI or an inline JWKS counts at once', async () => {
    const { keysOf, refreshedKeysOf, state } = host(() => ok());
    await keysOf(client());
    await keysOf(client({ jwks_uri: `${URI}/new` }));
    expect(state.fetches).toBe(2);
    expect(count(await keysOf(client({ jwks_uri: null, jwks: DOCUMENT })))).toBe(1);
    expect(await refreshedKeysOf(client({ jwks_uri: null, jwks: DOCUMENT }))).toEqual({ notNow: '' });
    expect(await keysOf(client({ jwks_uri: null, jwks: '{}' }))).toMatchObject({ code: 'jwks' });
    expect(state.fetches).toBe(2);
  });

  test('41: a published private key is an alert', async () => {
    const { keysOf, state } = host(() => ok({}, JSON.stringify({ keys: [{ ...open, d }] })));
    expect(await keysOf(client())).toEqual({ code: 'jwks_uri', reason: expect.stringContaining('PRIVATE key') });
    expect(state.logged).toEqual(['jwks.private-key']);
  });

  test('caches the keys of at most five thousand clients', async () => {
    const { keysOf, state } = host(() => ok());
    const number = (i: number) => client({ client_id: `svc-${i}` });
    for (let i = 0; i <= 5000; i += 1) await keysOf(number(i));
    await keysOf(number(1));
    expect(state.fetches).toBe(5001);
    await keysOf(number(0));
    expect(state.fetches).toBe(5002);
  });
});

describe('a fetch', () => {
  const reasonOf = async (answer: Parameters<typeof host>[0], uri = URI) => {
    const fetched = await fetchJwks(host(answer).deps, uri);
    return 'reason' in fetched ? fetched.reason : fetched.jwks.problems.join();
  };

  test('does not follow redirects', async () => {
    const seen: unknown[] = [];
    await reasonOf((_, init) => {
      seen.push(init?.redirect);
      return ok();
    });
    expect(seen).toEqual(['manual']);
  });

  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(1024).fill(32)),
      }),
    );

  const cut = () =>
    new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new Uint8Array([0x7b])),
        // As fetch reports a connection that breaks off.
        pull: (controller) => controller.error(new TypeError('secret')),
      }),
    );

  test.each<[string, () => Response, RegExp]>([
    ['69: a redirect', () => new Response(null, { status: 302, headers: { location: URI } }), /302, and redirects/],
    ['71: endless', endless, /65536 bytes/],
    ['73: not found', () => new Response('{"keys":[]}', { status: 404 }), /404/],
    ['73: a web page', () => ok({ 'content-type': 'text/html' }), /web page/],
    ['73: not JSON', () => ok({}, 'keys'), /not valid JSON/],
    ['73: no body', () => new Response(null), /not valid JSON/],
    ['not UTF-8', () => new Response(new Uint8Array([0xff])), /UTF-8/],
    ['a connection that breaks off', cut, /cannot be reached/],
    ['74: 21 keys', () => ok({}, JSON.stringify({ keys: Array(21).fill(open) })), /21 keys/],
  ])('%s is rejected', async (_, answer, reason) => {
    expect(await reasonOf(answer)).toMatch(reason);
  });

  test('accepts a JWKS that begins with a byte order mark', async () => {
    expect(await reasonOf(() => ok({}, `\ufeff${JSON.stringify({ keys: [open] })}`))).toBe('');
  });

  test('72: three seconds in all, however slowly it trickles', async () => {
    const slow = () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await new Promise((resolve) => setTimeout(resolve, 200));
            controller.enqueue(new Uint8Array([32]));
          },
        }),
      );
    expect(await reasonOf(slow)).toMatch(/within 3 s/);
  });

  test('a failure to connect reveals no details', async () => {
    expect(await reasonOf(() => Promise.reject(new TypeError('secret')))).toMatch(/cannot be reached/);
  });

  test.each<[string, string[], 'refused' | 'unreachable', RegExp]>([
    ['68: private', ['10.0.0.1'], 'refused', /private address/],
    ['none', [], 'unreachable', /not resolve to an address/],
  ])('%s addresses are rejected before anything is sent', async (_, addresses, failed, reason) => {
    const { deps, state } = host(() => ok());
    const fetched = await fetchJwks({ ...deps, resolveHost: async () => addresses }, URI);
    expect(fetched).toEqual({ failed, reason: expect.stringMatching(reason) });
    expect(state.fetches).toBe(0);
  });

  test('70: our own hosts are rejected', async () => {
    expect(await reasonOf(() => ok(), 'https://fhir.test/jwks')).toMatch(/own hosts/);
  });
});
