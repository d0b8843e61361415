/** JSON Patch: what it does, alone and in bundles, what it refuses, and that no simultaneous write is lost. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { until } from '../../stack/services/until.ts';
import { type Body, type Call, expectOutcome, observation, patient, type Reply, type Subject } from './subject.ts';

const JSON_PATCH = 'application/json-patch+json';
const AT_ONCE = 8;

export function patchCases(subject: () => Subject): void {
  const call: Subject['call'] = (...args) => subject().call(...args);
  const patch = (path: string, operations: unknown, { headers, ...more }: Call = {}): Promise<Reply> =>
    call('PATCH', path, {
      body: typeof operations === 'string' ? operations : JSON.stringify(operations),
      headers: { 'content-type': JSON_PATCH, ...headers },
      ...more,
    });
  const asBinary = (operations: unknown): Body => ({
    resourceType: 'Binary',
    contentType: JSON_PATCH,
    data: Buffer.from(JSON.stringify(operations)).toString('base64'),
  });
  const entry = (url: string, operations: unknown, request: Body = {}): Body => ({
    resource: asBinary(operations),
    request: { method: 'PATCH', url, ...request },
  });
  const send = (type: string, entries: readonly Body[], more: Call = {}): Promise<Reply> =>
    call('POST', '', { body: { resourceType: 'Bundle', type, entry: entries }, ...more });
  const statuses = (reply: Reply): string[] =>
    (reply.body['entry'] as Body[]).map((one) => String(one['response'].status).slice(0, 3));
  const female = [{ op: 'add', path: '/gender', value: 'female' }];
  const made = async (value: string = randomUUID()): Promise<string> => subject().create(patient(value));
  const noted = async (): Promise<string> => {
    const p = await made();
    const body = JSON.stringify(observation(p, { valueQuantity: { value: 0 } })).replace('"value":0', '"value":1.50');
    return String((await call('POST', '/Observation', { body })).body['id']);
  };
  const versionOf = async (path: string): Promise<string | null> => (await call('GET', path)).headers.get('etag');

  test('changes a part and keeps the rest digit for digit, in two round trips', async () => {
    const o = await noted();
    const before = subject().db.endpoint.requests();
    const reply = await patch(
      `/Observation/${o}`,
      `[{"op":"test","path":"/valueQuantity/value","value":15e-1},{"op":"add","path":"/referenceRange","value":[{"low":{"value":0.500}}]}]`,
    );
    expect(reply.status, reply.text).toBe(200);
    expect(subject().db.endpoint.requests() - before).toBe(2);
    expect(reply.text).toContain('"value":1.50}');
    expect(reply.text).toContain('"low":{"value":0.500}');
    expect(reply.headers.get('etag')).toBe('W/"2"');
    expect(reply.headers.get('location')).toBe(`${subject().root}/Observation/${o}/_history/2`);
    expect((await call('GET', `/Observation/${o}`)).text).toBe(reply.text);
  });

  test('a search matches the new values afterwards, and no old value', async () => {
    const [was, is] = [randomUUID(), randomUUID()];
    const id = await made(was);
    expect((await patch(`/Patient/${id}`, [{ op: 'replace', path: '/identifier/0/value', value: is }])).status).toBe(
      200,
    );
    const found = async (value: string) => (await call('GET', `/Patient?identifier=${value}`)).body['total'];
    expect([await found(was), await found(is)]).toEqual([0, 1]);
  });

  test('a patch without a change, or only of the order of members, makes no version', async () => {
    const id = await subject().create(patient(randomUUID(), { gender: 'other' }));
    const operations = [
      { op: 'move', from: '/identifier', path: '/contact' },
      { op: 'move', from: '/contact', path: '/identifier' },
      { op: 'replace', path: '/meta/versionId', value: '1' },
    ];
    for (const one of [operations, [], [{ op: 'test', path: '/resourceType', value: 'Patient' }]]) {
      const reply = await patch(`/Patient/${id}`, one);
      expect([reply.status, reply.headers.get('etag')], reply.text).toEqual([200, 'W/"1"']);
    }
  });

  test('a patch cannot change elements that the server assigns', async () => {
    const id = await made();
    const path = `/Patient/${id}`;
    const other = [{ op: 'replace', path: '/id', value: randomUUID() }];
    expectOutcome(await patch(path, other), 400, 'value', 'Patient.id');
    const another = [{ op: 'replace', path: '/resourceType', value: 'Observation' }];
    expect((await patch(path, another)).status).toBe(400);
    const reply = await patch(path, [
      { op: 'remove', path: '/id' },
      {
        op: 'replace',
        path: '/meta',
        value: { versionId: '77', lastUpdated: '2001-01-01T00:00:00Z', source: 'urn:x' },
      },
      { op: 'add', path: '/active', value: true },
    ]);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({ id, active: true, meta: { versionId: '2', source: 'urn:x' } });
    expect(reply.body['meta'].lastUpdated).not.toMatch(/^2001/);
  });

  test.each<[string, unknown, number, string]>([
    ['a test that fails', [{ op: 'test', path: '/gender', value: 'male' }, ...female], 422, 'conflict'],
    ['a missing element', [...female, { op: 'remove', path: '/maritalStatus' }], 422, 'processing'],
    ['an index behind the last', [{ op: 'add', path: '/identifier/2', value: {} }], 422, 'processing'],
    ['all of it removed', [{ op: 'remove', path: '' }], 422, 'processing'],
    [
      'copies of copies',
      Array.from({ length: 60 }, () => ({ op: 'copy', from: '/identifier', path: '/identifier/-' })),
      422,
      'too-costly',
    ],
    [
      'too many operations',
      Array.from({ length: 1001 }, () => ({ op: 'test', path: '/a', value: 1 })),
      422,
      'too-costly',
    ],
    ['a result that is not a resource', [{ op: 'replace', path: '', value: [] }], 400, 'structure'],
    ['a result that is not FHIR', [{ op: 'add', path: '/gender', value: 'x' }], 400, 'code-invalid'],
    ['no array', { op: 'add', path: '/gender', value: 'female' }, 400, 'structure'],
    ['no operation', [{ op: 'merge', path: '/gender', value: 'female' }], 400, 'structure'],
    ['a path that is not a pointer', [{ op: 'remove', path: 'gender' }], 400, 'structure'],
    ['no value', [{ op: 'add', path: '/gender' }], 400, 'structure'],
    ['a value into itself', [{ op: 'move', from: '/name', path: '/name/0' }], 400, 'structure'],
    ['a member twice', '[{"op":"add","path":"/gender","value":"female","op":"remove"}]', 400, 'structure'],
    ['no JSON', '[', 400, 'structure'],
    ['nothing', ' ', 400, 'structure'],
  ])('%s changes nothing', async (_, operations, status, code) => {
    const path = `/Patient/${await made()}`;
    expectOutcome(await patch(path, operations), status, code);
    expect(await versionOf(path)).toBe('W/"1"');
    const answer = await send('batch', [
      {
        resource: {
          ...asBinary([]),
          data: Buffer.from(typeof operations === 'string' ? operations : JSON.stringify(operations)).toString(
            'base64',
          ),
        },
        request: { method: 'PATCH', url: path.slice(1) },
      },
    ]);
    expect(statuses(answer)).toEqual([String(status)]);
  });

  test('a patient of another site cannot be patched in', async () => {
    const [o, theirs] = [await noted(), await subject().create(patient(randomUUID()), subject().otherToken)];
    const operations = [{ op: 'replace', path: '/subject/reference', value: `Patient/${theirs}` }];
    expectOutcome(await patch(`/Observation/${o}`, operations), 422, 'not-found', 'Observation.subject.reference');
  });

  test('a resource does not grow beyond the limit of a request body', async () => {
    const path = `/Patient/${await made()}`;
    const large = {
      op: 'add',
      path: '/text',
      value: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${'x'.repeat(1_900_000)}</div>` },
    };
    expect((await patch(path, [large])).status).toBe(200);
    const more = [{ op: 'add', path: '/extension', value: [{ url: 'urn:a', valueString: 'y'.repeat(400_000) }] }];
    expectOutcome(await patch(path, more), 413, 'too-long');
    expect((await patch(path, [{ op: 'remove', path: '/text' }])).status).toBe(200);
  });

  test.each([
    ['application/fhir+json', { resourceType: 'Parameters', parameter: [] }],
    ['application/merge-patch+json', { gender: 'female' }],
    ['application/xml-patch+xml', '<diff/>'],
    ['application/json-patch+json; charset=latin1', female],
  ])('%s is 415, and the answer names the supported format', async (type, body) => {
    const path = `/Patient/${await made()}`;
    const reply = await call('PATCH', path, { body, headers: { 'content-type': type } });
    expectOutcome(reply, 415, 'not-supported');
    expect(reply.headers.get('accept-patch')).toBe(JSON_PATCH);
    expect(reply.body['issue'][0].diagnostics).toMatch(/FHIRPath Patch/);
  });

  test('keeps large documents byte for byte in any place', async () => {
    const p = await made();
    const [scan, photo] = ['QUJD'.repeat(30_000), `${'eHl6'.repeat(2_000)}eA==`];
    const attachment = (data: string): Body => ({ attachment: { contentType: 'application/pdf', data } });
    const body = {
      resourceType: 'DocumentReference',
      status: 'current',
      subject: { reference: `Patient/${p}` },
      content: [attachment(scan), attachment(photo)],
    };
    const created = await call('POST', '/DocumentReference', { body });
    const path = `/DocumentReference/${String(created.body['id'])}`;
    const superseded = [
      { op: 'test', path: '/content/0/attachment/data', value: scan },
      { op: 'replace', path: '/status', value: 'superseded' },
      { op: 'move', from: '/content/0', path: '/content/1' },
    ];
    const reply = await patch(path, superseded);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({ status: 'superseded', content: [attachment(photo), attachment(scan)] });
    expect((await call('GET', path)).text).toBe(reply.text);

    // The values of other members have other rules.
    const copied = [{ op: 'copy', from: '/content/0/attachment/data', path: '/description' }];
    expect((await patch(`/DocumentReference?patient=${p}`, copied)).body).toMatchObject({ description: photo });

    const marked = [
      {
        op: 'add',
        path: '/meta/extension',
        value: [{ url: 'urn:x', valueAttachment: { contentType: 'application/pdf' } }],
      },
      { op: 'copy', from: '/content/1/attachment/data', path: '/meta/extension/0/valueAttachment/data' },
    ];
    const batch = await send('batch', [entry(path.slice(1), marked)]);
    expect(statuses(batch)).toEqual(['200']);
    const { body: last } = await call('GET', path);
    expect(last).toMatchObject({ content: [attachment(photo), attachment(scan)] });
    expect(last['meta']).toMatchObject({ extension: [{ valueAttachment: { data: scan } }] });
    expectOutcome(await patch(path, superseded), 422, 'conflict');
  });

  test('If-Match, If-Unmodified-Since and If-None-Match', async () => {
    const path = `/Patient/${await made()}`;
    const withHeader = (headers: Record<string, string>, operations: unknown = female) =>
      patch(path, operations, { headers });
    expectOutcome(await withHeader({ 'if-match': 'W/"2"' }), 412, 'conflict');
    expectOutcome(await withHeader({ 'if-match': 'x' }), 400, 'value', 'http.If-Match');
    expectOutcome(await withHeader({ 'if-none-match': '*' }), 412, 'conflict');
    expectOutcome(await withHeader({ 'if-none-match': 'W/"1"' }), 400, 'value', 'http.If-None-Match');
    expectOutcome(await withHeader({ 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }), 412, 'conflict');
    expectOutcome(await withHeader({ 'if-none-exist': 'identifier=x' }), 400, 'value', 'http.If-None-Exist');
    // Before what the patch says is looked at.
    expectOutcome(await withHeader({ 'if-match': 'W/"2"' }, [{ op: 'remove', path: '/x' }]), 412, 'conflict');
    expect(await versionOf(path)).toBe('W/"1"');
    expect((await withHeader({ 'if-match': 'W/"1"' })).status).toBe(200);
    expect((await withHeader({ 'if-match': '*' }, [{ op: 'remove', path: '/gender' }])).headers.get('etag')).toBe(
      'W/"3"',
    );
  });

  test('Prefer selects the answer', async () => {
    const path = `/Patient/${await made()}`;
    const minimal = await patch(path, female, { headers: { prefer: 'return=minimal' } });
    expect([minimal.status, minimal.text, minimal.headers.get('etag')]).toEqual([200, '', 'W/"2"']);
    const reported = await patch(`${path}?_pretty=true`, [], { headers: { prefer: 'return=OperationOutcome' } });
    expect(reported.body['issue'][0].diagnostics).toMatch(/unchanged/);
  });

  test('needs both scopes: a client cannot detect unreadable values by trying', async () => {
    const id = await made();
    for (const held of ['read', 'write']) {
      const token = await subject().tokenWith([`system/Patient.${held}`]);
      for (const path of [`/Patient/${id}`, `/Patient?_id=${id}`]) {
        const reply = await patch(path, female, { token });
        expectOutcome(reply, 403, 'forbidden');
        expect(reply.headers.get('www-authenticate')).toContain('scope="system/Patient.read system/Patient.write"');
      }
      expect(statuses(await send('batch', [entry(`Patient/${id}`, female)], { token }))).toEqual(['403']);
    }
    expect(await versionOf(`/Patient/${id}`)).toBe('W/"1"');
  });

  test('an unknown id and an invalid id are 404', async () => {
    for (const id of [randomUUID(), 'example']) expectOutcome(await patch(`/Patient/${id}`, female), 404, 'not-found');
  });

  describe('conditional', () => {
    test('patches the resource that the condition finds', async () => {
      const value = randomUUID();
      const id = await made(value);
      const before = subject().db.endpoint.requests();
      const reply = await patch(`/Patient?identifier=${value}`, female);
      expect([reply.status, reply.body['id'], reply.body['gender']], reply.text).toEqual([200, id, 'female']);
      expect(subject().db.endpoint.requests() - before).toBe(2);
      const stale = { headers: { 'if-match': 'W/"1"' } };
      expectOutcome(await patch(`/Patient?identifier=${value}`, [], stale), 412, 'conflict');
      await made(value);
      expectOutcome(await patch(`/Patient?identifier=${value}`, female), 412, 'multiple-matches');
      expectOutcome(await patch(`/Patient?identifier=${randomUUID()}`, female), 404, 'not-found');
      expectOutcome(await patch('/Patient', female), 400, 'invalid');
      expectOutcome(await patch('/Patient?foo=1', female), 400, 'not-supported', 'http.foo');
      expectOutcome(await patch(`/Patient/${id}?identifier=${value}`, female), 400, 'not-supported', 'http.identifier');
    });

    test('patches the survivor of a merge', async () => {
      const value = randomUUID();
      const survivor = await made(value);
      const link = [{ other: { reference: `Patient/${survivor}` }, type: 'replaced-by' }];
      await subject().create(patient(value, { active: false, link }));
      const reply = await patch(`/Patient?identifier=${value}`, female);
      expect([reply.status, reply.body['id']], reply.text).toEqual([200, survivor]);
    });

    test('may remove the value that its condition matches', async () => {
      const value = randomUUID();
      const id = await made(value);
      const reply = await patch(`/Patient?identifier=${value}`, [{ op: 'remove', path: '/identifier' }]);
      expect([reply.status, reply.body['id'], reply.body['identifier']], reply.text).toEqual([200, id, undefined]);
    });
  });

  describe('in bundles', () => {
    test('a batch patches each for itself, all of them after one look', async () => {
      const value = randomUUID();
      const [one, two, three] = [await made(), await made(value), await made()];
      const before = subject().db.endpoint.requests();
      const reply = await send('batch', [
        entry(`Patient/${one}`, female),
        entry(`Patient/${one.replace(/^.{8}/, 'ffffffff')}`, female),
        entry(`Patient?identifier=${value}`, female, { ifMatch: 'W/"1"' }),
        entry(`Patient/${three}`, female, { ifMatch: 'W/"9"' }),
        {
          resource: { resourceType: 'Parameters', parameter: [] },
          request: { method: 'PATCH', url: `Patient/${three}` },
        },
        {
          resource: { ...asBinary(female), contentType: 'application/fhir+json' },
          request: { method: 'PATCH', url: `Patient/${three}` },
        },
        { resource: { ...asBinary(female), data: '!' }, request: { method: 'PATCH', url: `Patient/${three}` } },
        { resource: { ...asBinary(female), patch: [] }, request: { method: 'PATCH', url: `Patient/${three}` } },
        { request: { method: 'PATCH', url: `Patient/${three}` } },
        { resource: patient('x'), request: { method: 'POST', url: 'Patient' } },
        { request: { method: 'GET', url: `Patient/${one}` } },
      ]);
      expect(reply.status, reply.text).toBe(200);
      expect(subject().db.endpoint.requests() - before).toBe(2);
      expect(statuses(reply)).toEqual(['200', '404', '200', '412', '415', '415', '400', '400', '400', '201', '200']);
      const entries = reply.body['entry'] as Body[];
      expect(entries[0]).toMatchObject({ resource: { gender: 'female' }, response: { etag: 'W/"2"' } });
      expect(entries[2]?.['resource'].id).toBe(two);
      expect(entries[10]?.['resource'].gender).toBe('female');
      expect(await versionOf(`/Patient/${three}`)).toBe('W/"1"');
    });

    test('two of one resource: a transaction rejects them, a batch does the first', async () => {
      const id = await made();
      const both = [
        entry(`Patient/${id}`, female),
        entry(`Patient/${id}`, [{ op: 'add', path: '/active', value: true }]),
      ];
      expectOutcome(await send('transaction', both), 400, 'duplicate');
      expect(await versionOf(`/Patient/${id}`)).toBe('W/"1"');
      const reply = await send('batch', both);
      expect(statuses(reply)).toEqual(['200', '409']);
      expect(reply.body['entry'][1].response.outcome.issue[0].code).toBe('conflict');
    });

    test('a transaction is atomic, and its entries can refer to each other', async () => {
      const [p, o] = [await made(), await noted()];
      const fullUrl = `urn:uuid:${randomUUID()}`;
      const entries = (status: string) => [
        { fullUrl, resource: patient(randomUUID()), request: { method: 'POST', url: 'Patient' } },
        entry(`Observation/${o}`, [
          { op: 'replace', path: '/subject/reference', value: fullUrl },
          { op: 'add', path: '/status', value: status },
        ]),
        entry(`Patient/${p}`, female),
      ];
      const refused = await send('transaction', entries('x'));
      expectOutcome(refused, 400, 'code-invalid', 'Bundle.entry[1].resource.status');
      expect([await versionOf(`/Patient/${p}`), await versionOf(`/Observation/${o}`)]).toEqual(['W/"1"', 'W/"1"']);
      const reply = await send('transaction', entries('amended'));
      expect(statuses(reply)).toEqual(['201', '200', '200']);
      const [created, patched] = (reply.body['entry'] as Body[]).map((one) => one['resource']);
      expect(patched).toMatchObject({ status: 'amended', subject: { reference: `Patient/${created?.['id']}` } });
      expect((await call('GET', `/Observation/${o}`)).text).toBe(
        JSON.stringify(patched).replace('"value":1.5}', '"value":1.50}'),
      );
    });

    test('a hundred at most', async () => {
      const id = await made();
      const entries = (n: number) => Array.from({ length: n }, () => entry(`Patient/${id}`, []));
      expect(new Set(statuses(await send('batch', entries(100))))).toEqual(new Set(['200']));
      expectOutcome(await send('batch', entries(101)), 422, 'too-costly');
    });
  });

  describe('beside other writers', () => {
    test(`${AT_ONCE} simultaneous patches do not undo each other`, async () => {
      const id = await made();
      const replies = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, n) =>
          patch(`/Patient/${id}`, [{ op: 'add', path: '/identifier/-', value: { system: 'urn:n', value: `${n}` } }]),
        ),
      );
      const done = replies.flatMap(({ status }, n) => (status === 200 ? [`${n}`] : []));
      expect(replies.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
      expect(done.length).toBeGreaterThan(0);
      const kept = (await call('GET', `/Patient/${id}`)).body['identifier'].slice(1) as Body[];
      expect(kept.map((one) => String(one['value'])).toSorted()).toEqual(done.toSorted());
    });

    /** Does something while another has changed the resource and not said so yet; then it has. */
    const overtaken = async (id: string, ask: () => Promise<Reply>): Promise<Reply> => {
      const { client } = subject();
      await client.query('begin');
      await client.query(
        `insert into resource_history (site_id, type, id, version, last_updated, meta, body, patient_id, written_by)
          select site_id, type, id, version, last_updated, meta, body, patient_id, written_by from resource where id = $1`,
        [id],
      );
      await client.query(
        `update resource set version = version + 1, body = replace(body, '"status":"final"', '"status":"amended"') where id = $1`,
        [id],
      );
      const asked = ask();
      await until('it waits for what has changed', async () => {
        const waits = 'select from pg_locks where not granted and transactionid = pg_current_xact_id()::xid';
        return (await client.query(waits)).rowCount === 1;
      });
      await client.query('commit');
      return asked;
    };
    const commented = [{ op: 'add', path: '/note', value: [{ text: 'seen' }] }];

    test('a patch that another write overtook is applied to the new version', async () => {
      const o = await noted();
      const before = subject().db.endpoint.requests();
      const reply = await overtaken(o, () => patch(`/Observation/${o}`, commented));
      expect(reply.body, reply.text).toMatchObject({
        status: 'amended',
        note: [{ text: 'seen' }],
        meta: { versionId: '3' },
      });
      expect(subject().db.endpoint.requests() - before).toBe(4);
    });

    test('rejects a patch whose test fails by now, or whose version is not current', async () => {
      const tested = [{ op: 'test', path: '/status', value: 'final' }, ...commented];
      const one = await noted();
      expectOutcome(await overtaken(one, () => patch(`/Observation/${one}`, tested)), 422, 'conflict');
      const two = await noted();
      const headers = { 'if-match': 'W/"1"' };
      expectOutcome(await overtaken(two, () => patch(`/Observation/${two}`, commented, { headers })), 412, 'conflict');
      const three = await noted();
      const reply = await overtaken(three, () => send('transaction', [entry(`Observation/${three}`, commented)]));
      expect(statuses(reply)).toEqual(['200']);
      expect(reply.body['entry'][0].resource.status).toBe('amended');
    });
  });
}
