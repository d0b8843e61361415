/** Which chart a message finds, against a real PostgreSQL: the cases that run on both runtimes, without a gateway. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';

import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import { identityCases, type ChartSubject } from '../../contract/hl7/identity-cases.ts';
import { chartQueries } from '../../contract/hl7/chart-queries.ts';
import { createHl7Site, type Hl7Site } from './site.ts';

let site: Hl7Site;
beforeAll(async () => {
  site = await createHl7Site();
});
afterAll(() => site.db.drop());

const subject = (): ChartSubject => ({
  send: (message) => site.send(message),
  ...chartQueries(site.db.client, site.site),
  async write(patient, id) {
    const written = toWrite(patient, id ?? randomUUID(), id === undefined ? 'create' : 'update');
    await site.deps.database.run(writeResources(site.site, [written]));
    return written.id;
  },
});

identityCases(subject);
