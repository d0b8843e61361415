/** The JSON API of merges. Its answers hold patient data, so none of it is logged. */
import * as z from 'zod';

import { printJson } from '../../../shared/json.ts';
import { viewList } from '../api/cursor.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import { personItem, readPerson, viewPerson } from '../attention/person.ts';
import { UNDO_REFUSALS } from '../../store/patient-merge.ts';
import { differenceItem } from '../messages/operations.ts';
import { authorOf } from '../staff/actor.ts';
import {
  findMerges,
  mergeId,
  mergeItem,
  mergeQuery,
  undoRequest,
  viewMerge,
  WHY_LEFT,
  type MergeUndo,
  type UndoPreview,
} from './merges.ts';

const reference = z.string().meta({ description: '`Type/id`' });
const undoItem = z.object({
  merged: reference,
  survivor: reference,
  mergedAt: z.string(),
  refusal: z.string().nullable().meta({ description: 'Why the merge cannot be undone; null if it can.' }),
  patients: z
    .array(z.object({ before: personItem, after: personItem }))
    .meta({ description: 'The survivor and the merged patient, now and after the undo.' }),
  back: z.array(reference).meta({ description: 'Resources that go to the merged patient.' }),
  restored: z.array(reference).meta({ description: 'Resources of the survivor that are again as before the merge.' }),
  left: z
    .array(z.object({ reference, why: z.string() }))
    .meta({ description: 'Resources to check. They stay with the survivor unless `why` says otherwise.' }),
  changes: z.array(differenceItem),
  state: z.string().meta({ description: 'Send it with the undo. It changes with the records.' }),
});

const viewUndo = ({ merged, survivor, mergedAt, refusal, patients, left, ...rest }: UndoPreview) => ({
  ...rest,
  merged: `Patient/${merged}`,
  survivor: `Patient/${survivor}`,
  mergedAt,
  refusal: refusal === undefined ? null : UNDO_REFUSALS[refusal],
  patients: patients.map(({ id, before, after }) => ({
    before: viewPerson(id, readPerson(printJson(before))),
    after: viewPerson(id, readPerson(printJson(after))),
  })),
  left: left.map(({ reference: of, why }) => ({ reference: of, why: WHY_LEFT[why] })),
});

export function mergeOperations(merges: MergeUndo): Operation[] {
  return [
    operation('get', '/merges', 'site.patients.unmerge', {
      summary: 'List the merges of patients by messages, the newest first',
      description: 'Links that FHIR clients wrote are not merges of the gateway.',
      query: mergeQuery,
      answer: listOf(mergeItem),
      handle: async ({ actor, database, query }) => viewList(await findMerges(database, actor.site, query), viewMerge),
    }),
    operation('get', '/merges/{id}', 'site.patients.unmerge', {
      summary: 'Preview the undo of a merge: both patients before and after',
      answer: undoItem,
      handle: async ({ actor, database, param }) =>
        viewUndo(await merges.previewUndo(database, actor.site, mergeId(param('id')))),
    }),
    operation('post', '/merges/{id}/undo', 'site.patients.unmerge', {
      summary: 'Undo a merge',
      description:
        'The merged patient is active again and gets its resources and identifiers, with those that messages with its own ' +
        'identifier made since. Resources that may be of either patient stay with the survivor, and an issue lists them. ' +
        'If the records have changed since the preview, the answer is 409: preview again.',
      body: undoRequest,
      answer: z.object({ mergeId: z.uuid() }),
      async handle({ actor, database, param, body: { reason, state } }) {
        const id = mergeId(param('id'));
        await merges.undoMerge(database, actor.site, id, { author: authorOf(actor), reason, state });
        return { mergeId: id };
      },
    }),
  ];
}
