/** `/admin/keys/{clientId}/rules/trial`: a trial of the draft of a key's rules. */
import type { Surface } from '../../http/surface.ts';
import { parse } from '../api/parse.ts';
import type { Console } from '../web/console.ts';
import { readForm } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { findTrial, startTrial, stopTrial, trialBody } from './trial.ts';
import { TrialPage } from './trial-page.tsx';

const { path: PLACE } = PLACES.keys;
const OF_KEY = `${PLACE}/:clientId/rules/trial` as const;

export function addTrialPages(app: Surface, { deps, access }: Console): void {
  const { config } = deps;
  const pathOf = (clientId: string): string => `${linkTo(config, PLACE)}/${clientId}/rules/trial`;

  app.get(OF_KEY, async (c) => {
    const session = await access.page(c, 'site.rules.read');
    const { actor, database } = session;
    const clientId = c.req.param('clientId');
    const trial = await findTrial(database, actor.site, clientId);
    const messagePath = actor.permissions.has('site.messages.replay')
      ? linkTo(config, PLACES.messages.path)
      : undefined;
    const trail = [PLACES.keys, { title: 'Rules', path: `${PLACE}/${clientId}/rules` }];
    return respond(
      { title: 'Trial of the draft', config, session, place: PLACE, trail },
      <TrialPage
        {...{ trial, messagePath }}
        path={pathOf(clientId)}
        mayChange={actor.permissions.has('site.rules.write')}
      />,
    );
  });

  app.post(OF_KEY, async (c) => {
    const session = await access.page(c, 'site.rules.write');
    const clientId = c.req.param('clientId');
    const messages = Number((await readForm(c)).get('messages'));
    const asked = parse(trialBody, { messages }, 'malformed', 'the form');
    await startTrial(session.database, session.actor, clientId, asked);
    return c.redirect(pathOf(clientId), 303);
  });

  app.post(`${OF_KEY}/stop`, async (c) => {
    const session = await access.page(c, 'site.rules.write');
    const clientId = c.req.param('clientId');
    await stopTrial(session.database, session.actor, clientId);
    return c.redirect(pathOf(clientId), 303);
  });
}
