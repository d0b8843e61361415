/**
 * Writes that depend on what the site has: conditional create and update, conditional references, transactions and
 * batches. One SQL call each (migrations/functions); the caller locks what identifies the resources before it.
 */
import type { Fault } from '../../shared/fault.ts';
import type { Query } from '../deps.ts';
import type { ResourceWrite, WriteMode, WriteOutcome } from './resource.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import type { Criterion } from './search/kinds.ts';
import { isAnswered } from './page.ts';
import { matchesSql } from './search/search.ts';
import { type Bind, binder, instantOf, sql } from './sql.ts';
import { faultOfOwnState, type OwnState } from './sqlstate.ts';

/** A write whose mode its condition decides: `?` and the condition's placeholder. */
export interface TransactionWrite extends Omit<ResourceWrite, 'mode'> {
  readonly mode: WriteMode | `?${string}`;
}

export interface Condition {
  readonly kind: 'create' | 'update' | 'patch' | 'reference';
  readonly type: ResourceType;
  readonly criteria: readonly Criterion[];
  /** A new UUID: the id if a resource is made, and its stand-in in every text until then. */
  readonly placeholder: string;
  /** The only id that may be found (an update whose body names it, a patch). */
  readonly required: string | null;
  /** Resources of the same request that would match too. */
  readonly local: readonly string[];
}

export interface Transaction {
  readonly writes: readonly TransactionWrite[];
  /** In the order in which they are resolved: references last. */
  readonly conditions: readonly Condition[];
}

/** A resource that a transaction reads: without it the transaction fails as a whole. */
export interface RequiredResource {
  readonly type: ResourceType;
  readonly id: string;
  /** Null: any. */
  readonly version: number | null;
}

/** `another-id`: the id that was required was not found. */
export type ConditionOutcome = 'resolved' | 'ambiguous' | 'no-match' | 'another-id';

/** What a condition found; `resolved` with a null id: nothing, so the placeholder is the new id. */
export interface ConditionRow {
  readonly part: 'condition';
  readonly ordinal: number;
  readonly outcome: ConditionOutcome;
  readonly id: string | null;
}

/** What was written; `matched`: a conditional create found it, and content is what the site has. */
export interface WriteRow {
  readonly part: 'row';
  readonly ordinal: number;
  readonly outcome: WriteOutcome | 'matched';
  readonly id: string;
  readonly version: number;
  readonly last_updated: string;
  /** Of a matched resource that was there before and fits the answer; null of any other row. */
  readonly meta: string | null;
  readonly body: string | null;
}

/**
 * What placeholders turn into wherever they stand in a text, as `resource_transaction` does it to what it stores; so the
 * content of a write can be told without reading it again.
 */
export function settled(text: string, resolved: ReadonlyMap<string, string>): string {
  let result = text;
  for (const [placeholder, id] of resolved) result = result.replaceAll(placeholder, id);
  return result;
}

/** Why nothing was written, whatever rows come beside it: one for each position that it is about. */
export interface FailedRow {
  readonly part: 'failed';
  readonly ordinal: number;
  readonly outcome: OwnState;
}

export type TransactionRow = ConditionRow | WriteRow | FailedRow;

/** The Fault of a write that was refused; undefined where it was done. */
export function failedFault(rows: readonly TransactionRow[]): Fault | undefined {
  const failed = rows.filter((row) => row.part === 'failed');
  const [first] = failed;
  return (
    first &&
    faultOfOwnState(
      first.outcome,
      failed.map(({ ordinal }) => ordinal),
    )
  );
}

const WRITTEN = `w.part, w.ordinal, w.outcome, w.id, coalesce(r.version, w.version) as version,
       ${instantOf('coalesce(r.last_updated, w.last_updated)')} as last_updated,
       case when r.fits then r.meta end as meta, case when r.fits then r.body end as body`;

function matchesJson(bind: Bind, site: string, conditions: readonly Condition[]): string {
  if (conditions.length === 0) return `'[]'::json`;
  const each = conditions.map(
    ({ type, criteria }, n) => `(select ${n} as n, m.id from (${matchesSql({ bind, site, type }, criteria)}) m)`,
  );
  return `(select coalesce(json_agg(json_build_array(f.n, f.id)), '[]'::json) from (${each.join(' union all ')}) f)`;
}

/** The resource that a conditional create found; the limit makes it a look-up by key, whatever the planner expects. */
function matchedSql(site: string, type: string): string {
  return `select x.*, ${isAnswered('x', 'null')} as fits from resource x
    where w.outcome = 'matched' and x.site_id = ${site} and x.type = ${type} and x.id = w.id limit 1`;
}

function conditionsJson(conditions: readonly Condition[], from = 0): object[] {
  return conditions.map(({ kind, type, placeholder, required, local }, n) => ({
    n: from + n,
    kind,
    type,
    placeholder,
    required,
    local,
  }));
}

/**
 * All or nothing. Faults as of `writeResources`, `conflict` when two rows write one resource, and `not-found`, with a
 * position behind the writes, for a required resource that does not exist. With conditions these come as `failed` rows
 * instead: the batch commits, so that the audit keeps what the conditions found. When any condition's outcome is not
 * `resolved`, nothing was written and no `row` comes back.
 */
export function writeTransaction(
  siteId: string,
  { writes, conditions }: Transaction,
  required: readonly RequiredResource[] = [],
): Query<TransactionRow> {
  const { params, bind } = binder();
  const site = `${bind(siteId)}::uuid`;
  const rows = `${bind(JSON.stringify(writes))}::json`;
  const text = `select ${WRITTEN}
  from resource_transaction(${site}, ${rows}, ${bind(JSON.stringify(conditionsJson(conditions)))}::json,
         ${matchesJson(bind, site, conditions)}, ${bind(JSON.stringify(required))}::json, ${conditions.length === 0}) w
  left join lateral (${matchedSql(site, `${rows} -> w.ordinal ->> 'type'`)}) r on true
 order by w.part, w.ordinal`;
  return { text, params };
}

export type BatchRow = TransactionRow & { readonly entry: number };

/** Each for itself: what an entry fails with is its own row, and the others are written. */
export function writeBatch(siteId: string, entries: readonly Transaction[]): Query<BatchRow> {
  const { params, bind } = binder();
  const site = `${bind(siteId)}::uuid`;
  let conditions = 0;
  const printed = entries.map((entry) => {
    const from = conditions;
    conditions += entry.conditions.length;
    return { rows: entry.writes, conditions: conditionsJson(entry.conditions, from) };
  });
  const argument = `${bind(JSON.stringify(printed))}::json`;
  const matches = matchesJson(
    bind,
    site,
    entries.flatMap((entry) => entry.conditions),
  );
  const text = `select w.entry, ${WRITTEN}
  from resource_batch(${site}, ${argument}, ${matches}) w
  left join lateral (${matchedSql(site, `${argument} -> w.entry -> 'rows' -> w.ordinal ->> 'type'`)}) r on true
 order by w.entry, w.part, w.ordinal`;
  return { text, params };
}

/** Fails a transaction with Fault `invalid` (`too-costly`) where what it has read does not fit the answer (page.ts). */
export const requireAnswered: Query = sql`select assert_answered()`;
