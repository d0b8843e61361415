/**
 * Writes of FHIR clients: plain and conditional ones, transactions and batches. Each is one SQL call (migrations/functions,
 * fhir_write, fhir_conditional_write, fhir_batch).
 */
import type { Fault } from '../../shared/fault.ts';
import type { Query } from '../deps.ts';
import {
  printWrites,
  type RequiredResource,
  type TransactionWrite,
  writeResources,
  type WriteRow,
} from './resource.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import type { Criterion } from './search/kinds.ts';
import { hasShortKeys } from './search/compare.ts';
import { type Locks, lockKeys, NO_LOCKS } from './lock.ts';
import { contentIf, isAnswered, limitAnswer } from './page.ts';
import { matchesSql } from './search/selection.ts';
import { type Bind, binder, instantOf, siteOf, sql } from './sql.ts';
import { faultOfOwnState, type OwnState } from './sqlstate.ts';

export interface Condition {
  readonly kind: 'create' | 'update' | 'patch' | 'reference';
  readonly type: ResourceType;
  readonly criteria: readonly Criterion[];
  /** A new UUID: the id of a created resource, and the placeholder of the resource in every text. */
  readonly placeholder: string;
  /** The only id that the condition may find: that of an update's body, or of a patched resource. */
  readonly required: string | null;
  /** Resources of the same request that also match. */
  readonly local: readonly string[];
}

export interface Transaction {
  readonly writes: readonly TransactionWrite[];
  /** In the order in which they are resolved: references last. */
  readonly conditions: readonly Condition[];
}

/** `another-id`: the id that was required was not found. */
export type ConditionOutcome = 'resolved' | 'ambiguous' | 'no-match' | 'another-id';

/** The result of a condition; `resolved` with a null id: it found nothing, so the placeholder is the new id. */
interface ConditionRow {
  readonly part: 'condition';
  readonly ordinal: number;
  readonly outcome: ConditionOutcome;
  readonly id: string | null;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/**
 * Replaces placeholders in a text, as `fhir_conditional_write` does in the stored text. So the answer needs no second read.
 */
export function settled(text: string, resolved: ReadonlyMap<string, string>): string {
  return resolved.size === 0 ? text : text.replaceAll(UUID, (id) => resolved.get(id) ?? id);
}

/** The reason why nothing was written, for each affected position. */
interface FailedRow {
  readonly part: 'failed';
  readonly ordinal: number;
  readonly outcome: OwnState;
}

export type TransactionRow = ConditionRow | WriteRow | FailedRow;

/** The Fault of a rejected write; undefined for a write that succeeded. */
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

// prose-allow: sentence
const WRITTEN = `w.part, w.ordinal, w.outcome, w.id, coalesce(r.version, w.version) as version,
       coalesce(${instantOf('r.last_updated')}, w.last_updated) as last_updated,
       ${contentIf('r.fits', 'r')}`;

const isIdentified = ({ criteria }: Condition): boolean =>
  criteria.every((one) => one.kind === 'identifier' && one.any.every(hasShortKeys));

/**
 * SQL of the resources that identifiers find. A thousand of them are one query with arrays of its parameters, because
 * PostgreSQL would plan each separately. A longer value has a key that is computed, for which no index would be used.
 */
function identifiedSql(bind: Bind, site: string, conditions: readonly [n: number, Condition][]): string[] {
  const grouped = Map.groupBy(
    conditions.map(([n, { type, criteria }]) => {
      const params: string[] = [];
      const text = matchesSql({ bind: (value) => `k.p${params.push(String(value))}`, site, type }, criteria);
      return { n, params, text };
    }),
    ({ text }) => text,
  );
  return [...grouped].map(([text, each]) => {
    const places = each[0]?.params.map((_, at) => each.map(({ params }) => params[at] ?? '')) ?? [];
    const arrays = [
      `${bind(each.map(({ n }) => String(n)))}::integer[]`,
      ...places.map((all) => `${bind(all)}::text[]`),
    ];
    const columns = ['n', ...places.map((_, at) => `p${at + 1}`)];
    return `(select k.n, m.id from unnest(${arrays.join(', ')}) k(${columns.join(', ')}) cross join lateral (${text}) m)`;
  });
}

function matchesJson(bind: Bind, site: string, conditions: readonly Condition[]): string {
  if (conditions.length === 0) return `'[]'::json`;
  const [identified = [], others = []] = [true, false].map((is) =>
    conditions.flatMap((one, n): [number, Condition][] => (isIdentified(one) === is ? [[n, one]] : [])),
  );
  const each = [
    ...identifiedSql(bind, site, identified),
    ...others.map(
      ([n, { type, criteria }]) => `(select ${n} as n, m.id from (${matchesSql({ bind, site, type }, criteria)}) m)`,
    ),
  ];
  return `(select coalesce(json_agg(json_build_array(f.n, f.id)), '[]'::json) from (${each.join(' union all ')}) f)`;
}

/**
 * SQL: the type of a write. Taken from the JSON of the writes, it would be parsed again for each row.
 *
 * @param place SQL: the 0-based place of the write
 */
const typeSql = (bind: Bind, writes: readonly TransactionWrite[], place: string): string =>
  `(${bind(writes.map(({ type }) => type))}::text[])[${place} + 1]`;

/** The resource that a conditional create found; the limit forces a look-up by key. */
function matchedSql(site: string, type: string): string {
  return `select x.*, ${isAnswered('x')} as fits from resource x
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
 * All or nothing. The faults of `writeResources` are `failed` rows, and the batch commits, so that the audit keeps what the
 * conditions found. If the outcome of a condition is not `resolved`, nothing was written and no `row` is returned. The
 * caller takes the locks in an earlier statement.
 */
function writeConditionally(
  siteId: string,
  { writes, conditions }: Transaction,
  required: readonly RequiredResource[] | null,
): Query<TransactionRow> {
  const { params, bind } = binder();
  const site = siteOf(bind, siteId);
  const rows = `${bind(printWrites(writes))}::json`;
  const text = `select ${WRITTEN}
  from fhir_conditional_write(${site}, ${rows}, ${bind(required === null ? null : JSON.stringify(required))}::json,
         ${bind(JSON.stringify(conditionsJson(conditions)))}::json, ${matchesJson(bind, site, conditions)}) w
  left join lateral (${matchedSql(site, typeSql(bind, writes, 'w.ordinal'))}) r on true
 order by w.part, w.ordinal`;
  return { text, params };
}

/** The statements of writes. */
export interface Writing<Row extends TransactionRow = TransactionRow> {
  readonly queries: readonly Query[];
  /** The last of the queries, which returns the results. */
  readonly written: Query<Row>;
}

/**
 * The content of the resources that the conditional creates of a request found. The answer of a write cannot wait for memory, so
 * sixteen of these answers must fit beside each other.
 */
const FOUND_BYTES = 1024 * 1024;

/** The statement that writes also searches, and sees what was committed when it began, so the locks need an earlier one. */
const conditional = <Row extends TransactionRow>(
  site: string,
  conditions: readonly Condition[],
  { keys, patients }: Locks,
  written: Query<Row>,
): Writing<Row> => ({
  queries: [
    ...(conditions.some(({ kind }) => kind === 'create') ? [limitAnswer(FOUND_BYTES)] : []),
    ...(keys.length + patients.length === 0 ? [] : [lockKeys(site, keys, patients)]),
    written,
  ],
  written,
});

/**
 * All or nothing, as `writeResources`, or as `writeConditionally` where there are conditions.
 *
 * @param required as in `writeResources`
 */
export function writeTransaction(
  site: string,
  transaction: Transaction,
  locks = NO_LOCKS,
  required: readonly RequiredResource[] | null = null,
): Writing {
  const { writes, conditions } = transaction;
  if (conditions.length > 0)
    return conditional(site, conditions, locks, writeConditionally(site, transaction, required));
  const written = writeResources(site, writes, locks, required);
  return { queries: [written], written };
}

export type BatchRow = TransactionRow & { readonly entry: number };

/** Each entry succeeds or fails independently; a failure is returned as rows of its entry. */
export function writeBatch(siteId: string, entries: readonly Transaction[], locks = NO_LOCKS): Writing<BatchRow> {
  const { params, bind } = binder();
  const site = siteOf(bind, siteId);
  let conditions = 0;
  let writes = 0;
  const firsts: string[] = [];
  const printed = entries.map((entry) => {
    const from = conditions;
    conditions += entry.conditions.length;
    firsts.push(String(writes));
    writes += entry.writes.length;
    const own = JSON.stringify(conditionsJson(entry.conditions, from));
    return `{"rows":${printWrites(entry.writes)},"conditions":${own}}`;
  });
  const argument = `${bind(`[${printed.join(',')}]`)}::json`;
  const all = entries.flatMap((entry) => entry.conditions);
  const matches = matchesJson(bind, site, all);
  const type = typeSql(
    bind,
    entries.flatMap((entry) => entry.writes),
    `(${bind(firsts)}::integer[])[w.entry + 1] + w.ordinal`,
  );
  const text = `select w.entry, ${WRITTEN}
  from fhir_batch(${site}, ${argument}, ${matches}) w
  left join lateral (${matchedSql(site, type)}) r on true
 order by w.entry, w.part, w.ordinal`;
  return conditional(siteId, all, locks, { text, params });
}

/** Fails a transaction with Fault `invalid` (`too-costly`) where its reads do not fit the answer (page.ts). */
export const requireAnswered: Query = sql`select assert_answered()`;
