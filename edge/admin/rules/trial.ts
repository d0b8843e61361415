/** Trials of the draft of a key's rules, for the console and its JSON API. The job: edge/hl7/ingest/replay/rules-trial.ts. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import type { Database } from '../../deps.ts';
import { readRules, storedRules } from '../../store/admin-rules.ts';
import { inSite } from '../../store/in-site.ts';
import { addJob, type AskedJob, stopJob } from '../../store/job.ts';
import {
  MAX_TRIED,
  newestMessages,
  newestTrial,
  type Received,
  type TrialCursor,
  type TrialGroup,
  trialJob,
} from '../../store/rules-trial.ts';
import { type Operation, operation } from '../api/operation.ts';
import { noSuchKey } from '../keys/keys.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';

const text = z.string();
const count = z.number().int();

export const trialBody = z.strictObject({
  messages: count.min(1).max(MAX_TRIED).default(1000).meta({ description: 'The newest messages of the key.' }),
});

const group = {
  messages: count,
  samples: z.array(z.uuid()).meta({ description: 'The first messages, 5 at most.' }),
};

const trialAnswer = z.object({
  state: z.enum(['open', 'done', 'failed', 'stopped']),
  isOfDraft: z.boolean().meta({ description: 'False: the draft has been changed since.' }),
  done: count,
  total: count.nullable(),
  answers: z.array(z.object({ before: text, after: text, reason: text, ...group })).meta({
    description:
      'Messages that would get another answer, by the first error of the new or the old answer. 200 groups at most.',
  }),
  elements: z.array(z.object({ element: text, ...group })).meta({
    description:
      'Elements that would have another value, such as Patient.gender. A type alone: a resource that only one of them makes. ' +
      '200 groups at most.',
  }),
  differing: count.meta({ description: 'Messages whose resources would differ.' }),
  replayed: count.meta({ description: 'Resources that a replay of these messages would create or change.' }),
  left: count.meta({
    description: 'Messages that could not be tried, because their bytes were deleted or the key is disabled.',
  }),
  askedBy: text,
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  lastError: text.nullable().meta({ description: 'A code. While the trial is open, the step is repeated.' }),
});
export type TrialView = z.infer<typeof trialAnswer>;

/** @param draft the rules that are the draft now, as JSON */
function viewTrial(row: AskedJob, draft: string): TrialView {
  const cursor: TrialCursor = JSON.parse(row.cursor);
  const most = <Group extends TrialGroup<object>>(groups: readonly Group[]) =>
    groups.toSorted((a, b) => b.messages - a.messages).map((group) => ({ ...group, samples: [...group.samples] }));
  const { answers, elements, ...found } = cursor.found;
  return {
    ...found,
    answers: most(answers),
    elements: most(elements),
    state: row.state,
    isOfDraft: JSON.stringify(cursor.rules.rules) === JSON.stringify(storedRules(draft)),
    done: row.progress_done,
    total: row.progress_total,
    askedBy: row.asked_by,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    lastError: row.last_error,
  };
}

/** The newest trial of a key; undefined without one. @throws Fault `not-found` for a key of another site */
export async function findTrial(database: Database, site: string, clientId: string): Promise<TrialView | undefined> {
  const [[rules], [trial]] = await inSite(database, site).batch([
    readRules(site, clientId),
    newestTrial(site, clientId),
  ]);
  if (rules === undefined) throw noSuchKey();
  return trial && viewTrial(trial, rules.draft_rules);
}

/**
 * Starts a trial of the draft on the newest messages of its key.
 *
 * @throws Fault `not-found`, `conflict` if another trial of the site is open, `invalid` if the key has sent no messages
 */
export async function startTrial(
  database: Database,
  actor: Actor,
  clientId: string,
  { messages }: z.infer<typeof trialBody>,
): Promise<void> {
  requirePermission(actor, 'site.rules.write');
  const { site } = actor;
  const [[row], [newest]] = await inSite(database, site).batch([
    readRules(site, clientId),
    newestMessages(site, clientId, messages),
  ]);
  if (row === undefined) throw noSuchKey();
  if (!newest?.first || !newest.last) throw new Fault('invalid', 'The gateway has no messages of this key to try.');
  const { draft, draft_rules: rules } = row;
  const cursor: TrialCursor = {
    clientId,
    rules: { version: draft, rules: storedRules(rules) },
    first: JSON.parse(newest.first) as Received,
    after: null,
    last: JSON.parse(newest.last) as Received,
    found: { answers: [], elements: [], differing: 0, replayed: 0, left: 0 },
  };
  const id = crypto.randomUUID();
  const [added] = await inSite(database, site).run(addJob(trialJob(id, site, cursor, newest.count, authorOf(actor))));
  if (added?.id !== id) throw new Fault('conflict', 'a trial of the site is under way: stop it, or wait for its end');
}

/** @throws Fault `not-found` without a trial, `conflict` if it has ended */
export async function stopTrial(database: Database, actor: Actor, clientId: string): Promise<void> {
  requirePermission(actor, 'site.rules.write');
  const [trial] = await inSite(database, actor.site).run(newestTrial(actor.site, clientId));
  if (trial === undefined) throw noTrial();
  const [stopped] = await inSite(database, actor.site).run(stopJob(trial.job_id));
  if (stopped?.changed !== true) throw new Fault('conflict', 'the trial has ended');
}

const noTrial = () => new Fault('not-found', 'the key has no trial');

/** @throws Fault `not-found` */
async function requireTrial(database: Database, site: string, clientId: string): Promise<TrialView> {
  const trial = await findTrial(database, site, clientId);
  if (trial === undefined) throw noTrial();
  return trial;
}

const PATH = '/api-keys/{clientId}/rules/trial';

export function trialOperations(): Operation[] {
  return [
    operation('get', PATH, 'site.rules.read', {
      summary: 'The newest trial of the draft of a key’s rules: its progress, and what would differ',
      answer: trialAnswer,
      handle: async ({ actor, database, param }) => await requireTrial(database, actor.site, param('clientId')),
    }),
    operation('post', PATH, 'site.rules.write', {
      summary: 'Try the draft of a key’s rules on its newest messages, in the background',
      description:
        'Each message is decided with the live rules and with the draft, on the data that is stored now. Nothing is changed. One ' +
        'trial of a site at a time.',
      body: trialBody,
      answer: trialAnswer,
      status: 201,
      async handle({ actor, database, param, body }) {
        await startTrial(database, actor, param('clientId'), body);
        return requireTrial(database, actor.site, param('clientId'));
      },
    }),
    operation('post', `${PATH}/stop`, 'site.rules.write', {
      summary: 'Stop a trial',
      answer: trialAnswer,
      async handle({ actor, database, param }) {
        await stopTrial(database, actor, param('clientId'));
        return requireTrial(database, actor.site, param('clientId'));
      },
    }),
  ];
}
