/** The deployment as it sees itself, over JSON. */
import * as z from 'zod';

import { listOf, type Operation, operation } from '../api/operation.ts';
import type { AdminDeps } from '../web/console.ts';
import { checkDeployment } from './checks.ts';

export const finding = z.object({
  state: z.enum(['good', 'bad', 'doubtful', 'unknown']),
  subject: z.string(),
  says: z.string(),
  next: z.string().optional().meta({ description: 'What a person does about it.' }),
});

export function healthOperations(deps: AdminDeps): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/health',
      permission: 'site.endpoints.read',
      summary: 'What is well in this deployment and what is not',
      description:
        'Looked at now: addresses, database, jti store, signing keys, OpenID provider, sidecars, alerts of the site, limits.',
      answer: listOf(finding),
      handle: async ({ actor, database }) => ({
        body: { items: await checkDeployment(deps, database, actor.site), next: null },
      }),
    }),
  ];
}
