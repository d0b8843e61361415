/**
 * Sites share the connections of a process to PostgreSQL in rotation. Only Deno over TCP has a pool of connections. Each
 * request of a Worker, and of Deno on Neon, is a separate HTTP request.
 */
import { expect, test } from 'vitest';

import { until } from '../stack/services/until.ts';
import { lockWaits } from '../stack/tools/lock-waits.ts';
import { patient, startSubject } from './fhir/subject.ts';

test('sixteen slow requests of one site do not hold up another site', async () => {
  const subject = await startSubject('deno', { DATABASE_CONNECTIONS: '16' });
  const { client, otherToken, gateway } = subject;
  try {
    const { token } = await subject.newSite();
    const [locked, read] = [
      await subject.create(patient('slow'), token),
      await subject.create(patient('read'), otherToken),
    ];
    await client.query('begin');
    await client.query('select from resource where id = $1 for update', [locked]);
    let ended = 0;
    const slow = Array.from({ length: 16 }, async (_, n) => {
      const reply = await subject.call('PUT', `/Patient/${locked}`, {
        token,
        body: { ...patient(`slow ${n}`), id: locked },
      });
      ended += 1;
      return reply.status;
    });
    // A quarter of the connections is kept for others.
    await until('the site has all that it can have', async () => (await lockWaits(client)) === 12);
    const replies = await Promise.all([
      subject.call('GET', `/Patient/${read}`, { token: otherToken }),
      fetch(`${gateway.url}/gateway/readyz`),
    ]);
    expect([replies.map(({ status }) => status), ended]).toEqual([[200, 200], 0]);
    await client.query('rollback');
    expect(new Set(await Promise.all(slow))).toEqual(new Set([200]));
  } finally {
    await subject.stop();
  }
});
