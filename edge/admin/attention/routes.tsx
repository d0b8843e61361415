/** `/admin/attention`: the issues that a person must decide. */
import type { Context } from 'hono';

import type { Surface } from '../../http/surface.ts';
import { viewList } from '../api/cursor.ts';
import { parse } from '../api/parse.ts';
import { ALIASES } from '../names/alias-routes.tsx';
import type { Visitor } from '../staff/access.ts';
import type { Console } from '../web/console.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { AttentionList } from './list.tsx';
import { attentionQuery, dismiss, dismissBody, findAttention, reopen } from './listing.ts';
import { viewAttention } from './view.ts';

const { path: PLACE, title: TITLE } = PLACES.attention;

const DONE = { dismissed: 'Dismissed.', reopened: 'The dismissal was undone.' } as const;

export function addAttentionPages(app: Surface, { deps: { config, now }, access }: Console): void {
  const path = linkTo(config, PLACE);

  app.get(PLACE, async (c) => {
    const { done, ...query } = c.req.query();
    const session = await access.page(c, 'site.messages.read');
    const { site, permissions } = session.actor;
    const { list, counts } = await findAttention(session.database, site, readQuery(attentionQuery, query));
    const at = new Date(now()).toISOString();
    return respond(
      { title: TITLE, config, session, place: PLACE },
      done === 'dismissed' || done === 'reopened' ? <Notice tone="good">{DONE[done]}</Notice> : null,
      <AttentionList
        {...{ counts, path, query }}
        list={viewList(list, (row) => viewAttention(row, at))}
        messagePath={linkTo(config, PLACES.messages.path)}
        aliasPath={linkTo(config, ALIASES)}
        mayDismiss={permissions.has('site.settings.update')}
        mayReplay={permissions.has('site.messages.replay')}
      />,
    );
  });

  const acting = (
    action: string,
    done: keyof typeof DONE,
    act: (c: Context, visitor: Visitor, id: string) => Promise<unknown>,
  ) => {
    app.post(`${PLACE}/:id/${action}`, async (c) => {
      await act(c, await access.page(c, 'site.settings.update'), c.req.param('id'));
      return c.redirect(`${path}?done=${done}`, 303);
    });
  };
  acting('dismiss', 'dismissed', async (c, { actor, database }, id) => {
    const given = parse(dismissBody, Object.fromEntries(await readForm(c)), 'malformed', 'the form');
    return dismiss(database, actor, id, given);
  });
  acting('reopen', 'reopened', (_, { actor, database }, id) => reopen(database, actor, id));
}
