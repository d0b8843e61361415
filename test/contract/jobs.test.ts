/** Background work is done by itself: at the cron trigger's event in workerd, by a timer on Deno. */
import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';

import { reindexJob } from '../../edge/fhir/search/reindex.ts';
import { neonDatabase } from '../../edge/platform/neon.ts';
import { inSite } from '../../edge/store/in-site.ts';
import { addJob, findJob } from '../../edge/store/job.ts';
import { toWrite, writeResources } from '../../edge/store/resource.ts';
import { createSite } from '../stack/services/seed.ts';
import { createTestDatabase } from '../stack/tools/database.ts';
import { startGateway } from '../stack/tools/gateway.ts';
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
    test('a job that was asked for is done, and the next one too', async () => {
      const { database, gateway } = subject();
      const site = await createSite(database.client);
      const config = { DATABASE_URL: database.url, DATABASE_FETCH_ENDPOINT: database.endpoint.url };
      const edge = inSite(neonDatabase(config), site);
      const identifier = [{ value: 'A-1' }];
      await edge.run(writeResources(site, [toWrite({ resourceType: 'Patient', identifier }, randomUUID(), 'create')]));
      for (const askedBy of ['first', 'second']) {
        await database.client.query('delete from resource_identifier');
        const [job] = await edge.run(addJob(reindexJob(randomUUID(), site, 1, askedBy)));
        await gateway.tick?.();
        await expect
          .poll(async () => (await edge.run(findJob(job?.id ?? '')))[0], { timeout: 60_000 })
          .toMatchObject({ state: 'done', progress_done: 1, progress_total: 1, asked_by: askedBy });
        const { rows } = await database.client.query('select value from resource_identifier');
        expect(rows).toEqual([{ value: 'A-1' }]);
      }
    });
  },
);
