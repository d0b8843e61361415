/** `/admin/requests`: why requests were refused or failed. */
import type { Surface } from '../../http/surface.ts';
import type { Console } from '../web/console.ts';
import { readQuery } from '../web/form.ts';
import { respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { readInstant } from '../web/wall-clock.ts';
import { RequestPage } from './list.tsx';
import { findRequests, requestQuery } from './listing.ts';

const { path: PLACE } = PLACES.requests;

export function addRequestPages(app: Surface, { deps: { config, now }, access }: Console): void {
  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.api_keys.read');
    const asked = c.req.query();
    const { timeZone } = session;
    const times = { from: readInstant(asked['from'], timeZone), to: readInstant(asked['to'], timeZone) };
    const query = readQuery(requestQuery, { range: '24h', ...asked, ...times });
    const list = await findRequests(session.database, session.actor.site, now(), query);
    return respond(
      { title: 'Requests', config, session, place: PLACE },
      <RequestPage {...{ list, config }} query={asked} range={query.range} nowMs={now()} />,
    );
  });
}
