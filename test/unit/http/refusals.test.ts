/** Noting refused requests: what is added up, what is bounded, and that no request waits for it or fails by it. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { createRefusals, type RefusedRequest } from '../../../edge/http/refusals.ts';
import type { Refusal } from '../../../edge/store/refusal.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

function start(write: (refusals: readonly Refusal[]) => Promise<unknown> = async () => undefined) {
  const written: (readonly Refusal[])[] = [];
  const work: Promise<unknown>[] = [];
  const behind = { now: () => Date.now(), background: (promise: Promise<unknown>) => void work.push(promise) };
  const surfaceOf = createRefusals(behind, 5_000, (refusals) => {
    written.push(refusals);
    return write(refusals);
  });
  const note = surfaceOf('fhir');
  const refused = (more: Partial<RefusedRequest> = {}): void =>
    note({
      clientId: 'svc-1',
      isKnown: true,
      answer: '422',
      code: 'required',
      reason: 'missing',
      requestId: 'r',
      sourceAddress: '192.0.2.1',
      ...more,
    });
  return { surfaceOf, refused, written, work };
}

describe('a noted refusal', () => {
  test('is added up by key, surface, answer and reason, with the first, the last and the ids of both', async () => {
    const { surfaceOf, refused, written } = start();
    refused({ requestId: 'first' });
    vi.setSystemTime(1_000_100);
    refused({ requestId: 'last', sourceAddress: '192.0.2.2' });
    refused({ clientId: 'svc-2' });
    refused({ answer: '400' });
    const request = { answer: '422', code: 'required', reason: 'missing', requestId: 'r', sourceAddress: 'a' } as const;
    surfaceOf('hl7')({ ...request, clientId: 'svc-1', isKnown: true });
    await vi.advanceTimersByTimeAsync(200);
    const [counted] = written;
    expect(counted?.map(({ clientId, surface, answer, requests }) => [clientId, surface, answer, requests])).toEqual([
      ['svc-1', 'fhir', '422', 2],
      ['svc-2', 'fhir', '422', 1],
      ['svc-1', 'fhir', '400', 1],
      ['svc-1', 'hl7', '422', 1],
    ]);
    const ends = { firstAt: 1_000_000, lastAt: 1_000_100, requestIds: ['last', 'first'], sourceAddress: '192.0.2.2' };
    expect(counted?.[0]).toMatchObject(ends);
  });

  test('is one statement for any number of refusals, and the next follows after five seconds', async () => {
    const { refused, written, work } = start();
    for (let n = 0; n < 100_000; n += 1) refused({ requestId: `r${n}` });
    await vi.advanceTimersByTimeAsync(200);
    for (let second = 0; second < 5; second += 1) {
      refused();
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(written.map((each) => each.map(({ requests }) => requests))).toEqual([[100_000], [5]]);
    expect(work).toHaveLength(2);
    const ids = written[0]?.[0]?.requestIds;
    expect([ids?.length, ids?.[0], ids?.at(-1)]).toEqual([100, 'r99999', 'r99900']);
  });

  test('has ten reasons of a code of a key, and the rest is counted under the code', async () => {
    const { refused, written } = start();
    for (let n = 0; n < 5_000; n += 1) refused({ reason: `reason ${n}` });
    refused({ code: 'value', reason: 'another' });
    await vi.advanceTimersByTimeAsync(200);
    const counted = written[0]?.map(({ code, reason, requests }) => `${code} ${reason} ${requests}`) ?? [];
    expect(counted.slice(9)).toEqual(['required reason 9 1', 'required  4990', 'value another 1']);
  });

  test('by an unknown client does not displace one by a known client', async () => {
    const { refused, written } = start();
    for (let n = 0; n < 50_000; n += 1) refused({ clientId: `svc-forged-${n}`, isKnown: false });
    refused();
    await vi.advanceTimersByTimeAsync(200);
    expect(written[0]).toHaveLength(1_001);
    expect(written[0]?.[0]?.clientId).toBe('svc-1');
  });

  test('contains only values that the database accepts', async () => {
    const { refused, written } = start();
    refused({ reason: `kid was "\u0000\ud800${'x'.repeat(5_000)}` });
    await vi.advanceTimersByTimeAsync(200);
    const reason = written[0]?.[0]?.reason ?? '';
    expect([reason.isWellFormed(), reason.includes('\u0000'), reason.length <= 1_000]).toEqual([true, false, true]);
  });
});

test('an unavailable database loses the recorded refusals and fails no request', async () => {
  const { refused, written, work } = start(() => Promise.reject(new Error('away')));
  expect(() => refused()).not.toThrow();
  const ended = Promise.allSettled(work);
  await vi.advanceTimersByTimeAsync(200);
  expect((await ended).map(({ status }) => status)).toEqual(['rejected']);
  refused();
  const again = Promise.allSettled(work);
  await vi.advanceTimersByTimeAsync(5_000);
  await again;
  expect(written).toHaveLength(2);
});
