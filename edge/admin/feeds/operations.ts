/** Feeds over JSON. */
import { type Operation, operation } from '../api/operation.ts';
import type { AdminDeps } from '../web/console.ts';
import { feedsAnswer } from './schema.ts';
import { askFeeds } from './view.ts';

export function feedOperations({ now }: AdminDeps): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/feeds',
      permission: 'site.endpoints.read',
      summary: 'What each key does now, whether that is usual, and one sentence for all',
      description: 'Counts are written some seconds behind the answers, and are no record: messages are.',
      answer: feedsAnswer,
      handle: async ({ actor, database }) => ({
        body: await askFeeds(database, actor.site, now(), actor.permissions.has('site.api_keys.read')),
      }),
    }),
  ];
}
