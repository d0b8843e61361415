/** Conditional create and update: what they answer, and that nothing can race them. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { expectOutcome, idsOf, observation, patient, type Subject } from './subject.ts';

const AT_ONCE = 50;

export function conditionalCases(subject: () => Subject): void {
  const call: Subject['call'] = (...args) => subject().call(...args);
  const createIfNone = (value: string, query: string, more = {}) =>
    call('POST', '/Patient', { body: patient(value, more), headers: { 'if-none-exist': query } });
  const count = async (value: string) =>
    (await call('GET', `/Patient?identifier=${value}&_summary=count`)).body['total'] as number;

  describe('create', () => {
    test('creates a resource once, then returns the existing one', async () => {
      const made = await createIfNone('cc1', 'identifier=urn:mrn|cc1');
      expect(made.status).toBe(201);
      const found = await createIfNone('cc1', 'identifier=urn:mrn|cc1', { active: false });
      expect([found.status, found.text]).toEqual([200, made.text]);
      expect(found.headers.get('location')).toBe(made.headers.get('location'));
      expect((await createIfNone('cc1', '?identifier=cc1')).status).toBe(200);
      expect((await createIfNone('cc1', 'Patient?identifier=urn%3Amrn%7Ccc1')).status).toBe(200);
      expect(await count('cc1')).toBe(1);
    });

    test('412 when several match, 400 when the condition cannot be used', async () => {
      await subject().create(patient('cc2'));
      await subject().create(patient('cc2'));
      expectOutcome(await createIfNone('cc2', 'identifier=cc2'), 412, 'multiple-matches');
      expectOutcome(await createIfNone('cc3', 'foo=1'), 400, 'not-supported', 'http.foo');
      expectOutcome(await createIfNone('cc3', '_count=1&identifier=cc3'), 400, 'not-supported', 'http._count');
      expectOutcome(await createIfNone('cc3', ''), 400, 'invalid');
      expectOutcome(await createIfNone('cc3', 'identifier=%00'), 400, 'value');
      expect(await count('cc3')).toBe(0);
    });

    test('works for every type, by each of its parameters', async () => {
      const id = await subject().create(patient('cc4'));
      const headers = { 'if-none-exist': `patient=${id}&code=8867-4` };
      const post = () => call('POST', '/Observation', { body: observation(id), headers });
      const [first, second] = [await post(), await post()];
      expect([first.status, second.status, second.body['id']]).toEqual([201, 200, first.body['id']]);
    });

    test('returns no content to a caller without read scopes', async () => {
      await subject().create(patient('cc5', { name: [{ family: 'Secret' }] }));
      const token = await subject().tokenWith(['system/Patient.write']);
      const headers = { 'if-none-exist': 'identifier=cc5' };
      const reply = await call('POST', '/Patient', { body: patient('cc5'), headers, token });
      expect([reply.status, reply.text]).toEqual([200, '']);
    });

    test(`one of ${AT_ONCE} simultaneous requests creates`, async () => {
      const value = `race-${randomUUID()}`;
      const forms = [`identifier=urn:mrn|${value}`, `identifier=${value}`];
      const replies = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, i) => createIfNone(value, forms[i % 2] ?? '')),
      );
      expect(replies.map(({ status }) => status).sort((a, b) => b - a)).toEqual([
        201,
        ...Array<number>(AT_ONCE - 1).fill(200),
      ]);
      expect(new Set(replies.map(({ body }) => body['id'] as string)).size).toBe(1);
      expect(await count(value)).toBe(1);
    });

    test(`one of ${AT_ONCE} simultaneous requests creates, also in batches and transactions`, async () => {
      const value = `race-${randomUUID()}`;
      const entry = {
        resource: patient(value),
        request: { method: 'POST', url: 'Patient', ifNoneExist: `identifier=${value}` },
      };
      const replies = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, i) => {
          if (i % 3 === 0) return createIfNone(value, `identifier=${value}`);
          const type = i % 3 === 1 ? 'batch' : 'transaction';
          return call('POST', '', { body: { resourceType: 'Bundle', type, entry: [entry, entry] } });
        }),
      );
      expect(replies.every(({ status }) => status === 200 || status === 201)).toBe(true);
      expect(await count(value)).toBe(1);
    });
  });

  describe('update', () => {
    const put = (value: string, body = patient(value), headers = {}) =>
      call('PUT', `/Patient?identifier=urn:mrn|${value}`, { body, headers });

    test('creates, updates, keeps, and compares If-Match', async () => {
      const made = await put('cu1');
      expect([made.status, made.headers.get('etag')]).toEqual([201, 'W/"1"']);
      const changed = await put('cu1', patient('cu1', { active: true }));
      expect([changed.status, changed.headers.get('etag'), changed.body['id']]).toEqual([
        200,
        'W/"2"',
        made.body['id'],
      ]);
      const same = await put('cu1', patient('cu1', { active: true }));
      expect(same.headers.get('etag')).toBe('W/"2"');
      expect((await put('cu1', patient('cu1', { id: made.body['id'] as string }))).headers.get('etag')).toBe('W/"3"');
      expectOutcome(await put('cu1', patient('cu1'), { 'if-match': 'W/"1"' }), 412, 'conflict');
      expectOutcome(await put('cu9', patient('cu9'), { 'if-match': 'W/"1"' }), 412, 'conflict');
      expectOutcome(await put('cu1', patient('cu1', { id: randomUUID() })), 400, 'value');
      expectOutcome(await put('cu9', patient('cu9', { id: randomUUID() })), 400, 'value', 'Patient.id');
      expectOutcome(await put('cu9', patient('cu9', { id: 'example' })), 400, 'value', 'Patient.id');
      expect(await count('cu9')).toBe(0);
    });

    test('412 when several match; 400 without a condition', async () => {
      await subject().create(patient('cu2'));
      await subject().create(patient('cu2'));
      expectOutcome(await put('cu2'), 412, 'multiple-matches');
      expect((await call('PUT', '/Patient?identifier=cu4&_format=json', { body: patient('cu4') })).status).toBe(201);
      expectOutcome(await call('PUT', '/Patient', { body: patient('cu3') }), 400, 'invalid');
      expectOutcome(await call('PUT', '/Patient?foo=1', { body: patient('cu3') }), 400, 'not-supported');
    });

    test(`one of ${AT_ONCE} simultaneous requests creates`, async () => {
      const value = `race-${randomUUID()}`;
      const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => put(value)));
      expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(AT_ONCE - 1);
      expect(await count(value)).toBe(1);
    });
  });

  test(`one of ${AT_ONCE} updates with the same If-Match succeeds`, async () => {
    const id = await subject().create(patient('once'));
    const replies = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, i) =>
        call('PUT', `/Patient/${id}`, { body: patient(`once-${i}`, { id }), headers: { 'if-match': 'W/"1"' } }),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 412)).toHaveLength(AT_ONCE - 1);
    expect((await call('GET', `/Patient/${id}/_history`)).body['total']).toBe(2);
  });

  test('writers of a patient and of resources that refer to it do not block each other permanently', async () => {
    const id = await subject().create(patient('busy'));
    const note = await subject().create(observation(id));
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, i) => {
        const more = { effectiveDateTime: `20${10 + (i % 20)}` };
        if (i % 3 === 0) return call('PUT', `/Patient/${id}`, { body: patient(`busy-${i}`, { id }) });
        if (i % 3 === 1) return call('PUT', `/Observation/${note}`, { body: observation(id, { ...more, id: note }) });
        const entry = [
          { resource: observation(id, { ...more, id: note }), request: { method: 'PUT', url: `Observation/${note}` } },
          { resource: patient(`busy-t${i}`, { id }), request: { method: 'PUT', url: `Patient/${id}` } },
        ];
        return call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } });
      }),
    );
    expect(replies.map(({ status, text }) => (status === 200 ? '' : text)).filter((text) => text !== '')).toEqual([]);
    expect(idsOf(await call('GET', `/Observation?patient=${id}`))).toEqual([note]);
  });
}
