/** The JSON API of issues. Its answers hold patient data, so none of it is logged. */
import * as z from 'zod';

import { viewList } from '../api/cursor.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import { attentionQuery, dismiss, duplicateQuery, findAttention } from './listing.ts';
import { attentionItem, viewAttention } from './view.ts';

export function attentionOperations(): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/possible-duplicates',
      permission: 'site.messages.read',
      summary: 'List possible duplicates, the newest first',
      description: 'The gateway merges patients only by ADT A40, or when a FHIR client links one Patient to the other.',
      query: duplicateQuery,
      answer: listOf(attentionItem),
      async handle({ actor, database, query }) {
        return {
          body: viewList(await findAttention(database, actor.site, 'possible-duplicate', query), viewAttention),
        };
      },
    }),
    operation({
      method: 'get',
      path: '/attention',
      permission: 'site.messages.read',
      summary:
        'List issues: changes in messages that the gateway did not apply, or applied differently; the newest first',
      query: attentionQuery,
      answer: listOf(attentionItem),
      async handle({ actor, database, query }) {
        return { body: viewList(await findAttention(database, actor.site, query.kind, query), viewAttention) };
      },
    }),
    operation({
      method: 'post',
      path: '/attention/{id}/dismiss',
      permission: 'site.settings.update',
      summary: 'Dismiss a possible duplicate or another issue',
      description: 'It stays dismissed if later messages show it again. Dismissing it twice changes nothing.',
      answer: z.object({ id: z.uuid(), dismissedAt: z.iso.datetime(), dismissedBy: z.string() }),
      async handle({ actor, database, param }) {
        const {
          attention_id: id,
          dismissed_at: dismissedAt,
          dismissed_by: dismissedBy,
        } = await dismiss(database, actor, param('id'));
        return { body: { id, dismissedAt, dismissedBy } };
      },
    }),
  ];
}
