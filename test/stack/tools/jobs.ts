/** Background jobs, asked for past the gateway. */
import { randomUUID } from 'node:crypto';

import { reindexJob } from '../../../edge/fhir/search/reindex.ts';
import { neonDatabase } from '../../../edge/platform/neon.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { addJob, findJobs } from '../../../edge/store/job.ts';
import type { TestDatabase } from './database.ts';

/** Asks for a reindex of a site, as `npm run reindex` does. @returns reads the job's row */
export async function askForReindex({ url, endpoint }: TestDatabase, site: string, by: string) {
  const database = inSite(neonDatabase({ DATABASE_URL: url, DATABASE_FETCH_ENDPOINT: endpoint.url }), site);
  const [job] = await database.run(addJob(reindexJob(randomUUID(), site, 1, by)));
  return async () => (await database.run(findJobs([job?.id ?? ''])))[0];
}
