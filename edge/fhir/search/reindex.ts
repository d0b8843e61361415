/**
 * Reindexing a site: what of its stored resources is searched is taken out anew, so that a parameter that is new to the
 * table can be searched for what was stored before it.
 */
import * as z from 'zod';

import { jobKind } from '../../jobs/kind.ts';
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

/** A step locks what it rewrites until it ends, and has the whole of it in memory. */
const STEP_RESOURCES = 200;
const STEP_BYTES = 2 * 1024 * 1024;

export const REINDEX = jobKind({
  // A kind for each table of parameters: a release leaves what was begun for another table to the release that has it.
  kind: `reindex-${INDEX_FINGERPRINT}`,
  cursor: z.object({ type: z.string(), id: z.uuid() }),
  step: async ({ database }, { id, site, cursor, progress }) => {
    if (site === null) throw new TypeError('a reindexing is of one site');
    // Before the first look: what an older release is writing then is waited for, and looked at.
    if (cursor.type === REINDEX_START.type) await inSite(database, site).run(beginFilling(site, id));
    const rows = await inSite(database, site).run(resourcesAfter(site, cursor, STEP_RESOURCES, STEP_BYTES));
    const { resources, more } = toPage(rows, STEP_RESOURCES);
    const last = resources.at(-1);
    const done = progress.done + resources.length;
    return {
      cursor: last === undefined ? cursor : { type: last.type, id: last.id },
      // Others may have been created since they were counted.
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
 * The job for a site; one that was begun for the same table goes on where it is.
 *
 * @param id a new UUID
 * @param total how many resources the site has
 */
export function reindexJob(id: string, site: string, total: number, askedBy: string): NewJob {
  return { id, kind: REINDEX.kind, site, exclusiveKey: 'site', cursor: REINDEX_START, total, askedBy };
}
