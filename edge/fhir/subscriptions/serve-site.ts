/**
 * Serves the change feed of a site: numbers what has settled, compares it with the subscriptions, and posts notifications
 * (edge/docs/behaviour.md, Time, retention and background work). Any number of runners may serve a site concurrently.
 */
import type { Config } from '../../config.ts';
import type { Database, Deps } from '../../deps.ts';
import { numberChanges } from '../../store/change-feed.ts';
import { inSite } from '../../store/in-site.ts';
import { type ClaimedSubscription, claimSubscriptions } from '../../store/subscription.ts';
import { rootOf } from '../resource-answer.ts';
import { deliver, type Delivering, LEASE_SECONDS } from './deliver.ts';
import { matchChanges } from './match.ts';

/** A statement numbers some thousands of versions in a tenth of a second. */
const MAX_NUMBERED = 2_000;
/** Posts at once, of this process and of one site. A notification may need 7 MiB of memory, and a Worker has 128. */
const MAX_POSTS = 12;
const MAX_POSTS_OF_SITE = 6;

interface Post {
  readonly site: string;
  /** Workers may end work without its `finally`: then the post no longer counts after this time. */
  readonly untilMs: number;
}
/** The posts of this process. */
const posting = new Set<Post>();

/** The number of posts that may begin. */
function freeFor(site: string, nowMs: number): number {
  for (const post of posting) if (post.untilMs < nowMs) posting.delete(post);
  const ofSite = [...posting].filter((post) => post.site === site).length;
  return Math.min(MAX_POSTS - posting.size, MAX_POSTS_OF_SITE - ofSite);
}

export type ServingSites = Delivering &
  Pick<Deps, 'database' | 'background'> & { readonly config: Pick<Config, 'FHIR_SEARCH'> };

/**
 * Begins as many posts as may begin: a slow receiver delays no other subscription. While no further post may begin, each
 * subscription posts one notification, and then the next subscription does.
 *
 * @param posts the posts of this call of `serveSite`, to which new ones are added
 * @returns true if another post may be due
 */
async function beginPosts(deps: ServingSites, database: Database, site: string, posts: Set<Promise<void>>) {
  const { now } = deps;
  const free = freeFor(site, now());
  if (free < 1) return true;
  const begun = Array.from({ length: free }, (): Post => ({ site, untilMs: now() + LEASE_SECONDS * 1000 }));
  for (const post of begun) posting.add(post);
  const lease = crypto.randomUUID();
  let claimed: readonly ClaimedSubscription[] = [];
  try {
    claimed = await database.run(claimSubscriptions(site, lease, LEASE_SECONDS, free));
  } finally {
    for (const post of begun.slice(claimed.length)) posting.delete(post);
  }
  for (const [n, one] of claimed.entries()) {
    const work = deliver(deps, database, { site, lease, claimed: one }, () => freeFor(site, now()) > 0)
      .catch((error: unknown) => deps.log({ level: 'warn', event: 'changes.failed', site, error }))
      .finally(() => {
        posts.delete(work);
        for (const post of begun.slice(n, n + 1)) posting.delete(post);
      });
    posts.add(work);
    deps.background(work);
  }
  return claimed.length === free;
}

/**
 * Works until nothing remains, or until the time is used up.
 *
 * @param until milliseconds since the epoch
 * @returns true if something remains: changes that are not settled, posts that wait, or more work than the time allows
 */
export async function serveSite(deps: ServingSites, site: string, until: number): Promise<boolean> {
  const { config, now } = deps;
  const database = inSite(deps.database, site);
  const root = rootOf(config);
  // On Workers, a promise of another request cannot be awaited.
  const posts = new Set<Promise<void>>();
  for (;;) {
    const [row] = await database.run(numberChanges(site, MAX_NUMBERED));
    const hasCompared = await matchChanges(database, site, { root, now: now(), searches: config.FHIR_SEARCH });
    const hasPosts = await beginPosts(deps, database, site, posts);
    const isWaiting = row?.is_waiting === true || hasPosts;
    if (row?.has_more !== true && !hasCompared) {
      if (!hasPosts || posts.size === 0) return isWaiting;
      await Promise.race(posts);
    }
    if (now() >= until) return true;
  }
}
