/** Endpoints, charts and sidecars over JSON. */
import { z } from 'zod';

import { ENDPOINT_NAMES } from '../../config.ts';
import { inSite } from '../../store/in-site.ts';
import { sidecarsSeen, type SidecarRow } from '../../store/sidecar.ts';
import { usageOf } from '../../store/usage.ts';
import { toCharts } from './charts.ts';
import { endpointsOf } from './endpoints.ts';
import type { AdminDeps } from '../web/console.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';

const endpoint = z.object({
  name: z.enum(ENDPOINT_NAMES),
  status: z.enum(['configured', 'not-configured']),
  value: z.string().nullable(),
});

const charts = z.object({
  span: z.enum(['24h', '30d']),
  times: z.array(z.number().int()).meta({ description: 'Seconds since the epoch, one for each step.' }),
  charts: z.array(
    z.object({
      title: z.string(),
      unit: z.enum(['requests', 'ms']),
      series: z.array(z.object({ label: z.string(), values: z.array(z.number().nullable()) })),
    }),
  ),
});

const sidecar = z.object({ issuer: z.string(), firstSeenAt: z.iso.datetime(), lastSeenAt: z.iso.datetime() });

export const viewSidecar = ({ issuer, first_seen, last_seen }: SidecarRow) => ({
  issuer,
  firstSeenAt: first_seen,
  lastSeenAt: last_seen,
});

export function overviewOperations(deps: AdminDeps): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/endpoints',
      permission: 'site.endpoints.read',
      summary: 'The six endpoints, each configured or not',
      answer: listOf(endpoint),
      handle: async () => ({ body: { items: endpointsOf(deps.config), next: null } }),
    }),
    operation({
      method: 'get',
      path: '/usage',
      permission: 'site.endpoints.read',
      summary: 'Requests, refusals and latency of the site, for charts',
      query: z.strictObject({ span: z.enum(['24h', '30d']).default('24h') }),
      answer: charts,
      async handle({ actor, database, query: { span } }) {
        const rows = await inSite(database, actor.site).run(usageOf(actor.site, span, deps.now()));
        return { body: toCharts(rows, span, deps.now()) };
      },
    }),
    operation({
      method: 'get',
      path: '/sidecars',
      permission: 'site.endpoints.read',
      summary: 'The MLLP sidecars seen in the last seven days; they serve every site',
      answer: listOf(sidecar),
      async handle({ database }) {
        const rows = await database.run(sidecarsSeen());
        return { body: { items: rows.map(viewSidecar), next: null } };
      },
    }),
  ];
}
