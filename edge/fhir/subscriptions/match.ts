/**
 * Compares changes with the filters of subscriptions. A change is an event if the version or the version before matches, so that
 * a resource that leaves a filter is an event too. An erasure is an event of each subscription of its type.
 */
import type { ResourceType } from '../../../shared/resource-type.ts';
import { Fault } from '../../../shared/fault.ts';
import type { Database } from '../../deps.ts';
import { matchesWrite } from '../../store/search/kinds.ts';
import type { Searchable } from '../../store/search/rows.ts';
import {
  changePage,
  type ChangeRow,
  type ComparedRow,
  type Matched,
  nextCompared,
  storeMatches,
} from '../../store/subscription.ts';
import { factsIn } from '../bulk/type-filter.ts';
import { readCriteria } from '../search/request.ts';
import type { ValueContext } from '../search/values.ts';

const MAX_CHANGES = 200;
const MAX_BYTES = 4 * 1024 * 1024;

/** The facts of the version and of the version before, made once for all subscriptions. */
function factsOfChanges(zone: string): (change: ChangeRow) => readonly Searchable[] {
  const factsOf = factsIn(zone);
  const known = new Map<ChangeRow, readonly Searchable[]>();
  return (change) => {
    const before = known.get(change);
    if (before !== undefined) return before;
    const { type, id, version, last_updated } = change;
    const contents = [
      [change.meta, change.body],
      [change.before_meta, change.before_body],
    ] as const;
    const facts = contents.flatMap(([meta, body]) =>
      meta === null || body === null || version === null || last_updated === null
        ? []
        : [factsOf(type, { type, id, version, last_updated, meta, body })],
    );
    known.set(change, facts);
    return facts;
  };
}

/** @returns true for an event of the subscription. @throws Fault for a filter that cannot be used any more */
function isEventOf(
  { type, filter, since }: ComparedRow,
  context: ValueContext,
  factsOf: (change: ChangeRow) => readonly Searchable[],
): (change: ChangeRow) => boolean {
  const criteria = filter === '' ? undefined : readCriteria(type, filter, context);
  return (change) => {
    if (change.type !== type) return false;
    if (change.version === null) return true;
    const { last_updated } = change;
    if (last_updated === null || (since !== null && Date.parse(last_updated) <= Date.parse(since))) return false;
    return criteria === undefined || factsOf(change).some((facts) => matchesWrite(facts, criteria));
  };
}

function compare(subscriptions: readonly ComparedRow[], changes: readonly ChangeRow[], context: ValueContext) {
  const failed: string[] = [];
  const matches: { id: string; numbers: string[] }[] = [];
  const factsOf = factsOfChanges(subscriptions[0]?.zone ?? 'UTC');
  const types = new Set(changes.map(({ type }) => type));
  for (const subscription of subscriptions) {
    if (!types.has(subscription.type)) continue;
    try {
      const numbers = changes.filter(isEventOf(subscription, context, factsOf)).map(({ number }) => number);
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
