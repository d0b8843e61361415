/** batch and transaction: order, references between entries, all or nothing, each for itself. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { type Body, expectOutcome, idsOf, observation, patient, type Subject } from './subject.ts';

export function bundleCases(subject: () => Subject): void {
  const send = (type: string, entry: Body[], more: { token?: string; headers?: Record<string, string> } = {}) =>
    subject().call('POST', '', { body: { resourceType: 'Bundle', type, entry }, ...more });
  const post = (resource: Body, more: Body = {}): Body => ({
    resource,
    ...('fullUrl' in more ? { fullUrl: more['fullUrl'] as string } : {}),
    request: { method: 'POST', url: resource['resourceType'] as string, ...more['request'] },
  });
  const put = (resource: Body, url: string, request: Body = {}): Body => ({
    resource,
    request: { method: 'PUT', url, ...request },
  });
  const get = (url: string, request: Body = {}): Body => ({ request: { method: 'GET', url, ...request } });
  const found = async (path: string) => idsOf(await subject().call('GET', path));
  const statuses = (reply: { body: Body }) =>
    (reply.body['entry'] as Body[]).map((entry) => String(entry['response'].status).slice(0, 3));

  describe('transaction', () => {
    test('resolves references between entries in all elements', async () => {
      const [urn, url] = [`urn:uuid:${randomUUID()}`, 'http://old.test/fhir/Observation/9'];
      const reply = await send('transaction', [
        {
          ...post(
            {
              resourceType: 'DiagnosticReport',
              status: 'final',
              code: { text: 'panel' },
              subject: { reference: urn },
              result: [{ reference: 'Observation/9' }],
              identifier: [{ system: 'urn:ietf:rfc:3986', value: urn }],
              text: {
                status: 'generated',
                div: `<div xmlns="http://www.w3.org/1999/xhtml"><a href="${url}">x</a></div>`,
              },
            },
            { fullUrl: 'http://old.test/fhir/DiagnosticReport/8' },
          ),
        },
        post({ ...observation('x'), subject: { reference: urn } }, { fullUrl: url }),
        post(patient('t1', { link: [{ type: 'seealso', other: { reference: urn } }] }), { fullUrl: urn }),
      ]);
      expect(reply.status, reply.text).toBe(200);
      expect(reply.body).toMatchObject({ resourceType: 'Bundle', type: 'transaction-response' });
      expect(statuses(reply)).toEqual(['201', '201', '201']);
      const [report, note, who] = (reply.body['entry'] as Body[]).map((entry) => entry['resource'] as Body);
      expect(who?.['link'][0].other.reference).toBe(`Patient/${who?.['id']}`);
      expect(note?.['subject'].reference).toBe(`Patient/${who?.['id']}`);
      expect(report).toMatchObject({
        subject: { reference: `Patient/${who?.['id']}` },
        result: [{ reference: `Observation/${note?.['id']}` }],
        identifier: [{ value: urn }],
      });
      expect(report?.['text'].div).toContain(`href="Observation/${note?.['id']}"`);
      const [first] = reply.body['entry'] as Body[];
      expect(first).toMatchObject({
        fullUrl: `${subject().root}/DiagnosticReport/${report?.['id']}`,
        response: {
          status: '201 Created',
          location: `${subject().root}/DiagnosticReport/${report?.['id']}/_history/1`,
          etag: 'W/"1"',
        },
      });
      expect(await found(`/DiagnosticReport?patient=${who?.['id']}`)).toEqual([report?.['id']]);
      const stored = await subject().call('GET', `/Observation/${note?.['id']}`);
      expect(stored.body).toEqual(note);
    });

    test('a transaction with faults writes nothing and reports every fault with its location', async () => {
      const bad = await send('transaction', [
        post(patient('t2')),
        post({ ...patient('t2'), gender: 'x' }),
        put(patient('t2', { id: 'a' }), `Patient/${randomUUID()}`),
        { request: { method: 'DELETE', url: 'Patient/1' } },
      ]);
      expectOutcome(bad, 400, 'code-invalid', 'Bundle.entry[1].resource.gender');
      expectOutcome(bad, 400, 'value', 'Bundle.entry[2].resource.id');
      expectOutcome(bad, 400, 'not-supported', 'Bundle.entry[3]');

      const unknown = randomUUID();
      const cases: [Body, number, string, string][] = [
        [put({ ...patient('t2'), id: unknown }, `Patient/${unknown}`), 404, 'not-found', 'Bundle.entry[1]'],
        [post(observation(randomUUID())), 422, 'not-found', 'Bundle.entry[1].resource.subject.reference'],
        [post(observation('x')), 422, 'not-found', 'Bundle.entry[1].resource.subject.reference'],
        [
          post(observation('', { subject: { reference: `urn:uuid:${unknown}` } })),
          422,
          'not-found',
          'Bundle.entry[1].resource.subject.reference',
        ],
        [
          post(observation('', { subject: { reference: 'Patient?identifier=nobody' } })),
          422,
          'not-found',
          'Bundle.entry[1]',
        ],
        [
          post(observation('', { subject: { display: 'x' }, performer: [{ reference: 'Practitioner?identifier=1' }] })),
          422,
          'not-supported',
          'Bundle.entry[1]',
        ],
        [
          post(observation('', { subject: { display: 'x' }, hasMember: [{ reference: `urn:uuid:${unknown}` }] })),
          422,
          'not-supported',
          'Bundle.entry[1].resource',
        ],
        [get(`Patient/${unknown}`), 404, 'not-found', 'Bundle.entry[1]'],
        [get(`Patient/${unknown}/_history/1`), 404, 'not-found', 'Bundle.entry[1]'],
        [get('Patient/example'), 404, 'not-found', 'Bundle.entry[1]'],
        [get('Patient?foo=1'), 400, 'not-supported', 'Bundle.entry[1]'],
        [get('Foo/1'), 404, 'not-found', 'Bundle.entry[1]'],
      ];
      for (const [entry, status, code, place] of cases) {
        expectOutcome(await send('transaction', [post(patient('t2')), entry]), status, code, place);
      }
      const other = randomUUID();
      const crossed = await send('transaction', [
        post(observation('', { subject: { display: 'x' } }), { fullUrl: `urn:uuid:${other}` }),
        post(observation('', { subject: { reference: `urn:uuid:${other}` } })),
      ]);
      expectOutcome(crossed, 400, 'value', 'Bundle.entry[1].resource.subject.reference');
      expect(await found('/Patient?identifier=t2')).toEqual([]);
    });

    test('reads see the writes of the transaction; conditions and preconditions apply', async () => {
      const id = await subject().create(patient('t3'));
      const reply = await send('transaction', [
        get(`Patient/${id}`),
        get('Patient?identifier=t3b&_total=accurate'),
        get(`Patient/${id}/_history`),
        put(patient('t3b', { id }), `Patient/${id}`, { ifMatch: 'W/"1"' }),
        get(`Patient/${id}`, { ifNoneMatch: 'W/"2"' }),
      ]);
      expect(statuses(reply)).toEqual(['200', '200', '200', '200', '304']);
      const entries = reply.body['entry'] as Body[];
      expect(entries[0]?.['resource'].meta.versionId).toBe('2');
      expect(entries[1]?.['resource']).toMatchObject({ type: 'searchset', total: 1 });
      expect(entries[2]?.['resource'].total).toBe(2);
      const stale = await send('transaction', [
        post(patient('t3c')),
        put(patient('t3c', { id }), `Patient/${id}`, { ifMatch: 'W/"1"' }),
      ]);
      expectOutcome(stale, 412, 'conflict', 'Bundle.entry[1]');
      expectOutcome(
        await send('transaction', [put(patient('x', { id }), `Patient/${id}`, { ifMatch: 'x' })]),
        400,
        'value',
      );
      expectOutcome(
        await send('transaction', [post(patient('t3c')), get(`Patient/${id}`, { ifMatch: 'W/"9"' })]),
        400,
        'not-supported',
        'Bundle.entry[1]',
      );
      expect(await found('/Patient?identifier=t3c')).toEqual([]);
    });

    test('If-None-Exist, conditional updates and references by identifier', async () => {
      const urn = `urn:uuid:${randomUUID()}`;
      const entries = (value: string): Body[] => [
        post(observation('', { subject: { reference: urn } })),
        post(patient(value), { fullUrl: urn, request: { ifNoneExist: `identifier=urn:mrn|${value}` } }),
        post(observation('', { subject: { reference: `Patient?identifier=urn:mrn|${value}` } })),
      ];
      const first = await send('transaction', entries('t4'));
      expect(statuses(first)).toEqual(['201', '201', '201']);
      const id = first.body['entry'][1].resource.id as string;
      const second = await send('transaction', entries('t4'));
      expect(statuses(second)).toEqual(['201', '200', '201']);
      expect(second.body['entry'][1].resource.id).toBe(id);
      expect(second.body['entry'][0].resource.subject.reference).toBe(`Patient/${id}`);
      expect(await found(`/Observation?patient=${id}`)).toHaveLength(4);
      const read = await subject().call('GET', `/Observation/${second.body['entry'][2].resource.id}`);
      expect(read.body).toEqual(second.body['entry'][2].resource);

      const update = put(patient('t4', { active: true }), 'Patient?identifier=t4');
      const third = await send('transaction', [update, ...entries('t4')]);
      expect(statuses(third)).toEqual(['200', '201', '200', '201']);
      expect(third.body['entry'][0].resource).toMatchObject({ id, active: true });

      await subject().create(patient('t4'));
      expectOutcome(await send('transaction', entries('t4')), 412, 'multiple-matches', 'Bundle.entry[1]');
    });

    test('a resource written twice, and a fullUrl given twice: 400', async () => {
      const id = await subject().create(patient('t5'));
      const twice = [
        put(patient('t5', { id, active: true }), `Patient/${id}`),
        put(patient('t5', { id }), `Patient/${id}`),
      ];
      expectOutcome(await send('transaction', twice), 400, 'duplicate', 'Bundle.entry[0]');
      const conditional = [put(patient('t6'), 'Patient?identifier=t6'), put(patient('t6'), 'Patient?identifier=t6')];
      expectOutcome(await send('transaction', conditional), 400, 'duplicate', 'Bundle.entry[1]');
      const fullUrl = `urn:uuid:${randomUUID()}`;
      const urls = [post(patient('t7'), { fullUrl }), post(patient('t7'), { fullUrl })];
      expectOutcome(await send('transaction', urls), 400, 'duplicate', 'Bundle.entry[1].fullUrl');
      const once = [
        post(patient('t8'), { request: { ifNoneExist: 'identifier=t8' } }),
        post(patient('t8'), { request: { ifNoneExist: 'identifier=t8' } }),
      ];
      expect(statuses(await send('transaction', once))).toEqual(['201', '200']);
      expect(await found('/Patient?identifier=t6,t7')).toEqual([]);
    });

    test('an update with the fullUrl of another resource is 400, because references would follow it', async () => {
      const [one, other] = [await subject().create(patient('t11')), await subject().create(patient('t12'))];
      const update = put(patient('t11', { id: one, active: true }), `Patient/${one}`);
      const about = post(observation(other), { fullUrl: `${subject().root}/Observation/1` });
      const wrong = { ...update, fullUrl: `${subject().root}/Patient/${other}` };
      expectOutcome(await send('transaction', [wrong, about]), 400, 'value', 'Bundle.entry[0].fullUrl');
      const right = await send('transaction', [{ ...update, fullUrl: `${subject().root}/Patient/${one}` }, about]);
      expect(right.body['entry'][1].resource.subject.reference).toBe(`Patient/${other}`);
    });

    test('return=minimal leaves the resources out', async () => {
      const reply = await send('transaction', [post(patient('t9'))], { headers: { prefer: 'return=minimal' } });
      expect(reply.body['entry'][0]).toEqual({
        fullUrl: expect.any(String) as string,
        response: expect.objectContaining({ status: '201 Created' }) as object,
      });
    });

    test('needs the scope of every entry', async () => {
      const token = await subject().tokenWith(['system/Patient.write']);
      const reply = await send('transaction', [post(patient('t10')), get('Patient?identifier=t10')], { token });
      expectOutcome(reply, 403, 'forbidden', 'Bundle.entry[1]');
      expect(reply.headers.get('www-authenticate')).toContain('scope="system/Patient.read"');
      expect(await found('/Patient?identifier=t10')).toEqual([]);
    });
  });

  describe('batch', () => {
    test('an entry that refers to another entry is 422', async () => {
      const urn = `urn:uuid:${randomUUID()}`;
      const reply = await send('batch', [
        post(observation('', { subject: { display: 'x' } }), { fullUrl: urn }),
        post(observation('', { subject: { display: 'x' }, hasMember: [{ reference: urn }] })),
      ]);
      expect(statuses(reply)).toEqual(['201', '422']);
      expect(reply.body['entry'][1].response.outcome.issue[0].diagnostics).toContain('send a transaction');
    });

    test('each for itself, in order', async () => {
      const id = await subject().create(patient('b0'));
      const token = await subject().tokenWith([
        'system/Patient.write',
        'system/Patient.read',
        'system/Observation.read',
      ]);
      const reply = await send(
        'batch',
        [
          post(patient('b1')),
          post({ ...patient('b1'), gender: 'x' }),
          get(`Patient/${id}`),
          get(`Patient/${randomUUID()}`),
          get('Patient?identifier=b1'),
          put(patient('b0', { id }), `Patient/${id}`, { ifMatch: 'W/"9"' }),
          put(patient('b2'), `Patient/${randomUUID()}`),
          post(observation(id)),
          get(`${subject().root}/Observation?patient=${id}`),
          { request: { method: 'DELETE', url: `Patient/${id}` } },
          post(patient('b3'), { request: { ifNoneExist: 'identifier=b3' } }),
          post(patient('b3', { gender: 'male' }), { request: { ifNoneExist: 'identifier=b3' } }),
          get('Patient?foo=1'),
          put({ ...patient('b4'), id: 'x' }, 'Patient/x'),
        ],
        { token },
      );
      expect(reply.status, reply.text).toBe(200);
      expect(reply.body['type']).toBe('batch-response');
      expect(statuses(reply)).toEqual([
        '201',
        '400',
        '200',
        '404',
        '200',
        '412',
        '201',
        '403',
        '200',
        '405',
        '201',
        '200',
        '400',
        '404',
      ]);
      const entries = reply.body['entry'] as Body[];
      expect(entries[1]?.['response'].outcome).toMatchObject({ issue: [{ expression: ['Patient.gender'] }] });
      expect(entries[4]?.['resource'].total).toBe(1);
      // It was found, and what the second sent is not stored.
      expect(entries[11]?.['response'].location).toBe(entries[10]?.['response'].location);
      expect(entries[11]).not.toHaveProperty('resource');
    });

    test('a condition can contain characters that a header cannot', async () => {
      const entry = post(patient('b6', { name: [{ text: '王小明' }] }), { request: { ifNoneExist: 'name=王小明' } });
      expect(statuses(await send('batch', [entry]))).toEqual(['201']);
      expect(statuses(await send('transaction', [entry]))).toEqual(['200']);
    });

    test('an unknown patient and a failed condition stay with their entry', async () => {
      const reply = await send('batch', [
        post(observation(randomUUID())),
        post(patient('b5'), { request: { ifNoneExist: 'foo=1' } }),
        put(patient('b5', { id: randomUUID() }), 'Patient?identifier=b5'),
        post(patient('b5')),
      ]);
      expect(statuses(reply)).toEqual(['422', '400', '400', '201']);
    });
  });

  test.each<[string, unknown, number, string, string | undefined]>([
    ['a resource', { resourceType: 'Patient' }, 400, 'structure', 'Bundle'],
    ['another type of Bundle', { resourceType: 'Bundle', type: 'collection' }, 400, 'value', 'Bundle.type'],
    [
      'entries that are not a list',
      { resourceType: 'Bundle', type: 'batch', entry: {} },
      400,
      'structure',
      'Bundle.entry',
    ],
    [
      'an entry without a request',
      { resourceType: 'Bundle', type: 'batch', entry: [{}] },
      400,
      'required',
      'Bundle.entry[0].request',
    ],
    [
      'a request without a URL',
      { resourceType: 'Bundle', type: 'batch', entry: [{ request: { method: 'GET' } }] },
      400,
      'required',
      'Bundle.entry[0].request.url',
    ],
    [
      'too many entries',
      {
        resourceType: 'Bundle',
        type: 'batch',
        entry: Array.from({ length: 1001 }, () => ({ request: { method: 'GET', url: 'Patient' } })),
      },
      422,
      'too-costly',
      undefined,
    ],
  ])('rejects %s', async (_, body, status, code, place) => {
    expectOutcome(await subject().call('POST', '', { body: body as object }), status, code, place);
  });

  test('an empty bundle is an empty answer', async () => {
    for (const type of ['batch', 'transaction']) {
      const reply = await subject().call('POST', '/', { body: { resourceType: 'Bundle', type } });
      expect([reply.status, reply.body]).toEqual([200, { resourceType: 'Bundle', type: `${type}-response` }]);
    }
  });
}

/** Bundles whose comparisons would be too much work. */
export function largeBundleCases(subject: () => Subject): void {
  test.each(['batch', 'transaction'])(
    'rejects conditions of a %s that compare too many names with its entries',
    async (type) => {
      const entry = (at: number) => ({
        request: { method: 'POST', url: 'Patient', ifNoneExist: `name=abc${at}` },
        resource: {
          resourceType: 'Patient',
          name: Array.from({ length: 16 }, (_, each) => ({ family: `${each}${'ab'.repeat(120)}` })),
        },
      });
      const body = { resourceType: 'Bundle', type, entry: Array.from({ length: 200 }, (_, at) => entry(at)) };
      const reply = await subject().call('POST', '', { body });
      expectOutcome(reply, 422, 'too-costly');
      expect(JSON.stringify(reply.body)).toContain('bundle-comparisons');
    },
  );
}
