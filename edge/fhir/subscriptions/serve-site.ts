/**
 * Serves the change feed of a site: numbers what has settled, compares it with the subscriptions, and posts notifications
 * (edge/docs/behaviour.md, Time, retention and background work). Any number of runners may serve a site concurrently.
 */
import type { Config } from '../../config.ts';
import type { Database, Deps } from '../../deps.ts';
import { numberChanges } from '../../store/change-feed.ts';
import { inSite } from '../../store/in-site.ts';
import { claimSubscriptions } from '../../store/subscription.ts';
import { rootOf } from '../resource-answer.ts';
import { deliver, type Delivering, LEASE_SECONDS } from './deliver.ts';
import { matchChanges } from './match.ts';

/** A statement numbers some thousands of versions in a tenth of a second. */
const MAX_NUMBERED = 2_000;
/** A Worker has six connections at a time. */
const MAX_CLAIMED = 24;

export type ServingSites = Delivering &
  Pick<Deps, 'database' | 'background'> & { readonly config: Pick<Config, 'FHIR_SEARCH'> };

/** Posts in the background: a slow receiver delays no other subscription. @returns the number of claims */
async function startDeliveries(deps: ServingSites, database: Database, site: string): Promise<number> {
  const lease = crypto.randomUUID();
  const claims = await database.run(claimSubscriptions(site, lease, LEASE_SECONDS, MAX_CLAIMED));
  for (const claimed of claims) {
    const posting = deliver(deps, database, { site, lease, claimed }).catch((error: unknown) =>
      deps.log({ level: 'warn', event: 'changes.failed', site, error }),
    );
    deps.background(posting);
  }
  return claims.length;
}

/**
 * Works until nothing remains, or until the time is used up.
 *
 * @param until milliseconds since the epoch
 * @returns true if something remains: changes that are not settled, or more work than the time allows
 */
export async function serveSite(deps: ServingSites, site: string, until: number): Promise<boolean> {
  const { config, now } = deps;
  const database = inSite(deps.database, site);
  const root = rootOf(config);
  let isWaiting = false;
  for (let hasMore = true; hasMore;) {
    const [row] = await database.run(numberChanges(site, MAX_NUMBERED));
    isWaiting = row?.is_waiting ?? false;
    const hasCompared = await matchChanges(database, site, { root, now: now(), searches: config.FHIR_SEARCH });
    const claimed = await startDeliveries(deps, database, site);
    hasMore = row?.has_more === true || hasCompared || claimed === MAX_CLAIMED;
    if (hasMore && now() >= until) return true;
  }
  return isWaiting;
}
