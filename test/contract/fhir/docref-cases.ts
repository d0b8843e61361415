/** `DocumentReference/$docref` of US Core with FHIR_SEARCH=us-core (edge/docs/behaviour.md, FHIR, Documents of a patient). */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';

import { type Body, expectOutcome, idsOf, linkOf, patient, type Subject, walk } from './subject.ts';

const LOINC = 'http://loinc.org';

export function docrefCases(subject: () => Subject): void {
  let token: string;
  let ann: string;
  const ids: Record<string, string> = {};
  const nameOf = (id: string): string => Object.keys(ids).find((name) => ids[name] === id) ?? id;
  const get = (query: string, by = token) =>
    subject().call('GET', `/DocumentReference/$docref${query === '' ? '' : `?${query}`}`, { token: by });
  const post = (...parameter: readonly Body[]) =>
    subject().call('POST', '/DocumentReference/$docref', { token, body: { resourceType: 'Parameters', parameter } });

  beforeAll(async () => {
    ({ token } = await subject().newSite());
    ann = await subject().create(patient('ann'), token);
    const bob = await subject().create(patient('bob'), token);
    const add = async (name: string, code: string, more: Body, of = ann): Promise<void> => {
      ids[name] = await subject().create(
        {
          resourceType: 'DocumentReference',
          status: 'current',
          type: { coding: [{ system: LOINC, code }] },
          subject: { reference: `Patient/${of}` },
          content: [{ attachment: { url: `https://example.test/${name}` } }],
          ...more,
        },
        token,
      );
    };
    const care = (start: string, end: string): Body => ({ context: { period: { start, end } } });
    await add('summary', '34133-9', { date: '2026-03-01T00:00:00Z', ...care('2026-01-10', '2026-01-20') });
    await add('replaced', '34133-9', { status: 'superseded', date: '2026-02-01T00:00:00Z', ...care('2025', '2025') });
    await add('wrong', '11488-4', { status: 'entered-in-error', date: '2026-04-01T00:00:00Z' });
    // As HL7 brings it: without the time of the care.
    await add('letter', '11488-4', { date: '2026-01-15T12:00:00Z' });
    await add('undated', '18842-5', {});
    await add('other', '34133-9', { date: '2026-03-02T00:00:00Z' }, bob);
  });

  test.each<[string, string[]]>([
    ['', ['summary', 'letter', 'undated']],
    ['type=34133-9', ['summary']],
    [`type=${LOINC}|34133-9&type=11488-4`, ['summary', 'letter']],
    ['type=34133-9,11488-4', ['summary', 'letter']],
    ['type=urn:x|34133-9', []],
    ['on-demand=false', ['summary', 'letter', 'undated']],
    // The care of a document, and the date of one without it: not the day on which the summary was made.
    ['start=2026-01-15&end=2026-01-15', ['summary', 'letter']],
    ['start=2026-02-01', ['wrong']],
    ['end=2025-12-31', ['replaced']],
    // The last day of the care.
    ['start=2026-01-20', ['wrong', 'summary']],
    ['start=2026-01-21', ['wrong']],
    ['end=2026-01-10&start=2026', ['summary']],
    ['start=2026-01-15T12:00:00%2B00:00&end=2026-01-15T12:00:00Z', ['summary', 'letter']],
    ['start=2026-01-15T12:00:00+00:00&end=2026', ['wrong', 'summary', 'letter']],
    ['start=2025&type=34133-9', ['summary', 'replaced']],
  ])('%s', async (query, expected) => {
    const reply = await get(`patient=${ann}${query === '' ? '' : `&${query}`}`);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({ resourceType: 'Bundle', type: 'searchset', total: expected.length });
    expect(idsOf(reply).map(nameOf)).toEqual(expected);
    const pages = await walk(subject(), `/DocumentReference/$docref?patient=${ann}&${query}&_count=1`, token);
    expect(pages.flatMap(idsOf).map(nameOf)).toEqual(expected);
  });

  test('Parameters ask as a URL does, also in a batch', async () => {
    const expected = ['summary', 'letter'];
    const asked = await post(
      { name: 'patient', valueId: ann },
      { name: 'type', valueCoding: { system: LOINC, code: '34133-9' } },
      { name: 'type', valueCoding: { code: '11488-4' } },
      { name: 'start', valueDateTime: '2026-01-01' },
      { name: 'end', valueDateTime: '2026-01-31' },
      { name: 'on-demand', valueBoolean: false },
    );
    expect(asked.status, asked.text).toBe(200);
    expect(idsOf(asked).map(nameOf)).toEqual(expected);
    expect(idsOf(await subject().call('GET', linkOf(asked, 'self') ?? '', { token })).map(nameOf)).toEqual(expected);
    const url = `DocumentReference/$docref?patient=${ann}&type=34133-9,11488-4`;
    const { body } = await subject().call('POST', '', {
      token,
      body: { resourceType: 'Bundle', type: 'batch', entry: [{ request: { method: 'GET', url } }] },
    });
    expect((body['entry'][0].resource.entry as Body[]).map(({ resource }) => nameOf(resource.id))).toEqual(expected);
    // A code with separators of a search is one code.
    const odd = await post(
      { name: 'patient', valueId: ann },
      { name: 'type', valueCoding: { system: LOINC, code: '34133-9,11488-4' } },
    );
    expect(idsOf(odd)).toEqual([]);
  });

  test('on-demand=true has none, and says why', async () => {
    for (const reply of [
      await get(`patient=${ann}&on-demand=true`),
      await post({ name: 'patient', valueId: ann }, { name: 'on-demand', valueBoolean: true }),
    ]) {
      expect(reply.body).toMatchObject({ type: 'searchset', total: 0 });
      const [{ resource, search }] = reply.body['entry'] as [Body];
      expect([search.mode, resource.issue[0].code]).toEqual(['outcome', 'informational']);
      expect(resource.issue[0].diagnostics).toContain('generates no documents on demand');
    }
    expectOutcome(
      await get('patient=x&on-demand=true', await subject().tokenWith(['system/Patient.read'])),
      403,
      'forbidden',
    );
  });

  test('a patient that is unknown, or of another site, has an empty Bundle', async () => {
    for (const reply of [
      await get(`patient=${randomUUID()}`),
      await get('patient=nobody'),
      await get(`patient=${ann}`, subject().otherToken),
      // One id, not two.
      await get(`patient=${ann},${ann}`),
    ]) {
      expect(reply.body).toMatchObject({ type: 'searchset', total: 0 });
      expect(reply.body).not.toHaveProperty('entry');
    }
    expect(idsOf(await get(`patient=Patient/${ann}&type=34133-9`)).map(nameOf)).toEqual(['summary']);
  });

  test.each<[string, string, string]>([
    ['', 'required', 'patient'],
    ['patient=', 'required', 'patient'],
    ['patient=Group/1', 'value', 'patient'],
    ['patient=$&patient=$', 'value', 'patient'],
    ['patient=$&start=ge2026', 'value', 'start'],
    ['patient=$&end=2026-02-31', 'value', 'end'],
    ['patient=$&start=2026-02-01&end=2026-01-31', 'value', 'end'],
    ['patient=$&start=2026&start=2027', 'value', 'start'],
    ['patient=$&type=', 'required', 'type'],
    ['patient=$&on-demand=yes', 'value', 'on-demand'],
    [
      'patient=$&profile=http://hl7.org/fhir/us/core/StructureDefinition/us-core-documentreference',
      'not-supported',
      'profile',
    ],
    ['patient=$&status=current', 'not-supported', 'status'],
    ['patient=$&period=2026', 'not-supported', 'period'],
    ['patient=$&_count=0', 'value', '_count'],
    ['patient=$&_cursor=x', 'value', '_cursor'],
  ])('rejects %s', async (query, code, name) => {
    const reply = await get(query.replaceAll('$', () => ann));
    expectOutcome(reply, 400, code, `http.${name}`);
  });

  test('rejects Parameters with another value, and other methods', async () => {
    for (const bad of [
      { name: 'type', valueCoding: { system: LOINC } },
      { name: 'type', valueCodeableConcept: { coding: [{ code: 'x' }] } },
      { name: 'patient', resource: patient('x') },
    ])
      expectOutcome(await post({ name: 'patient', valueId: ann }, bad), 400, 'structure');
    const put = await subject().call('PUT', `/DocumentReference/$docref?patient=${ann}`, { token, body: {} });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  });

  test('needs the scope of documents, is one round trip, and is audited as a search', async () => {
    expectOutcome(await get(`patient=${ann}`, await subject().tokenWith(['system/Patient.read'])), 403, 'forbidden');
    const { endpoint } = subject().db;
    const before = endpoint.requests();
    const requestId = randomUUID();
    await subject().call('GET', `/DocumentReference/$docref?patient=${ann}&type=34133-9&start=2025`, {
      token,
      headers: { 'x-request-id': requestId },
    });
    expect(endpoint.requests() - before).toBe(1);
    const { rows } = await subject().client.query(
      'select action, patients::text[] as patients, parameters, ids::text[] as ids from audit where request_id = $1',
      [requestId],
    );
    expect(rows).toEqual([
      {
        action: 'search',
        patients: [ann],
        parameters: ['patient', 'type', 'start'],
        ids: expect.arrayContaining([ids['summary'], ids['replaced']]),
      },
    ]);
  });

  test('the CapabilityStatement has the operation and says what it answers', async () => {
    const { body } = await subject().call('GET', '/metadata', { token: null });
    const of = (body['rest'][0].resource as Body[]).find((one) => one['type'] === 'DocumentReference') ?? {};
    expect(of['operation']).toContainEqual({
      name: 'docref',
      definition: 'http://hl7.org/fhir/us/core/OperationDefinition/docref',
      documentation: expect.stringContaining('no document is generated'),
    });
  });
}
