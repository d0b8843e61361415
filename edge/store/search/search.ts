/** Searching the resources of a site: pages by keyset, counts, and what conditional writes look for. */
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Query } from '../../deps.ts';
import { type PageRow, withinBudget } from '../page.ts';
import { binder } from '../sql.ts';
import { type Criterion, type KindName, sortColumnOf } from './kinds.ts';
import { selectionSql } from './selection.ts';
import type { SearchScope } from './source.ts';

export interface Sort {
  /** The kind of a parameter that can be sorted by, or `id`, which is creation order: ids are UUIDv7. */
  readonly by: KindName;
  readonly descending: boolean;
}

/** Where a page begins: after this resource, whose sort key was this. */
export interface Position {
  readonly key: string | null;
  readonly id: string;
}

export interface PageSelection {
  readonly site: string;
  readonly type: ResourceType;
  readonly criteria: readonly Criterion[];
  readonly sort: Sort;
  readonly after: Position | null;
  readonly limit: number;
}

function idsSql(scope: SearchScope, { criteria, sort, after, limit }: PageSelection): string {
  const { bind } = scope;
  const by = sortColumnOf(sort.by);
  const { from, where, id, repeats } = selectionSql(scope, criteria, by === undefined ? 'fixed' : by.source);
  const direction = sort.descending ? 'desc' : 'asc';
  const beyond = sort.descending ? '<' : '>';
  if (by === undefined) {
    const rest = after === null ? '' : `\n   and ${id} ${beyond} ${bind(after.id)}::uuid`;
    return `select ${repeats ? 'distinct ' : ''}${id} as id, null::text as sort_key from ${from} where ${where}${rest}
     order by ${id} ${direction} limit ${bind(limit + 1)}::integer`;
  }
  const rest =
    after === null
      ? ''
      : `\n   and (${by.column}, ${id}) ${beyond} (${bind(after.key ?? '')}::${by.cast}, ${bind(after.id)}::uuid)`;
  return `select ${id} as id, ${by.text} as sort_key from ${from} where ${where}${rest}
     order by ${by.column} ${direction}, ${id} ${direction} limit ${bind(limit + 1)}::integer`;
}

/** One page and one row more, if there is one. @see toPage */
export function searchPage(selection: PageSelection): Query<PageRow> {
  const { params, bind } = binder();
  const scope = { bind, site: `${bind(selection.site)}::uuid`, type: selection.type };
  const direction = selection.sort.descending ? 'desc' : 'asc';
  // The lateral with a limit is a look-up for each row: no estimate can make a scan of it.
  // A sort key in its text form sorts as its column does: ISO instants and text by bytes.
  const rows = `select r.type, r.id, r.version, r.last_updated, r.meta, r.body, r.patient_id, k.sort_key
    from (${idsSql(scope, selection)}) k
   cross join lateral (
     select x.* from resource x where x.site_id = ${scope.site} and x.type = '${scope.type}' and x.id = k.id limit 1) r`;
  const order = `p.sort_key collate "C" ${direction}, p.id ${direction}`;
  return { text: withinBudget(rows, order, { action: 'search', limit: selection.limit }), params, reads: true };
}

export function searchCount(
  site: string,
  type: ResourceType,
  criteria: readonly Criterion[],
): Query<{ total: number }> {
  const { params, bind } = binder();
  const { from, where, id, repeats } = selectionSql({ bind, site: `${bind(site)}::uuid`, type }, criteria, 'free');
  return {
    text: `select count(${repeats ? 'distinct ' : ''}${id})::integer as total from ${from} where ${where}`,
    params,
    reads: true,
  };
}

/** SQL: the ids that match, two at most, which is as many as a condition needs to see (R4 http, conditional create). */
export function matchesSql(scope: SearchScope, criteria: readonly Criterion[]): string {
  const { from, where, id, repeats } = selectionSql(scope, criteria, 'fixed');
  return `select ${repeats ? 'distinct ' : ''}${id} as id from ${from} where ${where} limit 2`;
}
