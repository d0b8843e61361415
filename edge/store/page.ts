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
}

/**
 * For whom a page is: a caller, who sees `limit` resources, or the gateway itself, which shows them to nobody, or as a part
 * of what the audit has as a whole.
 */
export type Reader = { readonly action: ReadAction; readonly limit: number } | 'gateway';

/**
 * @param rows SQL that yields type, id, version, last_updated, meta, body, sort_key, patient_id
 * @param order the order of the page, in columns of `p`
 * @param reader notes for the audit what the page shows: neither what is beyond the budget nor the row after the last
 */
export function withinBudget(rows: string, order: string, reader: Reader, maxBytes = PAGE_BYTES): string {
  // In a list of its own it is evaluated once, not for each row of the page.
  const noted =
    reader === 'gateway'
      ? { list: '', from: 'q' }
      : {
          list: `, noted as materialized (
  select audit_note(array_agg(${auditLine(reader.action, 's')})) as done from q s where s.fits and s.place <= ${reader.limit})`,
          from: 'q cross join noted where noted.done',
        };
  return `with q as materialized (
  select p.*, row_number() over w as place,
         row_number() over w = 1 or sum(octet_length(p.body) + octet_length(p.meta)) over w <= ${maxBytes} as fits
    from (${rows}) p window w as (order by ${order}))${noted.list}
select q.type, q.id, q.version, ${instantOf('q.last_updated')} as last_updated, q.sort_key,
       case when q.fits then q.meta end as meta, case when q.fits then q.body end as body
  from ${noted.from}
 order by q.place`;
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
