/** Endpoints and sidecars over JSON. */
import * as z from 'zod';

import { ENDPOINT_NAMES } from '../../config.ts';
import { sidecarsSeen, type SidecarRow } from '../../store/sidecar.ts';
import { endpointsOf } from './endpoints.ts';
import type { AdminDeps } from '../web/console.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';

const endpoint = z.object({
  name: z.enum(ENDPOINT_NAMES),
  status: z.enum(['configured', 'not-configured']),
  value: z.string().nullable(),
});

const sidecar = z.object({ issuer: z.string(), firstSeenAt: z.iso.datetime(), lastSeenAt: z.iso.datetime() });

const viewSidecar = ({ issuer, first_seen, last_seen }: SidecarRow) => ({
  issuer,
  firstSeenAt: first_seen,
  lastSeenAt: last_seen,
});

export function endpointOperations(deps: AdminDeps): Operation[] {
  return [
    operation('get', '/endpoints', 'site.endpoints.read', {
      summary: 'The six endpoints, each configured or not',
      answer: listOf(endpoint),
      handle: async () => ({ items: endpointsOf(deps.config), next: null }),
    }),
    operation('get', '/sidecars', 'site.endpoints.read', {
      summary: 'The MLLP sidecars seen in the last seven days; they serve every site',
      answer: listOf(sidecar),
      async handle({ database }) {
        const rows = await database.run(sidecarsSeen());
        return { items: rows.map(viewSidecar), next: null };
      },
    }),
  ];
}
