/** Bulk Data Access 2.0.0: kick-off, status, files and cancelling, as the guide has them. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { getToken } from '../../stack/services/client.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import { ASYNC, begin, complete, download, exported, linesOf, manifestOf } from './bulk-export.ts';
import { type Body, expectOutcome, observation, patient, type Reply, type Subject, TYPES } from './subject.ts';

/** A separate site, so that its exports have only the resources of a case. */
async function siteOf(subject: Subject) {
  const { site, token } = await subject.newSite();
  const p = await subject.create(patient('p', { name: [{ family: 'Zu' }] }), token);
  const o = await subject.create(observation(p, { valueQuantity: { value: 1.5 } }), token);
  const withoutPatient = await subject.create(
    { resourceType: 'Observation', status: 'final', code: { text: 'water' }, subject: { display: 'the tap' } },
    token,
  );
  return { site, token, p, o, withoutPatient };
}

const idsOf = (resources: readonly Body[]): string[] => resources.map(({ id }) => String(id)).toSorted();

export function bulkCases(subject: () => Subject): void {
  /** A token of a new key of the same site. */
  const tokenOf = async (site: string, scopes?: readonly string[]): Promise<string> => {
    const key = await createApiKey(subject().client, { site, ...(scopes === undefined ? {} : { scopes }) });
    return getToken(subject().gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
  };

  test('from kick-off to the files', async () => {
    const { token, p, o, withoutPatient } = await siteOf(subject());
    const at = await begin(subject(), '/$export?_outputFormat=application/fhir+ndjson', { token });
    expect(at).toMatch(/\/gateway\/fhir\/\$export\/[0-9a-f-]{36}$/);
    const { headers, body: manifest } = await complete(subject(), at, { token });
    expect(headers.get('content-type')).toBe('application/json');
    const lifetime = Date.parse(headers.get('expires') ?? '') - Date.now();
    expect(lifetime).toBeGreaterThan(23.9 * 3_600_000);
    expect(lifetime).toBeLessThanOrEqual(24 * 3_600_000);
    expect(manifest).toMatchObject({
      request: `${subject().root}/$export?_outputFormat=application/fhir+ndjson`,
      requiresAccessToken: true,
      deleted: [],
      error: [],
    });
    expect(manifest.output.map(({ type, count }) => [type, count])).toEqual([
      ['Patient', 1],
      ['Observation', 2],
    ]);
    const all = await exported(manifest, token);
    expect(idsOf(all)).toEqual([p, o, withoutPatient].toSorted());
    // The resource as a read gives it, digit for digit.
    const [, file] = manifest.output;
    const text = await download(file?.url ?? '', token);
    const { text: read } = await subject().call('GET', `/Observation/${o}`, { token });
    expect(text.split('\n')).toContain(read);
    expect(await download(file?.url ?? '', token)).toBe(text);
    for (const { meta } of all) expect(String(meta.lastUpdated) <= manifest.transactionTime).toBe(true);
  });

  test('with its $ escaped, as many clients write it', async () => {
    const { token, p } = await siteOf(subject());
    const at = await begin(subject(), '/Patient/%24export?_type=Patient', { token });
    const { body: manifest } = await complete(subject(), at.replace('$', '%24'), { token });
    const file = manifest.output[0]?.url.replace('$', '%24') ?? '';
    expect(idsOf(linesOf(await download(file, token)))).toEqual([p]);
  });

  test('an export of patients leaves out resources without a patient', async () => {
    const { token, p, o } = await siteOf(subject());
    // A resource without a patient is between two resources of the patient.
    const last = await subject().create(observation(p), token);
    const manifest = await manifestOf(subject(), '/Patient/$export', { token });
    expect(manifest.request).toBe(`${subject().root}/Patient/$export`);
    expect(idsOf(await exported(manifest, token))).toEqual([p, o, last].toSorted());
  });

  test('has the types of one or several _type', async () => {
    const { token, p } = await siteOf(subject());
    const types = async (query: string) =>
      (await manifestOf(subject(), `/$export?${query}`, { token })).output.map(({ type }) => type);
    expect(await types('_type=Observation,Patient')).toEqual(['Patient', 'Observation']);
    expect(await types('_type=Observation&_type=Patient')).toEqual(['Patient', 'Observation']);
    expect(await types('_type=Patient&_outputFormat=ndjson')).toEqual(['Patient']);
    expect(await types('_type=Procedure&_outputFormat=application%2Fndjson')).toEqual([]);
    expect(p).toBeTruthy();
  });

  test('_since exports later changes; a series of exports from transactionTime to transactionTime misses and repeats no change', async () => {
    const { token, p, o, withoutPatient } = await siteOf(subject());
    const first = await manifestOf(subject(), '/$export', { token });
    expect(first.output).toHaveLength(2);
    const again = await manifestOf(subject(), `/$export?_since=${first.transactionTime}`, { token });
    expect(again.output).toEqual([]);
    const { status } = await subject().call('PUT', `/Observation/${o}`, { token, body: observation(p, { id: o }) });
    expect(status).toBe(200);
    // The + of a zone that was not escaped.
    const since = again.transactionTime.replace('Z', '+00:00');
    const next = await manifestOf(subject(), `/$export?_since=${since}`, { token });
    expect((await exported(next, token)).map(({ id, meta }) => [id, meta.versionId])).toEqual([[o, '2']]);
    expect(withoutPatient).toBeTruthy();
  });

  test('by POST of Parameters', async () => {
    const { token, o, withoutPatient } = await siteOf(subject());
    const parameter = [
      { name: '_type', valueString: 'Observation' },
      { name: '_since', valueInstant: '2020-01-01T00:00:00Z' },
      { name: '_outputFormat', valueString: 'application/fhir+ndjson' },
    ];
    const body = { resourceType: 'Parameters', parameter };
    const begun = await subject().call('POST', '/$export', { token, headers: ASYNC, body });
    expect(begun.status, begun.text).toBe(202);
    const { body: manifest } = await complete(subject(), begun.headers.get('content-location') ?? '', { token });
    expect(manifest.request).toBe(`${subject().root}/$export`);
    expect(idsOf(await exported(manifest, token))).toEqual([o, withoutPatient].toSorted());
    // As MedplumClient asks: without a body the parameters are in the URL.
    const path = '/Patient/$export?_type=Procedure';
    const empty = await subject().call('POST', path, { token, headers: ASYNC });
    expect(empty.status, empty.text).toBe(202);
    const without = await complete(subject(), empty.headers.get('content-location') ?? '', { token });
    expect(without.body).toMatchObject({ request: `${subject().root}${path}`, output: [] });
  });

  describe('a kick-off is rejected', () => {
    const kickOff = (query: string, headers: Record<string, string> = ASYNC): Promise<Reply> =>
      subject().call('GET', `/$export${query}`, { headers });

    test('without respond-async', async () => {
      expectOutcome(await kickOff('', {}), 400, 'required', 'http.Prefer');
      expectOutcome(await kickOff('', { prefer: 'return=minimal' }), 400, 'required', 'http.Prefer');
      expect((await kickOff('?_type=Procedure', { prefer: 'handling=lenient, respond-async' })).status).toBe(202);
    });

    test.each([
      ['?_outputFormat=application/fhir+parquet', 'not-supported', 'http._outputFormat'],
      ['?_type=Medication', 'not-supported', 'http._type'],
      ['?_type=', 'not-supported', 'http._type'],
      ['?_since=yesterday', 'value', 'http._since'],
      ['?_since=2020-01-01T00:00:00Z&_since=2021-01-01T00:00:00Z', 'value', 'http._since'],
      ['?_elements=id', 'not-supported', 'http._elements'],
      ['?_typeFilter=Observation', 'not-supported', 'http._typeFilter'],
      ['?_typeFilter=Medication%3Fcode%3Dx', 'not-supported', 'http._typeFilter'],
      ['?_typeFilter=Observation%3Fcolour%3Dx', 'not-supported', 'http._typeFilter'],
      ['?_typeFilter=Observation%3F_sort%3D_lastUpdated', 'not-supported', 'http._typeFilter'],
      ['?_typeFilter=Observation%3Fcode%3D', 'required', 'http._typeFilter'],
      ['?_typeFilter=Observation%3F', 'required', 'http._typeFilter'],
      ['?_type=Patient&_typeFilter=Observation%3Fcode%3Dx', 'value', 'http._typeFilter'],
      ['?includeAssociatedData=LatestProvenanceResources', 'not-supported', 'http.includeAssociatedData'],
      ['?patient=Patient/1', 'not-supported', 'http.patient'],
      ['?foo=1', 'not-supported', 'http.foo'],
    ])('%s', async (query, code, place) => {
      expectOutcome(await kickOff(query), 400, code, place);
    });

    test('with the same in Parameters, and with invalid Parameters', async () => {
      const post = (body: object): Promise<Reply> => subject().call('POST', '/$export', { headers: ASYNC, body });
      const parameters = (...parameter: object[]) => post({ resourceType: 'Parameters', parameter });
      const at = 'Parameters.parameter[0].valueString';
      expectOutcome(await parameters({ name: '_type', valueString: 'Medication' }), 400, 'not-supported', at);
      const reference = { name: 'patient', valueReference: { reference: 'Patient/1' } };
      expectOutcome(await parameters(reference), 400, 'not-supported', 'Parameters.parameter[0].valueReference');
      expectOutcome(await parameters({ name: 'foo', valueString: 'x' }), 400, 'not-supported', at);
      expectOutcome(await parameters({ name: '_type' }), 400, 'structure', 'Parameters.parameter[0]');
      expectOutcome(await post(patient('x')), 400, 'structure', 'Parameters');
      const both = { headers: ASYNC, body: { resourceType: 'Parameters' } };
      expectOutcome(await subject().call('POST', '/$export?_type=Patient', both), 400, 'not-supported', 'http._type');
      expectOutcome(
        await subject().call('POST', '/$export?foo=1', { headers: ASYNC }),
        400,
        'not-supported',
        'http.foo',
      );
    });

    test('for a Group where FHIR_GROUPS is off', async () => {
      const reply = await subject().call('GET', '/Group/1/$export', { headers: ASYNC });
      expectOutcome(reply, 404, 'not-supported');
      expect(reply.text).toContain('FHIR_GROUPS=on');
    });

    test('by HEAD, PUT and in another format', async () => {
      const put = await subject().call('PUT', '/$export', { headers: ASYNC });
      expectOutcome(put, 405, 'not-supported');
      expect(put.headers.get('allow')).toBe('GET, POST');
      expect((await subject().call('HEAD', '/$export', { headers: ASYNC })).status).toBe(405);
      expectOutcome(await kickOff('', { ...ASYNC, accept: 'application/fhir+xml' }), 406, 'not-supported');
    });

    test('while two exports of the key are in progress', async () => {
      const { token } = await siteOf(subject());
      const [one, two] = [await begin(subject(), '/$export', { token }), await begin(subject(), '/$export', { token })];
      const third = await subject().call('GET', '/$export', { token, headers: ASYNC });
      expectOutcome(third, 429, 'throttled');
      expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await subject().call('DELETE', one, { token })).status).toBe(202);
      const next = await begin(subject(), '/$export', { token });
      await complete(subject(), two, { token });
      await complete(subject(), next, { token });
      await begin(subject(), '/$export', { token });
    });
  });

  test('handling=lenient leaves out and reports unsupported parameters, but never a filter by patient', async () => {
    const { token } = await siteOf(subject());
    const headers = { prefer: 'respond-async, handling=lenient' };
    const query = '_type=Patient,Medication&_elements=id&foo=1';
    const manifest = await manifestOf(subject(), `/$export?${query}`, { token, headers });
    expect(manifest.output.map(({ type }) => type)).toEqual(['Patient']);
    const [error] = manifest.error;
    const outcomes = linesOf(await download(error?.url ?? '', token));
    expect(error?.type).toBe('OperationOutcome');
    expect(outcomes.map(({ resourceType, issue }) => [resourceType, issue[0].severity, issue[0].location])).toEqual([
      ['OperationOutcome', 'warning', ['http._type']],
      ['OperationOutcome', 'warning', ['http._elements']],
      ['OperationOutcome', 'warning', ['http.foo']],
    ]);
    const filtered = await subject().call('GET', '/$export?patient=Patient/1', { token, headers });
    expectOutcome(filtered, 400, 'not-supported', 'http.patient');
  });

  const codeOf = (code: string): Body => ({ coding: [{ system: 'http://loinc.org', code }] });

  test('_typeFilter: a resource of the type matches one of the searches, as it was at the export’s moment', async () => {
    const { create, call } = subject();
    const { token, p, o } = await siteOf(subject());
    const a = await create(observation(p, { code: codeOf('a') }), token);
    const b = await create(observation(p, { code: codeOf('b') }), token);
    const later = await create(observation(p, { code: codeOf('c') }), token);
    const filter = (...queries: string[]): string =>
      queries.map((query) => `_typeFilter=${encodeURIComponent(query)}`).join('&');
    const at = await begin(subject(), `/Patient/$export?${filter('Observation?code=a,x', 'Observation?code=b')}`, {
      token,
    });
    // Now `a` no longer matches a filter, and another one does.
    for (const [id, code] of [
      [a, 'x2'],
      [later, 'a'],
    ] as const)
      expect(
        (await call('PUT', `/Observation/${id}`, { token, body: observation(p, { id, code: codeOf(code) }) })).status,
      ).toBe(200);
    const { body: manifest } = await complete(subject(), at, { token });
    // How many resources match the filter is known to the reader of the file.
    expect(manifest.output.map(({ type, count }) => [type, count])).toEqual([
      ['Patient', 1],
      ['Observation', undefined],
    ]);
    const found = linesOf(await download(manifest.output[1]?.url ?? '', token));
    expect(found.map(({ id, meta, code }) => [id, meta.versionId, code.coding[0].code])).toEqual([
      [a, '1', 'a'],
      [b, '1', 'b'],
    ]);
    const ids = async (query: string): Promise<string[]> => {
      const { output } = await manifestOf(subject(), `/$export?_type=Observation&${query}`, { token });
      return idsOf(linesOf(await download(output[0]?.url ?? '', token)));
    };
    expect(await ids(filter('Observation?code=b,Observation?code=a'))).toEqual([b, later].toSorted());
    expect(await ids(filter(`Observation?patient=${p}&code=8867-4`))).toEqual([o]);
    expect(await ids(filter('Observation?code=none'))).toEqual([]);
    expect(await ids(filter('Observation?code=b&patient=' + randomUUID()))).toEqual([]);
  });

  test('_typeFilter is never left out, and needs the scope of its type', async () => {
    const { site } = await siteOf(subject());
    const token = await tokenOf(site, ['system/Patient.read']);
    const headers = { prefer: 'respond-async, handling=lenient' };
    const unknown = await subject().call('GET', '/$export?_typeFilter=Patient%3Fcolour%3Dred', { token, headers });
    expectOutcome(unknown, 400, 'not-supported', 'http._typeFilter');
    const other = await subject().call('GET', '/$export?_typeFilter=Observation%3Fcode%3Dx', { token, headers });
    expectOutcome(other, 403, 'forbidden');
  });

  test('patient of a POST: only these patients and what is about them', async () => {
    const { create, call, otherToken } = subject();
    const { token, p, o } = await siteOf(subject());
    const second = await create(patient('second'), token);
    const of = await create(observation(second), token);
    const third = await create(patient('third'), token);
    const moved = await create(observation(third), token);
    const post = (path: string, ids: readonly string[], by = token) =>
      call('POST', path, {
        token: by,
        headers: ASYNC,
        body: {
          resourceType: 'Parameters',
          parameter: ids.map((id) => ({ name: 'patient', valueReference: { reference: id } })),
        },
      });
    const begun = await post('/Patient/$export', [`Patient/${p}`, `${subject().root}/Patient/${second}`]);
    expect(begun.status, begun.text).toBe(202);
    // A resource that changes its patient meanwhile belongs to the patient of the export's moment.
    for (const [id, to] of [
      [moved, p],
      [of, third],
    ] as const)
      expect((await call('PUT', `/Observation/${id}`, { token, body: observation(to, { id }) })).status).toBe(200);
    const { body: manifest } = await complete(subject(), begun.headers.get('content-location') ?? '', { token });
    expect(idsOf(await exported(manifest, token))).toEqual([p, o, second, of].toSorted());

    expectOutcome(await post('/$export', [`Patient/${p}`]), 400, 'not-supported');
    for (const id of ['Patient/1', `Observation/${o}`, 'x'])
      expectOutcome(await post('/Patient/$export', [id]), 400, 'value', 'Parameters.parameter[0].valueReference');
    const unknown = await post('/Patient/$export', [`Patient/${randomUUID()}`]);
    expectOutcome(unknown, 422, 'not-found', 'Parameters.parameter');
    const theirs = await post('/Patient/$export', [`Patient/${p}`], otherToken);
    expect([theirs.status, theirs.text]).toEqual([422, unknown.text]);
  });

  test('a type needs its .read: a named type is rejected, other types are left out and reported', async () => {
    const { site } = await siteOf(subject());
    const token = await tokenOf(site, ['system/Patient.read', 'system/Observation.write']);
    const refused = await subject().call('GET', '/$export?_type=Patient,Observation', { token, headers: ASYNC });
    expectOutcome(refused, 403, 'forbidden');
    expect(refused.headers.get('www-authenticate')).toContain('system/Observation.read');
    const manifest = await manifestOf(subject(), '/$export', { token });
    expect(manifest.output.map(({ type }) => type)).toEqual(['Patient']);
    const reported = await download(manifest.error[0]?.url ?? '', token);
    for (const type of TYPES) expect(reported.includes(`system/${type}.read`)).toBe(type !== 'Patient');
    const none = await tokenOf(site, ['system/Patient.write']);
    expectOutcome(await subject().call('GET', '/$export', { token: none, headers: ASYNC }), 403, 'forbidden');
  });

  test('status and files are only for the key that started the export, with scopes for all its types', async () => {
    const { site } = await siteOf(subject());
    const key = await createApiKey(subject().client, { site });
    const newToken = (scope: string) => getToken(subject().gateway.oauthBaseUrl, key, { audience: 'svc-fhir', scope });
    const token = await newToken('system/*.read');
    const at = await begin(subject(), '/$export', { token });
    const { body: manifest } = await complete(subject(), at, { token });
    const file = manifest.output[0]?.url ?? '';
    // Another token of the key will do.
    expect(linesOf(await download(file, await newToken('system/*.read')))).toHaveLength(1);
    const narrow = await newToken('system/Patient.read');
    for (const url of [at, file]) {
      const reply = await subject().call('GET', url, { token: narrow, headers: { accept: '*/*' } });
      expectOutcome(reply, 403, 'forbidden');
    }
    const neighbour = await tokenOf(site);
    for (const [method, url] of [
      ['GET', at],
      ['GET', file],
      ['DELETE', at],
    ] as const) {
      const theirs = await subject().call(method, url, { token: neighbour, headers: { accept: '*/*' } });
      expectOutcome(theirs, 404, 'not-found');
      const none = url.replace(/[0-9a-f-]{36}/, randomUUID());
      const never = await subject().call(method, none, { token: neighbour, headers: { accept: '*/*' } });
      expect(never.text).toBe(theirs.text);
      expect((await subject().call(method, url, { token: null, headers: { accept: '*/*' } })).status).toBe(401);
    }
    expect((await complete(subject(), at, { token })).status).toBe(200);
  });

  test('a cancelled or expired export is not found', async () => {
    const { token, site } = await siteOf(subject());
    const gone = async (at: string, file: string) => {
      for (const url of [at, file])
        expectOutcome(await subject().call('GET', url, { token, headers: { accept: '*/*' } }), 404, 'not-found');
      expectOutcome(await subject().call('DELETE', at, { token }), 404, 'not-found');
    };
    const one = await begin(subject(), '/$export', { token });
    const file = (await complete(subject(), one, { token })).body.output[0]?.url ?? '';
    expect((await subject().call('DELETE', one, { token })).status).toBe(202);
    await gone(one, file);
    const two = await begin(subject(), '/$export', { token });
    const late = (await complete(subject(), two, { token })).body.output[0]?.url ?? '';
    await subject().client.query(
      `update bulk_export set expires_at = clock_timestamp() - interval '1 second' where site_id = $1`,
      [site],
    );
    await gone(two, late);
  });

  test('until writers that are older have ended, it waits', async () => {
    const { token, p } = await siteOf(subject());
    const { client } = subject();
    await client.query('begin');
    let at: string;
    try {
      await client.query('select write_time()');
      at = await begin(subject(), '/$export', { token });
      const waiting = await subject().call('GET', at, { token });
      expect([waiting.status, waiting.text]).toEqual([202, '']);
      expect(Number(waiting.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(waiting.headers.get('x-progress')).toMatch(/^waiting .{1,90}$/);
      const file = await subject().call('GET', `${at}/Patient.1.ndjson`, { token, headers: { accept: '*/*' } });
      expectOutcome(file, 404, 'not-found');
    } finally {
      await client.query('commit');
    }
    const { body: manifest } = await complete(subject(), at, { token });
    expect(idsOf(await exported(manifest, token))).toContain(p);
  });

  test.each(['/$export/nonsense', '/$export/x/Patient.1.ndjson', '/$export/../$export/1'])(
    '%s is 404',
    async (path) => {
      expect((await subject().call('GET', path, { headers: { accept: '*/*', ...ASYNC } })).status).toBe(404);
    },
  );

  test('a file is NDJSON and accepts no parameters', async () => {
    const { token } = await siteOf(subject());
    const { output } = await manifestOf(subject(), '/$export', { token });
    const url = output[0]?.url ?? '';
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    const file = await fetch(url, { headers });
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'application/fhir+ndjson']);
    await file.text();
    expectOutcome(
      await subject().call('GET', url, { token, headers: { accept: 'application/xml' } }),
      406,
      'not-supported',
    );
    expectOutcome(
      await subject().call('GET', `${url}?_pretty=true`, { token, headers: { accept: '*/*' } }),
      400,
      'not-supported',
      'http._pretty',
    );
    for (const other of ['Patient.2', 'Procedure.1', 'Medication.1', 'OperationOutcome.1', 'Patient.0', 'Patient'])
      expectOutcome(
        await subject().call('GET', url.replace('Patient.1', other), { token, headers: { accept: '*/*' } }),
        404,
        'not-found',
      );
  });

  test('the audit has the kick-off and each file that was shown, once', async () => {
    const { token, site } = await siteOf(subject());
    const at = await begin(subject(), '/$export?_type=Observation', { token });
    const id = at.split('/').at(-1) ?? '';
    const { body: manifest } = await complete(subject(), at, { token });
    await exported(manifest, token);
    const { rows } = await subject().client.query<Body>(
      `select action, types, ids, patients, coalesce(parameters, '{}') as parameters from audit where site_id = $1 and action = 'export' order by at`,
      [site],
    );
    expect(rows).toEqual([
      { action: 'export', types: ['BulkExport'], ids: [id], patients: [], parameters: ['_type'] },
      { action: 'export', types: ['ObservationFile'], ids: [id], patients: [], parameters: [] },
    ]);
  });

  test('the CapabilityStatement names it', async () => {
    const { body } = await subject().call('GET', '/metadata');
    const [rest] = body['rest'] as Body[];
    const definition = 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition';
    expect(body['instantiates']).toContain('http://hl7.org/fhir/uv/bulkdata/CapabilityStatement/bulk-data');
    expect(rest?.['operation']).toContainEqual(
      expect.objectContaining({ name: 'export', definition: `${definition}/export` }),
    );
    const types = (rest?.['resource'] ?? []) as Body[];
    const exporting = types.filter(({ operation }) => (operation as Body[]).some(({ name }) => name === 'export'));
    expect(exporting.map(({ type, operation }) => [type, operation.at(-1).definition])).toEqual([
      ['Patient', `${definition}/patient-export`],
    ]);
  });
}
