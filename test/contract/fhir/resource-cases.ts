/** create, read, vread, history, update, validate: statuses, headers, bodies, preconditions. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { type Body, expectOutcome, linkOf, observation, patient, type Reply, type Subject, walk } from './subject.ts';

export function resourceCases(subject: () => Subject): void {
  const call: Subject['call'] = (...args) => subject().call(...args);
  const create: Subject['create'] = (...args) => subject().create(...args);

  describe('create', () => {
    test('assigns an id and answers with Location, ETag, Last-Modified and the resource', async () => {
      const sent = patient('c1', {
        id: 'mine',
        meta: { versionId: '7', lastUpdated: '2001-01-01T00:00:00Z', source: 'urn:me', tag: [{ code: 'x' }] },
        birthDate: '1974-12-25',
      });
      const reply = await call('POST', '/Patient', { body: sent });
      expect(reply.status).toBe(201);
      const { id, meta } = reply.body;
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      expect(meta).toEqual({
        versionId: '1',
        lastUpdated: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        source: 'urn:me',
        tag: [{ code: 'x' }],
      });
      expect(reply.body).toEqual({ ...sent, id, meta });
      expect(reply.headers.get('location')).toBe(`${subject().root}/Patient/${id}/_history/1`);
      expect(reply.headers.get('etag')).toBe('W/"1"');
      expect(Date.parse(reply.headers.get('last-modified') ?? '')).toBe(
        Math.floor(Date.parse(String(meta.lastUpdated)) / 1000) * 1000,
      );
      expect(reply.headers.get('cache-control')).toBe('no-store, private');
      expect(reply.headers.get('content-type')).toMatch(/^application\/fhir\+json/);
      expect((await call('GET', `/Patient/${id}`)).text).toBe(reply.text);
    });

    test('answers as Prefer: return requests', async () => {
      const minimal = await call('POST', '/Patient', { body: patient('p1'), headers: { prefer: 'return=minimal' } });
      expect([minimal.status, minimal.text, minimal.headers.get('etag')]).toEqual([201, '', 'W/"1"']);
      const headers = { prefer: 'handling=strict; return=OperationOutcome' };
      const reported = await call('POST', '/Patient', { body: patient('p2'), headers });
      expect(reported.body).toMatchObject({ resourceType: 'OperationOutcome', issue: [{ severity: 'information' }] });
    });

    test('keeps every digit', async () => {
      const value = '{"value":1.50,"unit":"mg"}';
      const body = JSON.stringify(observation(await create(patient('d1')))).replace(
        '"status"',
        `"component":[{"code":{"text":"a"},"valueQuantity":${value}},{"code":{"text":"b"},"valueQuantity":{"value":1e2}},` +
          `{"code":{"text":"c"},"valueQuantity":{"value":123456789.123456789}}],"status"`,
      );
      const { text, body: made } = await call('POST', '/Observation', { body });
      const read = await call('GET', `/Observation/${made['id']}`);
      const page = await call('GET', `/Observation?_id=${made['id']}&_pretty=true`);
      const cut = await call('GET', `/Observation/${made['id']}?_elements=component`);
      for (const digits of ['1.50', '1e2', '123456789.123456789']) {
        for (const answer of [text, read.text, page.text, cut.text]) {
          expect(answer).toMatch(new RegExp(`"value": ?${digits.replace('.', '\\.')}[,}\\s]`));
        }
      }
      expect(page.text).toContain('\n  "type": "searchset"');
    });

    test('stores references to its own base as relative ones', async () => {
      const id = await create(patient('rel'));
      const reference = `${subject().root}/Patient/${id}`;
      const focus = [
        { reference: `${subject().root}/Procedure/x` },
        { reference: 'https://elsewhere.test/fhir/Patient/1' },
      ];
      const reply = await call('POST', '/Observation', { body: observation(id, { subject: { reference }, focus }) });
      expect(reply.body['subject']).toEqual({ reference: `Patient/${id}` });
      expect(reply.body['focus']).toEqual([{ reference: 'Procedure/x' }, focus[1]]);
    });

    test('accepts every subject that R4 allows', async () => {
      const allowed: Body[] = [
        { reference: 'Group/1' },
        { reference: 'Device/x' },
        { reference: 'https://elsewhere.test/fhir/Location/1' },
        { display: 'a person' },
        { identifier: { system: 'urn:mrn', value: '1' }, type: 'Patient' },
      ];
      for (const given of allowed) await create(observation('', { subject: given }));
      const { subject: _, ...none } = observation('');
      await create(none);
      await create({ ...none, contained: [{ resourceType: 'Patient', id: 'p' }], subject: { reference: '#p' } });
    });

    test('rejects a missing patient with 422', async () => {
      const references = [
        `Patient/${randomUUID()}`,
        'Patient/example',
        'https://elsewhere.test/fhir/Patient/1',
        `urn:uuid:${randomUUID()}`,
        `${subject().root}/Patient/${randomUUID()}`,
        'Patient?identifier=1',
      ];
      const texts = new Set<string>();
      for (const reference of references) {
        const reply = await call('POST', '/Observation', { body: observation('', { subject: { reference } }) });
        expectOutcome(reply, 422, 'not-found', 'Observation.subject.reference');
        texts.add(reply.text);
      }
      expect(texts.size).toBe(1);
      const clinicalStatus = {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }],
      };
      const allergy = {
        resourceType: 'AllergyIntolerance',
        clinicalStatus,
        patient: { reference: `Patient/${randomUUID()}` },
      };
      const reply = await call('POST', '/AllergyIntolerance', { body: allergy });
      expectOutcome(reply, 422, 'not-found', 'AllergyIntolerance.patient.reference');
    });

    test('rejects a reference outside a transaction that a transaction alone resolves: 422', async () => {
      const withPerformer = (performer: Body): Body =>
        observation('', {
          subject: { display: 'x' },
          contained: [{ resourceType: 'Practitioner', id: 'p' }],
          performer: [{ reference: '#p' }, performer],
        });
      for (const reference of ['Practitioner?identifier=1', `urn:uuid:${randomUUID()}`]) {
        const body = withPerformer({ reference });
        expectOutcome(await call('POST', '/Observation', { body }), 422, 'not-supported', 'Observation');
        const validated = await call('POST', '/Observation/$validate', { body });
        expect(validated.body['issue'][0].code, reference).toBe('not-supported');
      }
      const identifier = { system: 'urn:ietf:rfc:3986', value: `urn:uuid:${randomUUID()}` };
      for (const performer of [
        { identifier },
        { reference: 'urn:oid:1.2.3' },
        { reference: 'https://elsewhere.test/fhir/Practitioner/1' },
        { reference: `Practitioner/${randomUUID()}` },
        {
          extension: [
            { url: 'urn:x', valueReference: { identifier } },
            { url: 'urn:y', valueUri: identifier.value },
          ],
        },
      ]) {
        await create(withPerformer(performer));
      }
    });

    test('rejects a Patient that two others replace: 422', async () => {
      const [one, two] = [await create(patient('one')), await create(patient('two'))];
      const link = [two, one, one, two].map((id, n) => ({
        type: n === 0 ? 'seealso' : 'replaced-by',
        other: { reference: `Patient/${id}` },
      }));
      const reply = await call('POST', '/Patient', { body: patient('gone', { link }) });
      expectOutcome(reply, 422, 'business-rule', 'Patient.link[3]');
      await create(patient('gone', { link: link.slice(0, 3) }));
    });

    test('reports all faults at once, each with its place: 400', async () => {
      const body = {
        resourceType: 'Patient',
        gender: 'x',
        birthDate: '1974-13-01',
        nam: [],
        name: [{ given: 'Peter' }],
      };
      const reply = await call('POST', '/Patient', { body });
      expectOutcome(reply, 400, 'code-invalid', 'Patient.gender');
      expectOutcome(reply, 400, 'value', 'Patient.birthDate');
      expect(reply.body['issue'].length).toBeGreaterThanOrEqual(4);
    });

    test.each<[string, string, number, string]>([
      ['no JSON', '{"resourceType":', 400, 'structure'],
      ['two byte order marks', '\uFEFF\uFEFF{}', 400, 'structure'],
      ['nothing', '', 400, 'structure'],
      ['a member twice', '{"resourceType":"Patient","active":true,"active":false}', 400, 'structure'],
      ['another type', '{"resourceType":"Observation"}', 400, 'invalid'],
      ['an array', '[]', 400, 'structure'],
      ['a lone surrogate', '{"resourceType":"Patient","name":[{"text":"\\ud800"}]}', 400, 'value'],
      ['a NUL', '{"resourceType":"Patient","identifier":[{"value":"\\u0000"}]}', 400, 'value'],
    ])('rejects %s', async (_, body, status, code) => {
      expectOutcome(await call('POST', '/Patient', { body }), status, code);
    });

    test('accepts a byte order mark before JSON', async () => {
      const reply = await call('POST', '/Patient', { body: `\uFEFF${JSON.stringify(patient('marked'))}` });
      expect(reply.status, reply.text).toBe(201);
    });

    test('rejects other media types (415), encodings (415), too much (413)', async () => {
      const body = patient('m1');
      for (const type of ['text/plain', 'application/fhir+xml', 'application/json; charset=latin1']) {
        expectOutcome(
          await call('POST', '/Patient', { body, headers: { 'content-type': type } }),
          415,
          'not-supported',
        );
      }
      const encoded = await call('POST', '/Patient', { body, headers: { 'content-encoding': 'br' } });
      expectOutcome(encoded, 415, 'not-supported');
      expect(encoded.headers.get('accept-encoding')).toBe('gzip');
      const large = patient('m2', { name: [{ text: 'x'.repeat(2 * 1024 * 1024) }] });
      expectOutcome(await call('POST', '/Patient', { body: large }), 413, 'too-long');
      const ok = await call('POST', '/Patient', {
        body,
        headers: { 'content-type': 'application/json;charset=UTF-8' },
      });
      expect(ok.status).toBe(201);
    });
  });

  describe('read, vread and history', () => {
    test('a version each, newest first', async () => {
      const id = await create(patient('h1'));
      for (const family of ['A', 'B', 'C']) {
        await call('PUT', `/Patient/${id}`, { body: patient('h1', { id, name: [{ family }] }) });
      }
      const first = await call('GET', `/Patient/${id}/_history/1`);
      expect(first.body).not.toHaveProperty('name');
      expect(first.headers.get('etag')).toBe('W/"1"');
      const second = await call('GET', `/Patient/${id}/_history/2`);
      expect(second.body).toMatchObject({ meta: { versionId: '2' }, name: [{ family: 'A' }] });
      const pages = await walk(subject(), `/Patient/${id}/_history?_count=3`);
      const entries = pages.flatMap((page) => page.body['entry'] as Body[]);
      expect(entries.map((entry) => entry['resource'].meta.versionId)).toEqual(['4', '3', '2', '1']);
      expect(pages[0]?.body).toMatchObject({ resourceType: 'Bundle', type: 'history', total: 4 });
      expect(entries.map((entry) => entry['request'].method)).toEqual(['PUT', 'PUT', 'PUT', 'POST']);
      expect(entries[0]?.['response']).toMatchObject({ status: '200 OK', etag: 'W/"4"' });
      expect(entries[0]?.['fullUrl']).toBe(`${subject().root}/Patient/${id}`);
      const since = await call('GET', `/Patient/${id}/_history?_since=2999-01-01T00:00:00Z`);
      expect(since.body).not.toHaveProperty('entry');
      const next = linkOf(pages[0] ?? since, 'next') ?? '';
      expectOutcome(await call('GET', next.replace('_count=3', '_count=2')), 400, 'value', 'http._cursor');
    });

    test('304 for a version that the client has', async () => {
      const id = await create(patient('n1'));
      const now = await call('GET', `/Patient/${id}`);
      const modified = now.headers.get('last-modified') ?? '';
      for (const headers of [
        { 'if-none-match': 'W/"1"' },
        { 'if-none-match': '"x", W/"1"' },
        { 'if-none-match': '*' },
        { 'if-modified-since': modified },
      ]) {
        const reply = await call('GET', `/Patient/${id}`, { headers });
        expect([reply.status, reply.text, reply.headers.get('etag')]).toEqual([304, '', 'W/"1"']);
      }
      for (const headers of [
        { 'if-none-match': 'W/"2"' },
        { 'if-none-match': 'W/"2"', 'if-modified-since': modified },
        { 'if-modified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' },
        { 'if-modified-since': 'yesterday' },
      ]) {
        expect((await call('GET', `/Patient/${id}`, { headers })).status).toBe(200);
      }
    });

    test('HEAD is GET without a body', async () => {
      const id = await create(patient('head'));
      const reply = await call('HEAD', `/Patient/${id}`);
      expect([reply.status, reply.text, reply.headers.get('etag')]).toEqual([200, '', 'W/"1"']);
    });

    test('404 for a missing resource, always with the same text', async () => {
      const id = await create(patient('404'));
      const paths = [
        `/Patient/${randomUUID()}`,
        '/Patient/example',
        `/Observation/${id}`,
        `/Patient/${id.toUpperCase()}`,
      ];
      const versions = [`/Patient/${id}/_history/2`, `/Patient/${id}/_history/0`, `/Patient/${id}/_history/x`];
      for (const path of [...paths, ...versions, ...paths.map((one) => `${one}/_history`), `/Patient/%00`]) {
        expectOutcome(await call('GET', path), 404, 'not-found');
      }
      const texts = await Promise.all(
        paths.map(async (path) => (await call('GET', path)).text.replace('Observation', 'Patient')),
      );
      expect(new Set(texts).size).toBe(1);
    });

    test('406 for XML; JSON in all its names', async () => {
      const path = `/Patient/${await create(patient('406'))}`;
      for (const accept of ['application/fhir+xml', 'text/html', 'application/fhir+json; fhirVersion=3.0', '*/*;q=0']) {
        expectOutcome(await call('GET', path, { headers: { accept } }), 406, 'not-supported');
      }
      expectOutcome(await call('GET', `${path}?_format=xml`), 406, 'not-supported');
      for (const accept of ['application/fhir+json; fhirVersion=4.0', 'text/html, */*;q=0.1', 'application/*']) {
        expect((await call('GET', path, { headers: { accept } })).status).toBe(200);
      }
      const plain = await call('GET', path, { headers: { accept: 'application/json' } });
      expect(plain.headers.get('content-type')).toMatch(/^application\/json/);
      const format = await call('GET', `${path}?_format=application/fhir+json`, { headers: { accept: 'text/html' } });
      expect(format.status).toBe(200);
    });

    test('_elements keeps the elements that every reader needs', async () => {
      const body = patient('el', {
        active: true,
        gender: 'male',
        birthDate: '1974',
        _birthDate: { id: 'b' },
        deceasedBoolean: false,
      });
      const id = await create(body);
      const reply = await call('GET', `/Patient/${id}?_elements=birthDate`);
      expect(Object.keys(reply.body).sort()).toEqual(
        ['_birthDate', 'active', 'birthDate', 'deceasedBoolean', 'id', 'meta', 'resourceType'].sort(),
      );
      expect(reply.body['meta'].tag).toMatchObject([{ code: 'SUBSETTED' }]);
      const nested = await call('GET', `/Patient/${id}?_elements=birthDate,a.b`);
      expectOutcome(nested, 400, 'value', 'http._elements');
      expect(nested.text).toMatch(/unknown: \\"a\.b\\""/);
      expectOutcome(await call('GET', `/Patient/${id}?name=x`), 400, 'not-supported', 'http.name');
    });
  });

  describe('update', () => {
    test('makes a version, and none without a change', async () => {
      const id = await create(patient('u1'));
      const changed = await call('PUT', `/Patient/${id}`, { body: patient('u1', { id, active: true }) });
      expect([changed.status, changed.headers.get('etag')]).toEqual([200, 'W/"2"']);
      expect(changed.headers.get('location')).toBe(`${subject().root}/Patient/${id}/_history/2`);
      const same = await call('PUT', `/Patient/${id}`, { body: changed.text });
      expect([same.status, same.headers.get('etag')]).toEqual([200, 'W/"2"']);
      expect(same.text).toBe(changed.text);
    });

    test('compares If-Match', async () => {
      const id = await create(patient('im'));
      const put = (match: string, active: boolean) =>
        call('PUT', `/Patient/${id}`, { body: patient('im', { id, active }), headers: { 'if-match': match } });
      expect((await put('W/"1"', true)).status).toBe(200);
      expectOutcome(await put('W/"1"', false), 412, 'conflict');
      expectOutcome(await put('W/"99999999999999999999"', false), 412, 'conflict');
      expectOutcome(await put('W/"abc"', false), 412, 'conflict');
      for (const match of ['1', 'W/1', 'nonsense', '"2" W/"3"', '*, "2"']) {
        expectOutcome(await put(match, false), 400, 'value', 'http.If-Match');
      }
      expect((await put('"2"', false)).headers.get('etag')).toBe('W/"3"');
      expect((await put('*', true)).headers.get('etag')).toBe('W/"4"');
      // RFC 9110 §13.1.1: one of several.
      expectOutcome(await put('W/"1", W/"3"', false), 412, 'conflict');
      expect((await put('"3", W/"4"', false)).headers.get('etag')).toBe('W/"5"');
      const read = (match: string) => call('GET', `/Patient/${id}`, { headers: { 'if-match': match } });
      expect([(await read('"1", W/"5"')).status, (await read('"1", "2"')).status]).toEqual([200, 412]);
    });

    test('an update of an unknown id creates a Patient without an id, and is otherwise 404', async () => {
      const unknown = randomUUID();
      const made = await call('PUT', `/Patient/${unknown}`, { body: patient('pc') });
      expect(made.status).toBe(201);
      expect(made.body['id']).not.toBe(unknown);
      expect(made.headers.get('location')).toBe(`${subject().root}/Patient/${made.body['id']}/_history/1`);
      expect((await call('PUT', '/Patient/new', { body: patient('pc2') })).status).toBe(201);
      const again = await call('PUT', `/Patient/${made.body['id']}`, { body: patient('pc', { active: true }) });
      expect([again.status, again.body['id'], again.headers.get('etag')]).toEqual([200, made.body['id'], 'W/"2"']);
      expectOutcome(
        await call('PUT', `/Patient/${unknown}`, { body: patient('pc3', { id: unknown }) }),
        404,
        'not-found',
      );
      const stale = { 'if-match': 'W/"1"' };
      expectOutcome(
        await call('PUT', `/Patient/${unknown}`, { body: patient('pc4'), headers: stale }),
        412,
        'conflict',
      );
      const note = observation(String(made.body['id']));
      expectOutcome(await call('PUT', `/Observation/${unknown}`, { body: note }), 404, 'not-found');
      expectOutcome(await call('PUT', '/Observation/abc', { body: { ...note, id: 'abc' } }), 404, 'not-found');
      const mismatch = await call('PUT', `/Patient/${unknown}`, { body: patient('pc5', { id: randomUUID() }) });
      expectOutcome(mismatch, 400, 'value', 'Patient.id');
    });
  });

  describe('a code that a system of HL7 does not have', () => {
    const system = 'http://terminology.hl7.org/CodeSystem/v2-0203';
    const unknown = { type: { coding: [{ system, code: 'NOPE' }] }, value: 'a' };
    const body = patient('codes', { identifier: [unknown] });
    const place = 'Patient.identifier[0].type.coding[0].code';
    const issuesOf = (reply: Reply) =>
      (reply.body['issue'] as Body[]).map(({ severity, code, expression }) => [
        severity,
        code,
        expression?.[0] ?? null,
      ]);

    test('is a warning of $validate, with and without faults', async () => {
      const good = await call('POST', '/Patient/$validate', { body });
      expect(issuesOf(good)).toEqual([
        ['information', 'informational', null],
        ['warning', 'code-invalid', place],
      ]);
      const bad = await call('POST', '/Patient/$validate', { body: { ...body, gender: 'x' } });
      expect(issuesOf(bad)).toEqual([
        ['error', 'code-invalid', 'Patient.gender'],
        ['warning', 'code-invalid', place],
      ]);
      // With a required binding it is an error already.
      const clinical = 'http://terminology.hl7.org/CodeSystem/condition-clinical';
      const condition = {
        resourceType: 'Condition',
        clinicalStatus: { coding: [{ system: clinical, code: 'x' }] },
        subject: { display: 'x' },
      };
      const twice = await call('POST', '/Condition/$validate', { body: condition });
      expect(issuesOf(twice)).toEqual([['error', 'code-invalid', 'Condition.clinicalStatus']]);
    });

    test('is never rejected, and is a warning in the OperationOutcome of a write', async () => {
      const id = await create(body);
      expect((await call('GET', `/Patient/${id}`)).body['identifier']).toEqual([unknown]);
      const prefer = { prefer: 'return=OperationOutcome' };
      const changed = await call('PUT', `/Patient/${id}`, { body: { ...body, id, active: true }, headers: prefer });
      expect(changed.status, changed.text).toBe(200);
      expect(issuesOf(changed)).toContainEqual(['warning', 'code-invalid', place]);
      const plain = await call('PUT', `/Patient/${id}`, { body: { ...body, id, active: false } });
      expect([plain.status, plain.body['resourceType']]).toEqual([200, 'Patient']);
      // A caller without .read gets no warnings about a resource that was stored before.
      const token = await subject().tokenWith(['system/Patient.write']);
      const headers = { ...prefer, 'if-none-exist': `_id=${id}` };
      const found = await call('POST', '/Patient', { body: patient('codes'), headers, token });
      expect([found.status, issuesOf(found)]).toEqual([200, [['information', 'informational', null]]]);
    });
  });

  describe('$validate', () => {
    test('reports the issues that create would report', async () => {
      const good = await call('POST', '/Patient/$validate', { body: patient('v') });
      expect([good.status, good.body['issue'][0].severity]).toEqual([200, 'information']);
      const bad = await call('POST', '/Patient/$validate', { body: patient('v', { gender: 'x' }) });
      expect([bad.status, bad.body['issue'][0]]).toMatchObject([
        200,
        { severity: 'error', expression: ['Patient.gender'] },
      ]);
      const parameters = (parameter: object[]) => ({ body: { resourceType: 'Parameters', parameter } });
      const wrapped = await call(
        'POST',
        '/Patient/$validate',
        parameters([
          { name: 'resource', resource: patient('v') },
          { name: 'mode', valueCode: 'create' },
          { name: 'profile', valueUri: 'http://hl7.org/fhir/StructureDefinition/Patient' },
        ]),
      );
      expect(wrapped.body['issue'][0].severity).toBe('information');
      expectOutcome(await call('POST', '/Patient/$validate', parameters([])), 400, 'required');
      const profile = parameters([
        { name: 'resource', resource: patient('v') },
        { name: 'profile', valueUri: 'urn:x' },
      ]);
      expectOutcome(await call('POST', '/Patient/$validate', profile), 422, 'not-supported');
      expectOutcome(await call('POST', '/Patient/$validate', { body: '{' }), 400, 'structure');
    });

    test('names the switch of US Core while it is off, and a claim is not checked', async () => {
      const profile = 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-patient';
      const reply = await call('POST', `/Patient/$validate?profile=${profile}`, { body: patient('v') });
      expectOutcome(reply, 422, 'not-supported');
      expect(reply.text).toContain('FHIR_PROFILES=us-core');
      const body = patient('v', { meta: { profile: [profile] } });
      const verdict = await call('POST', '/Patient/$validate', { body });
      expect(verdict.text).toContain('a profile of meta.profile was not checked');
      expect((await call('POST', '/Patient', { body })).status).toBe(201);
    });
  });
}
