/**
 * Writes that depend on what the site has: conditional create and update, conditional references, transactions and
 * batches. One SQL call each (migrations/functions); the caller locks what identifies the resources before it.
 */
import type { Fault } from '../../shared/fault.ts';
import type { Query } from '../deps.ts';
import type { ResourceWrite, WriteMode, WriteOutcome } from './resource.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import type { Criterion } from './search/kinds.ts';
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

export type ConditionOutcome = 'resolved' | 'ambiguous' | 'no-match' | 'absent' | 'another-id';

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
  /** Only of a matched resource. */
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

/** An entry of a batch that raised. */
export interface FailedRow {
  readonly part: 'failed';
  readonly outcome: OwnState;
}

/** What an entry of a batch, which has one row, would have failed with alone. */
export const failedFault = ({ outcome }: FailedRow): Fault => faultOfOwnState(outcome, [0]);

const WRITTEN = `w.part, w.ordinal, w.outcome, w.id, coalesce(r.version, w.version) as version,
       ${instantOf('coalesce(r.last_updated, w.last_updated)')} as last_updated, r.meta, r.body`;

function matchesJson(bind: Bind, site: string, conditions: readonly Condition[]): string {
  if (conditions.length === 0) return `'[]'::json`;
  const each = conditions.map(
    ({ type, criteria }, n) => `(select ${n} as n, m.id from (${matchesSql({ bind, site, type }, criteria)}) m)`,
  );
  return `(select coalesce(json_agg(json_build_array(f.n, f.id)), '[]'::json) from (${each.join(' union all ')}) f)`;
}

/** The resource that a conditional create found; the limit makes it a look-up by key, whatever the planner expects. */
function matchedSql(site: string, type: string): string {
  return `select x.* from resource x
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
 * All or nothing. Faults as of `writeResources`, and `conflict` when two rows write one resource. When any condition's
 * outcome is not `resolved`, nothing was written and no `row` comes back.
 */
export function writeTransaction(siteId: string, { writes, conditions }: Transaction): Query<ConditionRow | WriteRow> {
  const { params, bind } = binder();
  const site = `${bind(siteId)}::uuid`;
  const rows = `${bind(JSON.stringify(writes))}::json`;
  const text = `select ${WRITTEN}
  from resource_transaction(${site}, ${rows}, ${bind(JSON.stringify(conditionsJson(conditions)))}::json,
         ${matchesJson(bind, site, conditions)}) w
  left join lateral (${matchedSql(site, `${rows} -> w.ordinal ->> 'type'`)}) r on true
 order by w.part, w.ordinal`;
  return { text, params };
}

export type BatchRow = (ConditionRow | WriteRow | FailedRow) & { readonly entry: number };

/** Each for itself: what an entry raises is its own row, and the others are written. */
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

/** Fails the batch with Fault `not-found`, its `rows` the position, when the site has no such resource. */
export function requireResource(
  site: string,
  { type, id, version }: { readonly type: ResourceType; readonly id: string; readonly version: number | null },
  position: number,
): Query {
  return sql`select require_resource(${site}::uuid, ${type}, ${id}::uuid, ${version}::integer, ${position}::integer)`;
}
