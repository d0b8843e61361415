/** Searches by parameters of other resources, and their aliases, with FHIR_SEARCH=us-core (edge/docs/behaviour.md, FHIR). */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';

import { ALL_SCOPES } from '../../stack/services/seed.ts';
import {
  type Body,
  expectOutcome,
  idsOf,
  linkOf,
  observation,
  patient,
  type Reply,
  type Subject,
  walk,
} from './subject.ts';

export function relatedCases(subject: () => Subject): void {
  let token: string;
  const ids: Record<string, string> = {};
  const nameOf = (id: string): string => Object.keys(ids).find((name) => ids[name] === id) ?? id;
  const named = (query: string): string => query.replace(/\$(\w+)/g, (_, name: string) => ids[name] ?? '');
  const get = (query: string, headers: Record<string, string> = {}, by = token) =>
    subject().call('GET', `/${named(query)}`, { token: by, headers });
  const batch = (urls: readonly string[], by = token) => {
    const entry = urls.map((url) => ({ request: { method: 'GET', url: named(url) } }));
    return subject().call('POST', '', { token: by, body: { resourceType: 'Bundle', type: 'batch', entry } });
  };
  const entriesOf = (reply: Reply): string[] =>
    ((reply.body['entry'] ?? []) as Body[]).map(({ search, resource }) => `${search.mode} ${nameOf(resource.id)}`);
  const without = (...types: readonly string[]): Promise<string> =>
    subject().tokenWith(ALL_SCOPES.filter((scope) => !types.some((type) => scope === `system/${type}.read`)));
  const coded = (code: string, more: Body = {}): Body => ({ code: { coding: [{ system: 'urn:c', code }] }, ...more });

  beforeAll(async () => {
    let other: string;
    let site: string;
    ({ site, token } = await subject().newSite());
    ({ token: other } = await subject().newSite());
    const add = async (name: string, resource: Body, by = token): Promise<string> =>
      (ids[name] = await subject().create(resource, by));
    const ann = await add(
      'ann',
      patient('A', { name: [{ family: 'Smith', given: ['Ann'] }], birthDate: '1980-01-01' }),
    );
    const bob = await add(
      'bob',
      patient('B', { name: [{ family: 'Jones', given: ['Bob'] }], birthDate: '1980-01-01' }),
    );
    const cay = await add('cay', patient('C', { name: [{ family: 'Smith', given: ['Cay'] }], gender: 'female' }));
    const link = [{ other: { reference: `Patient/${ann}` }, type: 'replaced-by' }];
    const old = await add('old', patient('OLD', { active: false, link }));
    const tag = [{ system: 'urn:t', code: 'reviewed' }];
    await add('ann-1', observation(ann, coded('x', { effectiveDateTime: '2026-01-02T00:00:00Z', meta: { tag } })));
    await add('bob-1', observation(bob, coded('x', { effectiveDateTime: '2026-01-03T00:00:00Z' })));
    await add('ann-2', observation(ann, coded('y', { effectiveDateTime: '2026-01-01T00:00:00Z' })));
    await add('cay-1', observation(cay, coded('y')));
    await add('old-1', observation(old, coded('z')));
    await add('nobodys', { resourceType: 'Observation', status: 'final', ...coded('x') });
    const report = { resourceType: 'DiagnosticReport', status: 'final', ...coded('CT') };
    await add('report', { ...report, subject: { reference: `Patient/${bob}` } });
    await add('problem', { resourceType: 'Condition', subject: { reference: `Patient/${ann}` }, ...coded('p') });
    const stranger = await add('stranger', patient('A', { name: [{ family: 'Smith' }] }), other);
    await add('strange', observation(stranger, coded('x')), other);
    // An erased patient, and a result that had another code.
    const erased = await subject().create(patient('E'), token);
    await subject().create(observation(erased, coded('e')), token);
    const { client } = subject();
    await client.query('begin');
    await client.query(`select set_config('gateway.site', $1, true)`, [site]);
    await client.query('select * from patient_erase($1, $2, true)', [site, erased]);
    await client.query('select audit_add($1, $2)', [site, { actorKind: 'operator', actor: 'root', requestId: 'e' }]);
    await client.query('commit');
    const changed = await add('changed', observation(bob, coded('was')));
    const body = { ...observation(cay, coded('is')), id: changed };
    expect((await subject().call('PUT', `/Observation/${changed}`, { token, body })).status).toBe(200);
  });

  describe.each<[string, string[]]>([
    ['Observation?patient.identifier=urn:mrn|A', ['ann-1', 'ann-2']],
    ['Observation?subject:Patient.identifier=A&code=y', ['ann-2']],
    ['Observation?patient.identifier=A,B&code=urn:c|x', ['ann-1', 'bob-1']],
    ['Observation?patient:Patient.name=smith', ['ann-1', 'ann-2', 'cay-1', 'changed']],
    // All chains are about one patient.
    ['Observation?patient.family=smith&patient.birthdate=1980', ['ann-1', 'ann-2']],
    ['Observation?patient.family=smith&subject.given=bob', []],
    ['Observation?patient.gender:missing=true&code:not=x', ['ann-2', 'old-1']],
    ['Observation?patient.identifier=A&patient=$bob', []],
    ['Observation?patient._id=$bob', ['bob-1']],
    // The identifier of a merged patient finds what still refers to it.
    ['Observation?patient.identifier=OLD', ['old-1']],
    ['Observation?patient.identifier=nobody', []],
    // Erased.
    ['Observation?patient.identifier=E', []],
    ['Observation?patient.identifier=A,B&_sort=-date', ['bob-1', 'ann-1', 'ann-2']],
    ['Observation?patient.identifier=A,B,C&code=x,y&_sort=date', ['ann-2', 'ann-1', 'bob-1', 'cay-1']],
    ['Observation?patient.identifier=A,B&_sort=-_lastUpdated', ['ann-2', 'bob-1', 'ann-1']],
    ['Observation?patient.identifier=A,B&_sort=-_lastUpdated,_id', ['ann-2', 'bob-1', 'ann-1']],
    ['DiagnosticReport?patient.identifier=B', ['report']],
    ['DiagnosticReport?patient.identifier=A', []],
    ['Condition?subject.name=ann', ['problem']],
    ['Patient?_has:Observation:patient:code=urn:c|x', ['ann', 'bob']],
    ['Patient?_has:Observation:subject:code=x&_has:Condition:patient:code=p', ['ann']],
    ['Patient?_has:Observation:patient:code=x,y&name=smith', ['ann', 'cay']],
    ['Patient?_has:Observation:patient:date=2026-01-03&_has:DiagnosticReport:patient:status=final', ['bob']],
    ['Patient?_has:Observation:patient:code=y&_sort=-name', ['cay', 'ann']],
    // Only the current version counts, and no erased resource.
    ['Patient?_has:Observation:patient:code=was,e', []],
    ['Patient?_has:Observation:patient:code=is', ['cay']],
    ['Observation?_tag=urn:t|reviewed', ['ann-1']],
    ['Observation?_tag:not=reviewed&patient.identifier=A', ['ann-2']],
  ])('%s', (query, expected) => {
    test('finds them in one round trip, counts them, and has each once in pages', async () => {
      const { endpoint } = subject().db;
      const before = endpoint.requests();
      const reply = await get(`${query}&_total=accurate`);
      expect(endpoint.requests() - before).toBe(1);
      expect(reply.status, reply.text).toBe(200);
      expect(idsOf(reply).map(nameOf)).toEqual(expected);
      expect((await get(`${query}&_summary=count`)).body['total']).toBe(expected.length);
      const pages = await walk(subject(), `/${named(query)}&_count=1`, token);
      expect(pages.flatMap(idsOf).map(nameOf)).toEqual(expected);
    });
  });

  test('_search and a batch find the same', async () => {
    const queries = ['patient.identifier=A&code=x', 'code=x&_sort=-date', '_has:Observation:patient:code=x'];
    for (const [n, type] of ['Observation', 'Observation', 'Patient'].entries()) {
      const plain = entriesOf(await get(`${type}?${queries[n]}`));
      expect(plain.length).toBeGreaterThan(0);
      expect(entriesOf(await get(`${type}/_search?${queries[n]}`))).toEqual(plain);
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const form = { token, headers, body: queries[n] ?? '' };
      expect(entriesOf(await subject().call('POST', `/${type}/_search`, form))).toEqual(plain);
      const { entry } = (await batch([`${type}?${queries[n]}`, `${type}/_search?${queries[n]}`])).body;
      for (const { resource } of entry) expect(entriesOf({ body: resource } as Reply)).toEqual(plain);
    }
    const paged = await get('Observation/_search?_count=1&code=x');
    expect(linkOf(paged, 'next')).toContain(`${subject().root}/Observation?`);
  });

  test('Patient/[id]/[type] searches the resources of the patient', async () => {
    const found = async (address: string): Promise<string[]> => {
      const reply = await get(address);
      expect(reply.status, reply.text).toBe(200);
      const { entry } = (await batch([address])).body;
      expect(entriesOf({ body: entry[0].resource } as Reply)).toEqual(entriesOf(reply));
      return idsOf(reply).map(nameOf);
    };
    expect(await found('Patient/$ann/Observation')).toEqual(['ann-1', 'ann-2']);
    expect(await found('Patient/$ann/Observation?code=y')).toEqual(['ann-2']);
    expect(await found('Patient/$bob/DiagnosticReport?_count=1')).toEqual(['report']);
    expect(await found('Patient/$bob/Observation?patient=$ann')).toEqual([]);
    // A patient of another site, no id, and two ids.
    expect(await found('Patient/$stranger/Observation')).toEqual([]);
    expect(await found('Patient/x/Observation')).toEqual([]);
    expect(await found('Patient/$ann,$bob/Observation')).toEqual([]);
    for (const address of ['Patient/$ann/Patient', 'Patient/$ann/Group', 'Patient/$ann/Encounter'])
      expectOutcome(await get(address), 404, 'not-found');
    const posted = await subject().call('POST', named('/Patient/$ann/Observation'), { token, body: observation('x') });
    expectOutcome(posted, 405, 'not-supported');
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
  });

  describe('_revinclude', () => {
    test('adds the resources about the patients of the page', async () => {
      const reply = await get(
        'Patient?identifier=A&_revinclude=Observation:patient&_revinclude=Condition:subject:Patient',
      );
      const [first, ...rest] = entriesOf(reply);
      expect(first).toBe('match ann');
      expect(rest.toSorted()).toEqual(['include ann-1', 'include ann-2', 'include problem']);
      const pages = await walk(
        subject(),
        '/Patient?_has:Observation:patient:code=x&_revinclude=DiagnosticReport:patient&_count=1',
        token,
      );
      expect(pages.map(entriesOf)).toEqual([['match ann'], ['match bob', 'include report']]);
    });

    test('is in the audit with the matches', async () => {
      const requestId = randomUUID();
      const headers = { 'x-request-id': requestId };
      await get('Patient?_has:DiagnosticReport:patient:status=final&_revinclude=DiagnosticReport:patient', headers);
      await get('Observation?patient.identifier=C&code=y', headers);
      const { rows } = await subject().client.query(
        `select parameters, patients::text[] as patients, array(select i::text from unnest(ids) i order by i) as ids
           from audit where request_id = $1 order by at`,
        [requestId],
      );
      expect(rows).toEqual([
        {
          parameters: ['_has:DiagnosticReport:patient:status', '_revinclude'],
          patients: [ids['bob']],
          ids: [ids['bob'], ids['report']],
        },
        { parameters: ['patient.identifier', 'code'], patients: [ids['cay']], ids: [ids['cay-1']] },
      ]);
    });

    test('fails by name with more than 1,000 resources about one patient, and ends a page before it', async () => {
      const { site, token: own } = await subject().newSite();
      const few = await subject().create(patient('few'), own);
      await subject().create(observation(few), own);
      const many = await subject().create(patient('many'), own);
      const fill = (n: number) =>
        subject().client.query(
          `insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id)
           select $1, 'Observation', gen_random_uuid(), 1, now(), '', '"status":"final"', $2 from generate_series(1, $3::integer)`,
          [site, many, n],
        );
      await fill(1_000);
      const path = 'Patient?_revinclude=Observation:patient';
      const pages = await walk(subject(), `/${path}`, own);
      expect(pages.map(({ body }) => body['entry'].length)).toEqual([2, 1_001]);
      await fill(1);
      const first = await get(path, {}, own);
      expect(first.body['entry']).toHaveLength(2);
      const next = await subject().call('GET', linkOf(first, 'next') ?? '', { token: own });
      expectOutcome(next, 422, 'too-costly');
      expect(next.text).toContain('the limit reverse-included. Instead, search them with patient=[id]');
      // A chain may find 100 patients.
      await subject().client.query(
        `insert into resource_identifier (site_id, type, value, system, id)
         select $1, 'Patient', 'shared', 'urn:s', r.id from resource r where r.site_id = $1 and r.type = 'Patient'`,
        [site],
      );
      const share = (n: number) =>
        subject().client.query(
          `with p as (insert into resource (site_id, type, id, version, last_updated, meta, body)
             select $1, 'Patient', gen_random_uuid(), 1, now(), '', '"active":true' from generate_series(1, $2::integer) returning id)
           insert into resource_identifier (site_id, type, value, system, id) select $1, 'Patient', 'shared', 'urn:s', id from p`,
          [site, n],
        );
      await share(98);
      const chained = 'Observation?patient.identifier=shared&_summary=count';
      expect((await get(chained, {}, own)).body['total']).toBe(1_002);
      await share(1);
      for (const query of [chained, 'Observation?patient.identifier=shared', 'Observation?patient.identifier=urn:s|']) {
        const reply = await get(query, {}, own);
        expectOutcome(reply, 422, 'too-costly');
        expect(reply.text).toContain('the limit chained-patients');
      }
      // Other entries of a batch are answered, and written.
      const over = [
        chained,
        'Observation?patient.identifier=shared',
        `Patient?_id=${many}&_revinclude=Observation:patient`,
      ];
      const requests = over.map((url): Body => ({ request: { method: 'GET', url } }));
      const write = { request: { method: 'POST', url: 'Observation' }, resource: observation(few) };
      const body = { resourceType: 'Bundle', type: 'batch', entry: [...requests, write] };
      const { entry } = (await subject().call('POST', '', { token: own, body })).body;
      expect(entry.map(({ response }: Body) => response.status.slice(0, 3))).toEqual(['422', '422', '422', '201']);
    });
  });

  test.each<[string, readonly string[]]>([
    ['Observation?patient.birthdate=1980', ['Patient']],
    ['Observation?patient.birthdate=1980&_summary=count', ['Patient']],
    ['Observation/_search?patient.birthdate=1980', ['Patient']],
    ['Patient/$ann/Observation?patient.birthdate=1980', ['Patient']],
    ['Patient/$ann/Observation', ['Observation']],
    ['Patient?_has:Condition:patient:code=p', ['Condition']],
    ['Patient?_has:Condition:patient:code=p&_summary=count', ['Condition']],
    ['Patient?_revinclude=Condition:patient', ['Condition']],
    ['Patient?_has:Observation:patient:code=x&_revinclude=Condition:patient', ['Observation', 'Condition']],
  ])('%s needs the scope of each type, alone, by POST and in a batch', async (query, types) => {
    for (const type of types) {
      const limited = await without(type);
      const alone = await get(query, { prefer: 'handling=lenient' }, limited);
      expectOutcome(alone, 403, 'forbidden');
      expect(alone.headers.get('www-authenticate')).toContain(`system/${type}.read`);
      const { entry } = (await batch([query], limited)).body;
      expect(entry[0].response.status).toMatch(/^403/);
      expect(entry[0].resource).toBeUndefined();
    }
    expect((await get(query)).status).toBe(200);
  });

  test.each<[string, string]>([
    ['Observation?patient.link=x', 'patient.link'],
    ['Observation?patient:Group.name=x', 'patient:Group.name'],
    ['Observation?patient.general-practitioner.name=x', 'patient.general-practitioner.name'],
    ['Observation?encounter.identifier=x', 'encounter.identifier'],
    ['Observation?code.identifier=x', 'code.identifier'],
    ['Observation?_has:Condition:patient:code=x', '_has:Condition:patient:code'],
    ['Patient?link.identifier=x', 'link.identifier'],
    ['Patient?_has:Observation:patient:nothing=x', '_has:Observation:patient:nothing'],
    ['Patient?_has:Observation:code:code=x', '_has:Observation:code:code'],
    ['Patient?_has:Observation:patient:code:not=x', '_has:Observation:patient:code:not'],
    [
      'Patient?_has:Observation:patient:_has:Condition:patient:code=x',
      '_has:Observation:patient:_has:Condition:patient:code',
    ],
    ['Patient?_has:Group:member:identifier=x', '_has:Group:member:identifier'],
    ['Patient?_has:Encounter:patient:type=x', '_has:Encounter:patient:type'],
  ])('%s is rejected by name, with handling=lenient too', async (query, name) => {
    for (const headers of [{}, { prefer: 'handling=lenient' }])
      expectOutcome(await get(query, headers), 400, 'not-supported', `http.${name}`);
  });

  test.each<[string, string]>([
    ['Patient?_revinclude=Patient:link', '_revinclude'],
    ['Patient?_revinclude=*', '_revinclude'],
    ['Patient?_revinclude:iterate=Observation:patient', '_revinclude'],
    ['Observation?_revinclude=Observation:has-member', '_revinclude'],
  ])('%s is rejected by name', async (query, name) => {
    expectOutcome(await get(query), 400, 'not-supported', `http.${name}`);
  });

  test('_revinclude cannot be used with a text summary; _totalMethod counts', async () => {
    const text = await get('Patient?_revinclude=Observation:patient&_summary=text');
    expectOutcome(text, 400, 'value', 'http._revinclude');
    const counted = await get('Observation?patient.identifier=A&_count=1&_totalMethod=count');
    expect(counted.body['total']).toBe(2);
    expectOutcome(await get('Patient?_totalMethod=estimate'), 400, 'value', 'http._totalMethod');
  });

  test('a condition of a write and a filter of an export have no such parameters', async () => {
    const body = observation(ids['ann'] ?? '');
    const query = 'patient.identifier=A';
    const create = await subject().call('POST', '/Observation', { token, body, headers: { 'if-none-exist': query } });
    expectOutcome(create, 400, 'not-supported', `http.patient.identifier`);
    const update = await subject().call('PUT', `/Observation?${query}`, { token, body });
    expectOutcome(update, 400, 'not-supported', `http.patient.identifier`);
    const path = `/$export?_type=Observation&_typeFilter=${encodeURIComponent(`Observation?${query}`)}`;
    const filtered = await subject().call('GET', path, { token, headers: { prefer: 'respond-async' } });
    expectOutcome(filtered, 400, 'not-supported');
  });

  test('one request has 30 of them, a Bundle too', async () => {
    const chain = (n: number) => Array.from({ length: n }, () => 'patient.gender:missing=true').join('&');
    expect((await get(`Observation?${chain(30)}`)).status).toBe(200);
    const alone = await get(`Observation?${chain(31)}`);
    expectOutcome(alone, 422, 'too-costly', 'http.patient.gender:missing');
    expect(alone.text).toContain('the limit related-parameters');
    const urls = (n: number) => Array.from({ length: n }, () => 'Patient?_has:Observation:patient:code=x');
    const { entry } = (await batch(urls(30))).body;
    expect(entry.map(({ response }: Body) => response.status)).toEqual(urls(30).map(() => '200 OK'));
    expectOutcome(await batch(urls(31)), 422, 'too-costly');
  });

  test('the CapabilityStatement lists _revinclude, and describes chains', async () => {
    const { body } = await subject().call('GET', '/metadata', { token: null });
    const resources = body['rest'][0].resource as Body[];
    const of = (type: string): Body => resources.find((one) => one['type'] === type) ?? {};
    expect(of('Patient')['searchRevInclude']).toContain('Observation:patient');
    expect(of('Observation')['searchRevInclude']).toEqual(['Provenance:target']);
    expect(body['rest'][0].documentation + JSON.stringify(body)).toContain('_has:[type]:patient:[parameter]');
  });
}
