/** The audit over JSON. */
import { viewList } from '../api/cursor.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import { auditQuery, findAudit } from './listing.ts';
import { auditItem, viewAudit } from './view.ts';

export function auditOperations(): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/audit',
      permission: 'site.audit.read',
      summary: 'Who saw or changed what, the newest first',
      description: 'Reading it is in it too. For an archive: `npm run audit`, or the download in the console.',
      query: auditQuery,
      answer: listOf(auditItem),
      async handle({ actor, database, query }) {
        return { body: viewList(await findAudit(database, actor.site, query), viewAudit) };
      },
    }),
  ];
}
