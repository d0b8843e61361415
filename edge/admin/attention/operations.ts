/** What an administrator should look at, over JSON. It shows patients: nothing of it goes to the log. */
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
      summary: 'Pairs of charts that may be of one person, the newest first',
      description: 'Merging is the hospital’s: by ADT A40, or by a FHIR client that links one Patient to the other.',
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
      summary: 'What messages asked for and was not done, or not as they asked, the newest first',
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
      summary: 'Take a possible duplicate, or anything else that is listed, off the list',
      description: 'It stays dismissed when later messages show the same. Dismissing it again changes nothing.',
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
