/** `/admin`: the feeds, or a welcome page without the permission to see them. */
import type { Surface } from '../../http/surface.ts';
import type { Console } from '../web/console.ts';
import { respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Refreshed } from '../web/ui.tsx';
import { readInstant, wallTime } from '../web/wall-clock.ts';
import { ConnectionsPage } from './connections-page.tsx';
import { readConnections } from './connections.ts';
import { connectionsPath, feedLinks } from './links.ts';
import { FeedsPage } from './page.tsx';
import { readFeeds } from './view.ts';

const { path: PLACE, permission: PERMISSION } = PLACES.feeds;
const REFRESH_SECONDS = 30;

export function addFeeds(app: Surface, { deps, access }: Console): void {
  const { config } = deps;

  app.get(PLACE, async (c) => {
    const session = await access.page(c);
    const { actor, database, timeZone } = session;
    const { site, permissions } = actor;
    if (!permissions.has(PERMISSION)) {
      return respond(
        { title: 'Welcome', config, session },
        <p>
          {permissions.size === 0
            ? 'Your account has no permissions yet. Ask the administrator of your OpenID provider.'
            : 'Choose a page in the navigation.'}
        </p>,
      );
    }
    const now = deps.now();
    const feeds = await readFeeds(database, site, now, permissions.has('site.api_keys.read'));
    const today = readInstant(`${wallTime(new Date(now).toISOString(), timeZone).day}T00:00`, timeZone);
    return respond(
      { title: PLACES.feeds.title, config, session, place: PLACE },
      <Refreshed id="feeds" seconds={REFRESH_SECONDS}>
        <FeedsPage {...feeds} links={feedLinks(config, permissions, today)} />
      </Refreshed>,
    );
  });

  app.get(connectionsPath(':clientId'), async (c) => {
    const session = await access.page(c, PERMISSION);
    const { actor, database } = session;
    const { name, connections } = await readConnections(database, actor.site, c.req.param('clientId') ?? '');
    return respond(
      { title: `Connections of ${name}`, config, session, place: PLACE, trail: [PLACES.feeds] },
      <ConnectionsPage {...{ connections }} nowMs={deps.now()} />,
    );
  });
}
