/** The HTTP rules of every address: access, methods, discovery, limits, one round trip, and answers to bugs. */
import { randomUUID } from 'node:crypto';

import { getToken } from '../../stack/services/client.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import { describe, expect, test } from 'vitest';

import type { Runtime } from '../../stack/tools/gateway.ts';
import { testOfOne } from '../on-runtimes.ts';
import { type Body, expectOutcome, idsOf, linkOf, observation, patient, type Subject, TYPES } from './subject.ts';

export function httpCases(subject: () => Subject, runtime: Runtime): void {
  const call: Subject['call'] = (...args) => subject().call(...args);

  describe('access', () => {
    test('no token, a bad one, one for another surface: 401', async () => {
      const none = await call('GET', '/Patient', { token: null });
      expectOutcome(none, 401, 'login');
      expect(none.headers.get('www-authenticate')).toMatch(/^Bearer realm="[^"]+"$/);
      const bad = await call('GET', '/Patient', { token: 'abc' });
      expectOutcome(bad, 401, 'login');
      expect(bad.headers.get('www-authenticate')).toContain('error="invalid_token"');
      const key = await createApiKey(subject().client, { site: subject().site });
      const other = await getToken(subject().gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' });
      expectOutcome(await call('GET', '/Patient', { token: other }), 401, 'login');
      expectOutcome(await call('GET', `/Patient?access_token=${subject().token}`), 400, 'invalid');
    });

    test('the scope of the type and the method: 403', async () => {
      const reader = await subject().tokenWith(['system/Patient.read']);
      const writer = await subject().tokenWith(['system/Patient.write']);
      const id = await subject().create(patient('scopes'));
      const reads = [`/Patient`, `/Patient/${id}`, `/Patient/${id}/_history`, `/Patient/${id}/_history/1`];
      for (const path of reads) {
        expect((await call('GET', path, { token: reader })).status).toBe(200);
        const refused = await call('GET', path, { token: writer });
        expectOutcome(refused, 403, 'forbidden');
        expect(refused.headers.get('www-authenticate')).toMatch(
          /error="insufficient_scope".*scope="system\/Patient.read"/,
        );
      }
      expectOutcome(await call('POST', '/Patient/_search', { token: writer }), 403, 'forbidden');
      const body = patient('scopes', { id });
      const writes: [string, string][] = [
        ['POST', '/Patient'],
        ['PUT', `/Patient/${id}`],
        ['PUT', `/Patient?identifier=${randomUUID()}`],
        ['POST', '/Patient/$validate'],
      ];
      for (const [method, path] of writes) {
        const sent = path.includes('?') ? patient('scopes') : body;
        expectOutcome(await call(method, path, { token: reader, body: sent }), 403, 'forbidden');
        expect((await call(method, path, { token: writer, body: sent })).status).toBeLessThan(300);
      }
      expectOutcome(await call('GET', `/Observation?patient=${id}`, { token: reader }), 403, 'forbidden');
    });

    test('a disabled key is rejected at once by every interaction', async () => {
      const key = await createApiKey(subject().client, { site: subject().site });
      const token = await getToken(subject().gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
      expect((await call('GET', '/Patient?_count=1', { token })).status).toBe(200);
      await subject().client.query(`update api_key set status = 'disabled' where client_id = $1`, [key.clientId]);
      const requests: [string, string, object?][] = [
        ['GET', '/Patient'],
        ['GET', '/Patient?foo=1'],
        ['GET', '/Patient/example'],
        ['POST', '/Patient', patient('dead')],
        ['POST', '/Patient', { resourceType: 'Patient', gender: 'x' }],
        ['POST', '/Patient/$validate', patient('dead')],
        ['PATCH', '/Patient/example', []],
        ['POST', '', { resourceType: 'Bundle', type: 'batch', entry: [] }],
      ];
      for (const [method, path, body] of requests) {
        const reply = await call(method, path, { token, ...(body === undefined ? {} : { body }) });
        expectOutcome(reply, 401, 'login');
        expect(reply.headers.get('www-authenticate')).toContain('error="invalid_token"');
      }
      expect((await call('GET', '/Patient?identifier=dead')).body['total']).toBe(0);
    });

    test('tokens lose a scope that the key loses at once, and keep the others', async () => {
      const { client, db, gateway, site } = subject();
      const key = await createApiKey(client, { site });
      const token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
      const allow = (scopes: readonly string[]) =>
        client.query('update api_key set allowed_scopes = $2 where client_id = $1', [key.clientId, scopes]);
      const identifier = randomUUID();
      const id = await subject().create(patient(identifier), token);
      const seen = await subject().create(observation(id), token);
      const before = db.endpoint.requests();
      expect((await call('GET', `/Observation/${seen}`, { token })).status).toBe(200);
      expect(db.endpoint.requests() - before).toBe(1);

      await allow(['system/Patient.read', 'system/Patient.write']);
      const bundle = (type: 'batch' | 'transaction', ...entries: [string, string, object?][]) => ({
        resourceType: 'Bundle',
        type,
        entry: entries.map(([method, url, resource]) => ({
          request: { method, url },
          ...(resource === undefined ? {} : { resource }),
        })),
      });
      const refused: [string, string, string, object?][] = [
        ['read', 'GET', `/Observation/${seen}`],
        ['read', 'GET', `/Observation?patient=${id}`],
        ['read', 'GET', `/Observation/${seen}/_history`],
        ['read', 'GET', `/Patient/${id}/$everything?_type=Observation`],
        ['write', 'POST', '/Observation', observation(id)],
        ['write', 'PUT', `/Observation/${seen}`, observation(id, { id: seen })],
        ['write', 'POST', '', bundle('transaction', ['POST', 'Observation', observation(id)])],
      ];
      for (const [access, method, path, body] of refused) {
        const reply = await call(method, path, { token, ...(body === undefined ? {} : { body }) });
        expectOutcome(reply, 403, 'forbidden');
        const challenge = reply.headers.get('www-authenticate');
        expect(challenge).toContain('error="insufficient_scope"');
        expect(challenge).toContain(`system/Observation.${access}`);
      }
      // The body of what is tried again was read once, and its effect is one.
      const other = randomUUID();
      expect((await call('POST', '/Patient', { token, body: patient(other) })).status).toBe(201);
      expect((await call('GET', `/Patient?identifier=${other}`, { token })).body['total']).toBe(1);
      const patched = await call('PATCH', `/Patient/${id}`, {
        token,
        headers: { 'content-type': 'application/json-patch+json' },
        body: [{ op: 'add', path: '/gender', value: 'other' }],
      });
      expect([patched.status, patched.body['gender']], patched.text).toEqual([200, 'other']);
      const batch = await call('POST', '', {
        token,
        body: bundle('batch', ['GET', `Patient/${id}`], ['GET', `Observation/${seen}`]),
      });
      const statuses = batch.body['entry'].map((entry: Body) => entry['response'].status.slice(0, 3));
      expect([batch.status, statuses]).toEqual([200, ['200', '403']]);
      const everything = await call('GET', `/Patient/${id}/$everything`, { token });
      expect(idsOf(everything)).toEqual([id]);
      expect(everything.text).toContain('the access token lacks');
      expectOutcome(await call('GET', '/Patient?foo=1', { token }), 400, 'not-supported');
      expect((await call('GET', '/Patient/$export', { token, headers: { prefer: 'respond-async' } })).status).toBe(202);

      // A conditional create that finds the resource must not show it.
      await allow(['system/Patient.write']);
      const found = await call('POST', '/Patient', {
        token,
        headers: { 'if-none-exist': `identifier=${identifier}` },
        body: patient(identifier),
      });
      expect(found.text).not.toContain('"other"');

      await allow(['system/Observation.read']);
      expect((await call('GET', `/Observation/${seen}`, { token })).status).toBe(200);
      await client.query(`update api_key set protocols = '{hl7}' where client_id = $1`, [key.clientId]);
      const reply = await call('GET', `/Observation/${seen}`, { token });
      expectOutcome(reply, 401, 'login');
      expect(reply.headers.get('www-authenticate')).toContain('error="invalid_token"');
    });
  });

  describe('addresses and methods', () => {
    test.each<[string, string, string]>([
      ['DELETE', '/Patient/1', 'GET, HEAD, PUT, PATCH'],
      ['POST', '/Patient/1', 'GET, HEAD, PUT, PATCH'],
      ['DELETE', '/Patient', 'GET, HEAD, POST, PUT, PATCH'],
      ['PATCH', '/Patient/_search', 'POST'],
      ['GET', '/Patient/_search', 'POST'],
      ['GET', '/Patient/$validate', 'POST'],
      ['PUT', '/Patient/1/_history', 'GET, HEAD'],
      ['DELETE', '/Patient/1/_history/1', 'GET, HEAD'],
      ['GET', '', 'POST'],
      ['POST', '/metadata', 'GET, HEAD, OPTIONS'],
    ])('%s %s is 405 with Allow', async (method, path, allow) => {
      const reply = await call(method, path);
      expectOutcome(reply, 405, 'not-supported');
      expect(reply.headers.get('allow')).toBe(allow);
    });

    test.each([
      '/Practitioner',
      '/patient',
      '/Patient/1/2',
      '/Patient/1/_history/1/x',
      '/PatientX',
      '/Medication/1',
      '/Patient/',
    ])('%s is 404', async (path) => expectOutcome(await call('GET', path), 404, 'not-found'));
  });

  describe('discovery', () => {
    test('a CapabilityStatement without a token', async () => {
      const reply = await call('GET', '/metadata', { token: null, headers: { origin: 'https://app.test' } });
      expect(reply.status).toBe(200);
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
      expect(reply.headers.get('content-type')).toMatch(/^application\/fhir\+json/);
      expect(reply.body).toMatchObject({
        resourceType: 'CapabilityStatement',
        fhirVersion: '4.0.1',
        implementation: { url: subject().root },
        rest: [{ mode: 'server', interaction: [{ code: 'batch' }, { code: 'transaction' }] }],
      });
      const resources = reply.body['rest'][0].resource as Body[];
      expect(resources.map((resource) => resource['type'] as string).sort()).toEqual(TYPES.toSorted());
      expectOutcome(await call('GET', '/metadata?_format=xml', { token: null }), 406, 'not-supported');
      const known = { 'if-none-match': reply.headers.get('etag') ?? '' };
      expect((await call('GET', '/metadata', { token: null, headers: known })).status).toBe(304);
      expect((await call('OPTIONS', '/metadata', { token: null })).status).toBe(204);
    });

    test('lists only parameters that searches accept', async () => {
      const { body } = await call('GET', '/metadata', { token: null });
      const samples: Record<string, string> = { date: '2020', reference: 'Patient/x', token: 'x', string: 'x' };
      for (const resource of body['rest'][0].resource as Body[]) {
        for (const { name, type } of resource['searchParam'] as { name: string; type: string }[]) {
          const value = name === 'birthdate' ? '2020-01-01' : (samples[type] ?? '');
          expect((await call('GET', `/${resource['type']}?${name}=${value}&_count=1`)).status, name).toBe(200);
        }
      }
    });

    test('serves the SMART configuration at the address for SMART clients', async () => {
      const reply = await call('GET', '/.well-known/smart-configuration', {
        token: null,
        headers: { origin: 'https://a.test' },
      });
      expect(reply.status).toBe(200);
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
      expect(reply.body).toMatchObject({ token_endpoint: `${subject().gateway.oauthBaseUrl}/oauth2/token` });
    });
  });

  test('every request is one round trip', async () => {
    const id = await subject().create(patient('trips', { birthDate: '1974' }));
    await subject().create(patient('trips'));
    const endpoint = subject().db.endpoint;
    const trips = async (method: string, path: string, options: Parameters<Subject['call']>[2] = {}) => {
      const before = endpoint.requests();
      const reply = await call(method, path, options);
      return { trips: endpoint.requests() - before, reply };
    };
    const page = await call('GET', '/Patient?_count=1&_total=accurate');
    const entry = [
      { resource: patient('trips-3'), request: { method: 'POST', url: 'Patient', ifNoneExist: 'identifier=trips-3' } },
      {
        resource: observation('x', { subject: { reference: 'Patient?identifier=trips-3' } }),
        request: { method: 'POST', url: 'Observation' },
      },
      { request: { method: 'GET', url: `Patient/${id}` } },
    ];
    const once: [string, string, Parameters<Subject['call']>[2]?][] = [
      ['GET', `/Patient/${id}`],
      ['GET', `/Patient/${randomUUID()}`],
      ['GET', '/Patient/example'],
      ['GET', `/Patient/${id}/_history`],
      ['GET', `/Patient/${id}/_history/1`],
      ['GET', '/Patient?name=x&_total=accurate&_sort=name'],
      ['GET', linkOf(page, 'next') ?? ''],
      [
        'POST',
        '/Patient/_search',
        { body: 'name=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      ],
      ['GET', '/Patient?foo=1'],
      ['POST', '/Patient', { body: patient('trips-2') }],
      ['POST', '/Patient', { body: patient('trips-2'), headers: { 'if-none-exist': 'identifier=trips-2' } }],
      ['POST', '/Patient', { body: { resourceType: 'Patient', gender: 'x' } }],
      ['POST', '/Observation', { body: observation(id) }],
      ['PUT', `/Patient/${id}`, { body: patient('trips', { id }), headers: { 'if-match': 'W/"1"' } }],
      ['PUT', `/Patient/${randomUUID()}`, { body: patient('trips-4') }],
      ['PUT', '/Patient?identifier=trips-2', { body: patient('trips-2', { active: true }) }],
      ['POST', '/Patient/$validate', { body: patient('x') }],
      ['POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } }],
      ['POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry: entry.filter((_, i) => i !== 1) } }],
    ];
    for (const [method, path, options] of once) {
      const { trips: count, reply } = await trips(method, path, options);
      expect(reply.status, reply.text).toBeLessThan(500);
      expect(count, `${method} ${path}`).toBe(1);
    }
    for (const [method, path, options] of [
      ['GET', '/metadata', {}],
      ['DELETE', `/Patient/${id}`, {}],
      ['GET', '/Patient', { token: null }],
      ['GET', '/Patient', { token: 'abc' }],
    ] as const) {
      expect((await trips(method, path, options)).trips, `${method} ${path}`).toBe(0);
    }
  });

  testOfOne(runtime)('pages stay within the memory of a runtime', async () => {
    const { token } = await subject().newSite();
    for (let i = 0; i < 6; i += 1) {
      await subject().create(
        patient(`large-${i}`, { name: [{ text: 'x'.repeat(950_000) }, { text: 'y'.repeat(950_000) }] }),
        token,
      );
    }
    const first = await call('GET', '/Patient', { token });
    expect((first.body['entry'] as Body[]).length).toBe(4);
    const second = await call('GET', linkOf(first, 'next') ?? '', { token });
    expect((second.body['entry'] as Body[]).length).toBe(2);
    expect(linkOf(second, 'next')).toBeUndefined();
  });

  test('a bug is 500, with an outcome without details', async () => {
    await subject().client.query('alter view patient_search_here rename to hidden');
    try {
      const reply = await call('GET', '/Patient?name=x');
      expectOutcome(reply, 500, 'exception');
      expect(reply.text).not.toMatch(/hidden|patient_search|relation/);
    } finally {
      await subject().client.query('alter view hidden rename to patient_search_here');
    }
  });
}

/** Dates that PostgreSQL does not have or writes in another way. */
export function dateLimitCases(subject: () => Subject): void {
  const call: Subject['call'] = (...args) => subject().call(...args);

  test('a time at the ends of the calendar, or with a long fraction, never causes 500', async () => {
    // A separate key, because exports of a key count for its limit.
    const key = await createApiKey(subject().client, { site: subject().site });
    const token = await getToken(subject().gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
    const id = await subject().create(patient(randomUUID()), token);
    for (const at of [
      '0000-01-01T00:00:00Z',
      '0000-01-01',
      '0000',
      '0001-01-01T00:00:00+14:00',
      '9999-12-31T23:59:59-14:00',
      `2026-01-01T00:00:00.${'1'.repeat(200)}Z`,
      '2026-01-01T00:00:60Z',
    ]) {
      const asked: [string, Parameters<Subject['call']>[2]?][] = [
        ...['', 'eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap'].flatMap((prefix): [string][] => [
          [`/Patient?_lastUpdated=${prefix}${encodeURIComponent(at)}`],
          [`/Patient?birthdate=${prefix}${encodeURIComponent(at)}`],
        ]),
        [`/Patient/_history?_since=${encodeURIComponent(at)}`],
        [`/Patient/${id}/_history?_since=${encodeURIComponent(at)}`],
        [`/Patient/${id}/$everything?_since=${encodeURIComponent(at)}`],
        [`/$export?_since=${encodeURIComponent(at)}`, { headers: { prefer: 'respond-async' } }],
        [`/Patient/${id}`, { headers: { 'if-modified-since': at } }],
        [`/Patient/${id}`, { headers: { 'if-unmodified-since': at } }],
        [`/Patient/${id}`, { headers: { 'if-modified-since': 'Sat, 01 Jan 0000 00:00:00 GMT' } }],
        [`/Patient/${id}`, { headers: { 'if-unmodified-since': 'Sat, 01 Jan 0000 00:00:00 GMT' } }],
        [`/Patient/${id}`, { headers: { 'if-unmodified-since': '-200000-01-01T00:00:00Z' } }],
        [`/Patient/${id}`, { headers: { 'if-unmodified-since': '+200000-01-01T00:00:00Z' } }],
      ];
      for (const [path, options] of asked) {
        const { status, text, headers } = await call('GET', path, { token, ...options });
        expect(status, `${path} ${JSON.stringify(options)} ${text}`).toBeLessThan(500);
        if (status === 202) await call('DELETE', headers.get('content-location') ?? '', { token });
      }
      const written = await call('PUT', `/Patient/${id}`, {
        token,
        headers: { 'if-unmodified-since': at },
        body: patient('ends', { id }),
      });
      expect(written.status, `${at} ${written.text}`).toBeLessThan(500);
    }
  });
}
