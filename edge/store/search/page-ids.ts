/** The ids of a page, in its order, by keyset: after the last resource of the page before. */
import {
  conditionSql,
  type Criterion,
  fragmentsOf,
  type KindName,
  listedSql,
  type PlainCriterion,
  sortColumnOf,
  sourceOf,
} from './kinds.ts';
import { datedIds } from './dated-ids.ts';
import { datesOfPatientSql } from './kinds/date.ts';
import { MAX_NAME } from './kinds/name-part.ts';
import { directionOf, type PageIds, type PageOrder, type Sort, type SortKey } from './page-selection.ts';
import { type Listed, listOrWalk } from './list-or-walk.ts';
import { allIds, DRIVER, eachIds, isByNames, MANY_NAMES, rankIn, selectionSql } from './selection.ts';
import { RESOURCE, type SearchScope, type Source } from './source.ts';

/** Up to this count, changed resources are found by time and then sorted by id. A walk by id would read older resources first. */
const FEW_CHANGED = 5_000;
/** The same limit for older resources that changed in the time, where more resources are new. */
const FEW_OLDER = 50_000;
/** Ids are made before their resources are stored, and clocks differ. The value only decides where to search first. */
const ID_BEFORE_MS = 60_000;

/** The earliest time of change, in milliseconds since the epoch; undefined where it is unbounded. */
function changedFrom(criteria: readonly Criterion[]): number | undefined {
  const starts = criteria.flatMap((one) => {
    if (one.kind !== 'last-updated') return [];
    const each = one.any.map(({ from, outside }) => (from === null || outside ? Number.NaN : Date.parse(from)));
    const first = Math.min(...each);
    return Number.isNaN(first) ? [] : [first];
  });
  return starts.length === 0 ? undefined : Math.max(...starts);
}

/** The first UUIDv7 of a time (RFC 9562 §5.7). */
function firstIdAt(ms: number): string {
  const time = Math.min(Math.max(ms, 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** SQL: the order by a column of ids, and the limit of a page and one row. */
type Last = (column: string) => string;

/**
 * SQL: the resources that changed in a time. If they are many, a walk by id finds the resources that were created since, and
 * their time of change finds the older ones.
 *
 * @param found SQL of the ids @param id the column of the driver @param from the earliest time of change
 */
function changedIds({ bind }: SearchScope, found: string, id: string, from: number | undefined, last: Last): string {
  const few = `few as materialized (select count(*) <= ${FEW_CHANGED} as yes from (${found} limit ${FEW_CHANGED + 1}) c)`;
  const sorted = `(select id from (${found} and (select yes from few) offset 0) c ${last('id')})`;
  if (from === undefined)
    return `with ${few}
     select id, null::text as sort_key from (
       ${sorted}
       union all
       (select id from (${found} and not (select yes from few) ${last(id)}) c)) c ${last('id')}`;
  const first = `${bind(firstIdAt(from - ID_BEFORE_MS))}::uuid`;
  return `with ${few},
     older as materialized (${found} and not (select yes from few) and ${id} < ${first} limit ${FEW_OLDER + 1}),
     few_older as materialized (select count(*) <= ${FEW_OLDER} as yes from older)
   select id, null::text as sort_key from (
     ${sorted}
     union all
     (select id from older where (select yes from few_older) ${last('id')})
     union all
     (select id from (${found} and ${id} < ${first} and not (select yes from few_older) ${last(id)}) c)
     union all
     (select id from (${found} and ${id} >= ${first} and not (select yes from few) ${last(id)}) c)) c ${last('id')}`;
}

/**
 * The leading criteria as lists of ids, where an index has them and the planner would choose a worse plan.
 *
 * @param order the table that orders the page; null: the ids
 */
function listedOf(scope: SearchScope, criteria: readonly Criterion[], order: Source | null): Listed | undefined {
  const plain = criteria.filter((one): one is PlainCriterion => one.kind !== 'not');
  const rank = Math.min(...plain.map((one) => rankIn(scope.type, one)));
  const leads = plain.filter((one) => rankIn(scope.type, one) === rank);
  const dates = order === null ? datesOf(scope, leads, plain) : [];
  if (dates.length > 0) {
    const held = dates.length === 1 ? plain.filter(({ kind }) => kind === 'date') : [];
    return { source: RESOURCE, lists: dates, held };
  }
  const [first] = leads;
  if (first === undefined) return undefined;
  const own = sourceOf(first, scope.type);
  const source = order ?? own;
  const ofTable = plain.filter((one) => sourceOf(one, scope.type) === own);
  const areMany = isByNames(ofTable, MANY_NAMES);
  // Within one table the planner weighs its indexes well; a join with the table of the order it does not.
  if (order === own && !areMany) return undefined;
  // The longest text first, which probably selects the fewest.
  const lengthOf = (one: PlainCriterion): number => Math.min(MAX_NAME, ...fragmentsOf(one).map(({ length }) => length));
  const lists = leads.toSorted((a, b) => lengthOf(b) - lengthOf(a)).flatMap((one) => listedSql(one, scope) ?? []);
  if (lists.length > 0) return { source, lists };
  return areMany || (isByNames(ofTable) && source !== own) ? { source, lists: [allIds(scope, criteria)] } : undefined;
}

/** SQL: the ids of a patient's resources at a time, for each date parameter (migrations/0003_resource.sql). */
function datesOf(scope: SearchScope, leads: readonly PlainCriterion[], plain: readonly PlainCriterion[]): string[] {
  const patient = leads.find(({ kind }) => kind === 'patient');
  // A report belongs to a study, not directly to a patient.
  if (patient === undefined || scope.type === 'DiagnosticReport') return [];
  const dates = plain.filter((one): one is PlainCriterion<'date'> => one.kind === 'date');
  return [...Map.groupBy(dates, ({ param }) => param).values()].map((ofParam) => {
    const [first] = ofParam;
    const source = sourceOf(first ?? patient, scope.type);
    const all = [conditionSql(patient, 'n', scope), ...datesOfPatientSql(ofParam, 'n', scope)];
    return `select n.id from ${source.from('n')} where ${[source.within(scope, 'n'), ...all].join(' and ')}`;
  });
}

/** Ids in their order. */
function idsById(scope: SearchScope, { criteria, after, limit }: PageOrder, key: SortKey): string {
  const { bind } = scope;
  const direction = directionOf(key);
  const place = after === null ? '' : `${bind(after.id)}::uuid`;
  const behind = (column: string): string =>
    place === '' ? '' : `\n   and ${column} ${key.descending ? '<' : '>'} ${place}`;
  const count = `${bind(limit + 1)}::integer`;
  const last: Last = (column) => `order by ${column} ${direction} limit ${count}`;
  const each = eachIds(scope, criteria, (id) => `${behind(id)} ${last(id)}`);
  if (each !== undefined) return `select distinct e.id, null::text as sort_key from (${each}) e ${last('e.id')}`;
  const { from, where, id, repeats } = selectionSql(scope, criteria, 'fixed');
  if (criteria.length > 0 && criteria.every(({ kind }) => kind === 'last-updated')) {
    const found = `select ${id} as id from ${from} where ${where}${behind(id)}`;
    return changedIds(scope, found, id, changedFrom(criteria), last);
  }
  const listed = listedOf(scope, criteria, null);
  if (listed === undefined)
    return `select ${repeats ? 'distinct ' : ''}${id} as id, null::text as sort_key from ${from} where ${where}${behind(id)}
     ${last(id)}`;
  const ways = listOrWalk(scope, listed, from, behind);
  const found = ways.union(
    (item, condition, held) =>
      `select ${id} as id from ${item} where ${held === undefined ? where : selectionSql(scope, criteria, 'fixed', held).where}${condition}${behind(id)} ${last(id)}`,
  );
  return `${ways.ctes}select id, null::text as sort_key from (${found}) c ${last('id')}`;
}

/** Ids in the order of an index: the index of the ids, or of one key and the ids in its direction. */
function walkedIds(scope: SearchScope, selection: PageOrder, key: SortKey): PageIds {
  const { bind } = scope;
  const { criteria, after, limit } = selection;
  const by = sortColumnOf(key.by);
  const direction = directionOf(key);
  // A sort key in its text form sorts as its column does: ISO instants and text by bytes.
  const order = `p.sort_key collate "C" ${direction}, p.id ${direction}`;
  if (by === undefined) return { text: idsById(scope, selection, key), order };
  const { from, where, id } = selectionSql(scope, criteria, by.source);
  const beyond = key.descending ? '<' : '>';
  const column = `${DRIVER}.${by.column}`;
  const rest =
    after === null
      ? ''
      : `\n   and (${column}, ${id}) ${beyond} (${bind(after.key ?? '')}::${by.cast}, ${bind(after.id)}::uuid)`;
  const count = `${bind(limit + 1)}::integer`;
  const ways = listOrWalk(scope, listedOf(scope, criteria, by.source), from);
  const each = ways.union(
    (
      item,
      condition,
    ) => `select ${id} as id, ${by.text(column)} as sort_key from ${item} where ${where}${condition}${rest}
     order by ${column} ${direction}, ${id} ${direction} limit ${count}`,
  );
  return { text: `${ways.ctes}${each}`, order };
}

interface Term {
  readonly column: string;
  /** The key at the end of the page before. */
  readonly from: string;
  readonly descending: boolean;
}

/** SQL: after the end of the page before, by the first key that differs. */
const beyondSql = (terms: readonly Term[]): string =>
  terms.reduceRight((rest, { column, from, descending }) => {
    const beyond = `${column} ${descending ? '<' : '>'} ${from}`;
    return rest === '' ? beyond : `(${beyond} or (${column} = ${from} and ${rest}))`;
  }, '');

/** The keys of a cursor, which the gateway sealed for this sort (controls/cursor.ts). */
function keysOf(key: string | null): string[] {
  const keys: unknown = JSON.parse(key ?? '[]');
  return Array.isArray(keys) ? keys.map(String) : [];
}

/** Columns that an index has in this order, followed by the id (migrations/0003_resource.sql). */
const TOGETHER: readonly KindName[] = ['birthdate', 'name'];

/** The first keys, as many as an index has in this order. */
function walkedOf(keys: readonly SortKey[]): readonly SortKey[] {
  const both = keys.slice(0, TOGETHER.length);
  const isIndexed = both.every(({ by, descending }, n) => by === TOGETHER[n] && descending === keys[0]?.descending);
  return isIndexed ? both : keys.slice(0, 1);
}

/** The keys of the order, and the direction of the id. Keys after `_id` are dropped, because ids are unique. */
function partsOf({ ties = [], ...first }: Sort): { readonly keys: readonly SortKey[]; readonly id: SortKey } {
  const all: readonly SortKey[] = [first, ...ties];
  const at = all.findIndex(({ by }) => by === 'id');
  return { keys: at < 0 ? all : all.slice(0, at), id: all[at] ?? all.at(-1) ?? first };
}

/**
 * True where a page in this order reads few rows. If many resources may share the walked key, the query must not look up
 * another key for each of them.
 */
export function isBounded(sort: Sort): boolean {
  const { keys, id } = partsOf(sort);
  const isByDate = keys.some(({ param }) => param !== undefined);
  if (isByDate) return keys.length === 1 && id.descending === sort.descending;
  const columns = keys.map(({ by }) => sortColumnOf(by));
  const isOfOne = columns.every((column) => column?.source === columns[0]?.source);
  return isOfOne || walkedOf(keys).some(({ by }) => sortColumnOf(by)?.isShared !== true);
}

const rowOf = (items: readonly string[]): string => (items.length === 1 ? items.join('') : `(${items.join(', ')})`);

/**
 * Ids in the order of several keys. The walk uses the first keys, as many as an index has. It ends with the last of the
 * resources that share the page's last key. The other keys sort these rows. So combinations of keys need no indexes, and a page
 * reads only the additional resources with equal walked keys.
 */
function tiedIds(
  scope: SearchScope,
  { criteria, after, limit }: PageOrder,
  keys: readonly SortKey[],
  idDescending: boolean,
): PageIds {
  const { bind } = scope;
  const columns = keys.flatMap(({ by }) => sortColumnOf(by) ?? []);
  const walked = walkedOf(keys);
  const [first] = columns;
  if (first === undefined) throw new TypeError('the first of several keys has a column');
  const descending = keys[0]?.descending === true;
  const { from, where, id } = selectionSql(scope, criteria, first.source);
  // A key of another table is looked up by id, row by row.
  const others = [...new Set(columns.map(({ source }) => source))].filter((source) => source !== first.source);
  const aliasOf = (source: Source): string => (source === first.source ? DRIVER : `s${others.indexOf(source)}`);
  const joins = others.map((source) => {
    const a = aliasOf(source);
    return `cross join lateral (select x.* from ${source.from('x')}
      where ${source.within(scope, 'x')} and ${source.id('x')} = ${id} limit 1) ${a}`;
  });
  const terms = keys.flatMap((key, n) => {
    const column = columns[n];
    return column === undefined ? [] : [{ ...key, ...column, column: `${aliasOf(column.source)}.${column.column}` }];
  });

  let rest = '';
  if (after !== null) {
    const last = keysOf(after.key);
    const ends = terms.map(({ cast, ...term }, n): Term => ({ ...term, from: `${bind(last[n] ?? '')}::${cast}` }));
    const start = ends.slice(0, walked.length);
    const end = { column: id, from: `${bind(after.id)}::uuid`, descending: idDescending };
    // Beside what is behind, where the walk begins: that an index serves.
    rest = `\n   and ${rowOf(start.map(({ column }) => column))} ${descending ? '<=' : '>='} ${rowOf(start.map(({ from }) => from))}
   and ${beyondSql([...ends, end])}`;
  }
  const count = `${bind(limit + 1)}::integer`;
  const byId = directionOf({ descending: idDescending });
  const order = [...keys.map((key, n) => `q.k${n} ${directionOf(key)}`), `q.id ${byId}`];
  const walk = terms.slice(0, walked.length).map(({ column }) => `${column} ${directionOf({ descending })}`);
  const ways = listOrWalk(scope, listedOf(scope, criteria, first.source), from);
  const each = ways.union(
    (item, condition) => `select ${id} as id, ${terms.map(({ column }, n) => `${column} as k${n}`).join(', ')}
                  from ${item} ${joins.join(' ')} where ${where}${condition}${rest}
                 order by ${walk.join(', ')} fetch first (${count}) rows with ties`,
  );
  const text = `${ways.ctes}select q.id, json_build_array(${terms.map((term, n) => term.text(`q.k${n}`)).join(', ')})::text as sort_key
  from (select q.*
          from (${each}) q
         order by ${order.join(', ')} limit ${count}) q`;
  const shown = keys.map((key, n) => `(p.sort_key::json ->> ${n}) collate "C" ${directionOf(key)}`);
  return { text, order: [...shown, `p.id ${byId}`].join(', ') };
}

/** The ids of one page, and of the row after it. */
export function pageIds(scope: SearchScope, selection: PageOrder): PageIds {
  const { keys, id } = partsOf(selection.sort);
  const [first = id] = keys;
  if (first.param !== undefined) return datedIds(scope, selection, first.param);
  const isWalked = keys.length <= 1 && first.descending === id.descending;
  return isWalked ? walkedIds(scope, selection, first) : tiedIds(scope, selection, keys, id.descending);
}
