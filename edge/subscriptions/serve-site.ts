/** Serves the change feed of a site: numbers what has settled (edge/docs/behaviour.md, Change feed). */
import type { JobDeps } from '../jobs/kind.ts';
import { numberChanges } from '../store/change-feed.ts';
import { inSite } from '../store/in-site.ts';

/** A statement numbers some thousands of versions in a tenth of a second. */
const MAX_NUMBERED = 2_000;

/**
 * Works until nothing remains, or until the time is used up.
 *
 * @param until milliseconds since the epoch
 */
export async function serveSite({ database, now }: JobDeps, site: string, until: number): Promise<void> {
  const ofSite = inSite(database, site);
  let hasMore = true;
  while (hasMore && now() < until) {
    const [row] = await ofSite.run(numberChanges(site, MAX_NUMBERED));
    hasMore = row?.has_more ?? false;
  }
}
