/** `/admin/names/aliases`: what messages say that namespaces stand for, and deciding it. */
import type { Surface } from '../../http/surface.ts';
import { parse } from '../api/parse.ts';
import type { Console } from '../web/console.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { AliasList } from './alias-list.tsx';
import { aliasDecision, aliasQuery, decide, findAliases } from './aliases.ts';

const { path: PLACE } = PLACES.names;
export const ALIASES = `${PLACE}/aliases`;

export function addAliasPages(app: Surface, { deps: { config }, access }: Console): void {
  const path = linkTo(config, ALIASES);

  app.get(ALIASES, async (c) => {
    const session = await access.page(c, 'site.messages.read');
    const { decided, ...query } = c.req.query();
    const list = await findAliases(session.database, session.actor.site, readQuery(aliasQuery, query));
    return respond(
      { title: 'URIs of namespaces', config, session, place: PLACE, trail: [PLACES.names] },
      decided === undefined ? null : <Notice tone="good">Decided. It applies from the next message on.</Notice>,
      <AliasList
        {...{ list, query, path }}
        namesPath={linkTo(config, PLACE)}
        messagePath={linkTo(config, PLACES.messages.path)}
        mayDecide={session.actor.permissions.has('site.settings.update')}
      />,
    );
  });

  app.post(ALIASES, async (c) => {
    const { actor, database } = await access.page(c, 'site.settings.update');
    const given = parse(aliasDecision, Object.fromEntries(await readForm(c)), 'malformed', 'the form');
    await decide(database, actor, given);
    return c.redirect(`${path}?decided=1`, 303);
  });
}
