/** Merges of patients: the list, the preview of an undo, and the undo. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import type { JsonObject } from '../../../shared/json.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Database } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import { listMerges, type MergeRow, type UndoRefusal } from '../../store/patient-merge.ts';
import { fromCursor, INSTANT_PART, type List, toList, UUID_PART } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';
import { personItem, readPerson, viewPerson } from '../attention/person.ts';
import type { ResourceDifference } from '../messages/message-replay.ts';

export interface UndoPreview {
  readonly merged: string;
  readonly survivor: string;
  readonly mergedAt: string;
  readonly patients: readonly { readonly id: string; readonly before: JsonObject; readonly after: JsonObject }[];
  readonly changes: readonly ResourceDifference[];
  readonly back: readonly string[];
  readonly restored: readonly string[];
  readonly left: readonly { readonly reference: string; readonly why: keyof typeof WHY_LEFT }[];
  readonly refusal: UndoRefusal | undefined;
  readonly state: string;
}

/** The functions of the HL7 slice. edge/workbench.ts passes them in, because no slice imports another. */
export interface MergeUndo {
  /** The effects of an undo. @throws Fault `not-found` */
  previewUndo(database: Database, site: string, mergeId: string): Promise<UndoPreview>;
  /** @throws Fault `not-found`, `conflict` if it cannot be undone or the records have changed since */
  undoMerge(
    database: Database,
    site: string,
    mergeId: string,
    asked: { readonly author: string; readonly reason: string; readonly state: string },
  ): Promise<void>;
}

export const WHY_LEFT = {
  'both-identifiers': 'Messages named identifiers of both patients.',
  'unknown-identifier': 'A message named none of their identifiers, or its bytes were deleted.',
  'fhir-client': 'A FHIR client wrote it after the merge.',
  combined: 'Statements about both patients were combined in it.',
  'returned-as-before':
    'It returns as it was before the merge. Later statements about it are in the resource that it was combined with.',
  'identifier-taken': 'Another patient has one of its identifiers since. The identifier stays there.',
} as const;

export const mergeQuery = z.strictObject({
  ...paging,
  patient: z
    .union([z.literal(''), z.uuid()])
    .default('')
    .meta({ description: 'The id of either patient.' }),
});

export const mergeItem = z.object({
  mergeId: z.uuid(),
  mergedAt: z.iso.datetime(),
  merged: personItem.meta({ description: 'The current data of the merged patient.' }),
  survivor: personItem.meta({ description: 'The current data of the patient that stayed.' }),
  message: z.object({ messageId: z.uuid(), messageType: z.string(), controlId: z.string() }),
  undoneAt: z.iso.datetime().nullable(),
  undoneBy: z.string().nullable(),
  reason: z.string().nullable(),
});
export type MergeView = z.infer<typeof mergeItem>;

/** @throws Fault `malformed` for an invalid cursor */
export async function findMerges(
  database: Database,
  site: string,
  { limit, cursor, patient }: z.infer<typeof mergeQuery>,
): Promise<List<MergeRow>> {
  const after = fromCursor(cursor, INSTANT_PART, UUID_PART);
  const rows = await inSite(database, site).run(listMerges(site, patient === '' ? null : patient, after, limit + 1));
  return toList(rows, limit, (row) => [row.merged_at, row.merge_id]);
}

export const viewMerge = (row: MergeRow): MergeView => ({
  mergeId: row.merge_id,
  mergedAt: row.merged_at,
  merged: viewPerson(row.merged, readPerson(`{${row.merged_body}}`)),
  survivor: viewPerson(row.survivor, readPerson(`{${row.survivor_body}}`)),
  message: { messageId: row.message_id, messageType: row.message_type ?? '', controlId: row.control_id ?? '' },
  undoneAt: row.undone_at,
  undoneBy: row.undone_by,
  reason: row.reason,
});

const undoReason = z
  .string()
  .trim()
  .min(1, 'must give the reason')
  .max(500, 'must have 500 characters at most')
  .meta({ description: 'The reason for the undo, shown with the merge. No patient data.' });

export const undoRequest = z.strictObject({
  reason: undoReason,
  state: z.string().max(64).meta({ description: '`state` of the preview.' }),
});

/** @throws Fault `not-found` */
export function mergeId(id: string): string {
  if (!isUuid(id)) throw new Fault('not-found', 'no such merge');
  return id;
}
