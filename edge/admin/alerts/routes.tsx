/** `/admin/alerts`: the alerts, and the webhook with its secret. */
import type { Context } from 'hono';

import type { Config } from '../../config.ts';
import type { Surface } from '../../http/surface.ts';
import type { Permission } from '../../permissions.ts';
import { viewList } from '../api/cursor.ts';
import { parse } from '../api/parse.ts';
import type { Visitor } from '../staff/access.ts';
import type { Console } from '../web/console.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Copyable, Fact, Notice } from '../web/ui.tsx';
import { AlertList } from './list.tsx';
import {
  acknowledge,
  alertQuery,
  type AlertView,
  findAlerts,
  silence,
  silenceBody,
  testWebhook,
  unsilence,
  viewAlert,
  webhook,
} from './listing.ts';

const { path: PLACE } = PLACES.alerts;

/** An error rate counts half an hour. */
const COUNTED_MS = 30 * 60_000;

interface Counted {
  readonly href: string;
  readonly title: string;
}

/** Links to the page with what an alert counts; undefined without the permission. */
function countedAt(
  config: Config,
  permissions: ReadonlySet<Permission>,
  { kind, subject, firingSince, resolvedAt }: AlertView,
): Counted | undefined {
  const to = (place: keyof typeof PLACES, title: string, query: Record<string, string> = {}): Counted | undefined => {
    const { path, permission } = PLACES[place];
    const search = new URLSearchParams(query).toString();
    return permissions.has(permission)
      ? { href: `${linkTo(config, path)}${search === '' ? '' : `?${search}`}`, title }
      : undefined;
  };
  const from = new Date(Date.parse(firingSince) - COUNTED_MS).toISOString();
  const time = { range: '', from, ...(resolvedAt === null ? {} : { to: resolvedAt }) };
  switch (kind) {
    case 'feed-silent':
      return to('messages', 'Its messages', { clientId: subject });
    case 'error-rate':
      return to('requests', 'These requests', { surface: subject, ...time });
    case 'jwks-uri-failing':
      return to('requests', 'These requests', { clientId: subject, code: 'jwks_uri', ...time });
    case 'replay-needed':
      return to('messages', 'Messages with errors', { outcome: 'errors', from });
    case 'messages-ignored':
      return to('messages', 'Ignored messages', { clientId: subject, reason: 'rule-ignored' });
    case 'sidecar-silent':
    case 'provider-away':
      return to('health', 'Health');
    case 'changes-stalled':
      return to('subscriptions', 'Subscriptions');
    case 'subscription-failing':
      return to('subscriptions', 'Its subscriptions', { clientId: subject });
    case 'signing-key-old':
      return to('signingKeys', 'Signing keys');
  }
}

export function addAlertPages(app: Surface, { deps, access }: Console): void {
  const { config } = deps;
  const path = linkTo(config, PLACE);

  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.endpoints.read');
    const { done, ...asked } = c.req.query();
    const query = readQuery(alertQuery, asked);
    const { site, permissions } = session.actor;
    const list = viewList(await findAlerts(session.database, site, query), viewAlert);
    return respond(
      { title: 'Alerts', config, session, place: PLACE },
      done === undefined ? null : <Notice tone="good">Saved.</Notice>,
      <p class="lead">
        Checked once a minute. Set the webhook under Settings, and when a silent feed is an alert with its API key.
      </p>,
      <AlertList
        {...{ list, path }}
        state={query.state}
        query={asked}
        keysPath={linkTo(config, PLACES.keys.path)}
        countedAt={(alert) => countedAt(config, permissions, alert)}
        mayAct={permissions.has('site.alerts.update')}
      />,
      permissions.has('site.settings.update') ? (
        <p>
          <a href={`${path}/webhook`}>Webhook: signature and test</a>
        </p>
      ) : null,
    );
  });

  const showWebhook = async (
    session: Visitor,
    test?: { readonly isDelivered: boolean; readonly answer: string },
  ): Promise<Response> => {
    const { url, secret } = await webhook(config, session.database, session.actor.site);
    return respond(
      { title: 'Webhook of alerts', config, session, place: PLACE, trail: [PLACES.alerts] },
      test === undefined ? null : test.isDelivered ? (
        <Notice tone="good">The receiver accepted the test ({test.answer}).</Notice>
      ) : (
        <Notice tone="bad">
          The receiver did not accept the test: {test.answer}. The gateway expects an answer 2xx within 5 s.
        </Notice>
      ),
      <p class="lead">
        Each notice has the headers webhook-id, webhook-timestamp and webhook-signature of Standard Webhooks. A notice
        may arrive twice, with the same webhook-id.
      </p>,
      <dl class="facts">
        <Fact name="Address">{url === null ? 'none: set it under Settings' : <code>{url}</code>}</Fact>
        <Fact name="Secret">
          <Copyable text={secret} label="the secret" />
        </Fact>
      </dl>,
      url === null ? null : (
        <form class="actions" method="post" action={`${path}/webhook/test`}>
          <button class="secondary">Send a test</button>
          <span class="quiet">Posts one signed notice of type alert.test.</span>
        </form>
      ),
    );
  };

  app.get(`${PLACE}/webhook`, async (c) => showWebhook(await access.page(c, 'site.settings.update')));

  app.post(`${PLACE}/webhook/test`, async (c) => {
    const session = await access.page(c, 'site.settings.update');
    return showWebhook(session, await testWebhook(deps, session.database, session.actor));
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
