/** Groups and their exports with FHIR_GROUPS=on (edge/docs/behaviour.md, FHIR, Groups). */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

import { getToken } from '../../stack/services/client.ts';
import { ALL_SCOPES, createApiKey } from '../../stack/services/seed.ts';
import { ASYNC, begin, complete, download, exported, linesOf, type Manifest, manifestOf } from './bulk-export.ts';
import { type Body, expectOutcome, idsOf, observation, patient, type Subject } from './subject.ts';

const SCOPES = [...ALL_SCOPES, 'system/Group.read', 'system/Group.write'];

export function groupCases(subject: () => Subject): void {
  const call: Subject['call'] = (...given) => subject().call(...given);
  const create: Subject['create'] = (...given) => subject().create(...given);
  const group = (members: readonly string[], more: Body = {}): Body => ({
    resourceType: 'Group',
    type: 'person',
    actual: true,
    ...(members.length === 0 ? {} : { member: members.map((id) => ({ entity: { reference: `Patient/${id}` } })) }),
    ...more,
  });

  /** A new site with a token for all types. */
  const newSite = async () => {
    const { site } = await subject().newSite();
    const key = await createApiKey(subject().client, { site, scopes: SCOPES });
    const token = await getToken(subject().gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
    return { site, token };
  };
  const put = async (token: string, resource: Body): Promise<Body> => {
    const reply = await call('PUT', `/${resource['resourceType']}/${resource['id']}`, { token, body: resource });
    expect(reply.status, reply.text).toBe(200);
    return reply.body;
  };
  /** `Type/id/version` of each resource. */
  const contentOf = async (manifest: Manifest, token: string): Promise<string[]> =>
    (await exported(manifest, token))
      .map(({ resourceType, id, meta }) => `${resourceType}/${id}/${meta.versionId}`)
      .toSorted();
  const exportOf = async (token: string, id: string, query = ''): Promise<string[]> =>
    contentOf(await manifestOf(subject(), `/Group/${id}/$export${query}`, { token }), token);
  const erase = async (site: string, id: string): Promise<void> => {
    const { client } = subject();
    await client.query('begin');
    await client.query(`select set_config('gateway.site', $1, true)`, [site]);
    await client.query('select * from patient_erase($1, $2, true)', [site, id]);
    await client.query('select audit_add($1, $2)', [
      site,
      { actorKind: 'operator', actor: 'root', requestId: 'erase-1' },
    ]);
    await client.query('commit');
  };

  test('discovery has the type, its scopes and its export', async () => {
    const { body } = await call('GET', '/metadata', { token: null });
    const of = body['rest'][0].resource.find(({ type }: Body) => type === 'Group');
    expect(of.operation.map(({ name }: Body) => name)).toEqual(['validate', 'export']);
    expect(of.searchParam.map(({ name }: Body) => name)).toEqual(['_id', '_lastUpdated', 'identifier', '_tag']);
    const smart = await call('GET', '/.well-known/smart-configuration', { token: null });
    expect(smart.body['scopes_supported']).toEqual([...SCOPES, 'system/Provenance.read']);
  });

  test('is created, read, changed, found by identifier, and has versions', async () => {
    const { token } = await newSite();
    const [a, b] = [await create(patient('a'), token), await create(patient('b'), token)];
    const identifier = [{ system: 'urn:cohorts', value: 'C-1' }];
    // An absolute reference to this server becomes relative, as in other types.
    const member = [{ entity: { reference: `${subject().root}/Patient/${a}` } }];
    const id = await create(group([], { identifier, member }), token);
    const { body: first } = await call('GET', `/Group/${id}`, { token });
    expect(first['member']).toEqual([{ entity: { reference: `Patient/${a}` } }]);
    const again = { ...group([a, b], { identifier }), id };
    expect((await put(token, again))['meta'].versionId).toBe('2');
    expect((await call('GET', `/Group/${id}/_history/1`, { token })).body['member']).toHaveLength(1);
    expect((await call('GET', `/Group/${id}/_history`, { token })).body['total']).toBe(2);
    for (const query of ['identifier=urn:cohorts|C-1', 'identifier=C-1', `_id=${id}`, `_id=${id}&identifier=C-1`]) {
      expect(idsOf(await call('GET', `/Group?${query}`, { token }))).toEqual([id]);
    }
    expect(idsOf(await call('GET', '/Group?identifier=C-2', { token }))).toEqual([]);
    expectOutcome(await call('GET', '/Group?member=Patient/1', { token }), 400, 'not-supported', 'http.member');
    const conditional = await call('PUT', '/Group?identifier=C-1', { token, body: group([b], { identifier }) });
    expect([conditional.status, conditional.body['id']]).toEqual([200, id]);
    const patched = await call('PATCH', `/Group/${id}`, {
      token,
      headers: { 'content-type': 'application/json-patch+json' },
      body: JSON.stringify([{ op: 'add', path: '/name', value: 'diabetes' }]),
    });
    expect([patched.status, patched.body['name']]).toEqual([200, 'diabetes']);
  });

  test('a transaction creates patients and their Group', async () => {
    const { token } = await newSite();
    const known = await create(patient('known'), token);
    const urn = `urn:uuid:${randomUUID()}`;
    const entry = [
      { fullUrl: `urn:uuid:${randomUUID()}`, resource: group([]), request: { method: 'POST', url: 'Group' } },
      { fullUrl: urn, resource: patient('new'), request: { method: 'POST', url: 'Patient' } },
    ];
    entry[0]!.resource['member'] = [
      { entity: { reference: urn } },
      { entity: { reference: 'Patient?identifier=known' } },
    ];
    const reply = await call('POST', '', { token, body: { resourceType: 'Bundle', type: 'transaction', entry } });
    expect(reply.status, reply.text).toBe(200);
    const [made, person] = reply.body['entry'].map(({ resource }: Body) => resource);
    expect(made.member.map(({ entity }: Body) => entity.reference)).toEqual([
      `Patient/${person.id}`,
      `Patient/${known}`,
    ]);
  });

  test('is 422 unless it is a list of patients of the site, and $validate says so', async () => {
    const { token } = await newSite();
    const a = await create(patient('a'), token);
    const foreign = await create(patient('theirs'), subject().otherToken);
    const period = { start: '2026-01-01' };
    for (const [body, place] of [
      [group([a], { type: 'animal' }), 'Group.type'],
      [{ ...group([]), member: undefined, actual: false }, 'Group.actual'],
      [group([], { member: [{ entity: { reference: 'Device/1' } }] }), 'Group.member[0].entity'],
      [group([], { member: [{ entity: { display: 'the neighbour' } }] }), 'Group.member[0].entity'],
      [group([], { member: [{ entity: { reference: `Patient/${a}` }, period }] }), 'Group.member[0].period'],
      [group([a, randomUUID()]), 'Group.member.entity.reference'],
      [group([a, foreign]), 'Group.member.entity.reference'],
    ] as const) {
      const reply = await call('POST', '/Group', { token, body });
      expect([reply.status, reply.body['issue'][0].expression]).toEqual([422, [place]]);
      const { body: verdict } = await call('POST', '/Group/$validate', { token, body });
      expect(verdict['issue'][0]).toMatchObject({ severity: 'error', expression: [place] });
    }
    expectOutcome(await call('POST', '/Group', { token, body: { ...group([a]), type: 'crowd' } }), 400, 'code-invalid');
    const many = group(Array.from({ length: 10_001 }, () => a));
    expectOutcome(await call('POST', '/Group', { token, body: many }), 422, 'too-costly', 'Group.member');
  });

  test('needs its scopes', async () => {
    const { token } = await newSite();
    const id = await create(group([]), token);
    const { token: plain } = await subject().newSite();
    for (const path of [`/Group/${id}`, '/Group', `/Group/${id}/$export`]) {
      expectOutcome(await call('GET', path, { token: plain, headers: ASYNC }), 403, 'forbidden');
    }
    expectOutcome(await call('POST', '/Group', { token: plain, body: group([]) }), 403, 'forbidden');
  });

  test('is exported with a token for the exported types, if its API key may read groups', async () => {
    const { site, token } = await newSite();
    const id = await create(group([await create(patient('a'), token)]), token);
    const tokenOf = async (scopes: readonly string[]): Promise<string> => {
      const key = await createApiKey(subject().client, { site, scopes });
      return getToken(subject().gateway.oauthBaseUrl, key, { audience: 'svc-fhir', scope: 'system/Patient.read' });
    };
    const narrow = await tokenOf(SCOPES);
    expect(
      (await exported(await manifestOf(subject(), `/Group/${id}/$export`, { token: narrow }), narrow)).length,
    ).toBe(1);
    expectOutcome(await call('GET', `/Group/${id}`, { token: narrow }), 403, 'forbidden');
    // A key that may not read groups does not learn whether one exists.
    const never = await tokenOf(ALL_SCOPES);
    for (const one of [id, randomUUID()]) {
      const reply = await call('GET', `/Group/${one}/$export`, { token: never, headers: ASYNC });
      expectOutcome(reply, 403, 'forbidden');
      expect(reply.text).toContain('an API key that allows the scope system/Group.read');
    }
  });

  describe('the export of a Group', () => {
    test('has the records of the members at its moment, of each type or the chosen ones', async () => {
      const { token } = await newSite();
      const [a, b, c] = [
        await create(patient('a'), token),
        await create(patient('b'), token),
        await create(patient('c'), token),
      ];
      const [ofA, ofB] = [await create(observation(a), token), await create(observation(b), token)];
      await create(observation(c), token);
      const inactive = { entity: { reference: `Patient/${c}` }, inactive: true };
      const id = await create(group([a, b], { member: [...group([a, b])['member'], inactive] }), token);
      const at = await begin(subject(), `/Group/${id}/$export`, { token });
      // The version of the Group and of its members at the export's moment decides.
      await put(token, { ...group([c]), id });
      await put(token, { ...observation(b, { status: 'amended' }), id: ofB });
      const { body: manifest } = await complete(subject(), at, { token });
      expect(manifest.request).toBe(`${subject().root}/Group/${id}/$export`);
      const records = [`Observation/${ofA}/1`, `Observation/${ofB}/1`, `Patient/${a}/1`, `Patient/${b}/1`].toSorted();
      expect(await contentOf(manifest, token)).toEqual(records);
      await put(token, { ...group([b]), id });
      expect(await exportOf(token, id, '?_type=Observation')).toEqual([`Observation/${ofB}/2`]);
      const filtered = await manifestOf(subject(), `/Group/${id}/$export?_typeFilter=Observation%3Fcode%3Dnone`, {
        token,
      });
      expect(filtered.output.map(({ type, count }) => [type, count])).toEqual([
        ['Patient', 1],
        ['Observation', undefined],
      ]);
      expect(await download(filtered.output[1]?.url ?? '', token)).toBe('');
      await put(token, { ...group([]), id });
      expect(await exportOf(token, id)).toEqual([]);
    });

    test('with _since has what changed, and the whole record of members since then', async () => {
      const { token } = await newSite();
      const [a, b] = [await create(patient('a'), token), await create(patient('b'), token)];
      const [ofA, ofB] = [await create(observation(a), token), await create(observation(b), token)];
      const id = await create(group([a]), token);
      const { transactionTime } = await manifestOf(subject(), `/Group/${id}/$export`, { token });
      const since = `?_since=${transactionTime}`;
      expect(await exportOf(token, id, since)).toEqual([]);
      await put(token, { ...observation(a, { status: 'amended' }), id: ofA });
      await put(token, { ...observation(b, { status: 'amended' }), id: ofB });
      expect(await exportOf(token, id, since)).toEqual([`Observation/${ofA}/2`]);
      await put(token, { ...group([a, b]), id });
      expect(await exportOf(token, id, since)).toEqual(
        [`Observation/${ofA}/2`, `Observation/${ofB}/2`, `Patient/${b}/1`].toSorted(),
      );
      // Before the Group existed it had no members.
      expect(await exportOf(token, id, '?_since=2020-01-01T00:00:00Z')).toHaveLength(4);
    });

    test('has the survivor of a merged member, with the complete record where the merge is newer than _since', async () => {
      const { token } = await newSite();
      const [a, b] = [await create(patient('a'), token), await create(patient('b'), token)];
      const ofB = await create(observation(b), token);
      const id = await create(group([a]), token);
      const { transactionTime } = await manifestOf(subject(), `/Group/${id}/$export`, { token });
      const link = [{ other: { reference: `Patient/${b}` }, type: 'replaced-by' }];
      await put(token, { ...patient('a'), id: a, active: false, link });
      const both = [`Observation/${ofB}/1`, `Patient/${a}/2`, `Patient/${b}/1`].toSorted();
      expect(await exportOf(token, id)).toEqual(both);
      expect(await exportOf(token, id, `?_since=${transactionTime}`)).toEqual(both);
    });

    test('is rejected for an unknown Group, another site, its own type, and patients', async () => {
      const { token } = await newSite();
      const id = await create(group([]), token);
      const { token: others } = await newSite();
      const kickOff = (path: string, by: string) => call('GET', path, { token: by, headers: ASYNC });
      const unknown = await kickOff(`/Group/${randomUUID()}/$export`, token);
      expectOutcome(unknown, 404, 'not-found');
      expect((await kickOff(`/Group/${id}/$export`, others)).text).toBe(unknown.text);
      expectOutcome(await kickOff('/Group/cohort/$export', token), 404, 'not-found');
      expectOutcome(await kickOff(`/Group/${id}/$export?_type=Group`, token), 400, 'not-supported', 'http._type');
      const parameter = [{ name: 'patient', valueReference: { reference: 'Patient/1' } }];
      const body = { resourceType: 'Parameters', parameter };
      const post = await call('POST', `/Group/${id}/$export`, { token, headers: ASYNC, body });
      expectOutcome(post, 400, 'not-supported', 'Parameters.parameter[0].valueReference');
    });

    test('is audited with the Group', async () => {
      const { site, token } = await newSite();
      const id = await create(group([]), token);
      await begin(subject(), `/Group/${id}/$export`, { token });
      const { rows } = await subject().client.query<Body>(
        `select types, ids from audit where site_id = $1 and action = 'export'`,
        [site],
      );
      expect(rows).toEqual([{ types: ['BulkExport', 'Group'], ids: [expect.any(String), id] }]);
    });
  });

  test('an export of the site has its Groups, an export of patients has none', async () => {
    const { token } = await newSite();
    const id = await create(group([await create(patient('a'), token)]), token);
    const groups = await manifestOf(subject(), '/$export?_type=Group', { token });
    expect(await contentOf(groups, token)).toEqual([`Group/${id}/1`]);
    const { output } = await manifestOf(subject(), '/$export', { token });
    expect(output.map(({ type }) => type)).toEqual(['Patient', 'Group']);
    const reply = await call('GET', '/Patient/$export?_type=Group', { token, headers: ASYNC });
    expectOutcome(reply, 400, 'not-supported', 'http._type');
  });

  test('an erased patient is in no version of a Group, and exports with _since report its id alone', async () => {
    const { site, token } = await newSite();
    const [a, b] = [await create(patient('a'), token), await create(patient('b'), token)];
    await create(observation(a), token);
    const id = await create(group([a, b], { name: 'first' }), token);
    await put(token, { ...group([b, a], { name: 'second' }), id });
    const { transactionTime } = await manifestOf(subject(), '/$export', { token });
    await erase(site, a);
    const { body: history } = await call('GET', `/Group/${id}/_history`, { token });
    expect(
      history['entry'].map(({ resource }: Body) => [resource.meta.versionId, resource.name, resource.member]),
    ).toEqual([
      ['3', 'second', group([b])['member']],
      ['2', 'second', group([b])['member']],
      ['1', 'first', group([b])['member']],
    ]);
    const since = `_since=${transactionTime}`;
    for (const path of [`/$export?${since}`, `/Patient/$export?${since}`, `/Group/${id}/$export?${since}`]) {
      const { deleted } = await manifestOf(subject(), path, { token });
      expect(deleted).toEqual([{ type: 'Bundle', url: expect.stringMatching(/\/Bundle\.1\.ndjson$/) }]);
      expect(linesOf(await download((deleted[0] as Body)['url'], token))).toEqual([
        {
          resourceType: 'Bundle',
          type: 'transaction',
          entry: [{ request: { method: 'DELETE', url: `Patient/${a}` } }],
        },
      ]);
    }
    const later = await manifestOf(subject(), '/$export', { token });
    for (const path of [
      '/$export',
      `/$export?_type=Observation&${since}`,
      `/$export?_since=${later.transactionTime}`,
    ]) {
      const at = await begin(subject(), path, { token });
      expect((await complete(subject(), at, { token })).body.deleted).toEqual([]);
      const file = await call('GET', `${at}/Bundle.1.ndjson`, { token, headers: { accept: '*/*' } });
      expectOutcome(file, 404, 'not-found');
    }
  });
}
