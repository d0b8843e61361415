/** Another site's data: every interaction and every parameter, with its ids, references, cursors and conditions. */
import { randomUUID } from 'node:crypto';

import { beforeAll, describe, expect, test } from 'vitest';

import { begin, complete, manifestOf, exported } from './bulk-export.ts';
import { type Body, linkOf, observation, patient, type Reply, type Subject } from './subject.ts';

type Request = readonly [method: string, path: string, options?: { body?: object; headers?: Record<string, string> }];

export function isolationCases(subject: () => Subject): void {
  let theirs: { patient: string; observation: string; report: string; export: string };
  let cursor: string;
  let before: string;
  const mine = () => subject().otherToken;

  /** Everything that the site has, as text. */
  const snapshot = async (): Promise<string> => {
    const tables = [
      'resource',
      'resource_history',
      'resource_identifier',
      'resource_token',
      'patient_search',
      'study',
      'report',
    ];
    const dumps: string[] = [];
    for (const table of tables) {
      const { rows } = await subject().client.query<{ dump: string }>(
        `select coalesce(json_agg(t order by t::text)::text, '') as dump from ${table} t where t.site_id = $1`,
        [subject().site],
      );
      dumps.push(rows[0]?.dump ?? '');
    }
    return dumps.join('\n');
  };

  beforeAll(async () => {
    const who = await subject().create(
      patient('theirs', { name: [{ family: 'Theirname' }], birthDate: '1931-01-31', gender: 'other' }),
    );
    const note = await subject().create(
      observation(who, { code: { coding: [{ system: 'urn:theirs', code: 'theirs' }] } }),
    );
    const report = await subject().create({
      resourceType: 'DiagnosticReport',
      status: 'final',
      code: { text: 'x' },
      subject: { reference: `Patient/${who}` },
    });
    const begun = await begin(subject(), '/$export');
    await complete(subject(), begun);
    theirs = { patient: who, observation: note, report, export: begun.split('/').at(-1) ?? '' };
    await subject().create(patient('theirs-2'));
    cursor = linkOf(await subject().call('GET', '/Patient?_count=1'), 'next') ?? '';
    before = await snapshot();
  });

  const ask = ([method, path, options = {}]: Request): Promise<Reply> =>
    subject().call(method, path, { token: mine(), ...options });

  /** The same status and the same body as for something that never was. */
  const expectSame = async (requestFor: (ids: typeof theirs, identifier: string) => Request): Promise<void> => {
    const unknown = { patient: randomUUID(), observation: randomUUID(), report: randomUUID(), export: randomUUID() };
    const [their, none] = await Promise.all([
      ask(requestFor(theirs, 'theirs')),
      ask(requestFor(unknown, randomUUID())),
    ]);
    const neutral = (reply: Reply, ids: typeof theirs) =>
      Object.values(ids).reduce((text, id) => text.replaceAll(id, 'ID'), reply.text);
    expect(their.status, their.text).toBe(none.status);
    expect(their.status).toBeGreaterThanOrEqual(400);
    expect(neutral(their, theirs)).toBe(neutral(none, unknown));
    // `connection` is of the connection, not of the answer (RFC 9110 §7.6.1).
    const own = ['x-request-id', 'date', 'connection', 'keep-alive'];
    const headers = (reply: Reply) => [...reply.headers].filter(([name]) => !own.includes(name));
    expect(headers(their)).toEqual(headers(none));
  };

  const bundle = (type: string, ...entry: object[]) => ({ body: { resourceType: 'Bundle', type, entry } });
  const PATCH = { 'content-type': 'application/json-patch+json' };
  const patchEntry = (url: string) => ({
    resource: { resourceType: 'Binary', contentType: PATCH['content-type'], data: btoa('[]') },
    request: { method: 'PATCH', url },
  });
  const put = (resource: Body, url: string) => ({ resource, request: { method: 'PUT', url } });
  const post = (resource: Body, ifNoneExist?: string) => ({
    resource,
    request: {
      method: 'POST',
      url: resource['resourceType'] as string,
      ...(ifNoneExist === undefined ? {} : { ifNoneExist }),
    },
  });

  test.each<[string, (ids: typeof theirs, identifier: string) => Request]>([
    ['read', (ids) => ['GET', `/Patient/${ids.patient}`]],
    ['read with If-None-Match', (ids) => ['GET', `/Patient/${ids.patient}`, { headers: { 'if-none-match': 'W/"1"' } }]],
    ['vread', (ids) => ['GET', `/Observation/${ids.observation}/_history/1`]],
    ['history', (ids) => ['GET', `/DiagnosticReport/${ids.report}/_history`]],
    ['everything', (ids) => ['GET', `/Patient/${ids.patient}/$everything`]],
    ['everything by POST', (ids) => ['POST', `/Patient/${ids.patient}/$everything?_type=Observation`]],
    ['update', (ids) => ['PUT', `/Patient/${ids.patient}`, { body: patient('x', { id: ids.patient }) }]],
    [
      'update of an Observation',
      (ids) => [
        'PUT',
        `/Observation/${ids.observation}`,
        { body: { ...observation(ids.patient), subject: { display: 'x' } } },
      ],
    ],
    [
      'update with If-Match',
      (ids) => [
        'PUT',
        `/Patient/${ids.patient}`,
        { body: patient('x', { id: ids.patient }), headers: { 'if-match': 'W/"1"' } },
      ],
    ],
    [
      'update without an id, with If-Match',
      (ids) => ['PUT', `/Patient/${ids.patient}`, { body: patient('x'), headers: { 'if-match': 'W/"1"' } }],
    ],
    ['patch', (ids) => ['PATCH', `/Observation/${ids.observation}`, { body: [], headers: PATCH }]],
    ['conditional patch', (ids) => ['PATCH', `/Patient?_id=${ids.patient}`, { body: [], headers: PATCH }]],
    [
      'conditional patch by an identifier',
      (_, identifier) => ['PATCH', `/Patient?identifier=${identifier}`, { body: [], headers: PATCH }],
    ],
    ['transaction: patch', (ids) => ['POST', '', bundle('transaction', patchEntry(`Patient/${ids.patient}`))]],
    ['a reference', (ids) => ['POST', '/Observation', { body: observation(ids.patient) }]],
    [
      'an absolute reference',
      (ids) => [
        'POST',
        '/Observation',
        { body: observation('', { subject: { reference: `${subject().root}/Patient/${ids.patient}` } }) },
      ],
    ],
    ['a reference to a version', (ids) => ['POST', '/Observation', { body: observation(`${ids.patient}/_history/1`) }]],
    [
      'conditional update, id in the body',
      (ids) => ['PUT', `/Patient?_id=${ids.patient}`, { body: patient('x', { id: ids.patient }) }],
    ],
    ['transaction: reference', (ids) => ['POST', '', bundle('transaction', post(observation(ids.patient)))]],
    [
      'transaction: conditional reference',
      (_, identifier) => [
        'POST',
        '',
        bundle('transaction', post(observation('', { subject: { reference: `Patient?identifier=${identifier}` } }))),
      ],
    ],
    [
      'transaction: update',
      (ids) => ['POST', '', bundle('transaction', put(patient('x', { id: ids.patient }), `Patient/${ids.patient}`))],
    ],
    [
      'transaction: read',
      (ids) => ['POST', '', bundle('transaction', { request: { method: 'GET', url: `Patient/${ids.patient}` } })],
    ],
    ['status of an export', (ids) => ['GET', `/$export/${ids.export}`]],
    ['cancelling an export', (ids) => ['DELETE', `/$export/${ids.export}`]],
    [
      'a file of an export',
      (ids) => ['GET', `/$export/${ids.export}/Patient.1.ndjson`, { headers: { accept: '*/*' } }],
    ],
    [
      'transaction: everything',
      (ids) => [
        'POST',
        '',
        bundle('transaction', { request: { method: 'GET', url: `Patient/${ids.patient}/$everything` } }),
      ],
    ],
  ])('%s does not distinguish them', async (_, requestFor) => {
    await expectSame(requestFor);
  });

  test('a transaction that reads a superseded version of the other site writes nothing', async () => {
    const [there, here] = [subject(), await subject().newSite()];
    const id = await there.create(patient('superseded'));
    expect((await there.call('PUT', `/Patient/${id}`, { body: patient('newer', { id }) })).status).toBe(200);
    const read = { request: { method: 'GET', url: `Patient/${id}/_history/1` } };
    const body = bundle('transaction', post(patient('never-written')), read);
    const reply = await there.call('POST', '', { ...body, token: here.token });
    expect(reply.status, reply.text).toBe(404);
    const found = await there.call('GET', '/Patient?identifier=never-written&_total=accurate', { token: here.token });
    expect(found.body['total']).toBe(0);
    before = await snapshot();
  });

  test('batch entries do not distinguish them', async () => {
    const requests = (ids: typeof theirs) => [
      { request: { method: 'GET', url: `Patient/${ids.patient}` } },
      { request: { method: 'GET', url: `Observation/${ids.observation}/_history/1` } },
      put(patient('x', { id: ids.patient }), `Patient/${ids.patient}`),
      post(observation(ids.patient)),
      { request: { method: 'GET', url: `Observation?patient=${ids.patient}` } },
      { request: { method: 'GET', url: `Patient/${ids.patient}/$everything` } },
    ];
    const unknown = { ...theirs, patient: randomUUID(), observation: randomUUID() };
    const [their, none] = await Promise.all(
      [theirs, unknown].map((ids) => ask(['POST', '', bundle('batch', ...requests(ids))])),
    );
    expect(their?.text.replaceAll(theirs.patient, 'ID')).toBe(none?.text.replaceAll(unknown.patient, 'ID'));
    const entries = (their?.body['entry'] ?? []) as Body[];
    expect(entries.map((entry) => entry['response'].status as string)).toEqual([
      '404 Not Found',
      '404 Not Found',
      '404 Not Found',
      '422 Unprocessable Content',
      '200 OK',
      '404 Not Found',
    ]);
  });

  test('no search parameter finds a resource of the other site', async () => {
    const queries = [
      `Patient?_id=${theirs.patient}`,
      'Patient?identifier=theirs',
      'Patient?identifier=urn:mrn|theirs',
      'Patient?identifier=urn:mrn|',
      'Patient?name=Theirname',
      'Patient?birthdate=1931-01-31',
      'Patient?gender=other',
      'Patient?_lastUpdated=gt2000',
      'Patient?',
      'Patient?_sort=name',
      'Patient?_sort=birthdate&gender=other',
      'Patient?_sort=-_lastUpdated',
      `Observation?patient=${theirs.patient}`,
      'Observation?code=theirs',
      'Observation?code=urn:theirs|',
      `Observation?code=theirs&patient=Patient/${theirs.patient}`,
      `DiagnosticReport?patient=${theirs.patient}`,
      'DiagnosticReport?status=final',
      `DiagnosticReport?_sort=_lastUpdated&patient=${theirs.patient}`,
    ];
    const { token } = await subject().newSite();
    for (const query of queries) {
      const reply = await subject().call('GET', `/${query}&_total=accurate`, { token });
      expect(reply.body['total'], query).toBe(0);
      const count = await subject().call('GET', `/${query}&_summary=count`, { token });
      expect(count.body['total'], query).toBe(0);
    }
  });

  test('an export contains no data of the other site', async () => {
    const { token } = await subject().newSite();
    expect((await manifestOf(subject(), '/$export', { token })).output).toEqual([]);
    const own = await subject().create(patient('mine'), token);
    const all = await exported(await manifestOf(subject(), '/$export', { token }), token);
    expect(all.map(({ id }) => id as string)).toEqual([own]);
  });

  test('a cursor of the other site opens no page', async () => {
    expect((await ask(['GET', cursor])).status).toBe(400);
    const history = linkOf(await subject().call('GET', '/Patient/_history?_count=1'), 'next') ?? '';
    expect((await ask(['GET', history])).status).toBe(400);
    const everything = linkOf(await subject().call('GET', `/Patient/${theirs.patient}/$everything?_count=1`), 'next');
    expect((await ask(['GET', everything ?? ''])).status).toBe(400);
  });

  test('the history of a type has none of their versions', async () => {
    const { token } = await subject().newSite();
    for (const type of ['Patient', 'Observation', 'DiagnosticReport']) {
      expect((await subject().call('GET', `/${type}/_history`, { token })).body['total']).toBe(0);
    }
  });

  test('a link to a patient of the other site reveals no data of that site and changes none', async () => {
    const link = [{ type: 'replaced-by', other: { reference: `Patient/${theirs.patient}` } }];
    const { token } = await subject().newSite();
    const id = await subject().create(patient('impostor', { link }), token);
    const own = await subject().call('GET', `/Patient/${id}/$everything`, { token });
    expect(own.body['total']).toBe(1);
    expect((await subject().call('GET', `/Patient/${theirs.patient}/$everything`, { token })).status).toBe(404);
    const seen = await subject().call('GET', `/Patient/${theirs.patient}/$everything`);
    expect(seen.text).not.toContain(id);
  });

  describe('conditions do not find resources of the other site', () => {
    test('If-None-Exist creates', async () => {
      const reply = await ask([
        'POST',
        '/Patient',
        { body: patient('theirs'), headers: { 'if-none-exist': 'identifier=theirs' } },
      ]);
      expect(reply.status).toBe(201);
      expect(reply.body['id']).not.toBe(theirs.patient);
    });

    test('PUT with a query creates, and so does a PUT without an id', async () => {
      const conditional = await ask(['PUT', '/Patient?birthdate=1931-01-31', { body: patient('mine') }]);
      expect(conditional.status).toBe(201);
      const unknown = await ask(['PUT', `/Patient/${theirs.patient}`, { body: patient('mine-2') }]);
      expect(unknown.status).toBe(201);
      expect([conditional.body['id'], unknown.body['id']]).not.toContain(theirs.patient);
    });

    test('in a transaction too', async () => {
      const reply = await ask(['POST', '', bundle('transaction', post(patient('theirs-2'), 'identifier=theirs-2'))]);
      expect(reply.body['entry'][0].response.status).toBe('201 Created');
    });
  });

  test('the other site is unchanged', async () => {
    expect(await snapshot()).toBe(before);
  });
}
