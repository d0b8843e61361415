/** The merges of patients by messages, and their undo (migrations/functions/patient_merge_read.sql, patient_unmerge.sql). */
import type { Query } from '../deps.ts';
import type { NewAttention } from './attention.ts';
import type { ResourceWrite } from './resource.ts';
import { instantOf, raw, sql } from './sql.ts';

export interface MergeRow {
  readonly merge_id: string;
  readonly message_id: string;
  readonly message_type: string | null;
  readonly control_id: string | null;
  readonly merged: string;
  readonly survivor: string;
  readonly merged_at: string;
  readonly undone_at: string | null;
  readonly undone_by: string | null;
  readonly reason: string | null;
  /** Members of each Patient, as JSON without braces. */
  readonly merged_body: string;
  readonly survivor_body: string;
}

/**
 * Lists the merges of a site, the newest first.
 *
 * @param patient only those of this patient; null for all
 * @param after merged_at and merge_id of the last one of the page before, or null
 */
export function listMerges(
  site: string,
  patient: string | null,
  after: readonly string[] | null,
  limit: number,
): Query<MergeRow> {
  const page = sql<MergeRow>`select x.merge_id, x.message_id, h.message_type, h.control_id, x.merged, x.survivor,
      ${raw(instantOf('x.merged_at', 'microsecond'))} as merged_at, ${raw(instantOf('x.undone_at'))} as undone_at, x.undone_by, x.reason,
      a.body as merged_body, b.body as survivor_body
    from patient_merge x
    join resource a on a.site_id = x.site_id and a.type = 'Patient' and a.id = x.merged
    join resource b on b.site_id = x.site_id and b.type = 'Patient' and b.id = x.survivor
    left join hl7_message h on h.site_id = x.site_id and h.message_id = x.message_id
   where x.site_id = ${site}::uuid and (${patient}::uuid is null or ${patient}::uuid in (x.merged, x.survivor))
     and (${after?.[0] ?? null}::timestamptz is null
       or (x.merged_at, x.merge_id) < (${after?.[0] ?? null}::timestamptz, ${after?.[1] ?? null}::uuid))
   order by x.merged_at desc, x.merge_id desc limit ${limit}::int`;
  const text = `with page as materialized (${page.text}), noted as materialized (
      select audit_note(array(select row('merge-viewed', 'Patient', s.id, null)::audit_item
        from (select merged as id from page union select survivor from page) s)) as done)
    select page.* from page cross join noted where noted.done order by page.merged_at desc, page.merge_id desc`;
  return { ...page, text };
}

/** A merge with all that its undo is decided by; null if the site has no such merge. `state` is for `undoMerge`. */
export const readMerge = (
  site: string,
  mergeId: string,
): Query<{ readonly found: string | null; readonly state: string | null }> =>
  sql`select f.found, md5(f.found) as state
    from (select patient_merge_read(${site}::uuid, ${mergeId}::uuid, 'merge-viewed') as found offset 0) f`;

/** Why a merge cannot be undone. */
export const UNDO_REFUSALS = {
  undone: 'The merge is undone already.',
  reversed: 'A newer merge reversed this one. Undo the newer merge first.',
  'merged-again': 'One of the patients was merged into another patient since. Undo that merge first.',
} as const;
export type UndoRefusal = keyof typeof UNDO_REFUSALS;

/** An undo as it was decided. */
export interface Undo {
  readonly author: string;
  readonly reason: string;
  readonly writes: readonly ResourceWrite[];
  /** Resources that go to the merged patient. */
  readonly back: readonly { readonly type: string; readonly id: string }[];
  /** Ids of those among them that the merge entered in error. */
  readonly gone: readonly string[];
  /** Ids of the survivor's resources that are again as before the merge. */
  readonly kept: readonly string[];
  readonly precedences: readonly { readonly type: string; readonly id: string; readonly fields: string }[];
  readonly attention: readonly NewAttention[];
}

/** @param state from `readMerge`; if the records have changed since, the error is GW412 */
export const undoMerge = (site: string, mergeId: string, state: string, undo: Undo): Query =>
  sql`select patient_unmerge(${site}::uuid, ${mergeId}::uuid, ${state}, ${JSON.stringify(undo)}::json)`;
