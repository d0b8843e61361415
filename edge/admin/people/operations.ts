/** The people and sessions of the site over JSON. */
import * as z from 'zod';

import { inSite } from '../../store/in-site.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import { peopleOf, personItem, viewPerson } from './people.ts';
import { endAll, endOne, sessionItem, sessionPage, sessionQuery } from './sessions.ts';

const ended = z.object({ ended: z.number().int().meta({ description: 'The number of ended sessions.' }) });

export function peopleOperations(): Operation[] {
  return [
    operation('get', '/people', 'site.sessions.end', {
      summary: 'The people who signed in to the console within 400 days, with their permissions, the last seen first',
      answer: listOf(personItem),
      async handle({ actor, database }) {
        const rows = await inSite(database, actor.site).run(peopleOf(actor.site));
        return { items: rows.map(viewPerson), next: null };
      },
    }),
    operation('get', '/sessions', 'site.sessions.end', {
      summary: 'The open sessions of the console: person, start and address, the newest first',
      query: sessionQuery,
      answer: listOf(sessionItem),
      async handle({ actor, database, query }) {
        const page = sessionPage(actor.site, query);
        return page.list(await inSite(database, actor.site).run(page.query));
      },
    }),
    operation('post', '/sessions/{id}/end', 'site.sessions.end', {
      summary: 'End a session: its next request needs a new sign-in',
      answer: ended,
      async handle({ actor, database, param }) {
        await endOne(database, actor.site, param('id'));
        return { ended: 1 };
      },
    }),
    operation('post', '/sessions/end', 'site.sessions.end', {
      summary: 'End all sessions of the site, including the session of the caller',
      description: 'Bearer tokens of the OpenID provider stay valid until they expire.',
      answer: ended,
      handle: async ({ actor, database }) => ({ ended: await endAll(database, actor.site) }),
    }),
  ];
}
