/** Lists issues, dismisses them and undoes it, for the JSON API and the page. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Database } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import { ATTENTION_KINDS } from '../../store/attention.ts';
import {
  ATTENTION_STATES,
  type AttentionRow,
  countAttention,
  type Decided,
  dismissAttention,
  type IssueCount,
  listAttention,
  reopenAttention,
} from '../../store/admin-attention.ts';
import { fromCursor, INSTANT_PART, type List, toList, UUID_PART } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';

export const attentionQuery = z.strictObject({
  ...paging,
  kind: z
    .enum(['', ...ATTENTION_KINDS])
    .default('')
    .meta({ description: 'One kind. Without it, all kinds.' }),
  state: z.enum(ATTENTION_STATES).default('open').meta({
    description: '`merged`: the patients have been merged since.',
  }),
});

interface Found {
  readonly list: List<AttentionRow>;
  /** Open issues by kind. */
  readonly counts: readonly IssueCount[];
}

/** The issues of a site, the newest first. @throws Fault `malformed` for an invalid cursor */
export async function findAttention(
  database: Database,
  site: string,
  { limit, cursor, state, kind }: z.infer<typeof attentionQuery>,
): Promise<Found> {
  const after = fromCursor(cursor, INSTANT_PART, UUID_PART);
  const kinds = kind === '' ? ATTENTION_KINDS : [kind];
  const [rows, counts] = await inSite(database, site).batch([
    listAttention(site, kinds, state, after, limit + 1),
    countAttention(site),
  ] as const);
  return { list: toList(rows, limit, (row) => [row.found_at, row.issue_id]), counts };
}

const REASON = 'must be a sentence of 1 to 500 characters, without patient data';
export const dismissBody = z.strictObject({
  reason: z.string({ error: REASON }).trim().min(1, REASON).max(500, REASON),
  seen: z.iso
    .datetime()
    .optional()
    .meta({ description: '`foundAt` of the issue that was read: a newer finding is not dismissed with it.' }),
});

/**
 * Dismisses an issue for all staff of the site; the first dismissal stays.
 *
 * @throws Fault `not-found`, `forbidden` without the permission, or `conflict` for a finding that the person has not seen
 */
export async function dismiss(
  database: Database,
  actor: Actor,
  id: string,
  { reason, seen }: z.infer<typeof dismissBody>,
): Promise<Decided> {
  requirePermission(actor, 'site.settings.update');
  const [dismissed] = isUuid(id)
    ? await inSite(database, actor.site).run(dismissAttention(actor.site, id, authorOf(actor), reason, seen ?? null))
    : [];
  if (dismissed === undefined) throw noIssue();
  if (!dismissed.is_current)
    throw new Fault('conflict', 'The issue has a newer finding. Read it again, then dismiss it.');
  return dismissed;
}

/** Undoes a dismissal. @throws Fault `not-found`, or `forbidden` without the permission */
export async function reopen(database: Database, actor: Actor, id: string): Promise<string> {
  requirePermission(actor, 'site.settings.update');
  const [reopened] = isUuid(id)
    ? await inSite(database, actor.site).run(reopenAttention(actor.site, id, authorOf(actor)))
    : [];
  if (reopened === undefined) throw noIssue();
  return reopened.issue_id;
}

const noIssue = () => new Fault('not-found', 'The site has no issue with this id.');
