/** `/admin/sessions`: who is signed in to the console of the site, and ending their sessions. */
import type { Surface } from '../../http/surface.ts';
import type { Console } from '../web/console.ts';
import { readQuery } from '../web/form.ts';
import { linkTo, Page, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';

const { path: PLACE } = PLACES.people;
import { Notice } from '../web/ui.tsx';
import { endAll, endOne, findSessions, sessionQuery } from './listing.ts';
import { SessionList } from './list.tsx';

export function addSessionPages(app: Surface, { deps: { config }, access }: Console): void {
  const path = linkTo(config, PLACE);

  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.sessions.end');
    const { ended, ...query } = c.req.query();
    const list = await findSessions(session.database, session.actor.site, readQuery(sessionQuery, query));
    const page = (
      <Page title="Who is signed in" config={config} session={session} place={PLACE}>
        {ended === undefined ? null : <Notice tone="good">The session has ended.</Notice>}
        <SessionList {...{ list, query, path }} own={session.id} />
      </Page>
    );
    return respond(config, page);
  });

  app.post(`${PLACE}/end`, async (c) => {
    const { actor, database } = await access.page(c, 'site.sessions.end');
    await endAll(database, actor.site);
    // One's own among them.
    return c.redirect(linkTo(config, '/admin/signed-out'), 303);
  });

  app.post(`${PLACE}/:id/end`, async (c) => {
    const { id, actor, database } = await access.page(c, 'site.sessions.end');
    const ended = c.req.param('id');
    await endOne(database, actor.site, ended);
    return c.redirect(ended === id ? linkTo(config, '/admin/signed-out') : `${path}?ended=1`, 303);
  });
}
