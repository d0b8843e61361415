/** The facts that the condition of a write may reveal, by parameter and scope; the audit records each condition. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';

import { sized } from '../../stack/tools/size.ts';
import { type Body, type Call, expectOutcome, observation, patient, type Reply, type Subject } from './subject.ts';

const JSON_PATCH = 'application/json-patch+json';
const TEST_FAILS = [{ op: 'test', path: '/language', value: 'tlh' }];

/** The stored patients that match a condition: one, none or two. */
const STORED = ['one', 'none', 'two', 'elsewhere'] as const;
type Stored = (typeof STORED)[number];

/** A value in identifier, name and birth date of the stored patients. */
interface World {
  readonly value: string;
  readonly ids: readonly string[];
}

/** The status of a reply, or of the only entry of a batch's reply. */
const statusOf = ({ status, body }: Reply): number =>
  body['type'] === 'batch-response' ? Number(String(body['entry'][0].response.status).slice(0, 3)) : status;

/** Each with each; at the normal size a third of the pairs, among them each of both lists. */
const pairsOf = (some: readonly string[], others: readonly string[]): [string, string][] =>
  some.flatMap((one, row) =>
    others.filter((_, column) => (row + column) % sized(3, 1) === 0).map((other): [string, string] => [one, other]),
  );

export function conditionCases(subject: () => Subject): void {
  const call: Subject['call'] = (...args) => subject().call(...args);
  const bundle = (type: string, ...entry: Body[]): Call => ({ body: { resourceType: 'Bundle', type, entry } });

  const world = async (stored: Stored): Promise<World> => {
    const value = `Wq${randomUUID().replaceAll('-', '')}`;
    const { create, otherToken, token } = subject();
    const of = stored === 'elsewhere' ? otherToken : token;
    const ids: string[] = [];
    for (let n = 0; n < { one: 1, none: 0, two: 2, elsewhere: 1 }[stored]; n += 1) {
      ids.push(await create(patient(value, { name: [{ family: value }], birthDate: '1931-02-03' }), of));
    }
    return { value, ids };
  };
  const idOf = ({ ids }: World): string => ids[0] ?? randomUUID();

  /** Every condition that finds a patient by what the client already has. */
  const BY_KEY: Readonly<Record<string, (w: World) => string>> = {
    'identifier of any system': ({ value }) => `identifier=${value}`,
    'system and identifier': ({ value }) => `identifier=urn:mrn%7C${value}`,
    'identifier and _id': (w) => `identifier=${w.value}&_id=${idOf(w)}`,
    _id: (w) => `_id=${idOf(w)}`,
  };
  /** Every condition that asks what a patient's resource contains. */
  const BY_CONTENT: Readonly<Record<string, (w: World) => string>> = {
    name: ({ value }) => `name=${value}`,
    '_id and name': (w) => `_id=${idOf(w)}&name=${w.value.slice(0, 3)}`,
    'identifier and birthdate': ({ value }) => `identifier=${value}&birthdate=1931-02-03`,
    'gender and _id': (w) => `gender=female&_id=${idOf(w)}`,
    _lastUpdated: () => '_lastUpdated=2031-01-01T00:00:00Z',
    'whether a system knows the patient': (w) => `_id=${idOf(w)}&identifier=urn:mrn%7C`,
    'one identifier or a system': ({ value }) => `identifier=${value},urn:mrn%7C`,
  };

  const observed = (reference: string): Body => ({ ...observation(''), subject: { reference } });
  const posted = (resource: Body, more: Body = {}): Body => ({
    resource,
    request: { method: 'POST', url: resource['resourceType'], ...more },
  });
  const put = (query: string, resource: Body, more: Body = {}): Body => ({
    resource,
    request: { method: 'PUT', url: `Patient?${query}`, ...more },
  });
  const patched = (query: string): Body => ({
    resource: {
      resourceType: 'Binary',
      contentType: JSON_PATCH,
      data: Buffer.from(JSON.stringify(TEST_FAILS)).toString('base64'),
    },
    request: { method: 'PATCH', url: `Patient?${query}` },
  });

  interface Interaction {
    readonly send: (query: string, call: Call) => Promise<Reply>;
    /** For a token that may write patients, by key. */
    readonly answers: Readonly<Record<'one' | 'none' | 'two', number>>;
  }
  const send = (type: string, entry: Body, more: Call): Promise<Reply> =>
    call('POST', '', { ...bundle(type, entry), ...more });
  const noneExist = { one: 200, none: 201, two: 412 };
  const ofRequest = { one: 200, none: 200, two: 412 };
  const WRITES: Readonly<Record<string, Interaction>> = {
    'conditional create': {
      send: (query, more) =>
        call('POST', '/Patient', {
          body: patient(randomUUID()),
          ...more,
          headers: { ...more.headers, 'if-none-exist': query },
        }),
      answers: noneExist,
    },
    'conditional create in a batch': {
      send: (query, more) => send('batch', posted(patient(randomUUID()), { ifNoneExist: query }), more),
      answers: noneExist,
    },
    'conditional create in a transaction': {
      send: (query, more) => send('transaction', posted(patient(randomUUID()), { ifNoneExist: query }), more),
      answers: ofRequest,
    },
    'conditional update': {
      send: (query, more) => call('PUT', `/Patient?${query}`, { body: patient(randomUUID()), ...more }),
      answers: noneExist,
    },
    'conditional update in a batch': {
      send: (query, more) => send('batch', put(query, patient(randomUUID())), more),
      answers: noneExist,
    },
    'conditional update in a transaction': {
      send: (query, more) => send('transaction', put(query, patient(randomUUID())), more),
      answers: ofRequest,
    },
  };
  const REFERENCES: Readonly<Record<string, (query: string) => Body>> = {
    'Observation.subject': (query) => observed(`Patient?${query}`),
    'Observation.performer': (query) => ({
      ...observation(''),
      subject: undefined,
      performer: [{ reference: `Patient?${query}` }],
    }),
    'Patient.link': (query) => ({
      ...patient(randomUUID()),
      link: [{ other: { reference: `Patient?${query}` }, type: 'seealso' }],
    }),
  };
  const refer = (resource: Body, more: Call): Promise<Reply> => send('transaction', posted(resource), more);

  interface AuditRow {
    readonly action: string;
    readonly parts: string[];
    readonly resources: string[];
    readonly patients: string[];
    readonly parameters: string[];
  }
  /** A request, its reply, its rows of the audit and its round trips to the database. */
  const ask = async (request: (headers: Record<string, string>) => Promise<Reply>) => {
    const requestId = randomUUID();
    const before = subject().db.endpoint.requests();
    const reply = await request({ 'x-request-id': requestId });
    const trips = subject().db.endpoint.requests() - before;
    const { rows } = await subject().client.query<AuditRow>(
      `select action, coalesce(parts, '{}') as parts, patients::text[] as patients, coalesce(parameters, '{}') as parameters,
         array(select t || '/' || i from unnest(types, ids) u(t, i)) as resources
        from audit where request_id = $1 and site_id = $2 order by at`,
      [requestId, subject().site],
    );
    return { reply, rows, trips };
  };
  const patients = (...ids: readonly string[]): string[] => ids.map((id) => `Patient/${id}`).toSorted();

  describe('by any parameter but identifier and _id', () => {
    // No request here writes, so all have the same patients.
    const worlds = new Map<Stored, World>();
    beforeAll(async () => {
      for (const stored of STORED) worlds.set(stored, await world(stored));
    });
    const queries = (condition: (w: World) => string): string[] => [...worlds.values()].map(condition);

    test.each(pairsOf(Object.keys(BY_CONTENT), Object.keys(WRITES)))(
      '%s: a %s needs .read, and the 403 does not depend on what is stored',
      async (condition, name) => {
        const token = await subject().tokenWith(['system/Patient.write', 'system/Observation.read']);
        const answers = new Set<string>();
        for (const query of queries(BY_CONTENT[condition] ?? (() => ''))) {
          const asked = await ask((headers) => WRITES[name]?.send(query, { token, headers }) ?? Promise.reject());
          expect(statusOf(asked.reply), asked.reply.text).toBe(403);
          expect(asked.reply.text).toContain('system/Patient.read');
          expect([asked.rows, asked.trips]).toEqual([[], 1]);
          answers.add(asked.reply.text);
        }
        expect(answers.size).toBe(1);
      },
    );

    test.each(Object.keys(REFERENCES))('%s needs .read, also with the .write of the type', async (name) => {
      const token = await subject().tokenWith(['system/Patient.write', 'system/Observation.write']);
      const answers = new Set<string>();
      for (const condition of Object.values(BY_CONTENT)) {
        for (const query of queries(condition)) {
          const resource = REFERENCES[name]?.(query) ?? {};
          const { reply, rows } = await ask((headers) => refer(resource, { token, headers }));
          expectOutcome(reply, 403, 'forbidden', 'Bundle.entry[0]');
          expect(rows).toEqual([]);
          answers.add(reply.text);
        }
      }
      expect(answers.size).toBe(1);
    });

    test('DiagnosticReport.result to an Observation by code needs Observation.read', async () => {
      const { create, tokenWith } = subject();
      const id = await create(patient(randomUUID()));
      const [known, unknown] = [`c-${randomUUID()}`, `c-${randomUUID()}`];
      const resource = { ...observation(id), code: { coding: [{ system: 'urn:c', code: known }] } };
      const result = await create(resource);
      const report = (code: string): Body => ({
        resourceType: 'DiagnosticReport',
        status: 'final',
        code: { text: 'x' },
        subject: { reference: `Patient/${id}` },
        result: [{ reference: `Observation?code=${code}` }],
      });
      const writes = ['system/DiagnosticReport.write', 'system/Observation.write', 'system/Patient.read'];
      const token = await tokenWith(writes);
      const [one, none] = [await refer(report(known), { token }), await refer(report(unknown), { token })];
      expectOutcome(one, 403, 'forbidden');
      expect(one.text).toBe(none.text);
      const reader = await tokenWith([...writes, 'system/Observation.read']);
      const found = await refer(report(known), { token: reader });
      expect(found.body['entry'][0].resource.result[0].reference).toBe(`Observation/${result}`);
    });

    test('rejects a name beside a reference without a match, and reveals no data', async () => {
      const token = await subject().tokenWith(['system/Observation.write']);
      const { ids, value } = await world('one');
      const query = (name: string) =>
        call('POST', '', {
          token,
          ...bundle(
            'transaction',
            posted(observed(`Patient?_id=${ids[0]}&name=${name}`)),
            posted(observed('Patient?identifier=no-such')),
          ),
        });
      const [right, wrong] = [await query(value.slice(0, 4)), await query('x')];
      expect([right.status, right.text]).toEqual([403, wrong.text]);
    });

    test('a token with both scopes uses them', async () => {
      const token = await subject().tokenWith(['system/Patient.write', 'system/Patient.read']);
      const { value, ids } = await world('one');
      const reply = await WRITES['conditional create']?.send(`name=${value}`, { token });
      expect([reply?.status, reply?.body['id']]).toEqual([200, ids[0]]);
    });
  });

  describe('by identifier and _id', () => {
    test.each(pairsOf(Object.keys(BY_KEY), Object.keys(WRITES)))(
      '%s: a %s needs only .write, and leaves one row for each result',
      async (condition, name) => {
        const token = await subject().tokenWith(['system/Patient.write']);
        for (const stored of STORED) {
          const w = await world(stored);
          const query = BY_KEY[condition]?.(w) ?? '';
          const { send: request, answers } = WRITES[name] ?? {};
          const { reply, rows, trips } = await ask(
            (headers) => request?.(query, { token, headers }) ?? Promise.reject(),
          );
          // By the id of one of two, one is found.
          const found = stored === 'elsewhere' ? 'none' : stored === 'two' && query.includes('_id') ? 'one' : stored;
          expect(statusOf(reply), reply.text).toBe(answers?.[found]);
          expect(trips).toBe(1);
          expect(rows).toHaveLength(1);
          expect(rows[0]?.parameters).toEqual([...new Set(new URLSearchParams(query).keys())]);
          const known = { one: w.ids.slice(0, 1), none: [], two: w.ids }[found];
          // The created resource is in the row too.
          expect(rows[0]?.resources).toEqual(expect.arrayContaining(patients(...known)));
          expect(rows[0]?.resources).toHaveLength(found === 'none' ? 1 : known.length);
        }
      },
    );

    test.each(pairsOf(Object.keys(REFERENCES), Object.keys(BY_KEY)))(
      '%s by %s needs no scope of the type, reveals only whether a resource was found, and leaves one row',
      async (name, condition) => {
        const own = name === 'Patient.link' ? 'system/Patient.write' : 'system/Observation.write';
        const token = await subject().tokenWith([own]);
        const refusals = new Set<string>();
        for (const stored of STORED) {
          const w = await world(stored);
          const query = BY_KEY[condition]?.(w) ?? '';
          const resource = REFERENCES[name]?.(query) ?? {};
          const { reply, rows, trips } = await ask((headers) => refer(resource, { token, headers }));
          const isOne = stored === 'one' || (stored === 'two' && query.includes('_id'));
          const known = isOne ? w.ids.slice(0, 1) : stored === 'two' ? w.ids : [];
          expect(trips).toBe(1);
          expect(rows).toHaveLength(1);
          expect(rows[0]).toMatchObject({
            action: 'transaction',
            parts: isOne ? ['create', 'search'] : ['search'],
            resources: expect.arrayContaining(patients(...known)) as string[],
            parameters: [...new Set(new URLSearchParams(query).keys())],
          });
          expect(rows[0]?.patients).toEqual(expect.arrayContaining([...known]));
          if (isOne) expect(reply.status, reply.text).toBe(200);
          else {
            expectOutcome(reply, 422, 'not-found', 'Bundle.entry[0]');
            refusals.add(reply.text);
          }
        }
        expect(refusals.size).toBe(1);
      },
    );

    test('a token that may read gets the reason why a reference has no match', async () => {
      const { value } = await world('two');
      expectOutcome(await refer(observed(`Patient?identifier=${value}`), {}), 412, 'multiple-matches');
      expectOutcome(await refer(observed(`Patient?identifier=${value}x`), {}), 422, 'not-found');
    });
  });

  describe('the answer does not reveal stored data', () => {
    const writer = () => subject().tokenWith(['system/Patient.write']);

    test.each(['alone', 'batch', 'transaction'])('rejects an update whose body has another id, %s', async (how) => {
      const token = await writer();
      const answers = new Set<string>();
      for (const stored of ['one', 'none', 'elsewhere'] as const) {
        const { value } = await world(stored);
        const body = patient(value, { id: randomUUID() });
        const { reply, rows } = await ask((headers) =>
          how === 'alone'
            ? call('PUT', `/Patient?identifier=${value}`, { token, headers, body })
            : send(how, put(`identifier=${value}`, body), { token, headers }),
        );
        expect(statusOf(reply)).toBe(400);
        expect(rows).toHaveLength(1);
        answers.add(reply.text);
      }
      expect(answers.size).toBe(1);
    });

    test.each(['W/"1"', 'W/"99"'])('rejects two entries that may be one resource, with ifMatch %s', async (ifMatch) => {
      const token = await writer();
      const answers = new Set<string>();
      for (const stored of ['one', 'none', 'elsewhere'] as const) {
        for (const body of [patient(randomUUID()), undefined]) {
          const w = await world(stored);
          const entry = put(`identifier=${w.value}`, body ?? patient(w.value), { ifMatch });
          const { reply, rows } = await ask((headers) =>
            call('POST', '', { token, headers, ...bundle('transaction', entry, entry) }),
          );
          expectOutcome(reply, 412, 'conflict');
          expect(rows).toHaveLength(1);
          expect(rows[0]?.resources).toEqual(stored === 'one' ? patients(...w.ids) : []);
          answers.add(reply.text);
        }
      }
      expect(answers.size).toBe(1);
    });

    test('but a token that may read learns which of them it is', async () => {
      const { value } = await world('one');
      const entry = put(`identifier=${value}`, patient(value), { ifMatch: 'W/"1"' });
      expectOutcome(await call('POST', '', bundle('transaction', entry, entry)), 400, 'duplicate', 'Bundle.entry[1]');
    });
  });

  describe('a rejected write leaves the row of its condition', () => {
    const stale = { 'if-match': 'W/"77"' };
    const REFUSED: Readonly<
      Record<string, readonly [number, (w: World, headers: Record<string, string>) => Promise<Reply>]>
    > = {
      'If-Match': [
        412,
        ({ value }, headers) =>
          call('PUT', `/Patient?identifier=${value}`, { body: patient(value), headers: { ...headers, ...stale } }),
      ],
      'If-Match in a batch': [
        412,
        ({ value }, headers) =>
          send('batch', put(`identifier=${value}`, patient(value), { ifMatch: 'W/"77"' }), { headers }),
      ],
      'If-Match in a transaction': [
        412,
        ({ value }, headers) =>
          send('transaction', put(`identifier=${value}`, patient(value), { ifMatch: 'W/"77"' }), { headers }),
      ],
      'a patient that another entry refers to and the site does not have': [
        422,
        ({ value }, headers) =>
          call('POST', '', {
            headers,
            ...bundle(
              'transaction',
              posted(patient(value), { ifNoneExist: `identifier=${value}` }),
              posted(observation(randomUUID())),
            ),
          }),
      ],
      'an update of an unknown id': [
        404,
        ({ value }, headers) => {
          const id = randomUUID();
          const { subject: _, ...resource } = observation('', { id });
          const unknown = { resource, request: { method: 'PUT', url: `Observation/${id}` } };
          return call('POST', '', {
            headers,
            ...bundle('transaction', posted(observed(`Patient?identifier=${value}`)), unknown),
          });
        },
      ],
      'a read of an unknown id': [
        404,
        ({ value }, headers) =>
          call('POST', '', {
            headers,
            ...bundle('transaction', posted(observed(`Patient?identifier=${value}`)), {
              request: { method: 'GET', url: `Patient/${randomUUID()}` },
            }),
          }),
      ],
      'a condition of another entry': [
        422,
        ({ value }, headers) =>
          call('POST', '', {
            headers,
            ...bundle(
              'transaction',
              posted(observed(`Patient?identifier=${value}`)),
              posted(observed(`Patient?identifier=${randomUUID()}`)),
            ),
          }),
      ],
    };
    test.each(Object.keys(REFUSED))('%s', async (name) => {
      const w = await world('one');
      const [status, request] = REFUSED[name] ?? [];
      const { reply, rows, trips } = await ask((headers) => request?.(w, headers) ?? Promise.reject());
      expect(statusOf(reply), reply.text).toBe(status);
      expect(trips).toBe(1);
      expect(rows).toHaveLength(1);
      const [row] = rows;
      expect(row).toMatchObject({ resources: patients(...w.ids), patients: w.ids, parameters: ['identifier'] });
      expect(row?.action === 'search' || row?.parts.join() === 'search').toBe(true);
      // Nothing was written.
      expect((await call('GET', `/Patient/${w.ids[0]}`)).headers.get('etag')).toBe('W/"1"');
      expect((await call('GET', `/Observation?patient=${w.ids[0]}&_summary=count`)).body['total']).toBe(0);
    });

    test('a transaction without a condition leaves none', async () => {
      const { ids } = await world('one');
      const update = {
        resource: patient('x', { id: ids[0] }),
        request: { method: 'PUT', url: `Patient/${ids[0]}`, ifMatch: 'W/"7"' },
      };
      const read = { request: { method: 'GET', url: `Patient/${ids[0]}` } };
      const { reply, rows } = await ask((headers) =>
        call('POST', '', { headers, ...bundle('transaction', update, read) }),
      );
      expect([reply.status, rows]).toEqual([412, []]);
    });
  });

  describe('a patch without a change leaves the row of its read', () => {
    const patchOf = (path: string, headers: Record<string, string>): Promise<Reply> =>
      call('PATCH', path, { headers: { ...headers, 'content-type': JSON_PATCH }, body: JSON.stringify(TEST_FAILS) });

    test('alone', async () => {
      const w = await world('one');
      const about = { resources: patients(...w.ids), patients: w.ids };
      const byId = await ask((headers) => patchOf(`/Patient/${w.ids[0]}`, headers));
      expect([byId.reply.status, byId.trips]).toEqual([422, 1]);
      expect(byId.rows).toEqual([{ action: 'read', parts: [], parameters: [], ...about }]);
      const query = `_id=${w.ids[0]}&name=${w.value}`;
      const right = await ask((headers) => patchOf(`/Patient?${query}`, headers));
      expect(right.reply.status).toBe(422);
      expect(right.rows).toEqual([{ action: 'search', parts: [], parameters: ['_id', 'name'], ...about }]);
      const wrong = await ask((headers) => patchOf(`/Patient?${query}x`, headers));
      expect(wrong.reply.status).toBe(404);
      expect(wrong.rows).toEqual([
        { action: 'search', parts: [], parameters: ['_id', 'name'], resources: [], patients: [] },
      ]);
      const { value, ids } = await world('two');
      const several = await ask((headers) => patchOf(`/Patient?identifier=${value}`, headers));
      expect([several.reply.status, several.rows[0]?.resources]).toEqual([412, patients(...ids)]);
      const unknown = await ask((headers) => patchOf(`/Patient/${randomUUID()}`, headers));
      expect([unknown.reply.status, unknown.rows]).toEqual([404, []]);
    });

    test.each([
      ['batch', 422],
      ['transaction', 422],
    ] as const)('in a %s', async (type, status) => {
      const w = await world('one');
      const { reply, rows } = await ask((headers) =>
        send(type, patched(`_id=${w.ids[0]}&name=${w.value}`), { headers }),
      );
      expect(statusOf(reply), reply.text).toBe(status);
      expect(rows).toEqual([
        {
          action: type,
          parts: ['search'],
          parameters: ['_id', 'name'],
          resources: patients(...w.ids),
          patients: w.ids,
        },
      ]);
    });
  });

  test('a loader with .write alone works by identifiers, again and again', async () => {
    const { value, ids } = await world('one');
    const token = await subject().tokenWith(['system/Patient.write', 'system/Observation.write']);
    const mother = `M${value}`;
    const family = bundle(
      'transaction',
      posted(patient(mother), { ifNoneExist: `identifier=urn:mrn|${mother}` }),
      put(`identifier=urn:mrn|${value}`, patient(value)),
      posted(observed(`Patient?identifier=urn:mrn|${value}`)),
      posted(observed(`Patient?identifier=urn:mrn|${mother}`)),
      posted(observed(`Patient?_id=${ids[0]}`)),
    );
    const again = [await call('POST', '', { token, ...family }), await call('POST', '', { token, ...family })];
    for (const reply of again) expect(reply.status, reply.text).toBe(200);
    const entries = (again[1]?.body ?? {})['entry'] as Body[];
    for (const n of [2, 4]) expect(entries[n]?.['resource'].subject.reference).toBe(`Patient/${ids[0]}`);
    expect((await call('GET', `/Patient?identifier=${mother}&_summary=count`)).body['total']).toBe(1);
  });
}
