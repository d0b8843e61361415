/** `/admin/replays`: replays of many messages. */
import * as z from 'zod';

import type { Surface } from '../../http/surface.ts';
import { inSite } from '../../store/in-site.ts';
import { replaysOf } from '../../store/hl7-replay.ts';
import { sendingKeys } from '../../store/message-search.ts';
import { isBackwards } from '../api/instant.ts';
import type { MessageReplay } from '../messages/message-replay.ts';
import { replayComment } from '../messages/operations.ts';
import { requirePermission } from '../staff/actor.ts';
import type { Console } from '../web/console.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { readInstant } from '../web/wall-clock.ts';
import { countReplay, endReplay, replayFilter, sampleReplay, startReplay, viewReplay } from './operations.ts';
import { ReplaysPage } from './page.tsx';

const { path: PLACE } = PLACES.replays;
const replayForm = z.object({ comment: replayComment });

/** The filter of the form, as the JSON API has it. */
const filterOf = (given: Readonly<Record<string, string>>, timeZone: string) =>
  readQuery(replayFilter, {
    ...given,
    from: readInstant(given['from'], timeZone),
    to: readInstant(given['to'], timeZone),
  });

export function addReplayPages(app: Surface, { deps, access }: Console, previews: MessageReplay): void {
  const { config } = deps;
  const path = linkTo(config, PLACE);

  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.messages.replay');
    const { actor, database } = session;
    const { site } = actor;
    const query = c.req.query();
    const asked = query['count'] === undefined ? undefined : filterOf(query, session.timeZone);
    const filter = asked !== undefined && isBackwards(asked) ? undefined : asked;
    const count = filter && (await countReplay(database, site, filter));
    const isPreviewing = query['count'] === 'preview';
    if (isPreviewing) requirePermission(actor, 'site.messages.read');
    const samples =
      isPreviewing && filter ? await sampleReplay(previews, database, site, filter, c.get('requestId')) : undefined;
    const [replays, keys] = await inSite(database, site).batch([replaysOf(site, null), sendingKeys(site)] as const);
    const messagePath = actor.permissions.has(PLACES.messages.permission)
      ? linkTo(config, PLACES.messages.path)
      : undefined;
    return respond(
      { title: 'Replays', config, session, place: PLACE },
      <ReplaysPage
        {...{ query, path, count, samples, keys, messagePath }}
        isBackwards={filter !== asked}
        replays={replays.map(viewReplay)}
      />,
    );
  });

  app.post(PLACE, async (c) => {
    const session = await access.page(c, 'site.messages.replay');
    const given = Object.fromEntries(await readForm(c));
    const { comment } = readQuery(replayForm, given);
    await startReplay(session.database, session.actor, filterOf(given, session.timeZone), comment);
    return c.redirect(path, 303);
  });

  for (const change of ['stop', 'resume'] as const) {
    app.post(`${PLACE}/:id/${change}`, async (c) => {
      const session = await access.page(c, 'site.messages.replay');
      await endReplay(session.database, session.actor.site, c.req.param('id'), change);
      return c.redirect(path, 303);
    });
  }
}
