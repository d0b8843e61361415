/**
 * Reindexes a site: the job extracts the search rows of its stored resources again, so that a new search parameter also finds
 * older resources.
 */
import * as z from 'zod';

import { jobKind, rowsOfAttempt } from '../../jobs/kind.ts';
import { inSite } from '../../store/in-site.ts';
import type { NewJob } from '../../store/job.ts';
import { toPage } from '../../store/page.ts';
import { INDEX_FINGERPRINT } from '../../store/search/parameters.ts';
import {
  beginFilling,
  endFilling,
  REINDEX_START,
  reindexResources,
  resourcesAfter,
} from '../../store/search/reindex.ts';

/** A step locks the resources that it reindexes until it ends, and holds all of them in memory. */
const STEP_RESOURCES = 200;
const STEP_BYTES = 2 * 1024 * 1024;

export const REINDEX = jobKind({
  // Each table of parameters has a job kind, so a release does not run a job that was begun for another table.
  kind: `reindex-${INDEX_FINGERPRINT}`,
  cursor: z.object({ type: z.string(), id: z.uuid() }),
  step: async ({ database }, job) => {
    const { id, site, cursor, progress } = job;
    const limit = rowsOfAttempt(STEP_RESOURCES, job);
    if (site === null) throw new TypeError('a reindexing needs a site');
    // Before the first page, so that the job waits for the writes of an older release and reindexes them.
    if (cursor.type === REINDEX_START.type) await inSite(database, site).run(beginFilling(site, id));
    const rows = await inSite(database, site).run(resourcesAfter(site, cursor, limit, STEP_BYTES));
    const { resources, more } = toPage(rows, limit);
    const last = resources.at(-1);
    const done = progress.done + resources.length;
    return {
      cursor: last === undefined ? cursor : { type: last.type, id: last.id },
      // The total may have grown since it was counted.
      progress: { done, total: more ? Math.max(progress.total ?? 0, done) : done },
      isDone: !more,
      writes: [
        ...(resources.length === 0 ? [] : [reindexResources(site, resources)]),
        ...(more ? [] : [endFilling(site)]),
      ],
    };
  },
});

/**
 * The job for a site. A job that was begun for the same table continues at its cursor.
 *
 * @param id a new UUID
 * @param total how many resources the site has
 */
export function reindexJob(id: string, site: string, total: number, askedBy: string): NewJob {
  return { id, kind: REINDEX.kind, site, exclusiveKey: 'site', cursor: REINDEX_START, total, askedBy };
}
