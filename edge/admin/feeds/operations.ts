/** The JSON API of feeds. */
import { type Operation, operation } from '../api/operation.ts';
import type { AdminDeps } from '../web/console.ts';
import { connectionHistory, readConnections } from './connections.ts';
import { feedsAnswer } from './schema.ts';
import { readFeeds } from './view.ts';

export function feedOperations({ now }: AdminDeps): Operation[] {
  return [
    operation('get', '/feeds', 'site.endpoints.read', {
      summary: 'Read the activity of each key now, compared with its usual activity',
      description: 'Counts lag by a few seconds. For an exact record, use Messages.',
      answer: feedsAnswer,
      handle: async ({ actor, database }) =>
        await readFeeds(database, actor.site, now(), actor.permissions.has('site.api_keys.read')),
    }),
    operation('get', '/feeds/{clientId}/connections', 'site.endpoints.read', {
      summary: 'Read the MLLP connections of a key in the last 24 hours',
      description:
        'The open ones first, then those that closed last, 300 closed at most. Closed connections that are alike count as one in each quarter of an hour.',
      answer: connectionHistory,
      async handle({ actor, database, param }) {
        const { connections } = await readConnections(database, actor.site, param('clientId'));
        return { connections };
      },
    }),
  ];
}
