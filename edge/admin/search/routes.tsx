/** `/admin/search`: the search box of every page. */
import type { Surface } from '../../http/surface.ts';
import { requirePermission } from '../staff/actor.ts';
import { parse } from '../api/parse.ts';
import type { Console } from '../web/console.ts';
import { readForm } from '../web/form.ts';
import { linkTo, respond, SEARCH_PATH } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { findAnything, SEARCH_PERMISSIONS, searchBody } from './find.ts';
import { SearchPage } from './page.tsx';

export function addSearch(app: Surface, { deps: { config }, access, queries }: Console): void {
  const path = linkTo(config, SEARCH_PATH);

  app.post(SEARCH_PATH, async (c) => {
    const { actor } = await access.page(c);
    requirePermission(actor, SEARCH_PERMISSIONS);
    const { text } = parse(searchBody, { text: (await readForm(c)).get('text') ?? '' }, 'malformed', 'the search');
    return c.redirect(await queries.addressOf(actor, path, { text }, ['text']), 303);
  });

  app.get(SEARCH_PATH, async (c) => {
    const session = await access.page(c);
    const { actor } = session;
    requirePermission(actor, SEARCH_PERMISSIONS);
    const address = c.req.query();
    if (address['text'] !== undefined) return c.redirect(await queries.addressOf(actor, path, address, ['text']), 303);
    const { text: typed = '' } = await queries.open(actor, address);
    if (typed === '') return c.redirect(linkTo(config, '/admin'), 303);
    const { text } = parse(searchBody, { text: typed }, 'malformed', 'the search');
    const found = await findAnything(session, text);
    const messages = linkTo(config, PLACES.messages.path);
    const links = {
      patientMessages: await queries.addressOf(actor, messages, { patient: text }, ['patient']),
      messages: await queries.addressOf(actor, messages, { q: text }, ['q']),
      audit: actor.permissions.has('site.audit.read') ? linkTo(config, PLACES.audit.path) : undefined,
    };
    return respond(
      { title: 'Search', config, session, searched: text },
      <SearchPage {...{ text, found, actor, links, config }} />,
    );
  });
}
