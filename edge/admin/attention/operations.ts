/** The JSON API of issues. Its answers hold patient data, so none of it is logged. */
import * as z from 'zod';

import { viewList } from '../api/cursor.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import { attentionQuery, dismiss, dismissBody, findAttention, reopen } from './listing.ts';
import { attentionItem, viewAttention } from './view.ts';

/** @param now milliseconds since the epoch */
export function attentionOperations(now: () => number): Operation[] {
  return [
    operation('get', '/attention', 'site.messages.read', {
      summary: 'List issues that a person must decide, those with the newest findings first',
      description:
        'An issue is a cause: a kind with its patients or its namespace. Repetitions are counted. The gateway merges patients ' +
        'only by ADT A40, or when a FHIR client links one Patient to the other.',
      query: attentionQuery,
      answer: listOf(attentionItem),
      async handle({ actor, database, query }) {
        const at = new Date(now()).toISOString();
        const { list } = await findAttention(database, actor.site, query);
        return viewList(list, (row) => viewAttention(row, at));
      },
    }),
    operation('post', '/attention/{id}/dismiss', 'site.settings.update', {
      summary: 'Dismiss an issue, with a reason',
      description:
        'It stays dismissed if later messages repeat it, and opens again for a new finding. Dismissing it twice changes nothing. ' +
        '409: it has a finding that is newer than `seen`.',
      body: dismissBody,
      answer: z.object({
        id: z.uuid(),
        dismissedAt: z.iso.datetime(),
        dismissedBy: z.string(),
        dismissedReason: z.string(),
      }),
      async handle({ actor, database, param, body }) {
        const {
          issue_id: id,
          dismissed_at: dismissedAt,
          dismissed_by: dismissedBy,
          dismissed_reason: dismissedReason,
        } = await dismiss(database, actor, param('id'), body);
        return { id, dismissedAt, dismissedBy, dismissedReason };
      },
    }),
    operation('post', '/attention/{id}/reopen', 'site.settings.update', {
      summary: 'Undo the dismissal of an issue',
      description: 'The dismissal stays in `decisions`. Reopening an open issue changes nothing.',
      answer: z.object({ id: z.uuid() }),
      handle: async ({ actor, database, param }) => ({ id: await reopen(database, actor, param('id')) }),
    }),
  ];
}
