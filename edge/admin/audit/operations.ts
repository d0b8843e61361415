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
      summary: 'List the audit, the newest first',
      description: 'Each reading is recorded too. For an archive use `npm run audit` or the download of the console.',
      query: auditQuery,
      answer: listOf(auditItem),
      async handle({ actor, database, query }) {
        return { body: viewList(await findAudit(database, actor.site, query), viewAudit) };
      },
    }),
  ];
}
