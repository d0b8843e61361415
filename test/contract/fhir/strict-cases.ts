/**
 * Interactions ignore nothing: they reject unknown parameters and headers, alone and in a bundle. Headers that proxies and
 * browsers add change nothing.
 */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { type Body, expectOutcome, observation, patient, type Subject } from './subject.ts';

export function strictCases(subject: () => Subject): void {
  const call: Subject['call'] = (...args) => subject().call(...args);
  const count = async (value: string) =>
    (await call('GET', `/Patient?identifier=${value}&_summary=count`)).body['total'] as number;
  const batchOf = async (entry: Body, type = 'batch') =>
    call('POST', '', { body: { resourceType: 'Bundle', type, entry: [entry] } });
  const diagnostics = (reply: Body): string => String(reply['issue'][0].diagnostics);

  describe('parameters of a write', () => {
    test('are rejected on a create with the text of a bundle, which names If-None-Exist', async () => {
      const value = randomUUID();
      const query = `identifier=urn:mrn%7C${value}`;
      const alone = await call('POST', `/Patient?${query}`, { body: patient(value) });
      expectOutcome(alone, 400, 'not-supported', 'http.identifier');
      expect(diagnostics(alone.body)).toMatch(/^identifier is not a parameter.*If-None-Exist$/);
      const request = { method: 'POST', url: `Patient?${query}` };
      const batch = await batchOf({ resource: patient(value), request });
      const { response } = batch.body['entry'][0];
      expect([response.status, diagnostics(response.outcome)]).toEqual(['400 Bad Request', diagnostics(alone.body)]);
      expectOutcome(await batchOf({ resource: patient(value), request }, 'transaction'), 400, 'not-supported');
      const headers = { prefer: 'handling=lenient' };
      expectOutcome(await call('POST', '/Patient?foo=1', { body: patient(value), headers }), 400, 'not-supported');
      expect(await count(value)).toBe(0);
    });

    test('are rejected on an update, and leave the version', async () => {
      const id = await subject().create(patient('sp1'));
      const body = patient('sp1', { id, active: true });
      const alone = await call('PUT', `/Patient/${id}?identifier=x&foo=1`, { body });
      expectOutcome(alone, 400, 'not-supported', 'http.foo');
      expect(diagnostics(alone.body)).toContain('PUT [type]?[search parameters]');
      const batch = await batchOf({ resource: body, request: { method: 'PUT', url: `Patient/${id}?foo=1` } });
      expect(batch.body['entry'][0].response.status).toBe('400 Bad Request');
      expect((await call('GET', `/Patient/${id}`)).headers.get('etag')).toBe('W/"1"');
      const pretty = await call('PUT', `/Patient/${id}?_pretty=true&_format=json`, { body });
      expect([pretty.status, pretty.text.includes('\n')]).toEqual([200, true]);
      expectOutcome(await call('PUT', `/Patient/${id}?_pretty=true&_pretty=true`, { body }), 400, 'value');
      expectOutcome(
        await call('POST', '?foo=1', { body: { resourceType: 'Bundle', type: 'batch' } }),
        400,
        'not-supported',
      );
    });
  });

  describe('conditions', () => {
    test('If-None-Exist as our own absolute URL, as HAPI sends it', async () => {
      const value = randomUUID();
      const create = (query: string) =>
        call('POST', '/Patient', { body: patient(value), headers: { 'if-none-exist': query } });
      const made = await create(`${subject().root}/Patient?identifier=urn%3Amrn%7C${value}`);
      expect(made.status).toBe(201);
      for (const query of [`${subject().root}/Patient?identifier=${value}`, `/Patient?identifier=${value}`]) {
        const found = await create(query);
        expect([found.status, found.body['id']]).toEqual([200, made.body['id']]);
      }
      for (const query of [
        `${subject().root}/Observation?identifier=${value}`,
        `https://elsewhere.test/fhir/Patient?identifier=${value}`,
      ]) {
        expectOutcome(await create(query), 400, 'not-supported');
      }
      expect(await count(value)).toBe(1);
    });

    test('rejects an escape that is not UTF-8, and a header that is not ASCII, instead of creating another resource', async () => {
      const value = `${randomUUID()}é`;
      await subject().create(patient(value));
      const escaped = `identifier=urn:mrn%7C${value.replace('é', '%E9')}`;
      const create = (noneExist: string) =>
        call('POST', '/Patient', { body: patient(value), headers: { 'if-none-exist': noneExist } });
      expectOutcome(await create(escaped), 400, 'value');
      // One byte of ISO-8859-1, and two of UTF-8.
      for (const sent of ['é', 'Ã©']) {
        const noneExist = `identifier=urn:mrn|${value.replace('é', sent)}`;
        expectOutcome(await create(noneExist), 400, 'value', 'http.If-None-Exist');
      }
      expectOutcome(await call('PUT', `/Patient?${escaped}`, { body: patient(value) }), 400, 'value');
      expectOutcome(await call('GET', `/Patient?${escaped}`), 400, 'value');
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      expectOutcome(await call('POST', '/Patient/_search', { body: escaped, headers: form }), 400, 'value');
      for (const request of [
        { method: 'POST', url: 'Patient', ifNoneExist: escaped },
        { method: 'PUT', url: `Patient?${escaped}` },
        { method: 'POST', url: 'Patient', ifNoneExist: `identifier=${value}\ud800` },
      ]) {
        const entry = { resource: patient(value), request };
        expectOutcome(await batchOf(entry, 'transaction'), 400, 'value', 'Bundle.entry[0]');
      }
      const resource = { ...observation(''), subject: { reference: `Patient?${escaped}` } };
      const entry = { resource, request: { method: 'POST', url: 'Observation' } };
      expectOutcome(await batchOf(entry, 'transaction'), 400, 'value', 'Bundle.entry[0]');
      expect(await count(encodeURIComponent(value))).toBe(1);
      expect((await create(`identifier=urn:mrn%7C${encodeURIComponent(value)}`)).status).toBe(200);
    });

    test('If-None-Match: * keeps the stored resource', async () => {
      const value = randomUUID();
      const headers = { 'if-none-match': '*' };
      const query = `/Patient?identifier=${value}`;
      const made = await call('PUT', query, { body: patient(value), headers });
      expect(made.status).toBe(201);
      const id = String(made.body['id']);
      const changed = patient(value, { active: true });
      expectOutcome(await call('PUT', query, { body: changed, headers }), 412, 'conflict');
      expectOutcome(await call('PUT', `/Patient/${id}`, { body: { ...changed, id }, headers }), 412, 'conflict');
      expectOutcome(await call('PUT', `/Patient/${id}`, { body: changed, headers }), 412, 'conflict');
      const request = { method: 'PUT', url: `Patient/${id}`, ifNoneMatch: '*' };
      expectOutcome(await batchOf({ resource: { ...changed, id }, request }, 'transaction'), 412, 'conflict');
      expect((await call('GET', `/Patient/${id}`)).headers.get('etag')).toBe('W/"1"');
    });

    test('If-Unmodified-Since does not overwrite a changed resource', async () => {
      const made = await call('POST', '/Patient', { body: patient('ius') });
      const id = String(made.body['id']);
      const put = (since: string, active: boolean, more: Record<string, string> = {}) =>
        call('PUT', `/Patient/${id}`, {
          body: patient('ius', { id, active }),
          headers: { 'if-unmodified-since': since, ...more },
        });
      const lastModified = made.headers.get('last-modified') ?? '';
      expectOutcome(await put('Thu, 01 Jan 2026 00:00:00 GMT', true), 412, 'conflict');
      expectOutcome(await put('soon', true), 400, 'value', 'http.If-Unmodified-Since');
      expect((await put(lastModified, true)).headers.get('etag')).toBe('W/"2"');
      // Beside If-Match it says nothing (RFC 9110 §13.1.4).
      const beside = await put('Thu, 01 Jan 2026 00:00:00 GMT', false, { 'if-match': 'W/"2"' });
      expect(beside.headers.get('etag')).toBe('W/"3"');
      const read = await call('GET', `/Patient/${id}`, {
        headers: { 'if-unmodified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' },
      });
      expectOutcome(read, 412, 'conflict');
      expectOutcome(await call('GET', `/Patient/${id}`, { headers: { 'if-match': 'W/"1"' } }), 412, 'conflict');
    });

    test('rejects conditions on interactions that do not support them', async () => {
      const id = await subject().create(patient('cond'));
      const body = patient('cond', { id, active: true });
      const refused: [string, string, Record<string, string>, object | undefined][] = [
        ['POST', '/Patient', { 'if-match': 'W/"1"' }, patient('cond')],
        ['POST', '/Patient', { 'if-none-match': '*' }, patient('cond')],
        ['POST', '/Patient', { 'if-unmodified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' }, patient('cond')],
        ['PUT', `/Patient/${id}`, { 'if-none-exist': 'identifier=x' }, body],
        ['PUT', `/Patient/${id}`, { 'if-none-match': 'W/"1"' }, body],
        ['PUT', `/Patient/${id}`, { 'if-none-match': '*', 'if-match': '*' }, body],
        ['PUT', '/Patient?identifier=cond', { 'if-none-exist': 'identifier=x' }, patient('cond')],
        ['POST', '', { 'if-match': 'W/"1"' }, { resourceType: 'Bundle', type: 'batch' }],
        ['GET', `/Patient/${id}`, { 'if-none-exist': 'identifier=x' }, undefined],
      ];
      for (const [method, path, headers, sent] of refused) {
        const reply = await call(method, path, { headers, ...(sent === undefined ? {} : { body: sent }) });
        expectOutcome(reply, 400, 'value');
      }
      expect(await count('cond')).toBe(1);
      expect((await call('GET', `/Patient/${id}`)).headers.get('etag')).toBe('W/"1"');
    });
  });

  describe('members of a Bundle', () => {
    test.each<[string, Body]>([
      ['ifNoneExists', { method: 'POST', url: 'Patient', ifNoneExists: 'identifier=x' }],
      ['a condition that is not a string', { method: 'POST', url: 'Patient', ifNoneExist: ['identifier=x'] }],
      ['a modifierExtension', { method: 'POST', url: 'Patient', modifierExtension: [{ url: 'urn:x' }] }],
    ])('%s is rejected', async (_, request) => {
      const value = randomUUID();
      expectOutcome(await batchOf({ resource: patient(value), request }), 400, 'structure');
      expect(await count(value)).toBe(0);
    });

    test('entries is not entry', async () => {
      const body = { resourceType: 'Bundle', type: 'batch', entries: [] };
      expectOutcome(await call('POST', '', { body }), 400, 'structure', 'Bundle');
    });
  });

  describe('variants that clients send', () => {
    test('reads an instant whose + arrived as a space', async () => {
      const id = await subject().create(patient('plus'));
      const since = '1970-01-01T00:00:00.000 00:00';
      expect((await call('GET', `/Patient/${id}/_history?_since=${since.replace(' ', '+')}`)).status).toBe(200);
      expect((await call('GET', `/Patient?identifier=plus&_lastUpdated=ge${since}`)).body['total']).toBe(1);
      const future = '/Patient?identifier=plus&_lastUpdated=gt2999-01-01T00:00:00+02:00';
      expect((await call('GET', future)).body['total']).toBe(0);
      for (const bad of ['1970-01-01 00:00', '1970-01-01T00:00:00 0', '1970-01-01T00:00:00  00:00']) {
        expectOutcome(await call('GET', `/Patient/${id}/_history?_since=${bad}`), 400, 'value', 'http._since');
      }
    });

    test('the answer does not repeat an unsafe parameter name', async () => {
      for (const name of ['n%C3%A4me', 'a%20b', '', 'x'.repeat(65)]) {
        const reply = await call('GET', `/Patient?${name}=1`);
        expectOutcome(reply, 400, 'not-supported');
        expect(diagnostics(reply.body)).toMatch(/^the URL has a parameter whose name/);
        expect(reply.body['issue'][0].location).toBeUndefined();
      }
    });

    test.each([
      ['GET', '/_history', '_history'],
      ['GET', '/Patient/$everything', '$everything'],
      ['POST', '/Patient/$everything', '$everything'],
      ['GET', '/Observation/1/$everything', '$everything'],
      ['GET', '/Observation/$export', '$export'],
      ['POST', '/Patient/1/$export', '$export'],
      ['PUT', '/Patient/_x', '_x'],
    ])('%s %s is not supported here, not an unknown id', async (method, path, name) => {
      const reply = await call(method, path, method === 'GET' ? {} : { body: patient('a') });
      expectOutcome(reply, 404, 'not-supported');
      expect(diagnostics(reply.body)).toContain(`${name} is not supported at this address`);
      expect(diagnostics(reply.body)).not.toContain('id');
    });

    test.each([
      ['DELETE', '/Patient/1', /^DELETE is not supported at this address; use GET, HEAD, PUT.*entered-in-error/],
      ['DELETE', '/Patient?identifier=x', /^DELETE is not supported at this address; use .*entered-in-error/],
      ['PUT', '', /^PUT is not supported at this address; use POST of a Bundle; to search, send GET/],
      ['GET', '?_type=Patient', /^GET is not supported at this address; use POST of a Bundle; to search, send GET/],
      ['GET', '/Patient/_search?name=a', /^GET is not supported at this address; use POST$/],
    ])('%s %s is answered with an alternative', async (method, path, says) => {
      const reply = await call(method, path);
      expectOutcome(reply, 405, 'not-supported');
      expect(diagnostics(reply.body)).toMatch(says);
    });

    test('an unsupported entry of a bundle is answered with an alternative', async () => {
      const requests: [string, string, RegExp][] = [
        ['DELETE', 'Patient/1', /^DELETE is not supported at this address; use GET, .*entered-in-error/],
        ['Jane Doe', 'Patient/1', /^this method is not supported at this address; use GET, /],
        ['GET', 'Patient/1/Observation', /^compartments are not supported: search Observation\?patient=\[id\]$/],
      ];
      for (const [method, url, says] of requests) {
        const { response } = (await batchOf({ request: { method, url } })).body['entry'][0];
        expect(diagnostics(response.outcome), method).toMatch(says);
      }
    });

    test('a compartment is answered with the equivalent search', async () => {
      const reply = await call('GET', '/Patient/1/Condition?code=x');
      expectOutcome(reply, 404, 'not-supported');
      expect(diagnostics(reply.body)).toContain('search Condition?patient=[id]');
      expectOutcome(await call('GET', '/Patient/1/Encounter'), 404, 'not-found');
    });

    test('rejects such an address in a bundle too', async () => {
      for (const request of [
        { method: 'GET', url: 'Patient/$everything' },
        { method: 'GET', url: 'Patient/$export' },
      ]) {
        const { response } = (await batchOf({ request })).body['entry'][0];
        expect(response.status).toBe('404 Not Found');
        expect(diagnostics(response.outcome)).toContain('is not supported at this address');
      }
    });
  });

  describe('the answer to a bundle', () => {
    test('are rejected with handling=lenient too if the interaction is not a search', async () => {
      const id = await subject().create(patient('lenient'));
      const headers = { prefer: 'handling=lenient' };
      for (const path of [`/Patient/${id}`, `/Patient/${id}/_history/1`, `/Patient/${id}/_history`, '/metadata']) {
        expectOutcome(await call('GET', `${path}?foo=1`, { headers }), 400, 'not-supported', 'http.foo');
      }
    });

    test('lastModified is meta.lastUpdated', async () => {
      const id = await subject().create(patient('lm'));
      const entry = [
        { resource: patient('lm2'), request: { method: 'POST', url: 'Patient' } },
        { resource: patient('lm', { id, active: true }), request: { method: 'PUT', url: `Patient/${id}` } },
        { request: { method: 'GET', url: `Patient/${id}` } },
      ];
      for (const type of ['batch', 'transaction']) {
        const { body } = await call('POST', '', { body: { resourceType: 'Bundle', type, entry } });
        const reported = (body['entry'] as Body[]).map(({ response }) => response.lastModified as string);
        expect(reported).toEqual((body['entry'] as Body[]).map(({ resource }) => resource.meta.lastUpdated as string));
      }
    });

    test('each entry has a fullUrl, that of an outcome too', async () => {
      await subject().create(patient('full'));
      const headers = { prefer: 'handling=lenient' };
      const { body } = await call('GET', '/Patient?identifier=full&foo=1', { headers });
      const urls = (body['entry'] as Body[]).map(({ fullUrl }) => String(fullUrl));
      expect(urls).toHaveLength(2);
      expect(urls[1]).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
    });

    test('the CapabilityStatement has no oauth-uris, because they need an authorize endpoint', async () => {
      const { text } = await call('GET', '/metadata', { token: null });
      expect(text).not.toContain('oauth-uris');
      expect((await call('GET', '/metadata?mode=full', { token: null })).status).toBe(200);
      expectOutcome(await call('GET', '/metadata?mode=terminology', { token: null }), 400, 'value', 'http.mode');
      expectOutcome(await call('GET', '/metadata?foo=1', { token: null }), 400, 'not-supported', 'http.foo');
    });
  });

  describe('$validate', () => {
    const judge = async (path: string, body: Body) => {
      const reply = await call('POST', path, { body });
      expect(reply.status, reply.text).toBe(200);
      return (reply.body['issue'] as Body[]).map(({ severity, code, expression }) =>
        [severity, code, ...((expression ?? []) as string[])].join(' '),
      );
    };
    const GOOD = 'information informational';

    test('rejects parameters that it does not know, and profiles', async () => {
      const body = patient('v');
      const path = '/Patient/$validate';
      const usCore = 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-patient';
      expectOutcome(await call('POST', `${path}?profile=${usCore}`, { body }), 422, 'not-supported', 'http.profile');
      expectOutcome(await call('POST', `${path}?foo=1`, { body }), 400, 'not-supported', 'http.foo');
      expectOutcome(await call('POST', `${path}?mode=delete`, { body }), 400, 'value', 'http.mode');
      expectOutcome(await call('POST', `${path}?mode=create&mode=create`, { body }), 400, 'value', 'http.mode');
      expectOutcome(await call('POST', path, { body, headers: { 'if-match': '*' } }), 400, 'value');
      const twice = {
        resourceType: 'Parameters',
        parameter: [
          { name: 'resource', resource: body },
          { name: 'resource', resource: body },
        ],
      };
      expectOutcome(await call('POST', path, { body: twice }), 400, 'value');
      const own = 'http://hl7.org/fhir/StructureDefinition/Patient';
      expect(await judge(`${path}?profile=${own}&mode=create&_pretty=true`, body)).toEqual([GOOD]);
      expect(await judge(`${path}?profile=${own}%7C4.0.1`, body)).toEqual([GOOD]);
      expect(await judge(path, patient('v', { meta: { profile: [own, `${own}|4.0.1`] } }))).toEqual([GOOD]);
      const later = call('POST', `${path}?profile=${own}%7C4.3.0`, { body });
      expectOutcome(await later, 422, 'not-supported', 'http.profile');
      const profiled = patient('v', { meta: { profile: [usCore] } });
      expect(await judge(path, profiled)).toEqual([GOOD, `${GOOD} Patient.meta.profile`]);
    });

    test('returns the outcome of a create', async () => {
      const id = await subject().create(patient('v1'));
      const theirs = await subject().create(patient('v2'), subject().otherToken);
      const unknown = 'error not-found Observation.subject.reference';
      for (const [patientId, verdict] of [
        [id, GOOD],
        [theirs, unknown],
        [randomUUID(), unknown],
        ['example', unknown],
      ] as const) {
        expect(await judge('/Observation/$validate', observation(patientId))).toEqual([verdict]);
        const created = await call('POST', '/Observation', { body: observation(patientId) });
        expect(created.status).toBe(verdict === GOOD ? 201 : 422);
      }
    });

    test('returns the outcome of an update of the resource', async () => {
      const id = await subject().create(patient('v3'));
      const note = await subject().create(observation(id));
      const at = `/Observation/${note}`;
      const content = observation(id, { id: note });
      const unknown = 'error not-found';
      const cases: [string, Body, string][] = [
        [at, content, GOOD],
        [at, { ...content, id: randomUUID() }, 'error value Observation.id'],
        [at, { ...content, status: 'x' }, 'error code-invalid Observation.status'],
        [`/Observation/${randomUUID()}`, observation(id), unknown],
        ['/Observation/example', observation(id), unknown],
        [`/Patient/${id}`, patient('v3', { id }), GOOD],
        [`/Patient/${randomUUID()}`, patient('v3'), GOOD],
      ];
      for (const [path, body, verdict] of cases) {
        expect(await judge(`${path}/$validate`, body), path).toEqual([verdict]);
        expect((await call('PUT', path, { body })).status < 300, path).toBe(verdict === GOOD);
      }
      expectOutcome(await call('POST', `${at}/$validate?mode=create`, { body: content }), 400, 'value', 'http.mode');
      expect(await judge('/Observation/$validate?mode=update', content)).toEqual([GOOD]);
      expect(await judge('/Observation/$validate?mode=update', observation(id))).toEqual([
        'error required Observation.id',
      ]);
      const theirs = { token: subject().otherToken, body: content };
      expect(
        (await call('POST', `${at}/$validate`, theirs)).body['issue'].map((issue: Body) => issue['severity']),
      ).toEqual(['error', 'error']);
      const before = subject().db.endpoint.requests();
      await judge(`${at}/$validate`, content);
      expect(subject().db.endpoint.requests() - before).toBe(1);
      expect((await call('GET', at)).headers.get('etag')).toBe('W/"1"');
    });

    test('names the type that was chosen', async () => {
      const id = await subject().create(patient('v4'));
      const wrong = observation(id, {
        valueQuantity: { value: 1, code: 'g' },
        component: [{ code: { text: 'c' }, valueDateTime: 'x' }],
      });
      expect(await judge('/Observation/$validate', wrong)).toEqual([
        'error invariant Observation.value.ofType(Quantity)',
        'error value Observation.component[0].value.ofType(dateTime)',
      ]);
    });
  });
}
