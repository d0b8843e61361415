/** `/admin/keys`: lists, creates, shows and changes API keys. */
import type { Context } from 'hono';

import type { Surface } from '../../http/surface.ts';
import { readQuery } from '../web/form.ts';
import type { Console } from '../web/console.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { changeForm, create, change, newForm } from './edit.tsx';
import { handoverFile, handoverPage } from './handover-page.tsx';
import { KeyList } from './list.tsx';
import { findKeys, keyQuery } from './listing.ts';
import { createLinkPage, linksPage, revokeLinkPage } from './links-page.tsx';
import { show } from './show.tsx';
import { statusForm, switchStatus } from './status.tsx';

const { path: PLACE } = PLACES.keys;

export function addKeyPages(app: Surface, console: Console): void {
  app.get(PLACE, (c) => list(console, c));
  app.post(PLACE, (c) => create(console, c));
  app.get(`${PLACE}/new`, (c) => newForm(console, c));
  app.get(`${PLACE}/:clientId`, (c) => show(console, c, c.req.param('clientId')));
  app.post(`${PLACE}/:clientId`, (c) => change(console, c, c.req.param('clientId')));
  app.get(`${PLACE}/:clientId/edit`, (c) => changeForm(console, c, c.req.param('clientId')));
  app.get(`${PLACE}/:clientId/handover`, (c) => handoverPage(console, c, c.req.param('clientId')));
  app.get(`${PLACE}/:clientId/handover/markdown`, (c) => handoverFile(console, c, c.req.param('clientId')));
  app.get(`${PLACE}/:clientId/links`, (c) => linksPage(console, c, c.req.param('clientId')));
  app.post(`${PLACE}/:clientId/links`, (c) => createLinkPage(console, c, c.req.param('clientId')));
  app.post(`${PLACE}/:clientId/links/:linkId/revoke`, (c) =>
    revokeLinkPage(console, c, c.req.param('clientId'), c.req.param('linkId')),
  );
  app.get(`${PLACE}/:clientId/status`, (c) => statusForm(console, c, c.req.param('clientId')));
  app.post(`${PLACE}/:clientId/status`, (c) => switchStatus(console, c, c.req.param('clientId')));
}

async function list({ deps: { config }, access }: Console, c: Context): Promise<Response> {
  const session = await access.page(c, 'site.api_keys.read');
  const found = await findKeys(session.database, session.actor.site, readQuery(keyQuery, c.req.query()));
  const mayCreate = session.actor.permissions.has('site.api_keys.create');
  return respond(
    { title: 'API keys', config, session, place: PLACE },
    <KeyList list={found} query={c.req.query()} path={linkTo(config, PLACE)} {...{ mayCreate }} />,
  );
}
