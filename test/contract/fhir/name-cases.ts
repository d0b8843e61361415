/** Long names, many names, and searches for many: what is kept, what is found, and what is refused for its size. */
import { expect, test } from 'vitest';

import { type Body, expectOutcome, idsOf, type Reply, type Subject } from './subject.ts';

/** NFKD makes eighteen letters of it, which are spelt as ninety. */
const LIGATURE = '\ufdfa';
const list = <T>(n: number, one: (n: number) => T): T[] => Array.from({ length: n }, (_, at) => one(at));

/** Characters that the search index keeps of a Patient's names, with the two that join them. */
const LONGEST_INDEXED = 8_194;

export function nameCases(subject: () => Subject): void {
  const find = (query: string) => subject().call('GET', `/Patient?${query}`);

  test.each<[string, (tag: string) => Body[]]>([
    ['a thousand names of ligatures', (tag) => list(999, (n) => ({ family: `${tag}${n}${LIGATURE.repeat(60)}` }))],
    ['a name of 1 MB', (tag) => [{ family: `${tag}0${LIGATURE.repeat(330_000)}` }]],
    ['a name of combining marks out of order', (tag) => [{ text: `${tag}0${'\u0315\u0300'.repeat(32_000)}` }]],
    ['ten thousand given names', (tag) => [{ family: `${tag}0`, given: list(10_000, (n) => `${n}${LIGATURE}`) }]],
  ])('%s: valid, kept, and found by the first and the official one', async (what, namesOf) => {
    const tag = `Cost${what.length}x`;
    const name = [...namesOf(tag), { use: 'official', family: `${tag}official` }];
    const patient = { resourceType: 'Patient', name };
    const verdict = await subject().call('POST', '/Patient/$validate', { body: patient });
    expect(verdict.status).toBe(200);
    const id = await subject().create(patient);
    expect((await subject().call('GET', `/Patient/${id}`)).body['name']).toEqual(name);
    for (const one of [`${tag}official`, `${tag}0`]) expect(idsOf(await find(`name=${one}`))).toEqual([id]);

    const { rows } = await subject().client.query<{ longest: number }>(
      `select greatest(length(names), length(families), length(givens), length(exact),
              (select coalesce(sum(length(n.name)), 0) from patient_name n where n.id = s.id),
              (select coalesce(sum(length(t.trait)), 0) from patient_trait t where t.id = s.id)) as longest
         from patient_search s where s.id = $1`,
      [id],
    );
    expect(Number(rows[0]?.longest)).toBeLessThanOrEqual(LONGEST_INDEXED);
  });

  const NAMES = list(21, (n) => `zzq${n}`);
  const refused = (reply: Pick<Reply, 'status' | 'headers' | 'text' | 'body'>) => {
    expectOutcome(reply, 422, 'too-costly', 'http.name');
    expect(reply.body['issue'][0].diagnostics).toContain('20 names');
    expect(reply.headers.get('retry-after')).toBeNull();
  };
  const batch = (...entry: Body[]) =>
    subject().call('POST', '/', { body: { resourceType: 'Bundle', type: 'batch', entry } });
  const resource = { resourceType: 'Patient' };

  test('answers a search for twenty names, and rejects one for twenty-one with the limit', async () => {
    expect((await find(`name=${NAMES.slice(1).join(',')}&_total=accurate`)).body['total']).toBe(0);
    for (const rest of ['', '&_sort=-_lastUpdated', '&_total=accurate', '&_summary=count'])
      refused(await find(`name=${NAMES.join(',')}${rest}`));
    refused(await find(NAMES.map((one) => `name=${one}`).join('&')));
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    refused(await subject().call('POST', '/Patient/_search', { headers: form, body: `name=${NAMES.join(',')}` }));
  });

  test('a condition for twenty-one names is rejected like a search, in a bundle too', async () => {
    const query = `name=${NAMES.join(',')}`;
    refused(await subject().call('POST', '/Patient', { headers: { 'if-none-exist': query }, body: resource }));
    refused(await subject().call('PUT', `/Patient?${query}`, { body: resource }));
    const answers = await batch(
      { request: { method: 'GET', url: `Patient?${query}` } },
      { request: { method: 'POST', url: 'Patient', ifNoneExist: query }, resource },
      { request: { method: 'GET', url: `Patient?name=${NAMES[0]}` } },
    );
    expect((answers.body['entry'] as Body[]).map(({ response }) => String(response.status).slice(0, 3))).toEqual([
      '422',
      '422',
      '200',
    ]);
  });

  test('counts the name searches of a bundle, and those without an index', async () => {
    const get = (one: string) => ({ request: { method: 'GET', url: `Patient?name=${one}` } });
    expect((await batch(...list(20, () => get('q')))).status).toBe(200);
    const short = await batch(...list(21, () => get('q')));
    expectOutcome(short, 422, 'too-costly');
    expect(short.body['issue'][0].diagnostics).toContain('20 names without three letters');
    const many = await batch(...list(26, () => get(NAMES.slice(1).join(','))));
    expectOutcome(many, 422, 'too-costly');
    expect(many.body['issue'][0].diagnostics).toContain('500 names');
  });

  test('a value longer than the indexed part of a name is rejected by its parameter', async () => {
    expect((await find(`name=${'x'.repeat(256)}`)).status).toBe(200);
    for (const value of ['x'.repeat(257), LIGATURE.repeat(20), `x${'\u0315\u0300'.repeat(200)}`]) {
      const reply = await subject().call('POST', '/Patient/_search', {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `name=${encodeURIComponent(value)}`,
      });
      expectOutcome(reply, 400, 'value', 'http.name');
      expect(reply.body['issue'][0].diagnostics).toContain('256 characters');
    }
  });
}
