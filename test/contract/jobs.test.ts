/** Background work is done by itself: at the cron trigger's event in workerd, by a timer on Deno. */
import { expect, test } from 'vitest';

import { getToken } from '../stack/services/client.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { createTestDatabase } from '../stack/tools/database.ts';
import { startGateway } from '../stack/tools/gateway.ts';
import { askForReindex } from '../stack/tools/jobs.ts';
import { onRuntimes } from './on-runtimes.ts';

onRuntimes(
  async (runtime) => {
    const database = await createTestDatabase();
    const gateway = await startGateway({ runtime, database, env: { JOB_TICK_SECONDS: '0.05' } });
    const stop = async () => {
      await gateway.stop();
      await database.drop();
    };
    return { database, gateway, stop };
  },
  (subject) => {
    test('a requested job is done, and the next one too', async () => {
      const { database, gateway } = subject();
      const site = await createSite(database.client);
      const token = await getToken(gateway.oauthBaseUrl, await createApiKey(database.client, { site }));
      const made = await fetch(`${gateway.fhirBaseUrl}/fhir/Patient`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' },
        body: '{"resourceType":"Patient","identifier":[{"value":"A-1"}]}',
      });
      expect(made.status).toBe(201);
      for (const askedBy of ['first', 'second']) {
        await database.client.query('delete from resource_identifier');
        const job = await askForReindex(database, site, askedBy);
        await gateway.tick?.();
        await expect
          .poll(job, { timeout: 60_000 })
          .toMatchObject({ state: 'done', progress_done: 1, progress_total: 1, asked_by: askedBy });
        const { rows } = await database.client.query('select value from resource_identifier');
        expect(rows).toEqual([{ value: 'A-1' }]);
      }
    });
  },
);
