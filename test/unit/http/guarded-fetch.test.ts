/** Rows 67 and 68 of what the token service refuses, where DNS decides: JWKS URIs, and addresses to which the gateway posts. */
import { describe, expect, test } from 'vitest';

import { fetchJwks } from '../../../edge/http/fetch-jwks.ts';
import { postWebhook } from '../../../edge/http/post-webhook.ts';
import { FORBIDDEN_URLS, PRIVATE_ADDRESSES } from '../../inputs/foreign-urls.ts';
import { testDeps, type TestDeps } from '../../stack/tools/test-deps.ts';

const URL_OF_NAME = 'https://hooks.example.org/x';
const PUBLIC = ['8.8.8.8', '2606:4700::1'];

/** @returns `refused` or `unreachable`; undefined if the host answered */
const REQUESTS: Readonly<Record<string, (deps: TestDeps, url: string) => Promise<string | undefined>>> = {
  'a JWKS URI': async (deps, url) => {
    const fetched = await fetchJwks(testDeps(deps), url);
    return 'failed' in fetched ? fetched.failed : undefined;
  },
  'a notification': async (deps, url) => {
    const post = { purpose: 'subscription', id: '1', url, body: '{}' };
    const { answer, isDelivered } = await postWebhook(testDeps(deps), post, 0);
    return isDelivered ? undefined : answer;
  },
};

describe.each(Object.entries(REQUESTS))('%s', (_, request) => {
  test('to a name with a private address among its addresses sends nothing', async () => {
    for (const address of PRIVATE_ADDRESSES) {
      for (const addresses of [[address], [...PUBLIC, address]])
        expect(await request({ resolveHost: async () => addresses }, URL_OF_NAME), address).toBe('refused');
    }
    expect(await request({ resolveHost: async () => [] }, URL_OF_NAME)).toBe('unreachable');
  });

  test('connects to the checked addresses, even if the name has another address by then', async () => {
    const answers = [PUBLIC, ['127.0.0.1']];
    const connected: (readonly string[])[] = [];
    const deps: TestDeps = {
      resolveHost: async () => answers.shift() ?? [],
      fetchAt: async (addresses) => {
        connected.push(addresses);
        return new Response('{"keys":[]}', { headers: { 'content-type': 'application/json' } });
      },
    };
    expect(await request(deps, URL_OF_NAME)).toBeUndefined();
    expect(await request(deps, URL_OF_NAME)).toBe('refused');
    expect(connected).toEqual([PUBLIC]);
  });

  test('to a forbidden URL asks no DNS', async () => {
    for (const url of [...FORBIDDEN_URLS, 'https://fhir.test/x']) expect(await request({}, url), url).toBe('refused');
  });
});
