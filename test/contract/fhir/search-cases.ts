/** Searching: every parameter and control, strictly (edge/docs/behaviour.md, FHIR). */
import { beforeAll, describe, expect, test } from 'vitest';

import { type Body, expectOutcome, idsOf, linkOf, observation, type Subject } from './subject.ts';

const CLINICAL = 'http://terminology.hl7.org/CodeSystem/condition-clinical';
const ALLERGY = 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical';
const coded = (system: string | undefined, code: string): Body => ({
  coding: [{ ...(system === undefined ? {} : { system }), code }],
});

/** The parameters that `FHIR_SEARCH=us-core` adds. */
const ONLY_US_CORE: Readonly<Record<string, string>> = {
  Patient: 'family given',
  Condition: 'subject category onset-date recorded-date',
  AllergyIntolerance: 'category date',
  Observation: 'subject category status date',
  Procedure: 'subject category status date',
  DiagnosticReport: 'subject category code date',
  DocumentReference: 'subject category status date period',
};

export function searchCases(subject: () => Subject): void {
  let token: string;
  let ids: Record<string, string>;
  const nameOf = (id: string): string => Object.keys(ids).find((name) => ids[name] === id) ?? id;
  const get = (path: string, headers: Record<string, string> = {}) => subject().call('GET', path, { token, headers });
  const found = async (path: string): Promise<string[]> => {
    const reply = await get(path);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({ resourceType: 'Bundle', type: 'searchset' });
    expect(reply.body['total']).toBe(idsOf(reply).length);
    return idsOf(reply).map(nameOf);
  };

  beforeAll(async () => {
    ({ token } = await subject().newSite());
    ids = {};
    const add = async (name: string, resource: Body): Promise<string> =>
      (ids[name] = await subject().create(resource, token));
    const peter = await add('peter', {
      resourceType: 'Patient',
      identifier: [{ system: 'urn:mrn', value: 'A,1' }, { value: 'bare' }, { system: 'urn:x|y', value: 'p$q' }],
      name: [{ text: 'Péter James Müller' }, { family: "O'Brien", given: ['Jim', 'Bob'] }],
      gender: 'male',
      birthDate: '1974-12-25',
    });
    await add('wei', {
      resourceType: 'Patient',
      identifier: [{ system: 'urn:mrn', value: 'B2' }, { system: 'urn:only' }],
      name: [{ family: '王', given: ['伟'] }, { text: 'ЖУКОВ Łukasz' }],
      gender: 'female',
      birthDate: '1974',
    });
    await add('anon', {
      resourceType: 'Patient',
      identifier: [{ system: 'urn:other', value: 'A,1' }],
      name: [{ text: '50%_off' }],
    });
    const wei = ids['wei'] ?? '';
    await add('bp', observation(peter, { code: coded('http://loinc.org', '85354-9') }));
    await add('hr', observation(peter, { code: coded('http://loinc.org', '8867-4') }));
    await add('local', observation(wei, { code: coded(undefined, '8867-4') }));
    await add('text', observation(wei, { code: { text: '8867-4' } }));
    await add(
      'two',
      observation(wei, {
        code: {
          coding: [
            { system: 'urn:a', code: 'x' },
            { system: 'urn:b', code: 'x' },
          ],
        },
      }),
    );
    const condition = (subjectId: string, status: string): Body => ({
      resourceType: 'Condition',
      subject: { reference: `Patient/${subjectId}` },
      clinicalStatus: coded(CLINICAL, status),
      code: coded('http://snomed.info/sct', '73211009'),
    });
    await add('active', condition(peter, 'active'));
    await add('resolved', condition(peter, 'resolved'));
    await add('allergy', {
      resourceType: 'AllergyIntolerance',
      patient: { reference: `Patient/${peter}` },
      clinicalStatus: coded(ALLERGY, 'active'),
      code: coded('urn:allergen', 'nut'),
      reaction: [{ substance: coded('urn:allergen', 'peanut'), manifestation: [{ text: 'itch' }] }],
    });
    await add('procedure', {
      resourceType: 'Procedure',
      status: 'completed',
      subject: { reference: `Patient/${peter}` },
      code: coded('urn:p', '1'),
    });
    const report = (status: string): Body => ({
      resourceType: 'DiagnosticReport',
      status,
      code: { text: 'CT' },
      subject: { reference: `Patient/${peter}` },
    });
    for (const status of ['final', 'amended', 'preliminary']) await add(status, report(status));
    await add('document', {
      resourceType: 'DocumentReference',
      status: 'current',
      type: coded('http://loinc.org', '34108-1'),
      subject: { reference: `Patient/${peter}` },
      content: [{ attachment: { url: 'https://example.test/1' } }],
    });
  });

  describe('Patient', () => {
    test.each<[string, string[]]>([
      ['', ['peter', 'wei', 'anon']],
      ['identifier=bare', ['peter']],
      ['identifier=A\\,1', ['peter', 'anon']],
      ['identifier=A,1', []],
      ['identifier=urn:mrn|A\\,1', ['peter']],
      ['identifier=urn:mrn|A\\,1,urn:mrn|B2', ['peter', 'wei']],
      ['identifier=|bare', ['peter']],
      ['identifier=|A\\,1', []],
      ['identifier=urn:mrn|', ['peter', 'wei']],
      ['identifier=urn:only|', ['wei']],
      ['identifier=urn:x\\|y|p\\$q', ['peter']],
      ['identifier=BARE', []],
      ['identifier=bare&identifier=urn:mrn|', ['peter']],
      ['identifier=bare&identifier=B2', []],
      ['identifier=nobody', []],
      ['name=peter', ['peter']],
      ['name=MULLER', ['peter']],
      ['name=mes m%C3%BC', ['peter']],
      ['name=o%27br', ['peter']],
      ['name=jim bob', ['peter']],
      ['name=bob o%27brien', ['peter']],
      ['name=%E7%8E%8B', ['wei']],
      ['name=%E4%BC%9F', ['wei']],
      ['name=%D0%B6%D1%83%D0%BA%D0%BE', ['wei']],
      ['name=lukasz', ['wei']],
      ['name=z', ['wei']],
      ['name=%25', ['anon']],
      ['name=_', ['anon']],
      ['name=0%25_o', ['anon']],
      ['name=50%25o', []],
      ['name=peter,off', ['peter', 'anon']],
      ['name=peter&name=jim', ['peter']],
      ['name=peter&name=off', []],
      ['birthdate=1974-12-25', ['peter']],
      ['birthdate=eq1974-12-25', ['peter']],
      ['birthdate=1974', ['wei']],
      ['birthdate=1974-12', []],
      ['birthdate=1974,1974-12-25', ['peter', 'wei']],
      ['gender=male', ['peter']],
      ['gender=male,female', ['peter', 'wei']],
      ['gender=http://hl7.org/fhir/administrative-gender|female', ['wei']],
      ['gender=urn:x|female', []],
      ['gender=Male', []],
      ['name=e&gender=male&birthdate=1974-12-25&identifier=bare', ['peter']],
      ['name=e&gender=female&birthdate=1974-12-25', []],
      ['_lastUpdated=ge2020-01-01', ['peter', 'wei', 'anon']],
      ['_lastUpdated=lt2020', []],
      ['_lastUpdated=gt2020&_lastUpdated=lt2999-01-01T00:00:00%2B02:00', ['peter', 'wei', 'anon']],
      ['_lastUpdated=ne2020,lt2020', ['peter', 'wei', 'anon']],
      ['_id=nonsense', []],
    ])('%s', async (query, names) => {
      expect(await found(`/Patient?${query}`)).toEqual(names);
    });

    test('_id and _lastUpdated of matches', async () => {
      const id = ids['wei'] ?? '';
      expect(await found(`/Patient?_id=${id},${ids['peter']}`)).toEqual(['peter', 'wei']);
      expect(await found(`/Patient?_id=${id}&name=peter`)).toEqual([]);
      const read = await get(`/Patient/${id}`);
      const at = String(read.body['meta'].lastUpdated);
      expect(await found(`/Patient?_lastUpdated=${at}&_id=${id}`)).toEqual(['wei']);
      expect(await found(`/Patient?_lastUpdated=gt${at}&_id=${id}`)).toEqual([]);
      expect(await found(`/Patient?_lastUpdated=le${at}&_id=${id}`)).toEqual(['wei']);
    });
  });

  describe('the other types', () => {
    test.each<[string, string[]]>([
      ['Observation?code=8867-4', ['hr', 'local']],
      ['Observation?code=http://loinc.org|8867-4', ['hr']],
      ['Observation?code=|8867-4', ['local']],
      ['Observation?code=http://loinc.org|', ['bp', 'hr']],
      ['Observation?code=8867-4,85354-9', ['bp', 'hr', 'local']],
      ['Observation?code=x', ['two']],
      ['Observation?code=urn:a|x&code=urn:b|x', ['two']],
      ['Observation?patient=Patient/{peter}', ['bp', 'hr']],
      ['Observation?patient={peter}', ['bp', 'hr']],
      ['Observation?patient={root}/Patient/{peter}', ['bp', 'hr']],
      ['Observation?patient=https://elsewhere.test/fhir/Patient/{peter}', []],
      ['Observation?patient=Patient/example', []],
      ['Observation?patient={peter},{wei}', ['bp', 'hr', 'local', 'text', 'two']],
      ['Observation?patient={peter}&patient={wei}', []],
      ['Observation?patient={peter}&code=8867-4', ['hr']],
      ['Condition?clinical-status=active', ['active']],
      [`Condition?clinical-status=${CLINICAL}|active,resolved`, ['active', 'resolved']],
      ['Condition?patient={peter}&code=73211009&clinical-status=resolved', ['resolved']],
      ['Condition?patient={wei}', []],
      ['AllergyIntolerance?patient={peter}', ['allergy']],
      ['AllergyIntolerance?code=nut', ['allergy']],
      ['AllergyIntolerance?code=urn:allergen|peanut', ['allergy']],
      ['AllergyIntolerance?clinical-status=inactive', []],
      ['Procedure?code=urn:p|1', ['procedure']],
      ['Procedure?patient={peter}', ['procedure']],
      ['DiagnosticReport?status=final', ['final', 'amended']],
      ['DiagnosticReport?status=amended', ['preliminary']],
      ['DiagnosticReport?status=whatever', ['preliminary']],
      ['DiagnosticReport?status=final,draft', ['final', 'amended', 'preliminary']],
      ['DiagnosticReport?patient={peter}&status=final', ['final', 'amended']],
      ['DiagnosticReport?patient={wei}', []],
      ['DiagnosticReport?patient={peter}&_lastUpdated=gt2020', ['final', 'amended', 'preliminary']],
      ['DocumentReference?type=34108-1', ['document']],
      ['DocumentReference?patient={peter}&type=http://loinc.org|34108-1', ['document']],
    ])('%s', async (query, names) => {
      const path = query.replace(/\{(\w+)\}/g, (_, name: string) =>
        name === 'root' ? subject().root : (ids[name] ?? ''),
      );
      expect(await found(`/${path}`)).toEqual(names);
    });
  });

  describe('rejects, naming the parameter', () => {
    test.each<[string, string, string]>([
      ['/Patient?foo=1', 'not-supported', 'http.foo'],
      ['/Patient?name:exact=peter', 'not-supported', 'http.name:exact'],
      ['/Patient?identifier:missing=true', 'not-supported', 'http.identifier:missing'],
      ['/Patient?family=x', 'not-supported', 'http.family'],
      ['/Observation?subject=Patient/1', 'not-supported', 'http.subject'],
      ['/Observation?identifier=1', 'not-supported', 'http.identifier'],
      ['/Observation?patient.name=x', 'not-supported', 'http.patient.name'],
      ['/Observation?patient:Patient=x', 'not-supported', 'http.patient:Patient'],
      ['/Patient?constructor=1', 'not-supported', 'http.constructor'],
      ['/Patient?_include=Patient:link', 'not-supported', 'http._include'],
      ['/Patient?_offset=1', 'not-supported', 'http._offset'],
      ['/Patient?name=', 'required', 'http.name'],
      ['/Patient?name=%CC%81', 'value', 'http.name'],
      ['/Patient?name=a%00', 'value', 'http.name'],
      ['/Patient?identifier=|', 'value', 'http.identifier'],
      ['/Patient?identifier=a,', 'value', 'http.identifier'],
      ['/Patient?birthdate=ge1974', 'value', 'http.birthdate'],
      ['/Patient?birthdate=yesterday', 'value', 'http.birthdate'],
      ['/Patient?_lastUpdated=2020-02-31', 'value', 'http._lastUpdated'],
      ['/Observation?patient=Group/1', 'value', 'http.patient'],
      ['/Observation?_sort=name', 'value', 'http._sort'],
      ['/Patient?_sort=gender', 'value', 'http._sort'],
      ['/Patient?_sort=name,gender', 'value', 'http._sort'],
      ['/Patient?_sort=name,-name', 'value', 'http._sort'],
      ['/Patient?_sort=name,', 'value', 'http._sort'],
      // Any number of patients may have no birth date, and each would have to be looked up.
      ['/Patient?_sort=birthdate,_lastUpdated', 'value', 'http._sort'],
      ['/Patient?_sort=-birthdate,name,_lastUpdated', 'value', 'http._sort'],
      ['/Patient?_sort=--name', 'value', 'http._sort'],
      ['/Patient?_sort=name,--_id', 'value', 'http._sort'],
      ['/Patient?_count=-1', 'value', 'http._count'],
      ['/Patient?_count=ten', 'value', 'http._count'],
      ['/Patient?_count=1&_count=2', 'value', 'http._count'],
      ['/Patient?_total=about', 'value', 'http._total'],
      ['/Patient?_summary=most', 'value', 'http._summary'],
      ['/Patient?_summary=true&_elements=name', 'value', 'http._elements'],
      ['/Patient?_elements=', 'value', 'http._elements'],
      ['/Patient?_elements=status', 'value', 'http._elements'],
      ['/Patient?_pretty=maybe', 'value', 'http._pretty'],
      ['/Patient?_cursor=abc', 'value', 'http._cursor'],
    ])('%s', async (path, code, place) => {
      expectOutcome(await get(path), 400, code, place);
    });

    test('all faults at once, and lists the supported parameters', async () => {
      const reply = await get('/Patient?foo=1&birthdate=x&name=');
      expect(reply.body['issue']).toHaveLength(3);
      expect(reply.body['issue'][0].diagnostics).toMatch(
        /supported: _id, _lastUpdated, identifier, name, birthdate, gender, _count/,
      );
    });

    test.each(Object.entries(ONLY_US_CORE))('parameters of US Core only, of %s', async (type, added) => {
      const { rest } = (await get('/metadata')).body;
      const { searchParam } = (rest[0].resource as Body[]).find((resource) => resource['type'] === type) ?? {};
      const modified = (searchParam as Body[]).flatMap(({ name }) =>
        ['missing', 'not', 'exact', 'contains'].map((one) => `${name}:${one}`),
      );
      const names = [...added.split(' '), ...modified, '_include', '_revinclude', '_tag', '_totalMethod'];
      const reply = await get(`/${type}?${names.map((name) => `${name}=true`).join('&')}`);
      expect(reply.status).toBe(400);
      const issues = reply.body['issue'] as Body[];
      expect(issues.map(({ code, location }) => `${code} ${location}`)).toEqual(
        names.map((name) => `not-supported http.${name}`),
      );
    });

    test('a prefix or a part of a date of birth', async () => {
      for (const value of ['gt1974-12-25', 'ap1974'])
        expectOutcome(await get(`/Patient?birthdate=${value}`), 400, 'value');
      expect(await found('/Patient?birthdate=1974')).toEqual(['wei']);
    });

    test('unless Prefer: handling=lenient leaves it out with a warning', async () => {
      const reply = await get('/Patient?foo=1&name=peter&_contained=both', { prefer: 'handling=lenient' });
      expect(idsOf(reply).map(nameOf)).toEqual(['peter']);
      const outcomes = (reply.body['entry'] as Body[]).filter((entry) => entry['search'].mode === 'outcome');
      expect(outcomes[0]?.['resource']).toMatchObject({
        resourceType: 'OperationOutcome',
        issue: [
          { severity: 'warning', location: ['http.foo'] },
          { severity: 'warning', location: ['http._contained'] },
        ],
      });
      expect(linkOf(reply, 'self')).toBe(`${subject().root}/Patient?name=peter`);
      expectOutcome(await get('/Patient?birthdate=x', { prefer: 'handling=lenient' }), 400, 'value');
    });
  });

  describe('controls', () => {
    test('_sort, both ways', async () => {
      expect(await found('/Patient?_sort=name')).toEqual(['anon', 'peter', 'wei']);
      expect(await found('/Patient?_sort=-name')).toEqual(['wei', 'peter', 'anon']);
      expect(await found('/Patient?_sort=birthdate')).toEqual(['anon', 'wei', 'peter']);
      expect(await found('/Patient?_sort=-birthdate&gender=male,female')).toEqual(['peter', 'wei']);
      expect(await found('/Patient?_sort=_lastUpdated')).toEqual(['peter', 'wei', 'anon']);
      expect(await found('/Patient?_sort=-_lastUpdated&identifier=A\\,1')).toEqual(['anon', 'peter']);
      expect(await found('/DiagnosticReport?_sort=-_lastUpdated&status=final')).toEqual(['amended', 'final']);
    });

    test('_count, _total and _summary=count', async () => {
      const page = await get('/Patient?_count=2');
      expect(page.body).not.toHaveProperty('total');
      expect(linkOf(page, 'next')).toBeTruthy();
      expect((await get('/Patient?_count=2&_total=accurate')).body['total']).toBe(3);
      expect((await get('/Patient?_count=2&_total=estimate')).body['total']).toBe(3);
      expect((await get('/Patient?_count=2&_total=estimated')).body['total']).toBe(3);
      expect((await get('/Patient?_count=3')).body['total']).toBe(3);
      expect(linkOf(await get('/Patient?_count=3'), 'next')).toBeUndefined();
      for (const query of ['_summary=count', '_count=0']) {
        const count = await get(`/Observation?${query}&code=8867-4`);
        expect(count.body).toMatchObject({ type: 'searchset', total: 2 });
        expect(count.body).not.toHaveProperty('entry');
      }
      const most = '_count=2147483647';
      expect(linkOf(await get(`/Patient?${most}`), 'self')).toBe(`${subject().root}/Patient?_count=500`);
      expect((await get(`/Patient/_history?${most}`)).status).toBe(200);
    });

    test('_elements', async () => {
      // As fhirpy asks: the name of the type is in every answer.
      for (const elements of ['id,resourceType', 'resourceType']) {
        const asked = await get(`/Patient?_count=1&_elements=${elements}`);
        expect(Object.keys(asked.body['entry'][0].resource)).toEqual(['resourceType', 'id', 'meta']);
      }
      const { body } = await get('/Observation?code=85354-9&_elements=subject');
      expect(Object.keys(body['entry'][0].resource).sort()).toEqual(
        ['code', 'id', 'meta', 'resourceType', 'status', 'subject'].sort(),
      );
      expect(body['entry'][0].resource.meta.tag).toMatchObject([{ code: 'SUBSETTED' }]);
    });

    test('_summary', async () => {
      const shapes = {
        true: ['code', 'effectiveDateTime', 'id', 'meta', 'resourceType', 'status', 'subject', 'valueQuantity'],
        text: ['code', 'id', 'meta', 'resourceType', 'status', 'text'],
        data: [
          'category',
          'code',
          'effectiveDateTime',
          'id',
          'meta',
          'note',
          'resourceType',
          'status',
          'subject',
          'valueQuantity',
        ],
      };
      const note = [{ text: 'haemolysed' }];
      const text = { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">6.30</div>' };
      const id = await subject().create(
        observation(ids['peter'] ?? '', {
          note,
          text,
          effectiveDateTime: '2026-01-02',
          category: [{ text: 'laboratory' }],
          code: { coding: [{ system: 'urn:summary', code: 'x' }] },
          valueQuantity: { value: 6.3, unit: 'mmol/l' },
        }),
        token,
      );
      for (const [summary, members] of Object.entries(shapes)) {
        const one = await get(`/Observation/${id}?_summary=${summary}`);
        const page = await get(`/Observation?code=urn:summary|x&_summary=${summary}`);
        for (const resource of [one.body, page.body['entry'][0].resource]) {
          expect(Object.keys(resource).sort(), summary).toEqual(members);
          expect(resource.meta.tag).toMatchObject([{ code: 'SUBSETTED' }]);
        }
      }
      expect((await get(`/Observation/${id}?_summary=false`)).body).toMatchObject({ note });
      expectOutcome(await get(`/Observation/${id}?_summary=count`), 400, 'value', 'http._summary');
    });

    test('links and entries', async () => {
      const query = `identifier=${encodeURIComponent('urn:mrn|B2')}&_count=10`;
      const { body } = await get(`/Patient?${query}`);
      expect(body['link']).toEqual([
        { relation: 'self', url: `${subject().root}/Patient?identifier=urn%3Amrn%7CB2&_count=10` },
        { relation: 'first', url: `${subject().root}/Patient?identifier=urn%3Amrn%7CB2&_count=10` },
      ]);
      expect(body['entry'][0]).toMatchObject({
        fullUrl: `${subject().root}/Patient/${ids['wei']}`,
        search: { mode: 'match' },
      });
      const none = await get('/Patient?identifier=nobody');
      expect(none.body).not.toHaveProperty('entry');
      expect(none.body['total']).toBe(0);
    });

    test('POST _search accepts parameters in a form, in the URL, or in both', async () => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const post = (path: string, body?: string) =>
        subject().call('POST', path, { token, ...(body === undefined ? {} : { body, headers }) });
      expect(idsOf(await post('/Patient/_search', 'identifier=urn%3Amrn%7CB2')).map(nameOf)).toEqual(['wei']);
      expect(idsOf(await post('/Patient/_search?gender=male', 'name=e')).map(nameOf)).toEqual(['peter']);
      expect(idsOf(await post('/Patient/_search?gender=male')).map(nameOf)).toEqual(['peter']);
      expectOutcome(await post('/Patient/_search', 'foo=1'), 400, 'not-supported', 'http.foo');
      const json = await subject().call('POST', '/Patient/_search', { token, body: {} });
      expectOutcome(json, 415, 'not-supported');
      const sentAs = (charset: string, body: string) =>
        subject().call('POST', '/Patient/_search', {
          token,
          body,
          headers: { 'content-type': `application/x-www-form-urlencoded; charset=${charset}` },
        });
      expect(idsOf(await sentAs('ISO-8859-1', 'identifier=urn%3Amrn%7CB2')).map(nameOf)).toEqual(['wei']);
      expectOutcome(await sentAs('ISO-8859-1', 'name=é'), 400, 'invalid');
      expectOutcome(await sentAs('utf-16', 'name=e'), 415, 'not-supported');
      const page = await post('/Patient/_search', '_count=2');
      expect(idsOf(await get(linkOf(page, 'next') ?? '')).map(nameOf)).toEqual(['anon']);
    });
  });
}
