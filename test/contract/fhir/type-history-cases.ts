/** The history of a type: every version of every resource of it, each once, the newest first. */
import { beforeAll, expect, test } from 'vitest';

import { type Body, expectOutcome, linkOf, observation, patient, type Reply, type Subject, walk } from './subject.ts';

/** The facts that identify a version, in the order of a page. */
const versionsOf = (reply: Reply): string[] =>
  ((reply.body['entry'] ?? []) as Body[]).map(({ resource }) => `${resource.id}/${resource.meta.versionId}`);
const timesOf = (reply: Reply): string[] =>
  ((reply.body['entry'] ?? []) as Body[]).map(({ resource }) => String(resource.meta.lastUpdated));

export function typeHistoryCases(subject: () => Subject): void {
  const RESIDENTS = 5;
  let token: string;
  let ids: string[];
  /** The versions of each resident at the beginning. */
  let versions: string[];
  const get = (path: string) => subject().call('GET', path, { token });
  const change = (id: string, family: string) =>
    subject().call('PUT', `/Patient/${id}`, { body: patient('v', { id, name: [{ family }] }), token });

  beforeAll(async () => {
    ({ token } = await subject().newSite());
    // One transaction: versions with equal times differ in their ids.
    const entry = Array.from({ length: RESIDENTS }, () => ({
      resource: patient('v'),
      request: { method: 'POST', url: 'Patient' },
    }));
    const made = await subject().call('POST', '', {
      body: { resourceType: 'Bundle', type: 'transaction', entry },
      token,
    });
    ids = (made.body['entry'] as Body[]).map(({ resource }) => String(resource.id));
    versions = ids.map((id) => `${id}/1`);
    for (const [n, id] of ids.entries()) {
      for (let version = 2; version <= n; version += 1) {
        expect((await change(id, `F${version}`)).status).toBe(200);
        versions.push(`${id}/${version}`);
      }
    }
    // With a clock that stops, or is set back, versions of one resource have equal times.
    await subject().client.query(
      `update resource_history h set last_updated = r.last_updated from resource r
        where h.id = $1 and (r.site_id, r.type, r.id) = (h.site_id, h.type, h.id)`,
      [ids.at(-1)],
    );
  });

  test('each version once, the newest first, for any page size', async () => {
    const complete = await get('/Patient/_history');
    expect(complete.body).toMatchObject({ resourceType: 'Bundle', type: 'history', total: versions.length });
    expect(versionsOf(complete).toSorted()).toEqual(versions.toSorted());
    expect(timesOf(complete)).toEqual(timesOf(complete).toSorted().toReversed());
    for (const count of [1, 4, versions.length - 1, versions.length]) {
      const pages = await walk(subject(), `/Patient/_history?_count=${count}`, token);
      expect(pages.flatMap(versionsOf)).toEqual(versionsOf(complete));
      expect(pages).toHaveLength(Math.ceil(versions.length / count));
    }
  });

  test('an entry names the interaction that wrote the version', async () => {
    const [id = ''] = ids.slice(-1);
    const { entry } = (await get('/Patient/_history')).body as { entry: Body[] };
    const of = (version: string) =>
      entry.find(({ resource }) => resource.id === id && resource.meta.versionId === version);
    const own = ((await get(`/Patient/${id}/_history`)).body['entry'] as Body[]).at(-1);
    expect(of('1')).toEqual(own);
    expect(of('2')).toMatchObject({
      fullUrl: `${subject().root}/Patient/${id}`,
      request: { method: 'PUT', url: `Patient/${id}` },
      response: { status: '200 OK', etag: 'W/"2"' },
    });
  });

  test('the pages have each stored version exactly once while others are written', async () => {
    const there = versionsOf(await get('/Patient/_history'));
    for (const count of [1, 2, 3]) {
      const seen: string[] = [];
      let next: string | undefined = `/Patient/_history?_count=${count}`;
      for (let page = 0; next !== undefined; page += 1) {
        const reply: Reply = await get(next);
        seen.push(...versionsOf(reply));
        next = linkOf(reply, 'next');
        if (page > 9) continue;
        // A resource before or after the current page: its version becomes a superseded one.
        const changed = await change(ids[page % RESIDENTS] ?? '', `W${count}.${page}`);
        expect(changed.status, changed.text).toBe(200);
        await subject().create(patient('visitor'), token);
      }
      for (const version of there)
        expect([version, seen.filter((one) => one === version)]).toEqual([version, [version]]);
      expect(new Set(seen).size).toBe(seen.length);
    }
  });

  test('_since includes its instant, also with an unescaped +', async () => {
    const all = await get('/Patient/_history?_count=500');
    const at = timesOf(all)[3] ?? '';
    const expected = versionsOf(all).filter((_, n) => (timesOf(all)[n] ?? '') >= at);
    for (const since of [at, encodeURIComponent(at), at.replace('Z', '+00:00')]) {
      expect(versionsOf(await get(`/Patient/_history?_since=${since}`))).toEqual(expected);
      expect((await walk(subject(), `/Patient/_history?_count=1&_since=${since}`, token)).flatMap(versionsOf)).toEqual(
        expected,
      );
    }
    const none = await get('/Patient/_history?_since=2999-01-01T00:00:00Z');
    expect(none.body).toMatchObject({ type: 'history', total: 0 });
    expect(none.body).not.toHaveProperty('entry');
  });

  test('rejects unknown parameters by name, with each preference', async () => {
    for (const headers of [{}, { prefer: 'handling=lenient' }]) {
      for (const name of ['_at', '_sort', '_list']) {
        const reply = await subject().call('GET', `/Patient/_history?${name}=2026-01-01`, { token, headers });
        expectOutcome(reply, 400, 'not-supported', `http.${name}`);
      }
    }
    expectOutcome(await get('/Patient/_history?_since=yesterday'), 400, 'value', 'http._since');
    expectOutcome(await get('/Patient/_history?_count=0'), 400, 'value', 'http._count');
    const next = linkOf(await get('/Patient/_history?_count=1'), 'next') ?? '';
    expectOutcome(await get(next.replace('/Patient/', '/Observation/')), 400, 'value', 'http._cursor');
    expectOutcome(await get(`${next}&_since=2000-01-01`), 400, 'value', 'http._cursor');
  });

  test('needs the read scope of the type, and is of this type alone', async () => {
    const limited = await subject().tokenWith(['system/Patient.read', 'system/Observation.write']);
    expectOutcome(await subject().call('GET', '/Observation/_history', { token: limited }), 403, 'forbidden');
    const note = await subject().create(observation(ids[0] ?? ''), token);
    expect(versionsOf(await get('/Observation/_history'))).toEqual([`${note}/1`]);
    expect((await get('/Patient/_history?_count=500')).text).not.toContain(note);
  });

  test('works in a bundle too', async () => {
    const entry = [{ request: { method: 'GET', url: 'Patient/_history?_count=2' } }];
    for (const type of ['batch', 'transaction']) {
      const reply = await subject().call('POST', '', { body: { resourceType: 'Bundle', type, entry }, token });
      expect(reply.body['entry'][0].resource).toMatchObject({ type: 'history', entry: [{}, {}] });
    }
  });
}
