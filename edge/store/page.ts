/**
 * Resources within budgets of bytes, for a page and for an answer. So neither a few large documents nor a bundle of many
 * searches exceeds the memory of a runtime.
 */
import { Fault } from '../../shared/fault.ts';
import type { Query } from '../deps.ts';
import { type LimitName, limitMessage } from '../limits.ts';
import type { StoredResource } from './resource.ts';
import { auditItem, type ReadAction } from './audit.ts';
import { instantOf, read } from './sql.ts';

/** The greatest sum of a page's contents; the first resource always fits. A Worker has 128 MB, Neon answers 64 MB. */
export const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * The greatest sum of the resources of one answer, in all statements of its transaction (answer_note.sql); the first resource
 * always fits. For a moment the memory holds it four times: the database's answer, its rows, the text and its bytes.
 */
export const ANSWER_BYTES = 16 * 1024 * 1024;
/** The same of a Bundle whose own content is in memory beside the answer. Here the first resource must fit too. */
export const SHORT_ANSWER_BYTES = ANSWER_BYTES / 2;
/** The size of a row beside its content: its columns, and the members of a Bundle around it. */
export const ROW_BYTES = 512;

/** SQL: the bytes of a row's content, with its documents. */
export const bytesOf = (alias: string): string => `document_bytes(${alias}.body) + octet_length(${alias}.meta)`;

/** SQL: the content of a row where a condition holds, with its documents. */
export const contentIf = (condition: string, alias: string): string =>
  `case when ${condition} then ${alias}.meta end as meta, case when ${condition} then document_fill(${alias}.body) end as body`;

/**
 * SQL: how many rows still fit the answer; notes them for the audit.
 *
 * @param items an array of the rows' items @param bytes an array of the rows' sizes
 */
const answered = (items: string, bytes: string): string => `answer_note(${items}, ${bytes}, ${ANSWER_BYTES})`;

/** SQL: true where one row still fits the answer. The caller notes the row for the audit. */
export const isAnswered = (alias: string): string =>
  `${answered('array[null]::audit_item[]', `array[${bytesOf(alias)} + ${ROW_BYTES}]`)} = 1`;

/** Limits the resources that the statements after it answer. */
export const limitAnswer = (bytes: number): Query =>
  read`select set_config('gateway.answer_room', ${String(bytes)}, true)`;

/** A resource that was read, without content where the content does not fit the answer. */
export interface ReadRow extends Omit<StoredResource, 'meta' | 'body'> {
  readonly meta: string | null;
  readonly body: string | null;
}

/** A row without content belongs to the next page. */
export interface PageRow extends ReadRow {
  readonly sort_key: string | null;
  /** Included with the matches (FHIR R4 search, 3.1.1.5.7). */
  readonly is_included?: boolean;
  /** The facts of a match whose Provenance is included (provenance.ts). */
  readonly facts?: string | null;
  /** A row with it is not a resource: the limit that the search exceeds. */
  readonly over_limit?: LimitName | null;
}

/**
 * The reader of a page: a caller, who sees `limit` resources, or the gateway, whose reading the audit does not record
 * resource by resource.
 */
export type Reader = { readonly action: ReadAction; readonly limit: number } | 'gateway';

/** Resources that a page includes after its matches. They count for the budget, but not for the limit. */
export interface Included {
  /** SQL: `with` items that other parts refer to, with a comma after each; `''` without any. */
  readonly ctes: string;
  /** SQL that yields type, id, version, last_updated, meta, body, patient_id of the resources that `q` includes where `q.is_shown`. */
  readonly rows: string;
  /** SQL: the facts of a row `q` for its Provenance. */
  readonly facts: string;
  /** SQL that yields the name of each limit that the search exceeds. `f` has the rows of the page and their place. */
  readonly over: readonly string[];
}

/**
 * @param rows SQL that yields type, id, version, last_updated, meta, body, sort_key, patient_id
 * @param order the order of the page, in columns of `p`
 * @param reader the audit records the rows that the page shows: not the rows beyond a budget, nor the row after the last
 * @param facts SQL: for the gateway, the facts of a row `q` for its Provenance
 */
export function withinBudget(
  rows: string,
  order: string,
  reader: Reader,
  maxBytes = PAGE_BYTES,
  facts: string | null = null,
): string {
  const paged = `with q as materialized (${placed(rows, order, bytesOf('p'), maxBytes)})`;
  if (reader === 'gateway')
    return `${paged}
select ${SHOWN}, ${contentIf('q.fits', 'q')}${facts === null ? '' : `, case when q.fits then ${facts} end as facts`} from q order by q.place`;
  return `${paged}, ${shownOf('q', reader)}
select ${SHOWN}, ${CONTENT}
  from q cross join shown where q.place <= shown.places + 1
 order by q.place`;
}

/** SQL: a page includes no resources. */
export const NO_RESOURCES = 'select x.* from resource x where false';

/**
 * `withinBudget` with included resources.
 *
 * @param rows also yields included_bytes, of the resources that the row includes. A row that includes more than a page is not shown
 */
export function withinBudgetWith(
  { ctes, rows: included, facts, over }: Included,
  rows: string,
  order: string,
  reader: Reader & object,
): string {
  return `with ${ctes}f as materialized (${placed(rows, order, `${bytesOf('p')} + p.included_bytes`, PAGE_BYTES)}),
${shownOf('f', reader, `and s.included_bytes <= ${PAGE_BYTES}`)},
q as materialized (select f.*, f.place <= shown.places as is_shown from f cross join shown),
i as materialized (${included}),
noted as materialized (select audit_note(array_agg(${auditItem(reader.action, 'i')})) as done from i)
select ${SHOWN}, ${CONTENT},
       false as is_included, null as over_limit, q.place,
       case when q.is_shown then ${facts} end as facts
  from q cross join shown cross join noted where noted.done and q.place <= shown.places + 1
union all
select i.type, i.id, i.version, ${instantOf('i.last_updated')}, null, i.meta, document_fill(i.body), true, null, null, null
  from i cross join noted where noted.done
union all
select null, null, null, null, null, null, null, true, o.name, null, null from (${['select null::text as name where false', ...over].join(' union all ')}) o
 order by is_included, place, id`;
}

/** SQL: how many rows of a page are shown. @param page the CTE of `placed` */
const shownOf = (page: string, { action, limit }: Reader & object, condition = ''): string => `shown as materialized (
  select ${answered(`array_agg(${auditItem(action, 's')} order by s.place)`, `array_agg(s.bytes + ${ROW_BYTES} order by s.place)`)} as places
    from ${page} s where s.fits and s.place <= ${limit} ${condition})`;

const CONTENT = contentIf('q.place <= shown.places', 'q');
const SHOWN = `q.type, q.id, q.version, ${instantOf('q.last_updated')} as last_updated, q.sort_key`;

/** SQL: the rows with their place in the page, and whether they fit its budget. @param size SQL: the bytes of a row `p` */
function placed(rows: string, order: string, size: string, maxBytes: number): string {
  // In a subselect it is evaluated once, not for each row of the page.
  return `
  select p.*, row_number() over w as place, ${size} as bytes, row_number() over w = 1 or sum(${size}) over w <= ${maxBytes} as fits
    from (${rows}) p window w as (order by ${order})`;
}

const tooCostly = (): Fault =>
  new Fault(
    'invalid',
    `An answer may contain ${ANSWER_BYTES / 2 ** 20} MiB of resources, of a Bundle that also writes or is large ` +
      `${SHORT_ANSWER_BYTES / 2 ** 20} MiB. This entry exceeds it: send it in another request.`,
    { code: 'too-costly' },
  );

/** @throws Fault `invalid` (`too-costly`) for a resource that did not fit the answer */
export function withContent<Row extends ReadRow>(row: Row): Row & StoredResource {
  const { meta, body } = row;
  if (meta === null || body === null) throw tooCostly();
  return { ...row, meta, body };
}

/** @throws Fault `invalid` (`too-costly`) with the name of the limit that a search exceeds */
export function requireWithinLimits(rows: readonly Pick<PageRow, 'over_limit'>[]): void {
  const name = rows.find(({ over_limit: limit }) => (limit ?? null) !== null)?.over_limit ?? null;
  if (name !== null) throw new Fault('invalid', limitMessage(name), { code: 'too-costly' });
}

export interface Page {
  readonly resources: readonly (StoredResource & Pick<PageRow, 'sort_key' | 'facts'>)[];
  /** Another page follows. */
  readonly more: boolean;
}

/**
 * @param rows at most `limit + 1` rows; the last one only shows that another page follows
 * @throws Fault `invalid` (`too-costly`) where the first resource does not fit the answer
 */
export function toPage([first, ...others]: readonly PageRow[], limit: number): Page {
  if (first === undefined) return { resources: [], more: false };
  const rest = others.slice(0, limit - 1).filter(({ body }) => body !== null);
  return { resources: [first, ...rest].map(withContent), more: rest.length < others.length };
}
