/** Refused and failed requests of one reason, as the JSON API answers them. */
import * as z from 'zod';

import { hintFor } from '../../refusals.ts';
import { type FoundRefusal, outcomeOf } from '../../store/admin-refusal.ts';
import { USAGE_SURFACES } from '../../store/usage.ts';

const quarters = z.array(z.object({ since: z.iso.datetime(), requests: z.number().int() }));

export const requestItem = z.object({
  id: z.guid(),
  clientId: z.string(),
  keyName: z.string(),
  surface: z.enum(USAGE_SURFACES),
  status: z.number().int().nullable().meta({ description: 'HTTP; null over MLLP.' }),
  ack: z.enum(['AE', 'AR']).nullable().meta({ description: 'MSA-1, over MLLP.' }),
  outcome: z.enum(['refused', 'failed']).meta({ description: 'A failed request is a fault of the gateway (5xx).' }),
  code: z
    .string()
    .meta({ description: 'The code of the check: of the gateway, an OAuth error, an R4 IssueType, or table 0357.' }),
  reason: z.string().meta({
    description: 'Without the content of a resource or a message. Empty if one code had too many reasons at once.',
  }),
  hint: z.string().nullable().meta({ description: 'The change that helps.' }),
  requests: z.number().int().meta({ description: 'The number of requests in the time span.' }),
  firstAt: z.iso.datetime(),
  at: z.iso.datetime().meta({ description: 'The last request.' }),
  requestId: z.string().meta({ description: 'The request id of `q`, else of the last request.' }),
  sourceAddress: z.string().meta({ description: 'The address of the last request.' }),
  quarters: quarters.meta({ description: 'By quarter of an hour, the newest 24.' }),
});

export const quartersOf = ({ quarters: text }: Pick<FoundRefusal, 'quarters'>) => quarters.parse(JSON.parse(text));

export function viewRequest(row: FoundRefusal): z.infer<typeof requestItem> {
  const { answer } = row;
  return {
    id: row.id,
    clientId: row.client_id,
    keyName: row.key_name,
    surface: row.surface,
    status: /^\d/.test(answer) ? Number(answer) : null,
    ack: answer === 'AE' || answer === 'AR' ? answer : null,
    outcome: outcomeOf(row),
    code: row.code,
    reason: row.reason,
    hint: hintFor(row.code),
    requests: row.requests,
    firstAt: row.first_at,
    at: row.last_at,
    requestId: row.request_id,
    sourceAddress: row.source_address,
    quarters: quartersOf(row),
  };
}
