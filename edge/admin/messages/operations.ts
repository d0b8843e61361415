/** HL7 messages over JSON: the log, one message, replay. They hold patient data: nothing of it goes to the log. */
import { z } from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Deps } from '../../deps.ts';
import { attemptsOfMessage, readStoredMessage, resourcesOfMessage } from '../../store/admin-message.ts';
import { viewList } from '../api/cursor.ts';
import { viewMessageDetail, viewMessageRow } from './view.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import { findMessages, messageQuery } from './listing.ts';
import { authorOf } from '../staff/permissions.ts';
import { viewAck } from './segments.ts';
import type { Workbench } from '../workbench/workbench.ts';

const outcome = z.enum(['AA', 'AE', 'AR']);
const text = z.string();

const messageItem = z.object({
  messageId: z.uuid(),
  receivedAt: z.iso.datetime(),
  source: z.enum(['http', 'mllp']),
  sourceAddress: text,
  clientId: text,
  sendingApplication: text.meta({ description: 'MSH-3' }),
  sendingFacility: text.meta({ description: 'MSH-4' }),
  controlId: text.meta({ description: 'MSH-10' }),
  messageType: text.meta({ description: 'MSH-9: type and event' }),
  outcome,
});

export const segmentItem = z.object({
  id: text,
  name: text.nullable(),
  fields: z.array(z.object({ path: text.meta({ description: '`PID-5`' }), name: text.nullable(), value: text })),
});

export const ackErrorItem = z.looseObject({
  code: text.meta({ description: 'Table 0357' }),
  severity: text,
  message: text,
  at: text.optional().meta({ description: 'ERR-2' }),
});

const attemptItem = z.object({
  number: z.number().int(),
  at: z.iso.datetime(),
  why: z.enum(['received', 'resent', 'replayed', 'retried']),
  actor: text.nullable().meta({ description: 'Who asked for a replay.' }),
  requestId: text,
  outcome,
  ack: text.nullable(),
  errors: z.array(ackErrorItem),
});

const messageDetail = messageItem.extend({
  requestId: text,
  sha256: text,
  text: text.meta({ description: 'The message, segments separated by line feeds.' }),
  segments: z.array(segmentItem),
  problem: text.nullable(),
  ack: text.nullable(),
  errors: z.array(ackErrorItem),
  attempts: z.array(attemptItem).meta({ description: 'The first ten, and the newest hundred, in order.' }),
  resources: z.array(z.object({ reference: text, version: z.number().int(), currentVersion: z.number().int() })),
});

/** A message with its resources, of the site. @throws Fault `not-found` */
export async function findMessage(deps: Deps, site: string, messageId: string) {
  const missing = () => new Fault('not-found', 'no such message');
  if (!isUuid(messageId)) throw missing();
  const [[row], resources, attempts] = await deps.database.batch([
    readStoredMessage(site, messageId),
    resourcesOfMessage(site, messageId),
    attemptsOfMessage(site, messageId),
  ]);
  if (row === undefined) throw missing();
  return viewMessageDetail(row, resources, attempts);
}

export function messageOperations(deps: Deps, workbench: Workbench): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/messages',
      permission: 'site.messages.read',
      summary: 'HL7 messages of the site, the newest first',
      query: messageQuery,
      answer: listOf(messageItem),
      async handle({ actor, query }) {
        return { body: viewList(await findMessages(deps.database, actor.site, query), viewMessageRow) };
      },
    }),
    operation({
      method: 'get',
      path: '/messages/{id}',
      permission: 'site.messages.read',
      summary: 'One message: its segments, the resources it made, its ACK and errors',
      answer: messageDetail,
      handle: async ({ actor, param }) => ({ body: await findMessage(deps, actor.site, param('id')) }),
    }),
    operation({
      method: 'post',
      path: '/messages/{id}/replay',
      permission: 'site.messages.replay',
      summary: 'Map a stored message again, with the settings of today',
      description:
        'The new outcome and ACK hold from now on; each attempt is kept. A retransmission gets the first AA.',
      answer: z.object({ messageId: z.uuid(), outcome, ack: text.nullable() }),
      async handle({ actor, param, requestId }) {
        const messageId = param('id');
        if (!isUuid(messageId)) throw new Fault('not-found', 'no such message');
        const { outcome: decided, ack } = await workbench.replay(actor.site, messageId, authorOf(actor), requestId);
        return { body: { messageId, outcome: decided, ack: viewAck(ack) } };
      },
    }),
  ];
}
