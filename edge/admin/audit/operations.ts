/** The audit over JSON. */
import * as z from 'zod';

import { MAX_SUMMED, MAX_SUMS } from '../../store/admin-audit.ts';
import { viewList } from '../api/cursor.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import { auditFilter, auditQuery, findAudit, findAuditPage } from './listing.ts';
import { auditItem, auditSums, viewAudit, viewSums } from './view.ts';

const sumQuery = auditFilter.extend({ by: z.enum(['actors', 'patients']).default('actors') });

export function auditOperations(): Operation[] {
  return [
    operation('get', '/audit', 'site.audit.read', {
      summary: 'List the audit, the newest first',
      description: 'Each reading is recorded too. For an archive use `npm run audit` or the download of the console.',
      query: auditQuery,
      answer: listOf(auditItem),
      handle: async ({ actor, database, query }) => viewList(await findAudit(database, actor.site, query), viewAudit),
    }),
    operation('get', '/audit/sums', 'site.audit.read', {
      summary: 'Add up the audit by actor or by patient, those with the most rows first',
      description: `The newest ${MAX_SUMMED.toLocaleString('en')} rows of the filter are added up. The answer has ${MAX_SUMS} sums at most.`,
      query: sumQuery,
      answer: auditSums,
      async handle({ actor, database, query: { by, ...filter } }) {
        const { actors, patients } = await findAuditPage(database, actor.site, by, { ...filter, limit: 1 }, false);
        return viewSums(actors, patients);
      },
    }),
  ];
}
