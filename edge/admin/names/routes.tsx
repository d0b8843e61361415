/** `/admin/names`: names of messages without a URI, and the form that sets it. */
import type { Context } from 'hono';
import * as z from 'zod';

import type { Fault } from '../../../shared/fault.ts';
import type { Surface } from '../../http/surface.ts';
import { NAME_KINDS } from '../../store/unmapped-name.ts';
import { parse } from '../api/parse.ts';
import { isOfForm, statusOfForm } from '../record/form.tsx';
import type { Visitor } from '../staff/access.ts';
import type { Console } from '../web/console.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { addAliasPages, ALIASES } from './alias-routes.tsx';
import { NamingQuestion } from './confirm.tsx';
import { NameList, type Refused } from './list.tsx';
import { findUnmapped, unmappedQuery } from './listing.ts';
import { giveUri, previewNaming } from './naming.ts';

const { path: PLACE } = PLACES.names;
const naming = z.object({
  kind: z.enum(NAME_KINDS),
  name: z.string(),
  system: z.string().trim(),
  /** The form asks once, with what would be touched. */
  confirmed: z.literal('yes').optional(),
});

export function addNamePages(app: Surface, console: Console): void {
  app.get(PLACE, async (c) => show(console, c, await console.access.page(c, 'site.messages.read')));
  app.post(PLACE, (c) => name(console, c));
  addAliasPages(app, console);
}

async function show(
  { deps: { config } }: Console,
  c: Context,
  session: Visitor,
  failed?: { readonly refused: Refused; readonly fault: Fault },
): Promise<Response> {
  const { named, ...query } = c.req.query();
  const list = await findUnmapped(session.database, session.actor.site, readQuery(unmappedQuery, query));
  const path = linkTo(config, PLACE);
  return respond(
    { title: 'Names without a URI', config, session, place: PLACE, status: statusOfForm(failed?.fault) },
    named === undefined ? null : (
      <Notice tone="good">{named} has its URI from the next message on. Process the earlier messages again.</Notice>
    ),
    failed === undefined ? null : (
      <Notice tone="bad">
        {failed.refused.name} was not named:{' '}
        {failed.fault.issues.map(({ message }) => message).join('; ') || failed.fault.message}
      </Notice>
    ),
    <NameList
      {...{ list, query, path }}
      refused={failed?.refused}
      messagePath={linkTo(config, PLACES.messages.path)}
      aliasPath={linkTo(config, ALIASES)}
      replayPath={
        session.actor.permissions.has('site.messages.replay') ? linkTo(config, PLACES.replays.path) : undefined
      }
      mayName={session.actor.permissions.has('site.settings.update')}
    />,
  );
}

async function name(console: Console, c: Context): Promise<Response> {
  const { config } = console.deps;
  const session = await console.access.page(c, 'site.settings.update');
  const given = parse(naming, Object.fromEntries(await readForm(c)), 'malformed', 'the form');
  try {
    if (given.confirmed === undefined) return await ask(console, session, given);
    await giveUri(session.database, session.actor, given, given.system);
    return c.redirect(`${linkTo(config, PLACE)}?${new URLSearchParams({ named: given.name }).toString()}`, 303);
  } catch (error) {
    if (!isOfForm(error) || !session.actor.permissions.has('site.messages.read')) throw error;
    return show(console, c, session, { refused: given, fault: error });
  }
}

async function ask(
  { deps: { config } }: Console,
  session: Visitor,
  { system, ...named }: z.infer<typeof naming>,
): Promise<Response> {
  const preview = await previewNaming(session.database, session.actor, named, system);
  return respond(
    { title: `A URI for ${named.name}`, config, session, place: PLACE, trail: [PLACES.names] },
    <NamingQuestion
      {...{ named, system, preview }}
      path={linkTo(config, PLACE)}
      messagePath={linkTo(config, PLACES.messages.path)}
    />,
  );
}
