/** Provenance with FHIR_PROVENANCE=on (edge/docs/behaviour.md, FHIR, Provenance). */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';

import { getToken } from '../../stack/services/client.ts';
import { ALL_SCOPES, type ApiKey, createApiKey } from '../../stack/services/seed.ts';
import { download, linesOf, manifestOf } from './bulk-export.ts';
import { type Body, expectOutcome, idsOf, linkOf, observation, patient, type Subject, walk } from './subject.ts';

const SCOPES = [...ALL_SCOPES, 'system/Provenance.read'];

export function provenanceCases(subject: () => Subject): void {
  let site: string;
  let key: ApiKey;
  let token: string;
  const newToken = async (scopes: readonly string[]) => {
    const made = await createApiKey(subject().client, { site, scopes });
    return { key: made, token: await getToken(subject().gateway.oauthBaseUrl, made, { audience: 'svc-fhir' }) };
  };
  const get = (path: string, by = token, headers: Record<string, string> = {}) =>
    subject().call('GET', `/${path}`, { token: by, headers });
  const put = async (resource: Body): Promise<void> => {
    const reply = await subject().call('PUT', `/${resource['resourceType']}/${resource['id']}`, {
      token,
      body: resource,
    });
    expect(reply.status, reply.text).toBe(200);
  };
  const ofTarget = async (target: string): Promise<Body[]> => {
    const reply = await get(`Provenance?target=${target}`);
    expect(reply.status, reply.text).toBe(200);
    return ((reply.body['entry'] ?? []) as Body[]).map(({ resource }) => resource as Body);
  };
  /** The content of a Provenance, in a line. */
  const said = ({ target, activity, agent, entity }: Body): string =>
    [
      target[0].reference.replace(/.*_history\//, 'v'),
      activity.coding[0].code,
      agent[0].who.identifier?.value ?? agent[0].who.display,
      (target[0].extension ?? []).map(({ valueString }: Body) => valueString).join('+'),
      (entity ?? []).map(({ role, what }: Body) => `${role} ${what.display ?? what.reference}`).join('+'),
    ].join('|');

  beforeAll(async () => {
    ({ site } = await subject().newSite());
    ({ key, token } = await newToken(SCOPES));
  });

  test('each version that a client wrote has one, with client, time and changed elements', async () => {
    const ann = await subject().create(patient('A'), token);
    const other = await newToken(ALL_SCOPES);
    const value = (number: string) => ({ valueQuantity: { value: { n: number } } });
    const id = await subject().create(observation(ann, { valueQuantity: { value: 1.5 } }), token);
    // The same number with another precision is a change.
    const body = JSON.stringify({ ...observation(ann, value('')), id }).replace('{"n":""}', '1.50');
    expect((await subject().call('PUT', `/Observation/${id}`, { token: other.token, body })).status).toBe(200);
    const entry = [
      {
        request: { method: 'PUT', url: `Observation/${id}` },
        resource: { ...observation(ann, { status: 'amended' }), id },
      },
      { request: { method: 'POST', url: 'Observation' }, resource: observation(ann) },
    ];
    const bundle = await subject().call('POST', '', {
      token,
      body: { resourceType: 'Bundle', type: 'transaction', entry },
    });
    expect(bundle.status, bundle.text).toBe(200);
    const found = await ofTarget(`Observation/${id}`);
    expect(found.map(said)).toEqual([
      `v3|UPDATE|${key.clientId}|Observation.status+Observation.valueQuantity|revision Observation/${id}/_history/2`,
      `v2|UPDATE|${other.key.clientId}|Observation.valueQuantity|revision Observation/${id}/_history/1`,
      `v1|CREATE|${key.clientId}||`,
    ]);
    for (const one of found) {
      const read = await get(`Provenance/${one['id']}`);
      expect(read.body).toEqual(one);
      const version = await get(one['target'][0].reference);
      expect(one['recorded']).toBe(version.body['meta'].lastUpdated);
      expect(
        (await get(`Provenance/${one['id']}`, token, { 'if-none-match': read.headers.get('etag') ?? '' })).status,
      ).toBe(304);
    }
    expect((await ofTarget(`Observation/${id}/_history/2`)).map(said)).toEqual(found.slice(1, 2).map(said));
    expect(await ofTarget(`${subject().root}/Observation/${id}/_history/9`)).toEqual([]);
    const pages = await walk(subject(), `/Provenance?target=Observation/${id}&_count=2`, token);
    expect(pages.map((page) => idsOf(page).length)).toEqual([2, 1]);
    expect(pages.flatMap(idsOf)).toEqual(found.map((one) => one['id']));
    const form = {
      token,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `target=Observation/${id}`,
    };
    expect(idsOf(await subject().call('POST', '/Provenance/_search', form))).toEqual(found.map((one) => one['id']));
  });

  test('a version of a message has its sender, key, message and elements; a later version has its client', async () => {
    const hl7 = await createApiKey(subject().client, { site, protocols: ['hl7'] });
    const hl7Token = await getToken(subject().gateway.oauthBaseUrl, hl7, { audience: 'svc-hl7-http' });
    const send = async (name: string, control: string): Promise<void> => {
      const answer = await fetch(`${subject().gateway.hl7BaseUrl}/hl7/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${hl7Token}`, 'content-type': 'text/plain' },
        body: [
          `MSH|^~\\&|ADT|NORTH|GW|B|20260101120000+0000||ADT^A08^ADT_A01|${control}|P|2.5.1`,
          'EVN||20260101120000+0000',
          `PID|1||PROV1^^^ADT^MR||${name}^Ann||19700101|F`,
          'PV1||I|W',
          '',
        ].join('\r'),
      });
      expect(answer.status, await answer.text()).toBe(200);
    };
    await send('Provenant', 'CTL-1');
    await send('Married', 'CTL-2');
    const [id = ''] = idsOf(await get('Patient?name=married'));
    const { body } = await get(`Patient/${id}`);
    await put({ ...body, gender: 'male' });
    const found = await ofTarget(`Patient/${id}`);
    expect(found.map(said)).toEqual([
      `v3|UPDATE|${key.clientId}|Patient.gender|revision Patient/${id}/_history/2`,
      `v2|UPDATE|${hl7.clientId}|Patient.name|source ADT^A08 CTL-2+revision Patient/${id}/_history/1`,
      expect.stringMatching(new RegExp(`^v1\\|CREATE\\|${hl7.clientId}\\|.*Patient.birthDate.*\\|source .* CTL-1$`)),
    ]);
    expect(found[1]?.['agent'][0].who.display).toBe('ADT NORTH');
    // Without the audit the client is not on record any more.
    await subject().client.query('update audit set versions = null where site_id = $1 and client_id = $2', [
      site,
      key.clientId,
    ]);
    expect(said((await ofTarget(`Patient/${id}`))[0] ?? {})).toMatch(/^v3\|UPDATE\|Not on record\|Patient.gender\|/);
  });

  test('a version of more than 64 KiB names no elements; a Bundle has 30 targets', async () => {
    const fay = patient('FAY', { name: [{ text: 'x'.repeat(70_000) }] });
    const id = await subject().create(fay, token);
    await put({ ...fay, gender: 'female', id });
    expect((await ofTarget(`Patient/${id}`)).map(said)).toEqual([
      `v2|UPDATE|${key.clientId}||revision Patient/${id}/_history/1`,
      `v1|CREATE|${key.clientId}||`,
    ]);
    const batch = (n: number) => {
      const entry = Array.from({ length: n }, () => ({
        request: { method: 'GET', url: `Provenance?target=Patient/${id}` },
      }));
      return subject().call('POST', '', { token, body: { resourceType: 'Bundle', type: 'batch', entry } });
    };
    expect((await batch(30)).status).toBe(200);
    expectOutcome(await batch(31), 422, 'too-costly');
  });

  test('_revinclude adds that of the version of each match, in one round trip', async () => {
    const bob = await subject().create(patient('B'), token);
    const ids = [await subject().create(observation(bob), token), await subject().create(observation(bob), token)];
    await put({ ...observation(bob, { status: 'amended' }), id: ids[1] });
    const { endpoint } = subject().db;
    for (const query of [
      `Observation?patient=${bob}&_revinclude=Provenance:target`,
      `Observation?patient=${bob}&_revinclude=Provenance:target:Observation&_include=Observation:patient`,
      `Observation?patient.identifier=B&_revinclude=Provenance:target&_sort=_lastUpdated`,
    ]) {
      const before = endpoint.requests();
      const reply = await get(query);
      expect(endpoint.requests() - before).toBe(1);
      expect(idsOf(reply)).toEqual(ids);
      const made = (reply.body['entry'] as Body[]).filter(({ resource }) => resource.resourceType === 'Provenance');
      expect(made.map(({ search, resource }) => `${search.mode} ${resource.id}`)).toEqual([
        `include Observation-${ids[0]}-1`,
        `include Observation-${ids[1]}-2`,
      ]);
      expect(made.map(({ fullUrl }) => fullUrl)).toEqual(
        made.map(({ resource }) => `${subject().root}/Provenance/${resource.id}`),
      );
    }
    const paged = await walk(subject(), `/Observation?patient=${bob}&_revinclude=Provenance:target&_count=1`, token);
    expect(paged.map(({ body }) => body['entry'].length)).toEqual([2, 2]);
    const both = await get(`Patient?_id=${bob}&_revinclude=Provenance:target&_revinclude=Observation:patient`);
    expect((both.body['entry'] as Body[]).map(({ resource }) => String(resource.resourceType)).toSorted()).toEqual([
      'Observation',
      'Observation',
      'Patient',
      'Provenance',
    ]);
    const urls = [
      `Provenance/Observation-${ids[0]}-1`,
      `Provenance?target=Observation/${ids[0]}`,
      'Provenance/_history',
      'Provenance/x/_history',
    ];
    const requests: Body[] = urls.map((url) => ({ request: { method: 'GET', url } }));
    const written = { request: { method: 'POST', url: 'Provenance' }, resource: { resourceType: 'Provenance' } };
    const batch = { resourceType: 'Bundle', type: 'batch', entry: [...requests, written] };
    const { entry } = (await subject().call('POST', '', { token, body: batch })).body;
    expect(entry.map(({ response }: Body) => response.status.slice(0, 3))).toEqual(['200', '200', '405', '405', '405']);
  });

  test('$everything has that of each shown version if _type names it', async () => {
    const cay = await subject().create(patient('CAY'), token);
    const id = await subject().create(observation(cay), token);
    await put({ ...observation(cay, { status: 'amended' }), id });
    const path = `Patient/${cay}/$everything`;
    const named = `${path}?_type=Patient,Observation,Provenance`;
    const { body } = await get(named);
    expect(body['total']).toBe(2);
    expect((body['entry'] as Body[]).map(({ search, resource }) => `${search.mode} ${resource.id}`)).toEqual([
      `match ${cay}`,
      `match ${id}`,
      `include Patient-${cay}-1`,
      `include Observation-${id}-2`,
    ]);
    const pages = await walk(subject(), `/${named}&_count=1`, token);
    expect(pages.map((page) => page.body['entry'].length)).toEqual([2, 2]);
    expect(JSON.stringify((await get(path)).body)).not.toContain('Provenance');
    expectOutcome(await get(`${path}?_type=Provenance`), 400, 'value', 'http._type');
    const { token: limited } = await newToken(ALL_SCOPES);
    expectOutcome(await get(named, limited), 403, 'forbidden');
  });

  test('an export has that of each resource if _type names it', async () => {
    ({ site } = await subject().newSite());
    const own = await newToken(SCOPES);
    const dan = await subject().create(patient('DAN'), own.token);
    const id = await subject().create(observation(dan, { status: 'preliminary' }), own.token);
    const body = { ...observation(dan), id };
    expect((await subject().call('PUT', `/Observation/${id}`, { token: own.token, body })).status).toBe(200);
    const exported = async (path: string): Promise<Record<string, string[]>> => {
      const { output } = await manifestOf(subject(), path, { token: own.token });
      const files = output.map(async ({ type, url, count }) => {
        const lines = linesOf(await download(url, own.token));
        if (count !== undefined) expect(lines).toHaveLength(count);
        return lines.map(({ resourceType, id: of }) => {
          expect(resourceType).toBe(type);
          return `${resourceType} ${of}`;
        });
      });
      return Object.groupBy((await Promise.all(files)).flat(), (line) => line.replace(/ .*/, '')) as Record<
        string,
        string[]
      >;
    };
    const all = {
      Patient: [`Patient ${dan}`],
      Observation: [`Observation ${id}`],
      Provenance: [`Provenance Patient-${dan}-1`, `Provenance Observation-${id}-2`],
    };
    expect(await exported('/$export?_type=Patient,Observation,Provenance')).toEqual(all);
    expect(await exported('/Patient/$export?_type=Patient,Observation,Provenance')).toEqual(all);
    const filter = encodeURIComponent('Observation?status=preliminary');
    expect(await exported(`/$export?_type=Observation,Provenance&_typeFilter=${filter}`)).toEqual({});
    const { Provenance: _, ...plain } = all;
    expect(await exported('/$export')).toEqual(plain);
    const { output } = await manifestOf(subject(), '/$export?_type=Patient', { token: own.token });
    const url = output[0]?.url.replace('/Patient.', '/Provenance-Patient.') ?? '';
    expectOutcome(await subject().call('GET', url, { token: own.token }), 404, 'not-found');
    const limited = await newToken(ALL_SCOPES);
    const path = '/$export?_type=Patient,Provenance';
    expectOutcome(
      await subject().call('GET', path, { token: limited.token, headers: { prefer: 'respond-async' } }),
      403,
      'forbidden',
    );
  });

  test('needs its own scope and that of the target', async () => {
    const id = await subject().create(observation(await subject().create(patient('S'), token)), token);
    const unread = SCOPES.filter((scope) => scope !== 'system/Observation.read');
    for (const [scopes, missing] of [
      [ALL_SCOPES, 'system/Provenance.read'],
      [unread, 'system/Observation.read'],
    ] as const) {
      const { token: limited } = await newToken(scopes);
      for (const path of [`Provenance/Observation-${id}-1`, `Provenance?target=Observation/${id}`]) {
        const reply = await get(path, limited);
        expectOutcome(reply, 403, 'forbidden');
        expect(reply.headers.get('www-authenticate')).toContain(missing);
      }
    }
    const { token: limited } = await newToken(ALL_SCOPES);
    expectOutcome(await get(`Observation?_id=${id}&_revinclude=Provenance:target`, limited), 403, 'forbidden');
  });

  test('other sites, other ids and writes find nothing', async () => {
    const id = await subject().create(observation(await subject().create(patient('O'), token)), token);
    const { site: elsewhere } = await subject().newSite();
    const stranger = await createApiKey(subject().client, { site: elsewhere, scopes: SCOPES });
    const foreign = await getToken(subject().gateway.oauthBaseUrl, stranger, { audience: 'svc-fhir' });
    expect((await get(`Provenance?target=Observation/${id}`, foreign)).body).toMatchObject({ total: 0 });
    for (const path of [`Observation-${id}-1`, `Observation-${randomUUID()}-1`])
      expectOutcome(await get(`Provenance/${path}`, foreign), 404, 'not-found');
    for (const path of [`Observation-${id}-2`, `Patient-${id}-1`, `Provenance-${id}-1`, `Encounter-${id}-1`, id, 'x'])
      expectOutcome(await get(`Provenance/${path}`), 404, 'not-found');
    for (const [method, path] of [
      ['POST', '/Provenance'],
      ['PUT', `/Provenance/Observation-${id}-1`],
      ['PATCH', `/Provenance/Observation-${id}-1`],
      ['DELETE', `/Provenance/Observation-${id}-1`],
    ] as const)
      expectOutcome(
        await subject().call(method, path, { token, body: { resourceType: 'Provenance' } }),
        405,
        'not-supported',
      );
    expectOutcome(await get('Provenance'), 400, 'required', 'http.target');
    for (const target of [
      'x',
      `Encounter/${id}`,
      `Observation/${id},Observation/${id}`,
      `https://other.test/Observation/${id}`,
    ])
      expectOutcome(await get(`Provenance?target=${target}`), 400, 'value', 'http.target');
    expectOutcome(await get(`Provenance?target=Observation/${id}&agent=x`), 400, 'not-supported', 'http.agent');
    expectOutcome(await get('Provenance?target=Observation/x&_sort=recorded'), 400, 'not-supported', 'http._sort');
    expect((await get('Provenance?target=Observation/x')).body).toMatchObject({ total: 0 });
    const part = await get(`Provenance?target=Observation/${id}&_elements=recorded`);
    expect(part.body['entry'][0].resource.meta.tag[0].code).toBe('SUBSETTED');
    expect(linkOf(part, 'self')).toContain('/Provenance?target=');
  });

  test('is in the audit with its target', async () => {
    const eve = await subject().create(patient('E'), token);
    const id = await subject().create(observation(eve), token);
    const requestId = randomUUID();
    await get(`Provenance/Observation-${id}-1`, token, { 'x-request-id': requestId });
    await get(`Provenance?target=Observation/${id}`, token, { 'x-request-id': requestId });
    const { rows } = await subject().client.query(
      `select action, types, ids::text[] as ids, patients::text[] as patients, coalesce(parameters, '{}') as parameters from audit where request_id = $1 order by at`,
      [requestId],
    );
    const shown = { types: ['Observation'], ids: [id], patients: [eve] };
    expect(rows).toEqual([
      { action: 'read', ...shown, parameters: [] },
      { action: 'search', ...shown, parameters: ['target'] },
    ]);
  });

  test('discovery has the type, its one scope, and what it can do', async () => {
    const { body } = await subject().call('GET', '/metadata', { token: null });
    const of = (name: string): Body => body['rest'][0].resource.find(({ type }: Body) => type === name);
    expect(of('Provenance').interaction.map(({ code }: Body) => code)).toEqual(['search-type', 'read']);
    expect(of('Provenance').searchParam).toMatchObject([{ name: 'target', type: 'reference' }]);
    expect(of('Observation').searchRevInclude).toEqual(['Provenance:target']);
    const smart = await subject().call('GET', '/.well-known/smart-configuration', { token: null });
    const scopes = (smart.body['scopes_supported'] as string[]).filter((scope) => scope.includes('Provenance'));
    expect(scopes).toEqual(['system/Provenance.read']);
    expectOutcome(
      await get('$export?_type=Provenance', token, { prefer: 'respond-async' }),
      400,
      'value',
      'http._type',
    );
  });
}
