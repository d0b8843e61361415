/** The JSON API of replays: counting the messages of a filter, replaying them in the background, progress, stopping. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Database } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import {
  countSelected,
  nextSelected,
  type ReplayCursor,
  type ReplayFilter,
  replayJob,
  type ReplayRow,
  replaysOf,
} from '../../store/hl7-replay.ts';
import { addJob, resumeJob, stopJob } from '../../store/job.ts';
import { instant, requireForward } from '../api/instant.ts';
import { type Operation, operation } from '../api/operation.ts';
import type { MessageReplay, ReplayPreview } from '../messages/message-replay.ts';
import { replayComment } from '../messages/operations.ts';
import { readParameter, toParameter, unmappedParameter } from '../names/parameter.ts';
import { authorOf, type Actor } from '../staff/actor.ts';

export const replayFilter = z.strictObject({
  outcome: z
    .enum(['', 'AA', 'AE', 'AR', 'errors'])
    .default('')
    .meta({ description: 'The outcome of the last attempt; `errors` are AE and AR.' }),
  type: z.string().trim().max(20).default('').meta({ description: 'MSH-9 from its start: `ADT`, `ADT^A04`.' }),
  reason: z
    .string()
    .regex(/^[a-z0-9-]{0,60}$/, 'must be the reason of an error, such as ambiguous-patient')
    .default('')
    .meta({ description: 'The reason of an error or warning of the last attempt: `ambiguous-patient`.' }),
  clientId: z.string().max(40).default(''),
  from: instant,
  to: instant,
  unmapped: unmappedParameter,
});

/** As the store asks: the name, of its parameter. @throws Fault `invalid` for a time span that ends before it begins */
function toStore({ unmapped, ...filter }: z.infer<typeof replayFilter>): ReplayFilter {
  requireForward(filter, 'invalid');
  return { ...filter, unmapped: readParameter(unmapped) ?? null };
}

/** The number of messages that match a filter. */
export async function countReplay(
  database: Database,
  site: string,
  filter: z.infer<typeof replayFilter>,
): Promise<number> {
  const [matching] = await inSite(database, site).run(countSelected(site, toStore(filter)));
  return matching?.count ?? 0;
}

export interface ReplaySample {
  readonly messageId: string;
  /** Its type and control id; empty if it is unreadable. */
  readonly name: string;
  readonly preview: ReplayPreview;
}

/** Each message of a preview is one run of the mapping. */
const SAMPLED = 5;
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** The previews of the first messages that match a filter, one after another. Nothing is changed. */
export async function sampleReplay(
  replays: Pick<MessageReplay, 'previewReplay'>,
  database: Database,
  site: string,
  asked: z.infer<typeof replayFilter>,
  requestId: string,
): Promise<ReplaySample[]> {
  const position = { filter: toStore(asked), after: NO_ID, last: NO_ID.replaceAll('0', 'f') };
  const rows = await inSite(database, site).run(nextSelected(site, position, SAMPLED));
  const samples: ReplaySample[] = [];
  for (const { message_id: messageId, message_type: type, control_id: controlId } of rows) {
    const name = `${type} ${controlId}`.trim();
    samples.push({ messageId, name, preview: await replays.previewReplay(database, site, messageId, requestId) });
  }
  return samples;
}

const replayItem = z.object({
  replayId: z.uuid(),
  state: z.enum(['open', 'done', 'failed', 'stopped']),
  filter: replayFilter,
  askedBy: z.string(),
  comment: z.string(),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  done: z.number().int(),
  total: z.number().int().nullable(),
  outcomes: z.object({ AA: z.number().int(), AE: z.number().int(), AR: z.number().int() }),
  lastError: z.string().nullable().meta({ description: 'A code. While the replay is open, the step is repeated.' }),
});
export type ReplayView = z.infer<typeof replayItem>;

export function viewReplay(row: ReplayRow): ReplayView {
  const { filter, comment }: ReplayCursor = JSON.parse(row.cursor);
  const { unmapped, ...rest } = filter;
  return {
    replayId: row.job_id,
    state: row.state,
    // The filter of an earlier release has fewer members.
    filter: replayFilter.parse({ ...rest, unmapped: unmapped === null ? '' : toParameter(unmapped) }),
    askedBy: row.asked_by,
    comment,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    done: row.progress_done,
    total: row.progress_total,
    outcomes: { AA: row.accepted, AE: row.errors, AR: row.rejected },
    lastError: row.last_error,
  };
}

/** @throws Fault `not-found` */
export async function findReplay(database: Database, site: string, id: string): Promise<ReplayView> {
  const [row] = isUuid(id) ? await inSite(database, site).run(replaysOf(site, id)) : [];
  if (row === undefined) throw new Fault('not-found', 'no such replay');
  return viewReplay(row);
}

/** The site's, the newest first. */
export const listReplays = async (database: Database, site: string): Promise<ReplayView[]> =>
  (await inSite(database, site).run(replaysOf(site, null))).map(viewReplay);

/** A filter, and whether to apply it. */
export const replayRequest = replayFilter.extend({
  apply: z.enum(['nothing', 'newest']).default('nothing'),
  comment: replayComment,
});

/** Counts the messages of the filter, or starts their replay. @throws as `startReplay` */
export async function askReplay(
  database: Database,
  actor: Actor,
  { apply, comment, ...filter }: z.infer<typeof replayRequest>,
): Promise<{ readonly count?: number; readonly replay?: ReplayView }> {
  if (apply === 'nothing') return { count: await countReplay(database, actor.site, filter) };
  const id = await startReplay(database, actor, filter, comment);
  return { replay: await findReplay(database, actor.site, id) };
}

/**
 * Starts a replay of the messages that match the filter.
 *
 * @throws Fault `conflict` if another replay is running, `invalid` if no message matches
 */
export async function startReplay(
  database: Database,
  actor: Actor,
  asked: z.infer<typeof replayFilter>,
  comment: string,
): Promise<string> {
  const filter = toStore(asked);
  const [matching] = await inSite(database, actor.site).run(countSelected(actor.site, filter));
  if (matching === undefined || matching.last === null) throw new Fault('invalid', 'No message matches the filter.');
  const id = crypto.randomUUID();
  const { count, last } = matching;
  const by = { author: authorOf(actor), subject: actor.subject, comment };
  const job = replayJob(id, actor.site, filter, { count, last }, by);
  const [added] = await inSite(database, actor.site).run(addJob(job));
  if (added?.id !== id) throw new Fault('conflict', 'a replay is under way: stop it, or wait for its end');
  return id;
}

/** @throws Fault `not-found`, `conflict` where it is in no state for that */
export async function endReplay(
  database: Database,
  site: string,
  id: string,
  change: 'stop' | 'resume',
): Promise<void> {
  await findReplay(database, site, id);
  const [changed] = await inSite(database, site).run(change === 'stop' ? stopJob(id) : resumeJob(id));
  if (changed?.changed !== true)
    throw new Fault('conflict', change === 'stop' ? 'the replay is not under way' : 'the replay is not stopped');
}

export function replayOperations(): Operation[] {
  return [
    operation('get', '/replays', 'site.messages.replay', {
      summary: 'Replays of many messages, the newest first',
      answer: z.object({ items: z.array(replayItem) }),
      handle: async ({ actor, database }) => ({ items: await listReplays(database, actor.site) }),
    }),
    operation('post', '/replays', 'site.messages.replay', {
      summary: 'Replay the messages of a filter in the background, or count them',
      description:
        'Without `apply` nothing is changed, and the answer has the number of messages. `newest` replays them in the order of ' +
        'receipt and skips elements with newer data. One replay at a time.',
      body: replayRequest,
      answer: z.object({ count: z.number().int().optional(), replay: replayItem.optional() }),
      handle: async ({ actor, database, body }) => await askReplay(database, actor, body),
    }),
    operation('get', '/replays/{id}', 'site.messages.replay', {
      summary: 'The progress of a replay, and the outcomes of its messages',
      answer: replayItem,
      handle: async ({ actor, database, param }) => await findReplay(database, actor.site, param('id')),
    }),
    ...(['stop', 'resume'] as const).map((change) =>
      operation('post', `/replays/{id}/${change}`, 'site.messages.replay', {
        summary: change === 'stop' ? 'Stop a replay; replayed messages stay so' : 'Continue a stopped replay',
        answer: replayItem,
        async handle({ actor, database, param }) {
          await endReplay(database, actor.site, param('id'), change);
          return findReplay(database, actor.site, param('id'));
        },
      }),
    ),
  ];
}
