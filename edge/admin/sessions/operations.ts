/** Who is signed in to the console of the site, and ending their sessions, over JSON. */
import { z } from 'zod';

import { listOf, type Operation, operation } from '../api/operation.ts';
import { endAll, endOne, findSessions, sessionItem, sessionQuery } from './listing.ts';

const ended = z.object({ ended: z.number().int().meta({ description: 'How many sessions.' }) });

export function sessionOperations(): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/sessions',
      permission: 'site.sessions.end',
      summary: 'Who is signed in to the console, since when and from where, the newest first',
      query: sessionQuery,
      answer: listOf(sessionItem),
      handle: async ({ actor, database, query }) => ({ body: await findSessions(database, actor.site, query) }),
    }),
    operation({
      method: 'post',
      path: '/sessions/{id}/end',
      permission: 'site.sessions.end',
      summary: 'End a session: its next request has to sign in again',
      answer: ended,
      async handle({ actor, database, param }) {
        await endOne(database, actor.site, param('id'));
        return { body: { ended: 1 } };
      },
    }),
    operation({
      method: 'post',
      path: '/sessions/end',
      permission: 'site.sessions.end',
      summary: 'End all sessions of the site, the caller’s own among them',
      description: 'Bearer tokens are the OpenID provider’s and go on until they expire.',
      answer: ended,
      async handle({ actor, database }) {
        return { body: { ended: await endAll(database, actor.site) } };
      },
    }),
  ];
}
