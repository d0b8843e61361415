/** The log of HL7 messages, for the JSON API and the page alike. */
import { z } from 'zod';

import type { Database } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import { listMessages, type MessageRow } from '../../store/admin-message.ts';
import { fromCursor, INSTANT_PART, type List, toList, UUID_PART } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';
import { readParameter, unnamedParameter } from '../names/parameter.ts';

const instant = z.union([z.literal(''), z.iso.datetime({ offset: true })]).default('');

export const messageQuery = z.strictObject({
  ...paging,
  type: z.string().max(20).default('').meta({ description: 'MSH-9 from its start: `ADT`, `ADT^A04`.' }),
  outcome: z.enum(['', 'AA', 'AE', 'AR']).default(''),
  clientId: z.string().max(40).default(''),
  q: z
    .string()
    .max(200)
    .default('')
    .meta({ description: 'The control id; where none has it, part of the sending application or facility.' }),
  from: instant,
  to: instant,
  unnamed: unnamedParameter,
});

/** Messages of the site, the newest first. @throws Fault `malformed` for a cursor that is not ours */
export async function findMessages(
  database: Database,
  site: string,
  { limit, cursor, q, unnamed, ...filter }: z.infer<typeof messageQuery>,
): Promise<List<MessageRow>> {
  const after = fromCursor(cursor, INSTANT_PART, UUID_PART);
  const rows = await inSite(database, site).run(
    listMessages(site, { ...filter, text: q, unnamed: readParameter(unnamed) }, after, limit + 1),
  );
  return toList(rows, limit, (row) => [row.received_at, row.message_id]);
}
