/** Who has signed in to the console of the site, who is there now, and ending their sessions, over JSON. */
import * as z from 'zod';

import { inSite } from '../../store/in-site.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import { peopleOf, personItem, viewPerson } from './people.ts';
import { endAll, endOne, sessionItem, sessionPage, sessionQuery } from './sessions.ts';

const ended = z.object({ ended: z.number().int().meta({ description: 'How many sessions.' }) });

export function peopleOperations(): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/people',
      permission: 'site.sessions.end',
      summary: 'Who has signed in to the console within 400 days and what they may do, whoever was there last first',
      answer: listOf(personItem),
      async handle({ actor, database }) {
        const rows = await inSite(database, actor.site).run(peopleOf(actor.site));
        return { body: { items: rows.map(viewPerson), next: null } };
      },
    }),
    operation({
      method: 'get',
      path: '/sessions',
      permission: 'site.sessions.end',
      summary: 'Who is signed in to the console, since when and from where, the newest first',
      query: sessionQuery,
      answer: listOf(sessionItem),
      async handle({ actor, database, query }) {
        const page = sessionPage(actor.site, query);
        return { body: page.list(await inSite(database, actor.site).run(page.query)) };
      },
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
