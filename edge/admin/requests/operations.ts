/** The log of refused and failed requests over JSON. */
import { viewList } from '../api/cursor.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import { MAX_REQUEST_IDS } from '../../store/refusal.ts';
import type { AdminDeps } from '../web/console.ts';
import { findRequests, requestQuery } from './listing.ts';
import { requestItem, viewRequest } from './view.ts';

export function requestOperations({ now }: AdminDeps): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/requests',
      permission: 'site.api_keys.read',
      summary:
        'Requests that were refused or failed, of every key over all four surfaces, by reason, the last one first',
      description:
        'Written some seconds behind the answer, one count for a reason and a quarter of an hour. A request whose key is not ' +
        `known is nobody’s and not in it. Of each count the newest ${MAX_REQUEST_IDS} request ids are kept.`,
      query: requestQuery,
      answer: listOf(requestItem),
      handle: async ({ actor, database, query }) => ({
        body: viewList(await findRequests(database, actor.site, now(), query), viewRequest),
      }),
    }),
  ];
}
