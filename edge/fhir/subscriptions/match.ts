/**
 * Compares changes with the filters of subscriptions. A change is an event if the version or the version before matches, so that
 * a resource that leaves a filter is an event too. An erasure is an event of each subscription of its type.
 */
import type { ResourceType } from '../../../shared/resource-type.ts';
import { Fault } from '../../../shared/fault.ts';
import type { Database } from '../../deps.ts';
import type { StoredResource } from '../../store/resource.ts';
import {
  changePage,
  type ChangeRow,
  type ComparedRow,
  type Matched,
  nextCompared,
  storeMatches,
} from '../../store/subscription.ts';
import { filterOf } from '../bulk/type-filter.ts';
import type { ValueContext } from '../search/values.ts';

const MAX_CHANGES = 200;
const MAX_BYTES = 4 * 1024 * 1024;

type Content = Pick<StoredResource, 'meta' | 'body'>;

const contentOf = (meta: string | null, body: string | null): Content[] =>
  meta === null || body === null ? [] : [{ meta, body }];

/** @returns true for an event of the subscription. @throws Fault for a filter that cannot be used any more */
function isEventOf({ type, filter, since, zone }: ComparedRow, context: ValueContext): (change: ChangeRow) => boolean {
  const isWanted = filter === '' ? undefined : filterOf(type, [`${type}?${filter}`], zone ?? 'UTC', context);
  return (change) => {
    if (change.type !== type) return false;
    if (change.version === null) return true;
    const { id, version, last_updated } = change;
    if (last_updated === null || (since !== null && Date.parse(last_updated) <= Date.parse(since))) return false;
    if (isWanted === undefined) return true;
    const versions = [...contentOf(change.meta, change.body), ...contentOf(change.before_meta, change.before_body)];
    return versions.some((content) => isWanted({ type, id, version, last_updated, ...content }));
  };
}

function compare(subscriptions: readonly ComparedRow[], changes: readonly ChangeRow[], context: ValueContext) {
  const failed: string[] = [];
  const matches: { id: string; numbers: string[] }[] = [];
  for (const subscription of subscriptions) {
    try {
      const numbers = changes.filter(isEventOf(subscription, context)).map(({ number }) => number);
      if (numbers.length > 0) matches.push({ id: subscription.id, numbers });
    } catch (error) {
      // The search parameters of the deployment have changed.
      if (!(error instanceof Fault)) throw error;
      failed.push(subscription.id);
    }
  }
  return { failed, matches } satisfies Pick<Matched, 'failed' | 'matches'>;
}

/**
 * Compares some changes with the subscriptions of a site that have waited longest.
 *
 * @param database the database in the site
 * @returns false if nothing was left to compare
 */
export async function matchChanges(database: Database, site: string, context: ValueContext): Promise<boolean> {
  const subscriptions = await database.run(nextCompared(site));
  const [first] = subscriptions;
  if (first === undefined) return false;
  const filtered = new Set<ResourceType>(subscriptions.flatMap(({ type, filter }) => (filter === '' ? [] : [type])));
  const changes = await database.run(changePage(site, first.matched, MAX_CHANGES, [...filtered], MAX_BYTES));
  const upto = changes.at(-1)?.number;
  if (upto === undefined) return false;
  const compared = compare(subscriptions, changes, context);
  const ids = subscriptions.map(({ id }) => id).filter((id) => !compared.failed.includes(id));
  await database.run(storeMatches(site, { ids, from: first.matched, upto, ...compared }));
  return true;
}
