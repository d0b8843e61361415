/** Every access has its row of the audit, one a request, in its transaction; what reached no data has none. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

import { operationsWithout } from '../../stack/tools/undescribed.ts';
import { type Call, observation, patient, type Reply, type Subject } from './subject.ts';

interface AuditRow {
  readonly actor_kind: string;
  readonly actor: string | null;
  readonly client_id: string;
  readonly address: string;
  readonly action: string;
  readonly parts: string[];
  readonly resources: string[];
  readonly patients: string[];
  readonly parameters: string[];
}

interface Asked {
  readonly reply: Reply;
  readonly rows: readonly AuditRow[];
}

export function auditCases(subject: () => Subject): void {
  const rowsOf = async (requestId: string): Promise<AuditRow[]> => {
    const { rows } = await subject().client.query<AuditRow>(
      `select actor_kind, actor, client_id, address, action, coalesce(parts, '{}') as parts, patients::text[] as patients, coalesce(parameters, '{}') as parameters,
         array(select t || '/' || i from unnest(types, ids) u(t, i)) as resources
        from audit where request_id = $1 and site_id = $2 order by at`,
      [requestId, subject().site],
    );
    return rows;
  };
  /** A request, and what the audit has of it. */
  const ask = async (method: string, path: string, call: Call = {}): Promise<Asked> => {
    const requestId = randomUUID();
    const reply = await subject().call(method, path, {
      ...call,
      headers: { ...call.headers, 'x-request-id': requestId },
    });
    return { reply, rows: await rowsOf(requestId) };
  };
  /** The one row of a request that was answered with this status. */
  const one = ({ reply, rows }: Asked, status: number): AuditRow => {
    expect(reply.status, reply.text).toBe(status);
    expect(rows).toHaveLength(1);
    return rows[0] as AuditRow;
  };
  const made = async () => {
    const { create } = subject();
    const p = await create(patient(randomUUID()));
    return { p, o: await create(observation(p)) };
  };

  /** A request of each interaction, and what its row says. */
  type Walk = (ids: { readonly p: string; readonly o: string }) => {
    readonly method: string;
    readonly path: string;
    readonly body?: object | string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly status?: number;
    readonly row: {
      readonly action: string;
      readonly parameters?: readonly string[];
      readonly resources?: readonly string[];
    } | null;
    /** The row of the round trip before: what a patch starts from is read. */
    readonly before?: { readonly action: string; readonly parameters?: readonly string[] };
  };
  const PATCH = JSON.stringify([{ op: 'replace', path: '/status', value: 'amended' }]);
  const WALK: Readonly<Record<string, Walk>> = {
    read: ({ o }) => ({ method: 'GET', path: `/Observation/${o}`, row: { action: 'read' } }),
    vread: ({ o }) => ({ method: 'GET', path: `/Observation/${o}/_history/1`, row: { action: 'read' } }),
    history: ({ o }) => ({ method: 'GET', path: `/Observation/${o}/_history`, row: { action: 'history' } }),
    typeHistory: () => ({
      method: 'GET',
      path: '/Observation/_history?_count=1',
      row: { action: 'history', parameters: ['_count'] },
    }),
    everything: ({ p, o }) => ({
      method: 'GET',
      path: `/Patient/${p}/$everything?_type=Observation`,
      row: { action: 'search', resources: [`Observation/${o}`, `Patient/${p}`] },
    }),
    everythingByPost: ({ p }) => ({
      method: 'POST',
      path: `/Patient/${p}/$everything?_since=2999-01-01`,
      // Nothing of it was shown, but it was asked for.
      row: { action: 'search', resources: [`Patient/${p}`] },
    }),
    search: ({ p }) => ({
      method: 'GET',
      path: `/Observation?patient=${p}`,
      row: { action: 'search', parameters: ['patient'] },
    }),
    searchByPost: ({ p }) => ({
      method: 'POST',
      path: '/Observation/_search?_count=5',
      body: `patient=${p}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      row: { action: 'search', parameters: ['_count', 'patient'] },
    }),
    create: ({ p }) => ({
      method: 'POST',
      path: '/Observation',
      body: observation(p),
      status: 201,
      row: { action: 'create' },
    }),
    update: ({ p, o }) => ({
      method: 'PUT',
      path: `/Observation/${o}`,
      body: observation(p, { id: o, status: 'amended' }),
      row: { action: 'update' },
    }),
    conditionalUpdate: ({ p, o }) => ({
      method: 'PUT',
      path: `/Observation?_id=${o}`,
      body: observation(p, { status: 'corrected' }),
      row: { action: 'update', parameters: ['_id'] },
    }),
    patch: ({ o }) => ({
      method: 'PATCH',
      path: `/Observation/${o}`,
      body: PATCH,
      headers: { 'content-type': 'application/json-patch+json' },
      before: { action: 'read' },
      row: { action: 'patch' },
    }),
    conditionalPatch: ({ o }) => ({
      method: 'PATCH',
      path: `/Observation?_id=${o}`,
      body: '[]',
      headers: { 'content-type': 'application/json-patch+json' },
      before: { action: 'search', parameters: ['_id'] },
      row: { action: 'patch', parameters: ['_id'] },
    }),
    validate: ({ p }) => ({ method: 'POST', path: '/Observation/$validate', body: observation(p), row: null }),
    validateInstance: ({ p, o }) => ({
      method: 'POST',
      path: `/Observation/${o}/$validate`,
      body: observation(p, { id: o }),
      row: null,
    }),
  };

  test('the walk has every operation of the API reference', async () => {
    const requests = Object.values(WALK).map((walk) => walk({ p: '1', o: '1' }));
    expect(await operationsWithout('Observation', requests)).toEqual([]);
  });

  test.each(Object.entries(WALK))('%s leaves one row a round trip, or reaches no data', async (_, walk) => {
    const ids = await made();
    const { method, path, body, headers, status = 200, row, before } = walk(ids);
    const { reply, rows } = await ask(method, path, { ...(body && { body }), ...(headers && { headers }) });
    expect(reply.status, reply.text).toBe(status);
    const id = row?.action === 'create' ? reply.body['id'] : ids.o;
    const expected = {
      actor_kind: 'key',
      actor: null,
      client_id: subject().key.clientId,
      address: expect.stringMatching(/^(127\.0\.0\.1|::1|unknown)$/),
      parts: [],
      parameters: [],
      resources: [`Observation/${id}`],
      patients: [ids.p],
    };
    const reported = [before, row].filter((one) => one !== undefined && one !== null);
    expect(rows).toEqual(reported.map((one) => ({ ...expected, ...one })));
  });

  test('a request that reached no data has no row', async () => {
    const { p, o } = await made();
    const { otherToken, tokenWith } = subject();
    const noRead = await tokenWith(['system/Patient.read']);
    const refused: readonly (readonly [number, Asked])[] = [
      [401, await ask('GET', `/Patient/${p}`, { token: null })],
      [403, await ask('GET', `/Observation/${o}`, { token: noRead })],
      [404, await ask('GET', `/Patient/${p}`, { token: otherToken })],
      [404, await ask('GET', `/Patient/${randomUUID()}`)],
      [404, await ask('GET', `/Patient/${p}/_history/7`)],
      [404, await ask('GET', `/Patient/${p}/$everything`, { token: otherToken })],
      [404, await ask('GET', `/Patient/${randomUUID()}/$everything`)],
      [403, await ask('GET', `/Observation/_history`, { token: noRead })],
      [400, await ask('GET', `/Observation?colour=red`)],
      [412, await ask('GET', `/Patient/${p}`, { headers: { 'if-match': 'W/"9"' } })],
      [412, await ask('GET', `/Patient/${p}`, { headers: { 'if-unmodified-since': 'Thu, 01 Jan 1998 00:00:00 GMT' } })],
      [412, await ask('PUT', `/Observation/${o}`, { body: observation(p), headers: { 'if-match': 'W/"9"' } })],
      [422, await ask('POST', '/Observation', { body: observation(randomUUID()) })],
    ];
    for (const [status, { reply, rows }] of refused) {
      expect(reply.status, reply.text).toBe(status);
      expect(rows).toEqual([]);
    }
  });

  test('a 304 is a read: the caller shows the copy it has, on our word', async () => {
    const { o, p } = await made();
    const row = one(await ask('GET', `/Observation/${o}`, { headers: { 'if-none-match': 'W/"1"' } }), 304);
    expect(row).toMatchObject({ action: 'read', resources: [`Observation/${o}`], patients: [p] });
  });

  test('a search has the ids of the page that was shown, the names of its parameters and no values', async () => {
    const family = `Ungewoehnlich${randomUUID().slice(0, 8)}`;
    const ids: string[] = [];
    for (const n of [1, 2, 3])
      ids.push(await subject().create(patient(randomUUID(), { name: [{ family }], language: `e${n}` })));
    const first = await ask('GET', `/Patient?name=${family}&_count=2`);
    const row = one(first, 200);
    expect(row.resources).toEqual(ids.slice(0, 2).map((id) => `Patient/${id}`));
    expect(row.patients).toEqual(ids.slice(0, 2));
    expect(row.parameters).toEqual(['name', '_count']);
    expect(JSON.stringify(row)).not.toContain(family);
    const lenient = await ask('GET', `/Patient?name=${family}&${family}=1`, {
      headers: { prefer: 'handling=lenient' },
    });
    expect(one(lenient, 200).parameters).toEqual(['name']);
    expect(one(await ask('GET', `/Patient?name=${family}x`), 200)).toMatchObject({ action: 'search', resources: [] });
    expect(one(await ask('GET', `/Patient?name=${family}&_summary=count`), 200)).toMatchObject({ resources: [] });
    const page = await ask('GET', `/Patient?name=${family}&_total=accurate&_count=1`);
    expect(one(page, 200).resources).toEqual([`Patient/${ids[0]}`]);
  });

  test('the history of a type has the patients of its versions, and a row also without versions', async () => {
    const { p, o } = await made();
    const q = await subject().create(patient(randomUUID()));
    await subject().call('PUT', `/Observation/${o}`, { body: observation(q, { id: o }) });
    const row = one(await ask('GET', '/Observation/_history?_count=2'), 200);
    expect(row).toMatchObject({ action: 'history', resources: [`Observation/${o}`], patients: [p, q].toSorted() });
    const none = one(await ask('GET', '/Observation/_history?_since=2999-01-01'), 200);
    expect(none).toMatchObject({ action: 'history', resources: [], parameters: ['_since'] });
  });

  test('$everything has the resources of the page and their patients', async () => {
    const { p, o } = await made();
    const link = [{ type: 'replaced-by', other: { reference: `Patient/${p}` } }];
    const old = await subject().create(patient(randomUUID(), { link }));
    const first = one(await ask('GET', `/Patient/${p}/$everything?_count=1`), 200);
    expect(first).toMatchObject({ resources: [`Patient/${p}`], patients: [p] });
    const all = one(await ask('GET', `/Patient/${p}/$everything`), 200);
    expect(all.resources).toEqual([`Observation/${o}`, ...[p, old].toSorted().map((id) => `Patient/${id}`)]);
    expect(all.patients).toEqual([p, old].toSorted());
  });

  test('a version has the patient that it was about', async () => {
    const { p, o } = await made();
    const q = await subject().create(patient(randomUUID()));
    const moved = await ask('PUT', `/Observation/${o}`, { body: observation(q, { id: o }) });
    expect(one(moved, 200).patients).toEqual([p, q].toSorted());
    expect(one(await ask('GET', `/Observation/${o}`), 200).patients).toEqual([q]);
    expect(one(await ask('GET', `/Observation/${o}/_history/1`), 200).patients).toEqual([p]);
    expect(one(await ask('GET', `/Observation/${o}/_history`), 200).patients).toEqual([p, q].toSorted());
    expect(one(await ask('GET', `/Observation/${o}/_history?_count=1`), 200).patients).toEqual([q]);
  });

  test('a conditional create that finds a patient is a read', async () => {
    const value = randomUUID();
    const noneExist = { 'if-none-exist': `identifier=${value}` };
    const first = await ask('POST', '/Patient', { body: patient(value), headers: noneExist });
    const id = String(first.reply.body['id']);
    expect(one(first, 201)).toMatchObject({ action: 'create', patients: [id] });
    const again = await ask('POST', '/Patient', { body: patient(value), headers: noneExist });
    expect(one(again, 200)).toMatchObject({ action: 'read', resources: [`Patient/${id}`], patients: [id] });
  });

  test('a transaction of 1,000 entries, reads among them, is one row', async () => {
    const { p, o } = await made();
    const reads = [
      'Patient/' + p,
      'Observation/' + o,
      `Observation?patient=${p}&_count=1`,
      `Observation/${o}/_history`,
    ];
    const entry = [
      ...Array.from({ length: 1000 - reads.length }, () => ({
        resource: observation(p),
        request: { method: 'POST', url: 'Observation' },
      })),
      ...reads.map((url) => ({ request: { method: 'GET', url } })),
    ];
    const asked = await ask('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } });
    const row = one(asked, 200);
    expect(row).toMatchObject({ action: 'transaction', parts: ['create', 'history', 'read', 'search'], patients: [p] });
    expect(row.parameters).toEqual(['patient', '_count']);
    // The 996 that were made, and the two that were there.
    expect(new Set(row.resources).size).toBe(998);
    expect(row.resources).toHaveLength(998);
  });

  test('a batch has the data that its entries reached, and none of rejected entries', async () => {
    const { p, o } = await made();
    const q = await subject().create(patient(randomUUID()));
    const get = (url: string) => ({ request: { method: 'GET', url } });
    const put = {
      resource: observation(q, { id: o }),
      request: { method: 'PUT', url: `Observation/${o}`, ifMatch: 'W/"9"' },
    };
    const batch = (entry: object[]) => ({ body: { resourceType: 'Bundle', type: 'batch', entry } });
    const some = await ask('POST', '', batch([get(`Patient/${p}`), get(`Patient/${randomUUID()}`), put]));
    expect(one(some, 200)).toMatchObject({
      action: 'batch',
      parts: ['read'],
      resources: [`Patient/${p}`],
      patients: [p],
    });
    const none = await ask('POST', '', batch([get(`Patient/${randomUUID()}`), put]));
    expect(none.reply.status).toBe(200);
    expect(none.rows).toEqual([]);
  });

  test('without its audit row, access fails', async () => {
    const { client, call, create } = subject();
    const { p } = await made();
    const requestId = `unwritable-${randomUUID()}`;
    await client.query(`alter table audit add constraint unwritable check (request_id <> '${requestId}') not valid`);
    try {
      const headers = { 'x-request-id': requestId };
      const value = randomUUID();
      expect((await call('GET', `/Patient/${p}`, { headers })).status).toBe(500);
      expect((await call('GET', `/Observation?patient=${p}`, { headers })).text).not.toContain(p);
      expect((await call('POST', '/Patient', { headers, body: patient(value) })).status).toBe(500);
      expect((await call('GET', `/Patient?identifier=${value}&_summary=count`)).body['total']).toBe(0);
    } finally {
      await client.query('alter table audit drop constraint unwritable');
    }
    await create(patient(randomUUID()));
  });
}
