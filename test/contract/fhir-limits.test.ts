/** Limits and failures of the gateway: too many requests, no database, no configuration, and arbitrary input. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';

import { getToken } from '../stack/services/client.ts';
import { createTestDatabase } from '../stack/tools/database.ts';
import { type Gateway, type GatewayOptions, RUNTIMES, startGateway } from '../stack/tools/gateway.ts';
import { startDatabaseEndpoints } from '../stack/services/database-endpoints.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { sized } from '../stack/tools/size.ts';
import { testOfOne } from './on-runtimes.ts';

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

async function start(
  options: Omit<GatewayOptions, 'database'>,
): Promise<{ gateway: Gateway; closeEndpoint: () => Promise<void>; token: string }> {
  const db = await createTestDatabase();
  ended.push(() => db.drop());
  const endpoint = await startDatabaseEndpoints({ databaseUrl: db.url });
  let open = true;
  const closeEndpoint = async () => {
    if (open) await endpoint.close();
    open = false;
  };
  ended.push(closeEndpoint);
  const gateway = await startGateway({ ...options, database: { url: db.url, endpoint } });
  ended.push(() => gateway.stop());
  const key = await createApiKey(db.client, { site: await createSite(db.client) });
  return { gateway, closeEndpoint, token: await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-fhir' }) };
}

async function outcome(response: Response, status: number, code: string): Promise<Response> {
  const text = await response.text();
  expect(response.status, text).toBe(status);
  expect(response.headers.get('content-type')).toMatch(/^application\/fhir\+json/);
  expect(JSON.parse(text)).toMatchObject({ resourceType: 'OperationOutcome', issue: [{ code }] });
  return response;
}

describe.each(RUNTIMES)('on %s', (runtime) => {
  const ofOne = testOfOne(runtime);
  test('too many requests with one key: 429 with Retry-After', async () => {
    const { gateway, token } = await start({ runtime, rateLimits: { perKey: 3 } });
    const get = () => fetch(`${gateway.fhirBaseUrl}/fhir/Patient`, { headers: { authorization: `Bearer ${token}` } });
    const statuses: number[] = [];
    let last = await get();
    // A limiter may let a few more through than it says.
    while (last.status === 200 && statuses.length < 50) {
      statuses.push(last.status);
      last = await get();
    }
    expect(statuses.length).toBeGreaterThanOrEqual(3);
    expect(Number((await outcome(last, 429, 'throttled')).headers.get('retry-after'))).toBeGreaterThan(0);
  });

  ofOne('a request above the cost limit is rejected with its cause and without Retry-After', async () => {
    const { gateway, token } = await start({ runtime });
    const post = (path: string, type: string, body: string) =>
      fetch(`${gateway.fhirBaseUrl}/fhir/Patient${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': type },
        body,
      });
    const refused = async (answer: Response, status: number, code: string) =>
      expect((await outcome(answer, status, code)).headers.get('retry-after')).toBeNull();
    const [form, json] = ['application/x-www-form-urlencoded', 'application/fhir+json'];
    const many = (n: number, one: string, separator = ',') => Array.from({ length: n }, () => one).join(separator);
    const patient = (rest: string) => `{"resourceType":"Patient",${rest}}`;

    await refused(await post('/_search', form, `identifier=${many(200_000, 'v')}`), 422, 'too-costly');
    await refused(await post('/_search', form, many(60_000, 'name=a', '&')), 422, 'too-costly');
    const identifiers = many(1001, '{"value":"v"}');
    await refused(await post('', json, patient(`"identifier":[${identifiers}]`)), 422, 'too-costly');
    const deep = `${'['.repeat(64)}${']'.repeat(64)}`;
    await refused(await post('', json, patient(`"name":${deep}`)), 400, 'structure');
    const long = patient(`"language":"${'e'.repeat(2 * 1024 * 1024)}"`);
    await refused(await post('', json, long), 413, 'too-long');
  });

  ofOne('not configured: 503 for every address', async () => {
    const { gateway, token } = await start({ runtime, env: { INTEGRATION_FHIR_PUBLIC_BASE_URL: '' } });
    const headers = { authorization: `Bearer ${token}` };
    for (const path of ['/fhir/metadata', '/fhir/Patient', '/fhir/what']) {
      await outcome(await fetch(gateway.url + path, { headers }), 503, 'transient');
    }
  });

  ofOne('every input has an answer without a bug; without a database, 503', async () => {
    const { gateway, closeEndpoint, token } = await start({ runtime });
    const name = fc.constantFrom(
      '_id',
      '_lastUpdated',
      'identifier',
      'name',
      'birthdate',
      'gender',
      '_sort',
      '_count',
      '_cursor',
      '_elements',
      '_format',
      '_total',
      'x',
    );
    const word = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom('|', ',', '\\', '\0', '%', "'", '2020', 'ge2020', '-name', '9'.repeat(30), '../..', '1e9'),
    );
    const query = fc.array(fc.tuple(name, word), { maxLength: 3 }).map((pairs) => `?${new URLSearchParams(pairs)}`);
    const path = fc.constantFrom(
      '',
      '/Patient',
      '/Patient/_search',
      '/Patient/$validate',
      '/Patient/%00',
      '/Patient/x/_history',
      '/Patient/x/_history/99999999999',
      '/Observation',
      '/%E0%A4%A',
      '//',
    );
    const scrap = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue({ maxDepth: 1 }),
        word,
        fc.array(tie('object'), { maxLength: 2 }),
        tie('object'),
      ),
      object: fc.dictionary(
        fc.constantFrom(
          'resourceType',
          'id',
          'meta',
          'identifier',
          'value',
          'name',
          'subject',
          'reference',
          'entry',
          'request',
          'method',
          'url',
          'ifNoneExist',
          'type',
          'resource',
          'fullUrl',
          '__proto__',
          'contained',
          'extension',
          'text',
          'div',
        ),
        tie('value'),
        { maxKeys: 5 },
      ),
    })).object;
    const body = fc.oneof(
      scrap.map((value) => JSON.stringify(value)),
      scrap.map((value) => JSON.stringify({ ...(value as object), resourceType: 'Patient' })),
      scrap.map((value) =>
        JSON.stringify({
          resourceType: 'Bundle',
          type: 'transaction',
          entry: [
            {
              ...(value as object),
              request: { method: 'POST', url: 'Patient' },
              resource: { ...(value as object), resourceType: 'Patient' },
            },
          ],
        }),
      ),
      fc.string({ unit: 'binary', maxLength: 40 }),
    );
    const header = fc.option(
      fc.string({ unit: fc.constantFrom('W', '/', '"', '1', '=', 'i', ',', ' ', '*', '?', '%', '|'), maxLength: 12 }),
      { nil: undefined },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'PUT'),
        path,
        query,
        body,
        header,
        async (method, at, asked, sent, condition) => {
          const response = await fetch(gateway.fhirBaseUrl + '/fhir' + at + asked, {
            method,
            headers: {
              authorization: `Bearer ${token}`,
              'content-type': at.endsWith('_search') ? 'application/x-www-form-urlencoded' : 'application/fhir+json',
              ...(condition === undefined
                ? {}
                : { 'if-match': condition, 'if-none-exist': condition, prefer: condition, 'if-none-match': condition }),
            },
            ...(method === 'GET' ? {} : { body: sent }),
          });
          const text = await response.text();
          expect(response.status, `${method} ${at}${asked} ${sent} ${text}`).toBeLessThan(500);
          if (response.status >= 400) expect(text).toContain('"resourceType":"OperationOutcome"');
        },
      ),
      { numRuns: sized(30, 5_000) },
    );

    // The same gateway, after its database stops: 503 with Retry-After.
    await closeEndpoint();
    const headers = { authorization: `Bearer ${token}` };
    for (const at of ['/fhir/Patient', '/fhir/Patient?foo=1']) {
      const reply = await outcome(await fetch(gateway.fhirBaseUrl + at, { headers }), 503, 'transient');
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await fetch(`${gateway.fhirBaseUrl}/fhir/metadata`)).status).toBe(200);
  });
});
