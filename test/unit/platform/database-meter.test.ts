/** Database requests are counted for the right piece of work when several run concurrently. */
import { expect, test } from 'vitest';

import { createDatabaseMeter } from '../../../edge/platform/database-meter.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('counts the requests of each piece of work separately', async () => {
  const { note, measured } = createDatabaseMeter();
  const work = (times: number, ms: number) => () =>
    (async () => {
      for (let time = 0; time < times; time += 1) {
        await turn();
        note(ms);
      }
      return times;
    })();
  const done = await Promise.all([measured(work(1, 5)), measured(work(3, 7)), measured(work(0, 0))]);
  expect(done).toEqual([
    { result: 1, database: { requests: 1, ms: 5 } },
    { result: 3, database: { requests: 3, ms: 21 } },
    { result: 0, database: { requests: 0, ms: 0 } },
  ]);
});

test('does not count requests outside a measured piece of work', async () => {
  const { note, measured } = createDatabaseMeter();
  note(5);
  const { database } = await measured(async () => undefined);
  note(5);
  expect(database).toEqual({ requests: 0, ms: 0 });
});

test('passes on the failure of the work', async () => {
  const { measured } = createDatabaseMeter();
  await expect(measured(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
});
