/**
 * Resources within budgets of bytes, one of a page and one of an answer. Neither a few large documents nor a bundle of
 * many searches can therefore exceed the memory of a runtime.
 */
import { Fault } from '../../shared/fault.ts';
import type { StoredResource } from './resource.ts';
import { auditItem, type ReadAction } from './audit.ts';
import { instantOf } from './sql.ts';

/** The limit for a page's contents; the first resource is always included. A Worker has 128 MB, Neon answers 64 MB. */
export const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * The limit for the resources of one answer, over all statements of its transaction (answer_note.sql); the first is
 * always included. The database's answer, its rows, the text and its bytes each need this much for a moment.
 */
export const ANSWER_BYTES = 16 * 1024 * 1024;
/** A row takes so much beside its content: its columns, and what a Bundle writes around it. */
export const ROW_BYTES = 512;

/** SQL: the bytes of a row's content. */
export const bytesOf = (alias: string): string => `octet_length(${alias}.body) + octet_length(${alias}.meta)`;

/**
 * SQL: how many rows still fit the answer, which notes them for the audit.
 *
 * @param items an array of the rows' items in their order @param bytes another of their sizes
 */
const answered = (items: string, bytes: string): string => `answer_note(${items}, ${bytes}, ${ANSWER_BYTES})`;

/** SQL: whether one row still fits the answer. The audit has it from elsewhere. */
export const isAnswered = (alias: string): string =>
  `${answered('array[null]::audit_item[]', `array[${bytesOf(alias)} + ${ROW_BYTES}]`)} = 1`;

/** A resource as it is read: without content where that does not fit the answer. */
export interface ReadRow extends Omit<StoredResource, 'meta' | 'body'> {
  readonly meta: string | null;
  readonly body: string | null;
}

/** Without content: it belongs to the next page. */
export interface PageRow extends ReadRow {
  readonly sort_key: string | null;
  /** It does not match, but is returned with matches (FHIR R4 search, 3.1.1.5.7). */
  readonly is_included?: boolean;
}

/**
 * The reader of a page: a caller, who sees `limit` resources, or the gateway itself. The gateway shows them to no
 * caller, or as a part of an item that the audit records as a unit.
 */
export type Reader = { readonly action: ReadAction; readonly limit: number } | 'gateway';

/** Resources that come with those of a page, behind them: shown as these are, counted by the budget, not by the limit. */
export interface Included {
  /** SQL, of a row `p`: the bytes that come with it. */
  readonly bytes: string;
  /** SQL that yields type, id, version, last_updated, meta, body, patient_id of those that come with `q` where `q.is_shown`. */
  readonly rows: string;
}

/**
 * @param rows SQL that yields type, id, version, last_updated, meta, body, sort_key, patient_id
 * @param order the order of the page, in columns of `p`
 * @param reader notes for the audit what the page shows: neither what is beyond a budget nor the row after the last
 */
export function withinBudget(rows: string, order: string, reader: Reader, maxBytes = PAGE_BYTES): string {
  const paged = `with q as materialized (${placed(rows, order, bytesOf('p'), maxBytes)})`;
  if (reader === 'gateway')
    return `${paged}
select ${SHOWN}, case when q.fits then q.meta end as meta, case when q.fits then q.body end as body from q order by q.place`;
  return `${paged}, ${shownOf('q', reader)}
select ${SHOWN}, ${CONTENT}
  from q cross join shown where q.place <= shown.places + 1
 order by q.place`;
}

/** As the function above, with the included resources. */
export function withinBudgetWith(
  { bytes, rows: included }: Included,
  rows: string,
  order: string,
  reader: Reader & object,
): string {
  return `with f as materialized (${placed(rows, order, `${bytesOf('p')} + ${bytes}`, PAGE_BYTES)}),
${shownOf('f', reader)},
q as materialized (select f.*, f.place <= shown.places as is_shown from f cross join shown),
i as materialized (${included}),
noted as materialized (select audit_note(array_agg(${auditItem(reader.action, 'i')})) as done from i)
select ${SHOWN}, ${CONTENT},
       false as is_included, q.place
  from q cross join shown cross join noted where noted.done and q.place <= shown.places + 1
union all
select i.type, i.id, i.version, ${instantOf('i.last_updated')}, null, i.meta, i.body, true, null
  from i cross join noted where noted.done
 order by is_included, place, id`;
}

/** SQL: how many of a page are shown, from its first. @param page of `placed` */
const shownOf = (page: string, { action, limit }: Reader & object): string => `shown as materialized (
  select ${answered(`array_agg(${auditItem(action, 's')} order by s.place)`, `array_agg(s.bytes + ${ROW_BYTES} order by s.place)`)} as places
    from ${page} s where s.fits and s.place <= ${limit})`;

const CONTENT = `case when q.place <= shown.places then q.meta end as meta,
       case when q.place <= shown.places then q.body end as body`;
const SHOWN = `q.type, q.id, q.version, ${instantOf('q.last_updated')} as last_updated, q.sort_key`;

/** SQL: the rows with their place in the page, and whether they fit its budget. @param size of a row `p`, in bytes */
function placed(rows: string, order: string, size: string, maxBytes: number): string {
  // In a separate list it is evaluated once, not for each row of the page.
  return `
  select p.*, row_number() over w as place, ${size} as bytes, row_number() over w = 1 or sum(${size}) over w <= ${maxBytes} as fits
    from (${rows}) p window w as (order by ${order})`;
}

const tooCostly = (): Fault =>
  new Fault(
    'invalid',
    `an answer may contain ${ANSWER_BYTES / 2 ** 20} MiB of resources, and the entries before this one used them: ` +
      'send this entry in another request',
    { code: 'too-costly' },
  );

/** @throws Fault `invalid` (`too-costly`) for a resource that did not fit the answer */
export function withContent<Row extends ReadRow>(row: Row): Row & StoredResource {
  const { meta, body } = row;
  if (meta === null || body === null) throw tooCostly();
  return { ...row, meta, body };
}

export interface Page {
  readonly resources: readonly (StoredResource & { readonly sort_key: string | null })[];
  /** True if there are more after these. */
  readonly more: boolean;
}

/**
 * @param rows at most `limit + 1` of them; the last only shows that there is a next page
 * @throws Fault `invalid` (`too-costly`) if not even the first fitted the answer
 */
export function toPage([first, ...others]: readonly PageRow[], limit: number): Page {
  if (first === undefined) return { resources: [], more: false };
  const rest = others.slice(0, limit - 1).filter(({ body }) => body !== null);
  return { resources: [first, ...rest].map(withContent), more: rest.length < others.length };
}
