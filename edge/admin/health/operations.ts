/** The JSON API of the checks. */
import * as z from 'zod';

import { listOf, type Operation, operation } from '../api/operation.ts';
import type { AdminDeps } from '../web/console.ts';
import { checkDeployment } from './checks.ts';

export const finding = z.object({
  state: z.enum(['good', 'bad', 'doubtful', 'unknown']),
  subject: z.string(),
  says: z.string(),
  next: z.string().optional().meta({ description: 'The next step of the operator.' }),
});

export function healthOperations(deps: AdminDeps): Operation[] {
  return [
    operation('get', '/health', 'site.endpoints.read', {
      summary: 'Check the deployment',
      description:
        'Checks addresses, database, jti store, signing keys, OpenID provider, sidecars, alerts of the site and limits now.',
      answer: listOf(finding),
      handle: async ({ actor, database }) => ({ items: await checkDeployment(deps, database, actor.site), next: null }),
    }),
  ];
}
