/** The JSON API of feeds. */
import { type Operation, operation } from '../api/operation.ts';
import type { AdminDeps } from '../web/console.ts';
import { feedsAnswer } from './schema.ts';
import { readFeeds } from './view.ts';

export function feedOperations({ now }: AdminDeps): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/feeds',
      permission: 'site.endpoints.read',
      summary: 'Read the activity of each key now, compared with its usual activity',
      description: 'Counts lag by a few seconds. For an exact record, use Messages.',
      answer: feedsAnswer,
      handle: async ({ actor, database }) => ({
        body: await readFeeds(database, actor.site, now(), actor.permissions.has('site.api_keys.read')),
      }),
    }),
  ];
}
