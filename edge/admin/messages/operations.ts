/** The JSON API of HL7 messages: the list, one message, replay. Its answers hold patient data, so none of it is logged. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Database } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import {
  attemptsOfMessage,
  noteMessageViewed,
  readMessageBytes,
  readStoredMessage,
  resourcesOfMessage,
} from '../../store/admin-message.ts';
import { messagesAround } from '../../store/message-around.ts';
import { viewListedMessage, viewMessageDetail, viewTicketCopy } from './view.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import { findMessages, messageQuery } from './listing.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';
import { viewAck } from './segments.ts';
import type { MessageReplay } from './message-replay.ts';
import { findResource, resourceQuery, viewLineage } from './find-resource.ts';

const outcome = z.enum(['AA', 'AE', 'AR']);
const text = z.string();

const messageItem = z.object({
  messageId: z.uuid(),
  receivedAt: z.iso.datetime(),
  source: z.enum(['http', 'mllp']),
  sourceAddress: text,
  tlsSubject: text.nullable().meta({ description: 'The subject of the sender’s certificate (MLLP).' }),
  clientId: text,
  keyName: text,
  sendingApplication: text.meta({ description: 'MSH-3' }),
  sendingFacility: text.meta({ description: 'MSH-4' }),
  controlId: text.meta({ description: 'MSH-10' }),
  messageType: text.meta({ description: 'MSH-9: type and event' }),
  outcome,
});

export const ackErrorItem = z.looseObject({
  code: text.meta({ description: 'Table 0357' }),
  severity: text,
  message: text,
  at: text.optional().meta({ description: 'ERR-2' }),
  reason: text.optional().meta({ description: 'ERR-5' }),
});

const findings = z.array(ackErrorItem.partial()).meta({ description: 'Errors and warnings.' });

export const segmentItem = z.object({
  id: text,
  name: text.nullable(),
  fields: z.array(
    z.object({
      path: text.meta({ description: '`PID-5`' }),
      name: text.nullable(),
      value: text.meta({ description: 'As it was sent.' }),
      repetitions: z
        .array(z.array(z.object({ number: z.number().int(), name: text.nullable(), value: text })))
        .meta({ description: 'Each repetition by its components; empty for a single value.' }),
      moreRepetitions: z
        .number()
        .int()
        .meta({ description: 'The number of repetitions beyond those listed: 50, fewer in a large message.' }),
      findings,
    }),
  ),
  moreFields: z.number().int().meta({ description: 'The number of fields with a value beyond the 200 listed.' }),
  findings,
});

export const moreSegments = z.number().int().meta({
  description: 'The number of segments beyond those listed: 1,000 with 10,000 fields, and each with a fault.',
});

export const listedItem = messageItem.extend({
  tookMs: z.number().int().nullable().meta({ description: 'From the receipt to the first answer, in milliseconds.' }),
  warnings: z.number().int().meta({ description: 'The number of its warnings.' }),
  finding: ackErrorItem.nullable().meta({ description: 'The first error, else the first warning.' }),
  named: z
    .array(z.object({ field: text, value: text, authority: text }))
    .nullable()
    .meta({
      description: 'The fields that match `patient`: a value as it was sent, with its authority.',
    }),
  patient: z.object({ reference: text.nullable(), name: text, identifier: text, authority: text }).nullable().meta({
    description:
      'With `withPatients`: the stored patient with its name, else the folded words of PID-5; and the first PID-3.',
  }),
});

const listAnswer = listOf(listedItem).extend({
  previous: text.nullable().meta({ description: 'The cursor of the page of newer messages, for `newer`.' }),
  count: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'The number of messages, 1,000 at most; only on the first page.' }),
  isMore: z.boolean().meta({ description: 'There are more than `count`.' }),
});

const attemptItem = z.object({
  number: z.number().int(),
  at: z.iso.datetime(),
  why: z.enum(['received', 'resent', 'replayed', 'forced', 'retried']),
  actor: text.nullable().meta({ description: 'The person who replayed it.' }),
  comment: text.nullable().meta({ description: 'The reason that the person gave.' }),
  requestId: text,
  outcome,
  tookMs: z.number().int().nullable(),
  rulesVersion: z.number().int().nullable().meta({
    description: 'The version of the key’s rules by which the message was read; null without rules.',
  }),
  ack: text.nullable(),
  errors: z.array(ackErrorItem),
});

const changedElement = z.object({ element: text, before: text.nullable(), after: text.nullable() });

export const ruleChangeItem = z.object({
  rule: z.number().int().meta({ description: 'The position of the rule, from 1.' }),
  at: text.meta({ description: 'The place in the message as sent, as ERR-2 names it.' }),
  before: text,
  after: text,
});

const messageDetail = messageItem.extend({
  requestId: text,
  sha256: text,
  isForgotten: z.boolean().meta({ description: 'Its bytes and answers were deleted, so it cannot be replayed.' }),
  text: text.meta({ description: 'The message, segments separated by line feeds.' }),
  segments: z.array(segmentItem),
  moreSegments,
  problem: text.nullable(),
  ack: text.nullable(),
  errors: z.array(ackErrorItem),
  ruleChanges: z.array(ruleChangeItem).meta({
    description: 'The fields that rules of the key changed before the message was mapped, 1,000 at most.',
  }),
  attemptCount: z.number().int().meta({ description: 'The number of attempts, also of those that are not kept.' }),
  attempts: z.array(attemptItem).meta({ description: 'The first ten, and the newest hundred, in order.' }),
  resources: z
    .array(
      z.object({
        reference: text,
        version: z
          .number()
          .int()
          .meta({ description: 'The version that the message wrote; of an unchanged resource the version it found.' }),
        currentVersion: z.number().int(),
        change: z
          .enum(['created', 'changed', 'unchanged'])
          .meta({ description: '`unchanged`: the resource already had the content of the message.' }),
        isLong: z.boolean().meta({ description: 'Too long to be compared here.' }),
        isForgotten: z
          .boolean()
          .meta({ description: 'This version or the one before it is no longer kept, so they cannot be compared.' }),
        elements: z.array(
          changedElement.extend({
            fields: z.array(text).meta({ description: 'The fields of the message that state it, such as `PID-5`.' }),
          }),
        ),
      }),
    )
    .meta({
      description:
        'Each version that this message wrote, with its changes element by element, and each resource ' +
        'that it left unchanged; 1,000 at most.',
    }),
  hasMoreResources: z.boolean().meta({ description: 'There are more than `resources` lists.' }),
  around: z
    .array(
      z.object({
        of: z.enum(['patient', 'order', 'control-id']),
        side: z.enum(['previous', 'next', 'other']),
        messageId: z.uuid(),
        receivedAt: z.iso.datetime(),
        messageType: text,
        controlId: text,
        outcome,
      }),
    )
    .meta({
      description: 'The messages before and after it of the same patient and order, and others of its control id.',
    }),
});

const lineageMessage = z.object({
  messageId: z.uuid(),
  receivedAt: z.iso.datetime(),
  messageType: text,
  controlId: text,
  sendingApplication: text,
  sendingFacility: text,
  forgottenAt: z.iso.datetime().nullable().meta({ description: 'When its text was deleted; null: it is kept.' }),
});

const lineageAnswer = z.object({
  reference: text,
  version: z.number().int(),
  comparedFrom: z
    .number()
    .int()
    .meta({ description: 'The oldest version that was compared: at most 1,000 are, with 4 MiB in all.' }),
  values: z.array(
    z.object({
      path: text.meta({ description: '`name[0].given[1]`' }),
      value: text.nullable().meta({ description: 'JSON; null with `isLong` if it has more than 2,000 characters.' }),
      since: z
        .number()
        .int()
        .nullable()
        .meta({ description: 'The version that last changed the value; null: `comparedFrom` or an earlier one.' }),
      statedBy: lineageMessage.nullable().meta({
        description:
          'The earlier message that stated the value, if the message of `since` only made it count: a merge, or a withdrawal.',
      }),
      fields: z.array(text).meta({ description: 'The fields of the message that state it, such as `PID-5`.' }),
      replaced: text.nullable().meta({ description: 'JSON; null: nothing, or with `isLong` it may be too long.' }),
      isLong: z.boolean(),
    }),
  ),
  isMore: z.boolean().meta({ description: 'There are more than the 5,000 values that are listed.' }),
  versions: z
    .array(
      z.object({
        version: z.number().int(),
        at: z.iso.datetime(),
        clientId: text.nullable(),
        keyName: text.nullable(),
        person: text.nullable().meta({ description: 'The person who undid a merge.' }),
        message: lineageMessage.nullable().meta({ description: 'Null: a FHIR client or a person wrote the version.' }),
      }),
    )
    .meta({ description: 'The versions that `since` names. Without key, person and message: no longer on record.' }),
});

/** The reason for a replay; it is shown with the attempt. */
export const replayComment = z
  .string()
  .trim()
  .max(500, 'must have 500 characters at most')
  .default('')
  .meta({ description: 'The reason for the replay, shown with the attempt. No patient data.' });

export const differenceItem = z.object({
  reference: text.meta({ description: 'A resource that would be created has only its type.' }),
  change: z.enum(['created', 'changed', 'unchanged']),
  elements: z.array(changedElement),
});

const replayAnswer = z.object({
  messageId: z.uuid(),
  applied: z.enum(['nothing', 'newest', 'everything']),
  outcome,
  ack: text.nullable(),
  errors: z.array(ackErrorItem).optional(),
  changes: z.array(differenceItem).optional().meta({ description: 'The changes of `newest`, if nothing was applied.' }),
  merges: z.array(z.object({ from: z.uuid(), to: z.uuid() })).optional(),
  stale: z.array(differenceItem).optional().meta({ description: 'The further changes of `everything`.' }),
  rulesVersion: z.number().int().nullable().optional().meta({
    description: 'The version of the key’s rules by which it would be read; null without rules.',
  }),
});

/** A message with its resources, of the site. @throws Fault `not-found` */
export async function findMessage(
  replays: Pick<MessageReplay, 'ruleChanges'>,
  { actor: { site }, database }: { readonly actor: Pick<Actor, 'site'>; readonly database: Database },
  messageId: string,
  requestId: string,
) {
  const missing = () => new Fault('not-found', 'no such message');
  if (!isUuid(messageId)) throw missing();
  const [[row], resources, attempts, around] = await inSite(database, site).batch([
    readStoredMessage(site, messageId),
    resourcesOfMessage(site, messageId),
    attemptsOfMessage(site, messageId),
    messagesAround(site, messageId),
    noteMessageViewed(site, messageId),
  ]);
  if (row === undefined) throw missing();
  const detail = viewMessageDetail(row, resources, attempts, around);
  const version = detail.isForgotten ? null : (detail.attempts.at(-1)?.rulesVersion ?? null);
  if (version === null) return { ...detail, ruleChanges: [] };
  return { ...detail, ruleChanges: await replays.ruleChanges(database, site, messageId, version, requestId) };
}

/** A copy for a ticket. @throws Fault `not-found` */
export async function copyForTicket(database: Database, site: string, messageId: string): Promise<string> {
  const missing = () => new Fault('not-found', 'no such message');
  if (!isUuid(messageId)) throw missing();
  const [row] = await inSite(database, site).run(readMessageBytes(site, messageId));
  if (row === undefined) throw missing();
  if (row.raw === null) throw new Fault('not-found', 'The bytes of this message were deleted, so it cannot be copied.');
  const placeholders = new Set(row.placeholders.map((value) => value.toUpperCase()));
  return viewTicketCopy(row.raw, { charset: row.default_charset, placeholders });
}

export function messageOperations(replays: MessageReplay): Operation[] {
  return [
    operation('get', '/messages', 'site.messages.read', {
      summary: 'HL7 messages of the site, the newest first',
      query: messageQuery,
      description:
        'Filters by patient, control id, reason of an error and more; a message must match all of them. Messages whose ' +
        'bytes were deleted are found by neither patient nor reason.',
      answer: listAnswer,
      async handle({ query, ...looking }) {
        const { items, next, previous, count, isMore } = await findMessages(looking, query);
        return { items: items.map(viewListedMessage), next, previous, count, isMore };
      },
    }),
    operation('get', '/messages/{id}', 'site.messages.read', {
      summary: 'One message: its segments, what it changed, its ACK and errors, and the messages around it',
      answer: messageDetail,
      handle: ({ actor, database, param, requestId }) =>
        findMessage(replays, { actor, database }, param('id'), requestId),
    }),
    operation('get', '/messages/{id}/ticket-copy', 'site.messages.read', {
      summary: 'A copy of one message for a ticket, without the patient',
      description:
        'Names, addresses, telephone numbers, identifiers and texts are replaced, alike in the whole message. All dates move by one ' +
        'number of days. Codes, coding systems, authorities, structure and faults stay. Each copy has other values.',
      answer: z.object({
        messageId: z.uuid(),
        text: text.meta({ description: 'Segments separated by line feeds.' }),
      }),
      async handle({ actor, database, param }) {
        const messageId = param('id');
        return { messageId, text: await copyForTicket(database, actor.site, messageId) };
      },
    }),
    operation('get', '/{type}/{id}/lineage', 'site.messages.read', {
      summary: 'The origin of each value of a resource',
      description:
        'The message or FHIR write that last changed each value, and what it replaced. ' +
        'A later message that states the same value does not count.',
      query: resourceQuery.strict(),
      answer: lineageAnswer,
      handle: async ({ actor, database, param, query: { version } }) =>
        viewLineage(await findResource(database, actor.site, param('type'), param('id'), version)),
    }),
    operation('post', '/messages/{id}/replay', 'site.messages.replay', {
      summary: 'Map a stored message again with the current settings, or preview the changes',
      description:
        'Without `apply` nothing is changed, and the answer has the changes. `newest` skips elements with newer data, ' +
        '`everything` does not. The message then has the new outcome and ACK; each attempt is kept. A retransmission gets the first AA.',
      body: z.strictObject({
        apply: z.enum(['nothing', 'newest', 'everything']).default('nothing'),
        comment: replayComment,
      }),
      answer: replayAnswer,
      async handle({ actor, auditActor, database, param, body: { apply, comment }, requestId }) {
        const messageId = param('id');
        if (!isUuid(messageId)) throw new Fault('not-found', 'no such message');
        if (apply === 'nothing') {
          // It shows what is stored.
          requirePermission(actor, 'site.messages.read');
          const preview = await replays.previewReplay(database, actor.site, messageId, requestId);
          const { outcome: decided, ack, findings, ...would } = preview;
          return { messageId, applied: apply, outcome: decided, ack: viewAck(ack), errors: findings, ...would };
        }
        const asked = { author: authorOf(actor), comment, by: auditActor, isForced: apply === 'everything' };
        const { outcome: decided, ack } = await replays.replay(database, actor.site, messageId, asked, requestId);
        return { messageId, applied: apply, outcome: decided, ack: viewAck(ack) };
      },
    }),
  ];
}
