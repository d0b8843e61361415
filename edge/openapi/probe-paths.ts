/** The probes in the OpenAPI document: for balancers and monitors, below every base URL (edge/probes.ts). */
import { headersOf, type Paths, text } from './model.ts';

const probe = (summary: string, operationId: string, responses: Readonly<Record<string, string>>) => ({
  get: {
    tags: ['Probes'],
    summary,
    description: 'Below the base URL of every surface. Needs no token.',
    operationId,
    security: [],
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, description]) => [
        status,
        {
          description,
          headers: headersOf('X-Request-Id', ...(status === '503' ? (['Retry-After'] as const) : [])),
          content: { 'application/json': { schema: { type: 'object', properties: { status: text, detail: text } } } },
        },
      ]),
    ),
  },
});

export const PROBE_PATHS: Paths = {
  '/healthz': probe('Check that the process answers', 'healthz', {
    '200': 'It answers.',
    '503': 'Its configuration is wrong.',
  }),
  '/readyz': probe('Check that it can work: database, migrations, writes', 'readyz', {
    '200': 'It is ready.',
    '503': 'It is not ready; `detail` has the reason.',
  }),
};
