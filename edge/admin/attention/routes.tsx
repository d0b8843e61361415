/** `/admin/attention`: possible duplicates and other issues. */
import * as z from 'zod';

import type { Surface } from '../../http/surface.ts';
import { ATTENTION_KINDS } from '../../store/attention.ts';
import { viewList } from '../api/cursor.ts';
import type { Console } from '../web/console.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, Page, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { KIND_TEXTS } from './kinds.ts';
import { AttentionList } from './list.tsx';
import { dismiss, duplicateQuery, findAttention } from './listing.ts';
import { viewAttention } from './view.ts';

const { path: PLACE } = PLACES.attention;
const kindShown = z.enum(ATTENTION_KINDS).default('possible-duplicate');
const pageQuery = duplicateQuery.extend({ kind: kindShown });

export function addAttentionPages(app: Surface, { deps: { config }, access }: Console): void {
  const path = linkTo(config, PLACE);

  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.messages.read');
    const query = readQuery(pageQuery, c.req.query());
    const { dismissed, ...asked } = c.req.query();
    const list = viewList(await findAttention(session.database, session.actor.site, query.kind, query), viewAttention);
    const page = (
      <Page title={KIND_TEXTS[query.kind].title} config={config} session={session} place={PLACE}>
        {dismissed === undefined ? null : <Notice tone="good">Dismissed.</Notice>}
        <AttentionList
          {...{ list, path }}
          kind={query.kind}
          query={asked}
          messagePath={linkTo(config, PLACES.messages.path)}
          mayDismiss={session.actor.permissions.has('site.settings.update')}
        />
      </Page>
    );
    return respond(config, page);
  });

  app.post(`${PLACE}/:id/dismiss`, async (c) => {
    const { actor, database } = await access.page(c, 'site.settings.update');
    const kind = kindShown.catch('possible-duplicate').parse((await readForm(c)).get('kind') ?? undefined);
    await dismiss(database, actor, c.req.param('id'));
    return c.redirect(`${path}?kind=${kind}&dismissed=1`, 303);
  });
}
