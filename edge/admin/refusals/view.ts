/** A refusal as the JSON API answers it. */
import { z } from 'zod';

import type { FoundRefusal } from '../../store/admin-refusal.ts';
import { hintFor } from '../../refusals.ts';

export const refusalItem = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  clientId: z.string(),
  surface: z.enum(['token', 'mllp']),
  sourceAddress: z.string(),
  requestId: z.string(),
  code: z.string().meta({ description: 'Which check refused.' }),
  reason: z.string().meta({ description: 'The exact reason.' }),
  hint: z.string().nullable().meta({ description: 'What to change.' }),
});

export function viewRefusal(row: FoundRefusal): z.infer<typeof refusalItem> {
  return {
    id: row.refusal_id,
    at: row.at,
    clientId: row.client_id,
    surface: row.surface,
    sourceAddress: row.source_address,
    requestId: row.request_id,
    code: row.code,
    reason: row.reason,
    hint: hintFor(row.code),
  };
}
