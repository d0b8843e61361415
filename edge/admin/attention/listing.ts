/** Lists and dismisses issues, for the JSON API and the page. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Database } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import { ATTENTION_KINDS, type AttentionKind } from '../../store/attention.ts';
import {
  ATTENTION_STATES,
  type AttentionRow,
  dismissAttention,
  type Dismissal,
  listAttention,
} from '../../store/admin-attention.ts';
import { fromCursor, INSTANT_PART, type List, toList, UUID_PART } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';

export const duplicateQuery = z.strictObject({
  ...paging,
  state: z.enum(ATTENTION_STATES).default('open').meta({
    description: '`merged`: the patients have been merged since.',
  }),
});

export const attentionQuery = duplicateQuery.extend({
  kind: z
    .enum(['', ...ATTENTION_KINDS])
    .default('')
    .meta({ description: 'One kind. Without it, all kinds except possible duplicates.' }),
});

const OTHERS = ATTENTION_KINDS.filter((kind) => kind !== 'possible-duplicate');

/** The issues of a site, the newest first. @throws Fault `malformed` for an invalid cursor */
export async function findAttention(
  database: Database,
  site: string,
  kind: AttentionKind | '',
  { limit, cursor, state }: z.infer<typeof duplicateQuery>,
): Promise<List<AttentionRow>> {
  const after = fromCursor(cursor, INSTANT_PART, UUID_PART);
  const kinds = kind === '' ? OTHERS : [kind];
  const rows = await inSite(database, site).run(listAttention(site, kinds, state, after, limit + 1));
  return toList(rows, limit, (row) => [row.created_at, row.attention_id]);
}

/**
 * Dismisses an issue for all staff of the site; the first dismissal stays.
 *
 * @throws Fault `not-found`, or `forbidden` without the permission
 */
export async function dismiss(database: Database, actor: Actor, id: string): Promise<Dismissal> {
  requirePermission(actor, 'site.settings.update');
  const [dismissed] = isUuid(id)
    ? await inSite(database, actor.site).run(dismissAttention(actor.site, id, authorOf(actor)))
    : [];
  if (dismissed === undefined) throw new Fault('not-found', 'The site has no issue with this id.');
  return dismissed;
}
