/** The charts over JSON. */
import * as z from 'zod';

import { isTimeZone } from '../../../shared/hl7/zone.ts';
import { inSite } from '../../store/in-site.ts';
import type { KeyTrafficRow } from '../../store/key-traffic.ts';
import { USAGE_SURFACES } from '../../store/usage.ts';
import { type Operation, operation } from '../api/operation.ts';
import type { AdminDeps } from '../web/console.ts';
import { askTraffic } from './asked.ts';
import { MAX_KEYS } from './keys.tsx';
import { LONGER_MS } from './latency.ts';
import { SPAN_NAMES } from './span.ts';

const latency = z
  .number()
  .int()
  .nullable()
  .meta({
    description: `The upper bound of the bucket that it falls into, in milliseconds; ${LONGER_MS} is longer than the last bound.`,
  });
const figures = z.object({
  answered: z.number().int(),
  refused: z.number().int().meta({ description: 'The fault of the caller: 4xx, AE, AR.' }),
  failed: z.number().int().meta({ description: 'The fault of the gateway: 5xx.' }),
  median: latency,
  p95: latency,
});
const surface = z.enum(USAGE_SURFACES).nullable().meta({ description: 'Null for all of them.' });

const key = z.object({
  clientId: z.string(),
  name: z.string(),
  answered: z.number().int(),
  refused: z.number().int().meta({ description: 'Rejected or failed.' }),
});

const viewKey = ({ client_id, ...row }: KeyTrafficRow): z.infer<typeof key> => ({ clientId: client_id, ...row });

const traffic = z.object({
  span: z.enum(SPAN_NAMES),
  times: z.array(z.number().int()).meta({ description: 'Seconds since the epoch: when each step begins.' }),
  end: z.number().int(),
  charts: z.array(
    z.object({
      name: z.enum(['answered', 'refused', 'latency']),
      title: z.string(),
      unit: z.enum(['requests', 'ms']),
      series: z.array(z.object({ label: z.string(), surface, values: z.array(z.number().nullable()) })),
    }),
  ),
  figures: z.array(
    figures.extend({
      surface,
      label: z.string(),
      compared: z
        .object({ now: figures, before: figures })
        .meta({ description: 'Two times of this length, one after the other, in whole quarters of an hour.' }),
    }),
  ),
  keys: z.array(key).meta({ description: `The busiest first, ${MAX_KEYS} at most.` }),
});

export function trafficOperations(deps: AdminDeps): Operation[] {
  return [
    operation('get', '/usage', 'site.endpoints.read', {
      summary: 'Requests, refusals and latency of the site, for charts',
      query: z.strictObject({
        span: z.enum(SPAN_NAMES).default('24h'),
        timeZone: z
          .string()
          .refine(isTimeZone, 'must be an IANA name')
          .default('UTC')
          .meta({ description: 'The time zone of the days and hours.' }),
      }),
      answer: traffic,
      async handle({ actor: { site }, database, query: { span, timeZone } }) {
        const { queries, made } = askTraffic(site, span, deps.now(), timeZone);
        const [rows, compared, keys] = await inSite(database, site).batch(queries);
        return { ...made(rows, compared), keys: keys.map(viewKey) };
      },
    }),
  ];
}
