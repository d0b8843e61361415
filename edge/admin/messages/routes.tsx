/** `/admin/messages`: the log of HL7 messages, one of them, and replay. */
import { z } from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Surface } from '../../http/surface.ts';
import { parse } from '../api/parse.ts';
import { findMessages, messageQuery } from './listing.ts';
import { findMessage, replayComment } from './operations.ts';
import type { Console } from '../web/console.ts';
import { authorOf, requirePermission } from '../staff/permissions.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, Page, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { instantMeant } from '../web/wall-clock.ts';
import { MessageList } from './list.tsx';
import { MessagePage } from './page.tsx';
import { ReplayPage } from './replay.tsx';
import { Notice } from '../web/ui.tsx';

const { path: PLACE } = PLACES.messages;
const replayForm = z.object({ comment: replayComment });

export function addMessagePages(app: Surface, { deps, workbench, access }: Console): void {
  const { config } = deps;
  const path = linkTo(config, PLACE);

  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.messages.read');
    const query = c.req.query();
    const { timeZone } = session;
    const asked = { ...query, from: instantMeant(query['from'], timeZone), to: instantMeant(query['to'], timeZone) };
    const list = await findMessages(session, readQuery(messageQuery, asked));
    const page = (
      <Page title="Messages" config={config} session={session} place={PLACE}>
        <MessageList {...{ list, query, path }} />
      </Page>
    );
    return respond(config, page);
  });

  app.get(`${PLACE}/:id`, async (c) => {
    const session = await access.page(c, 'site.messages.read');
    const message = await findMessage(session.database, session.actor.site, c.req.param('id'));
    const page = (
      <Page title={`Message ${message.controlId}`} config={config} session={session} place={PLACE}>
        {c.req.query('replayed') === undefined ? null : (
          <Notice tone="good">The message was replayed. What is shown is its new outcome.</Notice>
        )}
        <MessagePage
          {...{ message, path }}
          keyPath={linkTo(config, PLACES.keys.path)}
          mayReplay={session.actor.permissions.has('site.messages.replay')}
        />
      </Page>
    );
    return respond(config, page);
  });

  app.get(`${PLACE}/:id/replay`, async (c) => {
    const session = await access.page(c, 'site.messages.replay');
    const id = messageId(c.req.param('id'));
    requirePermission(session.actor, 'site.messages.read');
    const preview = await workbench.previewReplay(session.database, session.actor.site, id, c.get('requestId'));
    const page = (
      <Page title="What a replay would change" config={config} session={session} place={PLACE}>
        <ReplayPage preview={preview} path={`${path}/${id}`} />
      </Page>
    );
    return respond(config, page);
  });

  app.post(`${PLACE}/:id/replay`, async (c) => {
    const session = await access.page(c, 'site.messages.replay');
    const id = messageId(c.req.param('id'));
    const form = await readForm(c);
    const isForced = form.get('apply') === 'everything';
    const { comment } = parse(replayForm, { comment: form.get('comment') ?? '' }, 'malformed', 'the form');
    const asked = { author: authorOf(session.actor), comment, by: session.asker, isForced };
    await workbench.replay(session.database, session.actor.site, id, asked, c.get('requestId'));
    return c.redirect(`${path}/${id}?replayed=1`, 303);
  });
}

/** @throws Fault `not-found` for what is none */
function messageId(id: string): string {
  if (!isUuid(id)) throw new Fault('not-found', 'no such message');
  return id;
}
