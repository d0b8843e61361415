/** Previews and undoes the merge of two patients. */
import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Deps } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import { readMerge, UNDO_REFUSALS, undoMerge } from '../../store/patient-merge.ts';
import { planUndo, type UndoPlan } from '../patients/unmerge.ts';

export interface UndoPreview extends UndoPlan {
  /** For `applyUndo`: it changes with the records. */
  readonly state: string;
}

type UndoDeps = Pick<Deps, 'database' | 'now'>;

const TOO_LARGE =
  'The two patient records have more than 5,000 resources or 8 MiB, which is the limit of an undo. Ask the sender to cancel ' +
  'the results and documents of the merged patient, and to resend them under a new identifier.';

/** The effects of an undo; nothing is changed. @throws Fault `not-found`, `conflict` for records beyond the limit */
export async function previewUndo({ database, now }: UndoDeps, site: string, mergeId: string): Promise<UndoPreview> {
  const [row] = isUuid(mergeId) ? await inSite(database, site).run(readMerge(site, mergeId)) : [];
  if (row === undefined || row.found === null || row.state === null) throw new Fault('not-found', 'no such merge');
  if (row.found === '') throw new Fault('conflict', TOO_LARGE);
  return { ...planUndo(row.found, now()), state: row.state };
}

/** @throws Fault `not-found`, `conflict` if the merge cannot be undone or the records have changed since the preview */
export async function applyUndo(
  deps: UndoDeps,
  site: string,
  mergeId: string,
  asked: { readonly author: string; readonly reason: string; readonly state: string },
): Promise<void> {
  const plan = await previewUndo(deps, site, mergeId);
  if (plan.refusal !== undefined) throw new Fault('conflict', UNDO_REFUSALS[plan.refusal]);
  const { author, reason, state } = asked;
  try {
    await inSite(deps.database, site).run(undoMerge(site, mergeId, state, { author, reason, ...plan.undo }));
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'precondition-failed') throw error;
    throw new Fault('conflict', 'The records have changed since the preview. Preview the undo again.');
  }
}
