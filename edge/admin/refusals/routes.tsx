/** `/admin/refusals`: why requests were refused. */
import { z } from 'zod';

import type { Surface } from '../../http/surface.ts';
import type { Console } from '../web/console.ts';
import { readQuery } from '../web/form.ts';
import { linkTo, Page, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { RefusalPage } from './list.tsx';
import { findRefusals, refusalQuery } from './listing.ts';

const { path: PLACE } = PLACES.refusals;
const pageQuery = refusalQuery.extend({ clientId: z.string().max(40).default('') });

export function addRefusalPages(app: Surface, { deps: { config }, access }: Console): void {
  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.api_keys.read');
    const query = readQuery(pageQuery, c.req.query());
    const list = await findRefusals(session.database, session.actor.site, query.clientId, query);
    const page = (
      <Page title="Why was I refused?" config={config} session={session} place={PLACE}>
        <RefusalPage
          {...{ list }}
          query={c.req.query()}
          path={linkTo(config, PLACE)}
          keyPath={linkTo(config, PLACES.keys.path)}
        />
      </Page>
    );
    return respond(config, page);
  });
}
