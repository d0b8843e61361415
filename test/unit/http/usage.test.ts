/** Counting requests for the traffic page. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { createUsage } from '../../../edge/http/usage.ts';
import type { Counted, UsageCount } from '../../../edge/store/usage.ts';

describe('counting', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => void vi.useRealTimers());

  const start = () => {
    const written: (readonly UsageCount[])[] = [];
    const all: Counted[] = [];
    const work: Promise<unknown>[] = [];
    const count = createUsage({
      now: () => Date.now(),
      background: (promise) => void work.push(promise),
      boundsMs: [10, 100],
      write: async (counted) => {
        all.push(counted);
        written.push(counted.counts);
      },
    })('fhir');
    const use = (status: number, durationMs: number, site = 'a', outcome?: 'ok' | 'refused') => {
      count(outcome === undefined ? { site } : { site, outcome }, status, durationMs);
    };
    return { count, use, written, all, work };
  };

  test('adds up by site and outcome, and writes once in a while', async () => {
    const { use, written, work } = start();
    use(200, 10);
    use(200, 11);
    use(404, 500);
    use(503, 1, 'b');
    use(200, 1, 'b', 'refused');
    expect([work.length, written.length]).toEqual([1, 0]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written).toHaveLength(1);
    expect(written[0]).toMatchObject([
      { site: 'a', outcome: 'ok', requests: 2, latency: [1, 1, 0], at: 1_000_000 },
      { site: 'a', outcome: 'refused', requests: 1, latency: [0, 0, 1] },
      { site: 'b', outcome: 'failed', requests: 1 },
      { site: 'b', outcome: 'refused', requests: 1 },
    ]);
    use(200, 1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written[1]).toMatchObject([{ site: 'a', requests: 1 }]);
  });

  test('by status, ACK and token too, and when a key sent its last message', async () => {
    const { count, all } = start();
    const clientId = 'svc-1';
    const message = (outcome: 'AA' | 'AE' | 'AR', application = 'LAB') => ({ outcome, application, facility: 'HOSP' });
    count({ site: 'a', clientId, messages: [message('AA'), message('AA'), message('AE')] }, 422, 5);
    vi.setSystemTime(1_000_700);
    count({ site: 'a', clientId, messages: [message('AA'), message('AR', 'RIS')] }, 422, 5);
    count({ site: 'a', clientId: 'svc-token', answers: ['token'] }, 200, 5);
    // Nothing was stored: the sender has not been heard.
    count({ site: 'a', clientId: 'svc-away', messages: [] }, 503, 5);
    await vi.advanceTimersByTimeAsync(5_000);
    const byAnswer = Object.fromEntries((all[0]?.answers ?? []).map(({ answer, answers }) => [answer, answers]));
    expect(byAnswer).toEqual({ 422: 2, 200: 1, 503: 1, AA: 3, AE: 1, AR: 1, token: 1 });
    const of = { site: 'a', clientId, surface: 'fhir', facility: 'HOSP', at: 1_000_700 };
    expect(all[0]?.keys).toEqual([
      { ...of, application: 'LAB', accepted: 3, refused: 1, rejected: 0 },
      { ...of, application: 'RIS', accepted: 0, refused: 0, rejected: 1 },
      { ...of, clientId: 'svc-token', application: '', facility: '', accepted: 1, refused: 0, rejected: 0 },
    ]);
    expect(all[0]?.counts.map(({ outcome, durationMs }) => [outcome, durationMs])).toEqual([
      ['refused', 10],
      ['ok', 5],
      ['failed', 5],
    ]);
  });

  test('never keeps more than its limit', async () => {
    const { use, all } = start();
    for (let site = 0; site < 3_000; site += 1) use(200, 1, `site-${site}`);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([all[0]?.counts.length, all[0]?.answers.length]).toEqual([1_000, 1_000]);
  });

  test('a sender with another name in each message leaves space for other senders', async () => {
    const { count, all } = start();
    for (let n = 0; n < 3_000; n += 1) {
      count(
        { site: 'a', clientId: 'svc-1', messages: [{ outcome: 'AA', application: `A${n}`, facility: '' }] },
        200,
        1,
      );
    }
    count({ site: 'b', clientId: 'svc-2', messages: [{ outcome: 'AA', application: 'LAB', facility: '' }] }, 200, 1);
    await vi.advanceTimersByTimeAsync(5_000);
    const keys = all[0]?.keys ?? [];
    expect(keys.map(({ application }) => application).slice(-3)).toEqual(['A19', '', 'LAB']);
    expect([keys.length, keys.find(({ application }) => application === '')?.accepted]).toEqual([22, 2_980]);
  });

  test('leaves out requests without a known client', async () => {
    const { count, written, work } = start();
    count(undefined, 401, 1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([work, written]).toEqual([[], []]);
  });

  test('begins again when a runtime has ended the work of an earlier request', () => {
    const { use, work } = start();
    use(200, 1);
    // Time passes, but the timer never fires.
    vi.setSystemTime(1_000_000 + 15_000);
    use(200, 1);
    expect(work).toHaveLength(2);
  });
});
