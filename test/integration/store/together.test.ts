/** Work that shares its round trips, on a real database. */
import { afterAll, expect, test } from 'vitest';

import { readConnectionString } from '../../../edge/platform/postgres/connection-string.ts';
import { postgresDatabase } from '../../../edge/platform/postgres/postgres.ts';
import { read } from '../../../edge/store/sql.ts';
import { together } from '../../../edge/store/together.ts';
import { edgeDatabase, useTestDatabase } from '../../stack/tools/database.ts';

const db = await useTestDatabase();
const database = edgeDatabase(db);

const tripsOf = async <T>(work: () => Promise<T>): Promise<readonly [T, trips: number]> => {
  const before = db.endpoint.requests();
  return [await work(), db.endpoint.requests() - before];
};

const connection = readConnectionString(db.url);
if (!('host' in connection)) throw new TypeError(connection.join());
const tcp = postgresDatabase({ connection, connections: 2, prepares: true });
afterAll(() => tcp.close());

const MIB = 1024 * 1024;
const number = (value: number) => read<{ value: number }>`select ${value}::int as value`;

test('calls of all share a round trip, also if some ask more often than others', async () => {
  const [results, trips] = await tripsOf(() =>
    together(database, [0, 1, 3, 2], MIB, async (calls, joint) => {
      const values: number[] = [];
      for (let call = 1; call <= calls; call += 1) {
        const [[one], [other]] = await joint.batch([number(call), number(10 * call)]);
        values.push((one?.value ?? 0) + (other?.value ?? 0));
      }
      const [last] = await joint.run(number(calls));
      return [...values, last?.value];
    }),
  );
  expect(results).toEqual([[0], [11, 1], [11, 22, 33, 3], [11, 22, 2]]);
  expect(trips).toBe(4);
});

test('a failed transaction fails the calls in it; work that ends early does not delay the others', async () => {
  const outcome = (divisors: readonly number[]) =>
    together(database, divisors, MIB, async (divisor, joint) => {
      if (divisor < 0) return 'ended';
      try {
        await joint.run(read`select 1 / ${divisor}::int`);
        return 'divided';
      } catch {
        const [row] = await joint.run(number(7));
        return row?.value;
      }
    });
  expect(await outcome([1, -1, 2])).toEqual(['divided', 'ended', 'divided']);
  expect(await outcome([1, 0, -1])).toEqual([7, 7, 'ended']);
});

test('an error of one is reported after the others have ended', async () => {
  const ended: number[] = [];
  const all = together(database, [1, 2], MIB, async (item, joint) => {
    if (item === 1) throw new Error('first');
    await joint.run(number(item));
    ended.push(item);
  });
  await expect(all).rejects.toThrow('first');
  expect(ended).toEqual([2]);
  expect(await together(database, [], MIB, async () => 1)).toEqual([]);
});

test.each([
  ['Neon', database],
  ['TCP', tcp],
])('over %s, answers that are too large together are unavailable; a large answer alone is not', async (_, each) => {
  const lengths = (sizes: readonly number[]) =>
    together(each, sizes, MIB, async (size, joint) => {
      const [row] = await joint.run(read<{ text: string }>`select repeat('x', ${size}::int) as text`);
      return row?.text.length;
    });
  await expect(lengths([2 * MIB, 10])).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await lengths([2 * MIB])).toEqual([2 * MIB]);
  expect(await lengths([100, 10])).toEqual([100, 10]);
});
