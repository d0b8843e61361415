/** A page from a short list of ids, or from a walk in the order of the page where every list is long. */
import type { Criterion } from './kinds.ts';
import { DRIVER } from './selection.ts';
import type { SearchScope, Source } from './source.ts';

/**
 * Up to so many resources are found by an index of a criterion and then sorted. A more common value fills a page soon in a walk
 * of all.
 */
const FEW_LISTED = 2_000;
/** A first list up to this length is short enough: the others are not read. */
const SHORT_LIST = 50;

export interface Listed {
  readonly source: Source;
  /** SQL. */
  readonly lists: readonly string[];
  /** The criteria that every list has as its condition, if the lists are dates of a patient. */
  readonly held?: readonly Criterion[];
}

export interface ListOrWalk {
  /** SQL: the `with` clause that `union` refers to; `''` without lists. */
  readonly ctes: string;
  /** @param select makes the SQL of a selection from an item, with an additional condition and the criteria that all its rows have */
  readonly union: (select: (from: string, condition: string, held?: readonly Criterion[]) => string) => string;
}

/**
 * A selection from the shortest list if that is short, otherwise a walk in the order of the page.
 *
 * @param listed undefined to walk in any case
 * @param walked SQL of the `from` item of the walk
 * @param behind makes the SQL condition that an id is after the previous page
 */
export function listOrWalk(
  scope: SearchScope,
  listed: Listed | undefined,
  walked: string,
  behind: (id: string) => string = () => '',
): ListOrWalk {
  if (listed === undefined) return { ctes: '', union: (select) => select(walked, '') };
  const { source, lists, held } = listed;
  const isLong = `(select count(*) from l0) > ${SHORT_LIST}`;
  const each = lists.map((list, n) => (n === 0 ? list : `select x.id from (${list}) x where ${isLong}`));
  const counted = lists.map((_, n) => `(${n}, (select count(*) from l${n}))`).join(', ');
  const all = lists.map((_, n) => `select id from l${n} where (select k from lead) = ${n}`).join(' union all ');
  const ids = `select distinct l.id from (${all}) l where (select n from lead) <= ${FEW_LISTED}${behind('l.id')}`;
  const rows = `select x.* from ${source.from('x')} where ${source.within(scope, 'x')} and ${source.id('x')}`;
  // The offset keeps all conditions but the ids from the choice of an index. The plan for the dates of a patient is kept. For several
  // ids it may choose the index of another order, and read all of the type. So each id is looked up by itself.
  // prose-allow: sentence
  const found =
    held === undefined
      ? `(${rows} = any (array(${ids})) order by ${source.id('x')} offset 0) ${DRIVER}`
      : `(select x.* from (${ids} order by l.id) i cross join lateral (${rows} = i.id limit 1) x order by i.id offset 0) ${DRIVER}`;
  return {
    ctes: `with ${each.map((list, n) => `l${n} as materialized (${list} limit ${FEW_LISTED + 1})`).join(', ')},
     lead as materialized (select k, n from (values ${counted}) c (k, n) where k = 0 or ${isLong} order by n, k limit 1)
   `,
    union: (select) => `(${select(found, '', held)})
     union all
     (${select(walked, ` and (select n from lead) > ${FEW_LISTED}`)})`,
  };
}
