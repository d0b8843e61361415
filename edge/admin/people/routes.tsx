/** `/admin/people`: the sessions and people of the site, its access rules, and ending sessions. */
import type { Surface } from '../../http/surface.ts';
import { inSite } from '../../store/in-site.ts';
import type { Console } from '../web/console.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { PeopleList, PermissionTable, AccessRules } from './page.tsx';
import { peopleOf, viewPerson } from './people.ts';
import { SessionList } from './session-list.tsx';
import { endAll, endOne, sessionPage, sessionQuery } from './sessions.ts';

const { path: PLACE } = PLACES.people;

export function addPeoplePages(app: Surface, { deps: { config }, access }: Console): void {
  const path = linkTo(config, PLACE);

  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.sessions.end');
    const { ended, ...query } = c.req.query();
    const { site, permissions, subject } = session.actor;
    const sessions = sessionPage(site, readQuery(sessionQuery, query));
    const [rows, people] = await inSite(session.database, site).batch([sessions.query, peopleOf(site)] as const);
    return respond(
      { title: 'People', config, session, place: PLACE },
      ended === undefined ? null : <Notice tone="good">The session has ended.</Notice>,
      <SessionList {...{ query, path }} list={sessions.list(rows)} own={session.id} />,
      <PeopleList people={people.map(viewPerson)} own={subject} />,
      <AccessRules {...{ config, site }} />,
      <PermissionTable own={permissions} />,
    );
  });

  app.post(`${PLACE}/end`, async (c) => {
    const { actor, database } = await access.page(c, 'site.sessions.end');
    await readForm(c);
    await endAll(database, actor.site);
    // The session of this request has ended too.
    return c.redirect(linkTo(config, '/admin/signed-out'), 303);
  });

  app.post(`${PLACE}/:id/end`, async (c) => {
    const { id, actor, database } = await access.page(c, 'site.sessions.end');
    const ended = c.req.param('id');
    await endOne(database, actor.site, ended);
    return c.redirect(ended === id ? linkTo(config, '/admin/signed-out') : `${path}?ended=1`, 303);
  });
}
