/** A page of resources within a budget of bytes, so that a few large documents cannot outgrow what a runtime can hold. */
import type { StoredResource } from './resource.ts';
import { auditLine, type ReadAction } from './audit.ts';
import { instantOf } from './sql.ts';

/** What a page's contents may add up to; the first resource always comes. A Worker has 128 MB, Neon answers 64 MB. */
export const PAGE_BYTES = 8 * 1024 * 1024;

/** Beyond the budget, rows come without content: they belong to the next page. */
export interface PageRow extends Omit<StoredResource, 'meta' | 'body'> {
  readonly sort_key: string | null;
  readonly meta: string | null;
  readonly body: string | null;
  /** It is no match, but comes with those that are (FHIR R4 search, 3.1.1.5.7). */
  readonly is_included?: boolean;
}

/**
 * For whom a page is: a caller, who sees `limit` resources, or the gateway itself, which shows them to nobody, or as a part
 * of what the audit has as a whole.
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
 * @param reader notes for the audit what the page shows: neither what is beyond the budget nor the row after the last
 */
export function withinBudget(rows: string, order: string, reader: Reader, maxBytes = PAGE_BYTES): string {
  const paged = `with q as materialized (${placed(rows, order, 'octet_length(p.body) + octet_length(p.meta)', maxBytes)})`;
  const select = `select ${SHOWN}, case when q.fits then q.meta end as meta, case when q.fits then q.body end as body`;
  if (reader === 'gateway') return `${paged}\n${select} from q order by q.place`;
  return `${paged}, noted as materialized (
  select audit_note(array_agg(${auditLine(reader.action, 's')})) as done from q s where s.fits and s.place <= ${reader.limit})
${select} from q cross join noted where noted.done
 order by q.place`;
}

/** The same with what comes with it. */
export function withinBudgetWith(
  { bytes, rows: included }: Included,
  rows: string,
  order: string,
  { action, limit }: Reader & object,
): string {
  const size = `octet_length(p.body) + octet_length(p.meta) + ${bytes}`;
  return `with f as materialized (${placed(rows, order, size, PAGE_BYTES)}),
q as materialized (select f.*, f.fits and f.place <= ${limit} as is_shown from f),
i as materialized (${included}),
noted as materialized (
  select audit_note(array_agg(s.line)) as done
    from (select ${auditLine(action, 'q')} as line from q where q.is_shown
          union all select ${auditLine(action, 'i')} from i) s)
select ${SHOWN}, case when q.fits then q.meta end as meta, case when q.fits then q.body end as body,
       false as is_included, q.place
  from q cross join noted where noted.done
union all
select i.type, i.id, i.version, ${instantOf('i.last_updated')}, null, i.meta, i.body, true, null
  from i cross join noted where noted.done
 order by is_included, place, id`;
}

const SHOWN = `q.type, q.id, q.version, ${instantOf('q.last_updated')} as last_updated, q.sort_key`;

/** SQL: the rows with their place in the page, and whether they fit its budget. @param size of a row `p`, in bytes */
function placed(rows: string, order: string, size: string, maxBytes: number): string {
  // In a list of its own it is evaluated once, not for each row of the page.
  return `
  select p.*, row_number() over w as place, row_number() over w = 1 or sum(${size}) over w <= ${maxBytes} as fits
    from (${rows}) p window w as (order by ${order})`;
}

export interface Page {
  readonly resources: readonly (StoredResource & { readonly sort_key: string | null })[];
  /** Whether there are more after these. */
  readonly more: boolean;
}

/** @param rows at most `limit + 1` of them, the last only telling that there is a next page */
export function toPage(rows: readonly PageRow[], limit: number): Page {
  const resources = rows.slice(0, limit).flatMap((row) => {
    const { meta, body } = row;
    return meta === null || body === null ? [] : [{ ...row, meta, body }];
  });
  return { resources, more: resources.length < rows.length };
}
