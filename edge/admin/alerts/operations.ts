/** The JSON API of alerts. */
import * as z from 'zod';

import { viewList } from '../api/cursor.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import type { AdminDeps } from '../web/console.ts';
import {
  acknowledge,
  alertItem,
  alertQuery,
  findAlerts,
  silence,
  silenceBody,
  testAnswer,
  testWebhook,
  unsilence,
  viewAlert,
  webhook,
} from './listing.ts';

const done = z.object({ alertId: z.uuid() });

export function alertOperations(deps: AdminDeps): Operation[] {
  const { config } = deps;
  return [
    operation('get', '/alerts', 'site.endpoints.read', {
      summary: 'List the alerts of the site, the newest first',
      query: alertQuery,
      answer: listOf(alertItem),
      handle: async ({ actor, database, query }) => viewList(await findAlerts(database, actor.site, query), viewAlert),
    }),
    operation('get', '/alerts/webhook', 'site.settings.update', {
      summary: 'Read the webhook of alerts and its secret (Standard Webhooks 1.0)',
      description: 'The address is a setting of the site. The secret changes with GATEWAY_SECRET.',
      answer: z.object({ site: z.uuid(), url: z.string().nullable(), secret: z.string() }),
      handle: async ({ actor, database }) => await webhook(config, database, actor.site),
    }),
    operation('post', '/alerts/webhook/test', 'site.settings.update', {
      summary: 'Post a test to the webhook of alerts, once, and return the answer',
      description: 'Its `type` is `alert.test`. It is signed as each notice is.',
      answer: testAnswer,
      handle: async ({ actor, database }) => await testWebhook(deps, database, actor),
    }),
    operation('post', '/alerts/{id}/acknowledge', 'site.alerts.update', {
      summary: 'Acknowledge an alert: no further notice is posted while it fires',
      answer: done,
      handle: async ({ actor, database, param }) => await acknowledge(database, actor, param('id')),
    }),
    operation('post', '/alerts/{id}/silence', 'site.alerts.update', {
      summary: 'Silence the cause of an alert: no notices are posted, also when it fires again',
      body: silenceBody,
      answer: done,
      handle: async ({ actor, database, param, body: { minutes } }) =>
        await silence(database, actor, param('id'), minutes),
    }),
    operation('post', '/alerts/{id}/unsilence', 'site.alerts.update', {
      summary: 'End the silence: if the alert fires, its notice is posted',
      answer: done,
      handle: async ({ actor, database, param }) => await unsilence(database, actor, param('id')),
    }),
  ];
}
