/** Alerts over JSON: what is wrong, and what staff do about it. */
import * as z from 'zod';

import { viewList } from '../api/cursor.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import type { AdminDeps } from '../web/console.ts';
import {
  acknowledge,
  alertItem,
  alertQuery,
  findAlerts,
  mute,
  muteBody,
  unmute,
  viewAlert,
  webhook,
} from './listing.ts';

const done = z.object({ alertId: z.uuid() });

export function alertOperations({ config }: AdminDeps): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/alerts',
      permission: 'site.endpoints.read',
      summary: 'What needs people, or did, the newest first',
      query: alertQuery,
      answer: listOf(alertItem),
      handle: async ({ actor, database, query }) => ({
        body: viewList(await findAlerts(database, actor.site, query), viewAlert),
      }),
    }),
    operation({
      method: 'get',
      path: '/alerts/webhook',
      permission: 'site.settings.update',
      summary: 'Where alerts are posted, and the secret that they are signed with (Standard Webhooks 1.0)',
      description: 'The address is set with the settings of the site; the secret changes with GATEWAY_SECRET.',
      answer: z.object({ site: z.uuid(), url: z.string().nullable(), secret: z.string() }),
      handle: async ({ actor, database }) => ({ body: await webhook(config, database, actor.site) }),
    }),
    operation({
      method: 'post',
      path: '/alerts/{id}/acknowledge',
      permission: 'site.alerts.update',
      summary: 'Say that somebody is at it: it is not told again while it is open',
      answer: done,
      handle: async ({ actor, database, param }) => ({ body: await acknowledge(database, actor, param('id')) }),
    }),
    operation({
      method: 'post',
      path: '/alerts/{id}/mute',
      permission: 'site.alerts.update',
      summary:
        'Tell nobody of what the alert is about, also when it comes again, for some minutes or until it is unmuted',
      body: muteBody,
      answer: done,
      handle: async ({ actor, database, param, body: { minutes } }) => ({
        body: await mute(database, actor, param('id'), minutes),
      }),
    }),
    operation({
      method: 'post',
      path: '/alerts/{id}/unmute',
      permission: 'site.alerts.update',
      summary: 'Tell of it again; where it is open, at once',
      answer: done,
      handle: async ({ actor, database, param }) => ({ body: await unmute(database, actor, param('id')) }),
    }),
  ];
}
