/** $everything: all resources of the person, none of another person, and a warning for all that is left out. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';

import {
  type Body,
  expectOutcome,
  idsOf,
  linkOf,
  observation,
  patient,
  type Reply,
  type Subject,
  TYPES,
  walk,
} from './subject.ts';

const about = (id: string): Body => ({ reference: `Patient/${id}` });
const TEXT = { text: 'x' };
const ACTIVE = {
  coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }],
};
const replacedBy = (id: string): Body => ({ link: [{ type: 'replaced-by', other: about(id) }] });

/** One of each type that is about a patient. */
const aboutAll = (id: string): Body[] => [
  { resourceType: 'Condition', subject: about(id) },
  { resourceType: 'AllergyIntolerance', clinicalStatus: ACTIVE, patient: about(id), code: TEXT },
  observation(id),
  { resourceType: 'Procedure', status: 'completed', subject: about(id) },
  { resourceType: 'DiagnosticReport', status: 'final', code: TEXT, subject: about(id) },
  {
    resourceType: 'DocumentReference',
    status: 'current',
    subject: about(id),
    content: [{ attachment: { title: 'x' } }],
  },
];

/** The sentences of a Bundle's outcome entries. */
const warningsOf = (reply: Reply): string[] =>
  ((reply.body['entry'] ?? []) as Body[])
    .filter(({ search }) => search.mode === 'outcome')
    .flatMap(({ resource }) => resource.issue as Body[])
    .map(({ severity, diagnostics }) => `${severity}: ${diagnostics}`);

const typesOf = (reply: Reply): string[] => [
  ...new Set(
    ((reply.body['entry'] ?? []) as Body[])
      .filter(({ search }) => search.mode === 'match')
      .map(({ resource }) => String(resource.resourceType)),
  ),
];

export function everythingCases(subject: () => Subject): void {
  let id: string;
  let ids: string[];
  let other: string;
  const get = (path: string, token?: string) => subject().call('GET', path, token === undefined ? {} : { token });
  const everything = (query = '', token?: string) => get(`/Patient/${id}/$everything${query}`, token);
  const post = (body: object | string | undefined, query = '') =>
    subject().call('POST', `/Patient/${id}/$everything${query}`, body === undefined ? {} : { body });

  beforeAll(async () => {
    const { create } = subject();
    other = await create(patient('other'));
    id = await create(patient('all'));
    ids = [id];
    for (const resource of [...aboutAll(id), ...aboutAll(id)]) ids.push(await create(resource));
    for (const resource of aboutAll(other)) await create(resource);
    // The performer is another patient than the subject.
    await create(observation(other, { performer: [about(id)] }));
    await create({ resourceType: 'Observation', status: 'final', code: TEXT });
  });

  test('returns the patient first, then exactly its resources, for any page size', async () => {
    const complete = await everything();
    expect(complete.body).toMatchObject({ resourceType: 'Bundle', type: 'searchset', total: ids.length });
    expect(idsOf(complete)[0]).toBe(id);
    expect(idsOf(complete).toSorted()).toEqual(ids.toSorted());
    expect(typesOf(complete).toSorted()).toEqual(TYPES.toSorted());
    expect(warningsOf(complete)).toEqual([]);
    for (const count of [1, 2, 5, ids.length]) {
      const pages = await walk(subject(), `/Patient/${id}/$everything?_count=${count}`);
      expect(pages.flatMap(idsOf)).toEqual(idsOf(complete));
      expect(pages).toHaveLength(Math.ceil(ids.length / count));
    }
  });

  test('_type, once or repeated, and _since restrict the result', async () => {
    for (const query of ['?_type=Observation,Patient', '?_type=Patient&_type=Observation']) {
      expect(typesOf(await everything(query))).toEqual(['Patient', 'Observation']);
      expect((await walk(subject(), `/Patient/${id}/$everything${query}&_count=1`)).flatMap(idsOf)).toHaveLength(3);
    }
    expect(typesOf(await everything('?_type=Condition'))).toEqual(['Condition']);
    const note = await get(`/Observation/${ids[3]}`);
    const changed = await subject().call('PUT', `/Observation/${ids[3]}`, {
      body: observation(id, { id: ids[3], status: 'amended' }),
    });
    const since = encodeURIComponent(String(changed.body['meta'].lastUpdated));
    expect(String(note.body['meta'].lastUpdated) <= String(changed.body['meta'].lastUpdated)).toBe(true);
    expect(idsOf(await everything(`?_since=${since}`))).toEqual([ids[3]]);
    expect((await everything('?_since=2999-01-01')).body).toMatchObject({ type: 'searchset', total: 0 });
  });

  test('rejects unknown parameters by name, with each preference', async () => {
    for (const headers of [{}, { prefer: 'handling=lenient' }]) {
      for (const name of ['start', 'end', '_sort', '_elements', 'patient']) {
        const reply = await subject().call('GET', `/Patient/${id}/$everything?${name}=2026-01-01`, { headers });
        expectOutcome(reply, 400, 'not-supported', `http.${name}`);
      }
      const type = await subject().call('GET', `/Patient/${id}/$everything?_type=Patient,Encounter`, { headers });
      expectOutcome(type, 400, 'value', 'http._type');
    }
    expectOutcome(await everything('?_type='), 400, 'value', 'http._type');
    expectOutcome(await everything('?_count=0'), 400, 'value', 'http._count');
    expectOutcome(await everything('?_since=yesterday'), 400, 'value', 'http._since');
    const next = linkOf(await everything('?_count=1'), 'next') ?? '';
    expectOutcome(await get(next.replace(id, other)), 400, 'value', 'http._cursor');
    expectOutcome(await get(`${next}&_type=Patient`), 400, 'value', 'http._cursor');
  });

  describe('by POST', () => {
    const parameters = (...parameter: Body[]) => ({ resourceType: 'Parameters', parameter });

    test('answers as GET does, with links for GET', async () => {
      const complete = idsOf(await everything());
      expect(idsOf(await post(undefined))).toEqual(complete);
      expect(idsOf(await post({ resourceType: 'Parameters' }))).toEqual(complete);
      const asked = parameters(
        { name: '_type', valueCode: 'Patient' },
        { name: '_type', valueCode: 'Observation' },
        { name: '_since', valueInstant: '2000-01-01T00:00:00Z' },
        { name: '_count', valueInteger: 1 },
      );
      const first = await post(asked);
      expect(idsOf(first)).toEqual([id]);
      const rest = await walk(subject(), linkOf(first, 'next') ?? '');
      expect(rest.flatMap(typesOf)).toEqual(['Observation', 'Observation']);
    });

    test('rejects other parameters', async () => {
      for (const bad of [
        patient('x'),
        parameters({ name: 'start', valueDate: '2020-01-01' }),
        parameters({ name: '_type' }),
        parameters({ name: '_type', valueCoding: { code: 'Patient' } }),
        parameters({ name: '_type', part: [{ name: 'x', valueCode: 'Patient' }] }),
        parameters({ valueCode: 'Patient' }),
        { resourceType: 'Parameters', parameter: {} },
        '[',
      ]) {
        expect((await post(bad)).status, JSON.stringify(bad)).toBe(400);
      }
      expectOutcome(
        await post(parameters({ name: '_count', valueInteger: 1 }), '?_count=2'),
        400,
        'value',
        'http._count',
      );
      expect(
        (
          await subject().call('POST', `/Patient/${id}/$everything`, {
            body: 'a=b',
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
          })
        ).status,
      ).toBe(415);
    });
  });

  test('a token gets the types that it may read, and a warning about the others', async () => {
    const { tokenWith } = subject();
    const limited = await tokenWith(['system/Patient.read', 'system/Condition.read', 'system/Observation.write']);
    const pages = await walk(subject(), `/Patient/${id}/$everything?_count=2`, limited);
    expect([...new Set(pages.flatMap(typesOf))]).toEqual(['Patient', 'Condition']);
    for (const page of pages) {
      const [warning, ...more] = warningsOf(page);
      expect(more).toEqual([]);
      expect(warning).toMatch(/^warning: .*system\/Observation\.read .*left out$/);
      expect(warning).not.toContain('Condition');
    }
    // A page link grants no access.
    const next = linkOf(await everything('?_count=2'), 'next') ?? '';
    const on = await walk(subject(), next, limited);
    expect(new Set(on.flatMap(typesOf))).toEqual(new Set(['Condition']));
    // A type of _type is rejected, as its search is.
    const named = await everything('?_type=Condition,Observation', limited);
    expectOutcome(named, 403, 'forbidden');
    expect(named.headers.get('www-authenticate')).toContain('system/Observation.read');
    expect(warningsOf(await everything('?_type=Condition', limited))).toEqual([]);
    expectOutcome(await everything('', await tokenWith(['system/Observation.read'])), 403, 'forbidden');
  });

  describe('patients that were merged', () => {
    let survivor: string;
    let middle: string;
    let oldest: string;
    let notes: string[];

    beforeAll(async () => {
      const { create, call } = subject();
      survivor = await create(patient('survivor'));
      middle = await create(patient('middle', replacedBy(survivor)));
      oldest = await create(patient('oldest'));
      notes = [];
      for (const one of [survivor, middle, oldest]) notes.push(await create(observation(one)));
      // Merged by an update, and two links below.
      const merged = patient('oldest', { id: oldest, active: false, ...replacedBy(middle) });
      expect((await call('PUT', `/Patient/${oldest}`, { body: merged })).status).toBe(200);
      // Neither is the same person for it.
      await create(patient('see', { link: [{ type: 'seealso', other: about(survivor) }] }));
      await create(patient('text', { name: [{ text: `"replaced-by" Patient/${survivor}` }] }));
    });

    test('the survivor has the resources of the merged patients, and their records', async () => {
      const all = await get(`/Patient/${survivor}/$everything`);
      expect(idsOf(all)[0]).toBe(survivor);
      expect(idsOf(all).toSorted()).toEqual([survivor, middle, oldest, ...notes].toSorted());
      expect(warningsOf(all)).toEqual([]);
      const pages = await walk(subject(), `/Patient/${survivor}/$everything?_count=1`);
      expect(pages.flatMap(idsOf)).toEqual(idsOf(all));
    });

    test('a merged patient has its own resources, and a warning that names the survivor', async () => {
      const all = await get(`/Patient/${middle}/$everything`);
      expect(idsOf(all).toSorted()).toEqual([middle, oldest, ...notes.slice(1)].toSorted());
      expect(warningsOf(all)).toEqual([expect.stringContaining(`was merged into Patient/${survivor} `)]);
      expect(warningsOf(await get(`/Patient/${oldest}/$everything?_count=1`))).toHaveLength(1);
    });

    test('a circle of links ends, with each patient once', async () => {
      const { create, call } = subject();
      const [a, b] = [await create(patient('a')), await create(patient('b'))];
      for (const [one, next] of [
        [a, b],
        [b, a],
      ] as const) {
        await call('PUT', `/Patient/${one}`, { body: patient('loop', { id: one, ...replacedBy(next) }) });
      }
      expect(idsOf(await get(`/Patient/${a}/$everything`))).toEqual([a, b]);
    });

    test.each([
      `Patient/${'-'.repeat(36)}`,
      `Patient/${'g'.repeat(36)}`,
      'urn:oid:1.2',
      'https://elsewhere.test/Patient/1',
    ])('a link to %s is stored, and adds no patient', async (reference) => {
      const link = [
        { type: 'replaced-by', other: { reference } },
        { type: 'replaced-by', other: { display: 'a person' } },
      ];
      const one = await subject().create(patient('linked', { link }));
      const all = await get(`/Patient/${one}/$everything`);
      expect([idsOf(all), warningsOf(all)]).toEqual([[one], []]);
    });

    test('a resource that a merge moves between two pages is returned once', async () => {
      const pages = [await get(`/Patient/${survivor}/$everything?_count=4`)];
      const [moved = ''] = notes.slice(-1);
      const put = await subject().call('PUT', `/Observation/${moved}`, { body: observation(survivor, { id: moved }) });
      expect(put.status).toBe(200);
      pages.push(...(await walk(subject(), linkOf(pages[0] as Reply, 'next') ?? '')));
      expect(pages.flatMap(idsOf).toSorted()).toEqual([survivor, middle, oldest, ...notes].toSorted());
    });
  });

  test('returns each remaining resource exactly once while others change', async () => {
    const { create, call } = subject();
    const who = await create(patient('walked'));
    const stays: string[] = [who];
    for (const resource of aboutAll(who)) stays.push(await create(resource));
    const visitor = await create(observation(who));
    const seen: string[] = [];
    let next: string | undefined = `/Patient/${who}/$everything?_count=2`;
    for (let page = 0; next !== undefined; page += 1) {
      const reply: Reply = await get(next);
      seen.push(...idsOf(reply));
      next = linkOf(reply, 'next');
      if (page > 5) continue;
      await call('PUT', `/Observation/${visitor}`, {
        body: observation(who, { id: visitor, note: [{ text: `${page}` }] }),
      });
      for (const resource of aboutAll(who)) await create(resource);
    }
    for (const one of stays) expect(seen.filter((other) => other === one)).toHaveLength(1);
  });

  test('an id that never was, or cannot be, is 404 as a read is', async () => {
    for (const unknown of [randomUUID(), 'x', '1']) {
      const [asked, read] = [await get(`/Patient/${unknown}/$everything`), await get(`/Patient/${unknown}`)];
      expect([asked.status, asked.text]).toEqual([404, read.text]);
    }
    const { subject: _, ...orphan } = observation('');
    const note = await subject().create(orphan);
    expect((await get(`/Patient/${note}/$everything`)).status).toBe(404);
  });

  test('works in a bundle too', async () => {
    for (const type of ['batch', 'transaction']) {
      const entry = [{ request: { method: 'GET', url: `Patient/${id}/$everything?_type=Condition` } }];
      const reply = await subject().call('POST', '', { body: { resourceType: 'Bundle', type, entry } });
      expect(reply.body['entry'][0].resource, reply.text).toMatchObject({ type: 'searchset', total: 2 });
    }
  });
}
