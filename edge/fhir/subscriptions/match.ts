/** Compares changes with the filters of subscriptions. */
import type { Database } from '../../deps.ts';
import type { Searchable } from '../../store/search/rows.ts';
import { changePage, type ChangeRow, type Matched, nextCompared, storeMatches } from '../../store/subscription.ts';
import { factsIn } from '../bulk/type-filter.ts';
import type { ValueContext } from '../search/values.ts';
import { concerned, filteredTypes, type Filters, keepFilters, keptFilters, readFilters } from './filters.ts';

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

/** @param own the subscriptions that have compared up to another number. A kept filter of one of them is of a deleted subscription */
function compare(
  common: Filters,
  own: { readonly filters: Filters; readonly ids: ReadonlySet<string> },
  changes: readonly ChangeRow[],
  zone: string,
): Pick<Matched, 'failed' | 'matches'> {
  const numbers = new Map<string, string[]>();
  const factsOf = factsOfChanges(zone);
  for (const change of changes) {
    const found = concerned(common, change, factsOf).filter(({ id }) => !own.ids.has(id));
    for (const { id } of [...found, ...concerned(own.filters, change, factsOf)]) {
      const before = numbers.get(id);
      if (before === undefined) numbers.set(id, [change.number]);
      else before.push(change.number);
    }
  }
  return {
    failed: [...common.failed, ...own.filters.failed],
    matches: [...numbers].map(([id, each]) => ({ id, numbers: each })),
  };
}

/**
 * Compares some changes with the subscriptions of a site that have waited longest.
 *
 * @param database the database in the site
 * @returns true if changes may be left to compare
 */
export async function matchChanges(database: Database, site: string, context: ValueContext): Promise<boolean> {
  const known = keptFilters(site, context);
  const rows = await database.run(nextCompared(site, known?.members ?? null));
  const [first] = rows;
  if (first === undefined) return false;
  const { matched: from, members } = first;
  const subscriptions = rows.flatMap(({ id, is_own, type, filter, since }) =>
    id === null ? [] : [{ id, is_own, type, filter, since }],
  );
  const own = subscriptions.filter(({ is_own }) => is_own);
  const ids = new Set(own.map(({ id }) => id));
  const others = subscriptions.filter(({ is_own }) => !is_own);
  const isKnown = known !== undefined && known.members === members;
  const common = isKnown ? known.filters : readFilters(others, context);
  if (!isKnown && members !== null) keepFilters(site, context, { members, filters: common });
  const ownFilters = readFilters(own, context);
  const types = new Set([...filteredTypes(common), ...filteredTypes(ownFilters)]);
  const changes = await database.run(changePage(site, from, MAX_CHANGES, [...types], MAX_BYTES));
  const upto = changes.at(-1)?.number;
  if (upto === undefined) return false;
  const compared = compare(common, { filters: ownFilters, ids }, changes, first.zone ?? 'UTC');
  const usable = [...ids].filter((id) => !compared.failed.includes(id));
  const [stored] = await database.run(storeMatches(site, { ids: usable, from, upto, ...compared }));
  return stored?.is_stored !== true || first.has_others || BigInt(upto) < BigInt(first.last_number);
}
