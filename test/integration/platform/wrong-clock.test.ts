/** A gateway whose clock differs from the database's by more than any time limit serves all the same. */
import { describe, expect, test } from 'vitest';

import { neonDatabase } from '../../../edge/platform/neon.ts';
import { sql } from '../../../edge/store/sql.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';

const db = await useTestDatabase();

describe.each([3_600_000, -3_600_000, 0])('the clock of the gateway is %d ms off', (offMs) => {
  const database = () =>
    neonDatabase({ DATABASE_URL: db.url, DATABASE_FETCH_ENDPOINT: db.endpoint.url }, { now: () => Date.now() + offMs });
  const timeout = sql<{ ms: number }>`select setting::int as ms from pg_settings where name = 'statement_timeout'`;

  test('statements run, within the time they have', async () => {
    const edge = database();
    for (let time = 0; time < 3; time += 1) {
      const [row] = await edge.run(timeout);
      expect(row?.ms).toBeGreaterThan(1_000);
      expect(row?.ms).toBeLessThanOrEqual(8_000);
    }
  });

  test('a transaction that exceeds its time is aborted and rolled back', async () => {
    const edge = database();
    await edge.run(timeout);
    const limits = { answerMs: 5_000, workMs: 300, lockMs: 300 };
    await expect(
      edge.batch([sql`insert into sidecar_seen (issuer) values ('given up')`, sql`select pg_sleep(2)`], limits),
    ).rejects.toMatchObject({
      kind: 'unavailable',
    });
    expect(await edge.run(sql`select from sidecar_seen`)).toEqual([]);
  });
});

test('a query that begins or ends after its time is rejected as late, with the clock that measured it', async () => {
  const now = Date.now();
  const limited = (deadline: number) => db.client.query('select limit_time($1, 100, 100)', [deadline]);
  await expect(limited(now - 1)).rejects.toMatchObject({ code: 'GW503', message: expect.stringMatching(/^late \d+$/) });
  await expect(limited(now + 60_000)).resolves.toMatchObject({ rowCount: 1 });
});
