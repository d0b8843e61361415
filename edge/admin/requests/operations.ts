/** The log of refused and failed requests over JSON. */
import { viewList } from '../api/cursor.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import { MAX_REQUEST_IDS } from '../../store/refusal.ts';
import type { AdminDeps } from '../web/console.ts';
import { findRequests, requestQuery } from './listing.ts';
import { requestItem, viewRequest } from './view.ts';

export function requestOperations({ now }: AdminDeps): Operation[] {
  return [
    operation('get', '/requests', 'site.api_keys.read', {
      summary: 'List rejected and failed requests of all keys on all four surfaces, by reason, the newest first',
      description:
        'Counts lag by a few seconds; there is one for each reason and quarter of an hour. A request with an unknown key is not ' +
        `counted. Each count keeps the newest ${MAX_REQUEST_IDS} request ids.`,
      query: requestQuery,
      answer: listOf(requestItem),
      handle: async ({ actor, database, query }) =>
        viewList(await findRequests(database, actor.site, now(), query), viewRequest),
    }),
  ];
}
