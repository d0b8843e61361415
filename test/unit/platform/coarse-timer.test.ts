/** Deadlines by one timer: each comes, in its order and not before its time, unless it was cancelled. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createCoarseTimer } from '../../../edge/platform/coarse-timer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('each comes when its time has passed, soon after it, and once', () => {
  const after = createCoarseTimer();
  const come: string[] = [];
  after(9_500, () => come.push('a request'));
  after(4_500, () => come.push('a probe'));
  vi.advanceTimersByTime(4_499);
  expect(come).toEqual([]);
  vi.advanceTimersByTime(101);
  expect(come).toEqual(['a probe']);
  vi.advanceTimersByTime(4_899);
  expect(come).toEqual(['a probe']);
  vi.advanceTimersByTime(101);
  expect(come).toEqual(['a probe', 'a request']);
  vi.advanceTimersByTime(60_000);
  expect(come).toHaveLength(2);
});

test('what was cancelled does not come, whatever else is waited for', () => {
  const after = createCoarseTimer();
  const come: string[] = [];
  const cancel = after(1_000, () => come.push('cancelled'));
  after(1_000, () => come.push('waited for'));
  cancel();
  vi.advanceTimersByTime(2_000);
  expect(come).toEqual(['waited for']);
});

test('one that is set when all were cancelled, or by one that comes, comes too', () => {
  const after = createCoarseTimer();
  const come: string[] = [];
  after(50, () => undefined)();
  vi.advanceTimersByTime(1_000);
  after(300, () => {
    come.push('first');
    after(300, () => come.push('second'));
  });
  vi.advanceTimersByTime(1_000);
  expect(come).toEqual(['first', 'second']);
});

test('while nothing is waited for there is no timer', () => {
  const after = createCoarseTimer();
  after(10_000, () => undefined)();
  vi.advanceTimersByTime(1_000);
  expect(vi.getTimerCount()).toBe(0);
});
