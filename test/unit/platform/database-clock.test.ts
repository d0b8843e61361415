/** How far the database's clock is ahead: learnt from answers, not from a slow network. */
import { expect, test } from 'vitest';

import { createDatabaseClock } from '../../../edge/platform/database-clock.ts';

test('clocks that agree are left alone, however slow the network was', () => {
  const clock = createDatabaseClock();
  clock.learn(1_050, 1_000, 1_060, 1_100);
  clock.learn(9_000, 1_000, 9_001, 9_002);
  clock.learn(1_001, 1_000, 1_002, 9_000);
  expect(clock.aheadMs()).toBe(0);
});

test.each([60_000, -60_000])(
  'a clock that is %d ms ahead is known after one answer, within the network delay',
  (ahead) => {
    const clock = createDatabaseClock();
    clock.learn(1_050 + ahead, 1_000, 1_060 + ahead, 1_100);
    expect(Math.abs(clock.aheadMs() - ahead)).toBeLessThanOrEqual(50);
    // The clock was corrected.
    clock.learn(2_050, 2_000, 2_060, 2_100);
    expect(Math.abs(clock.aheadMs())).toBeLessThanOrEqual(50);
  },
);

test('a refusal is caused by clocks only if the database is later than the elapsed time allows', () => {
  const clock = createDatabaseClock();
  // Sent at 0 with 8 s, begun after 9 s, answered immediately: the time has really passed.
  expect(clock.learnFromRefusal(9_000, 9_010)).toBe(false);
  expect(clock.aheadMs()).toBe(0);
  expect(clock.learnFromRefusal(69_000, 9_010)).toBe(true);
  expect(clock.aheadMs()).toBe(59_990);
  expect(clock.learnFromRefusal(69_500, 9_510)).toBe(false);
});
