/** The JSON API of subscriptions. */
import * as z from 'zod';

import { viewList } from '../api/cursor.ts';
import { listOf, locationOf, type Operation, operation } from '../api/operation.ts';
import type { AdminDeps } from '../web/console.ts';
import type { Notifications } from './notifications.ts';
import {
  changeSubscription,
  createSubscription,
  findSubscriptions,
  newSubscription,
  removeSubscription,
  requireSubscription,
  resendBody,
  subscriptionQuery,
  testAnswer,
  testSubscription,
} from './subscriptions.ts';
import { subscriptionItem, viewSubscription } from './view.ts';

const CHANGES = {
  pause: 'Pause a subscription: nothing is posted, and no event is lost',
  resume: 'Resume a paused or given-up subscription, or try a failing one now',
} as const;

export function subscriptionOperations(deps: AdminDeps, notifications: Notifications): Operation[] {
  return [
    operation('get', '/subscriptions', 'site.endpoints.read', {
      summary: 'List the subscriptions of the API keys of the site, the newest first',
      query: subscriptionQuery,
      answer: listOf(subscriptionItem),
      handle: async ({ actor, database, query }) =>
        viewList(await findSubscriptions(database, actor.site, query), (row) =>
          viewSubscription(row, actor.permissions),
        ),
    }),
    operation('post', '/subscriptions', 'site.api_keys.update', {
      summary: 'Create a subscription of an API key, as its client can',
      description: 'Only this answer has the `secret` of the signatures. The client sees the subscription as its own.',
      body: newSubscription,
      answer: subscriptionItem.extend({ secret: z.string() }),
      status: 201,
      async handle({ actor, database, body }) {
        const { row, secret } = await createSubscription(deps, notifications, database, actor, body);
        return { ...viewSubscription(row, actor.permissions), secret };
      },
      headers: ({ subscriptionId }) => locationOf(deps, `/subscriptions/${subscriptionId}`),
    }),
    operation('get', '/subscriptions/{id}', 'site.endpoints.read', {
      summary: 'Read a subscription: how far it is, its last answer, and the next post',
      answer: subscriptionItem,
      handle: async ({ actor, database, param }) =>
        viewSubscription(await requireSubscription(database, actor.site, param('id')), actor.permissions),
    }),
    ...(['pause', 'resume'] as const).map((change) =>
      operation('post', `/subscriptions/{id}/${change}`, 'site.api_keys.update', {
        summary: CHANGES[change],
        answer: subscriptionItem,
        handle: async ({ actor, database, param }) =>
          viewSubscription(await changeSubscription(deps, database, actor, param('id'), change), actor.permissions),
      }),
    ),
    operation('post', '/subscriptions/{id}/resend', 'site.api_keys.update', {
      summary: 'Send the events of a subscription again, from a number on',
      description:
        'The number is 1 to `delivered`. Events keep their numbers. An event of a version that is no longer kept has only the id.',
      body: resendBody,
      answer: subscriptionItem,
      handle: async ({ actor, database, param, body: { from } }) =>
        viewSubscription(
          await changeSubscription(deps, database, actor, param('id'), 'resend', from),
          actor.permissions,
        ),
    }),
    operation('post', '/subscriptions/{id}/test', 'site.api_keys.update', {
      summary: 'Post a notification without events, once, and return the answer',
      description: 'A handshake before the first accepted notification, otherwise a heartbeat. It changes nothing.',
      answer: testAnswer,
      handle: async ({ actor, database, param }) =>
        await testSubscription(deps, notifications, database, actor, param('id')),
    }),
    operation('post', '/subscriptions/{id}/delete', 'site.api_keys.update', {
      summary: 'Delete a subscription and its events',
      answer: z.object({ subscriptionId: z.uuid() }),
      async handle({ actor, database, param }) {
        await removeSubscription(database, actor, param('id'));
        return { subscriptionId: param('id') };
      },
    }),
  ];
}
