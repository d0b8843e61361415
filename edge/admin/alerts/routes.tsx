/** `/admin/alerts`: the alerts, and the webhook with its secret. */
import type { Context } from 'hono';

import type { Surface } from '../../http/surface.ts';
import { viewList } from '../api/cursor.ts';
import { parse } from '../api/parse.ts';
import type { Visitor } from '../staff/access.ts';
import type { Console } from '../web/console.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, Page, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Copyable, Fact, Notice } from '../web/ui.tsx';
import { AlertList } from './list.tsx';
import { acknowledge, alertQuery, findAlerts, silence, silenceBody, unsilence, viewAlert, webhook } from './listing.ts';

const { path: PLACE } = PLACES.alerts;

export function addAlertPages(app: Surface, { deps: { config }, access }: Console): void {
  const path = linkTo(config, PLACE);

  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.endpoints.read');
    const { done, ...asked } = c.req.query();
    const query = readQuery(alertQuery, asked);
    const { site, permissions } = session.actor;
    const list = viewList(await findAlerts(session.database, site, query), viewAlert);
    const page = (
      <Page title="Alerts" config={config} session={session} place={PLACE}>
        {done === undefined ? null : <Notice tone="good">Saved.</Notice>}
        <p class="lead">
          Checked once a minute. Set the webhook under Settings, and when a silent feed is an alert with its API key.
        </p>
        <AlertList
          {...{ list, path }}
          state={query.state}
          query={asked}
          keysPath={linkTo(config, PLACES.keys.path)}
          mayAct={permissions.has('site.alerts.update')}
        />
        {permissions.has('site.settings.update') ? (
          <p>
            <a href={`${path}/webhook`}>How a receiver checks the signature</a>
          </p>
        ) : null}
      </Page>
    );
    return respond(config, page);
  });

  app.get(`${PLACE}/webhook`, async (c) => {
    const session = await access.page(c, 'site.settings.update');
    const { url, secret } = await webhook(config, session.database, session.actor.site);
    const page = (
      <Page title="Webhook of alerts" config={config} session={session} place={PLACE} trail={[PLACES.alerts]}>
        <p class="lead">
          Each notice has the headers webhook-id, webhook-timestamp and webhook-signature of Standard Webhooks. A notice
          may arrive twice, with the same webhook-id.
        </p>
        <dl class="facts">
          <Fact name="Address">{url === null ? 'none: set it under Settings' : <code>{url}</code>}</Fact>
          <Fact name="Secret">
            <Copyable text={secret} label="the secret" />
          </Fact>
        </dl>
      </Page>
    );
    return respond(config, page);
  });

  const acting = (action: string, act: (c: Context, visitor: Visitor, id: string) => Promise<unknown>): void => {
    app.post(`${PLACE}/:id/${action}`, async (c) => {
      await act(c, await access.page(c, 'site.alerts.update'), c.req.param('id'));
      return c.redirect(`${path}?done=1`, 303);
    });
  };
  acting('acknowledge', (_, { actor, database }, id) => acknowledge(database, actor, id));
  acting('unsilence', (_, { actor, database }, id) => unsilence(database, actor, id));
  acting('silence', async (c, { actor, database }, id) => {
    const given = (await readForm(c)).get('minutes') ?? '';
    const { minutes } = parse(silenceBody, { minutes: given === '' ? null : Number(given) });
    return silence(database, actor, id, minutes);
  });
}
