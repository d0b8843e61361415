/** `/admin/subscriptions`: the subscriptions of API keys. */
import { Fault } from '../../../shared/fault.ts';
import type { Surface } from '../../http/surface.ts';
import { type AdminSubscriptionRow, subscribingKeys } from '../../store/admin-subscription.ts';
import { inSite } from '../../store/in-site.ts';
import { viewList } from '../api/cursor.ts';
import { parse } from '../api/parse.ts';
import type { Visitor } from '../staff/access.ts';
import type { Console } from '../web/console.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Notice, Refreshed } from '../web/ui.tsx';
import { SubscriptionList } from './list.tsx';
import { NewSubscription } from './new.tsx';
import type { Notifications } from './notifications.ts';
import { SubscriptionPage } from './page.tsx';
import {
  changeSubscription,
  createSubscription,
  findSubscriptions,
  newSubscription,
  removeSubscription,
  requireSubscription,
  resendBody,
  subscriptionQuery,
  SUBSCRIPTIONS_OFF,
  testSubscription,
} from './subscriptions.ts';
import { viewSubscription } from './view.ts';

const { path: PLACE, permission: PERMISSION } = PLACES.subscriptions;
const CHANGE = 'site.api_keys.update';
const REFRESH_SECONDS = 30;

const DONE: Readonly<Record<string, string>> = {
  pause: 'The subscription is paused.',
  resume: 'The gateway posts the next notification now.',
  resend: 'The events are sent again.',
  delete: 'The subscription is deleted.',
};

const numberOf = (text: string): unknown => (/^\d{1,15}$/.test(text) ? Number(text) : text);

export function addSubscriptionPages(app: Surface, { deps, access }: Console, notifications: Notifications): void {
  const { config } = deps;
  const path = linkTo(config, PLACE);

  app.get(PLACE, async (c) => {
    const session = await access.page(c, PERMISSION);
    const { site, permissions } = session.actor;
    const { done, ...query } = c.req.query();
    const found = await findSubscriptions(session.database, site, readQuery(subscriptionQuery, query));
    const list = viewList(found, (row) => viewSubscription(row, permissions));
    const of = query['clientId'] ?? '';
    return respond(
      { title: 'Subscriptions', config, session, place: PLACE },
      config.FHIR_SUBSCRIPTIONS ? null : <Notice tone="warn">{SUBSCRIPTIONS_OFF}</Notice>,
      DONE[done ?? ''] === undefined ? null : <Notice tone="good">{DONE[done ?? '']}</Notice>,
      <p class="lead">The gateway posts changes of resources to the receivers of API keys.</p>,
      permissions.has(CHANGE) ? (
        <div class="actions">
          <a class="button" href={`${path}/new${of === '' ? '' : `?${new URLSearchParams({ clientId: of })}`}`}>
            New subscription
          </a>
        </div>
      ) : null,
      <Refreshed id="subscriptions" seconds={REFRESH_SECONDS}>
        <SubscriptionList {...{ list, query, path }} />
      </Refreshed>,
    );
  });

  const form = async (session: Visitor, texts: Readonly<Record<string, string>>, fault?: Fault): Promise<Response> => {
    const keys = await inSite(session.database, session.actor.site).run(subscribingKeys(session.actor.site));
    return respond(
      {
        title: 'New subscription',
        config,
        session,
        place: PLACE,
        trail: [PLACES.subscriptions],
        status: fault === undefined ? 200 : 422,
      },
      <NewSubscription {...{ keys, texts, fault, path }} types={notifications.topicTypes()} />,
    );
  };

  app.get(`${PLACE}/new`, async (c) => form(await access.page(c, CHANGE), { clientId: c.req.query('clientId') ?? '' }));

  const show = (
    session: Visitor,
    row: AdminSubscriptionRow,
    more: Pick<Parameters<typeof SubscriptionPage>[0], 'test' | 'secret'> & { readonly done?: string | undefined } = {},
  ): Promise<Response> => {
    const { permissions } = session.actor;
    const subscription = viewSubscription(row, permissions);
    const keyPath = permissions.has(PLACES.keys.permission)
      ? `${linkTo(config, PLACES.keys.path)}/${subscription.clientId}`
      : undefined;
    const { done, ...shown } = more;
    return respond(
      { title: `Changes of ${subscription.type}`, config, session, place: PLACE, trail: [PLACES.subscriptions] },
      DONE[done ?? ''] === undefined ? null : <Notice tone="good">{DONE[done ?? '']}</Notice>,
      <SubscriptionPage
        {...{ subscription, keyPath, ...shown }}
        path={`${path}/${subscription.subscriptionId}`}
        mayChange={permissions.has(CHANGE)}
      />,
    );
  };

  app.post(PLACE, async (c) => {
    const session = await access.page(c, CHANGE);
    const texts: Readonly<Record<string, string>> = Object.fromEntries(await readForm(c));
    const { heartbeatSeconds = '', headers = '', ...rest } = texts;
    try {
      const given = parse(newSubscription, {
        ...rest,
        headers: headers.split('\n').flatMap((line) => line.trim() || []),
        heartbeatSeconds: heartbeatSeconds === '' ? null : numberOf(heartbeatSeconds),
      });
      const { row, secret } = await createSubscription(deps, notifications, session.database, session.actor, given);
      return await show(session, row, { secret });
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
      return form(session, texts, error);
    }
  });

  app.get(`${PLACE}/:id`, async (c) => {
    const session = await access.page(c, PERMISSION);
    const row = await requireSubscription(session.database, session.actor.site, c.req.param('id'));
    return show(session, row, { done: c.req.query('done') });
  });

  for (const change of ['pause', 'resume', 'resend'] as const) {
    app.post(`${PLACE}/:id/${change}`, async (c) => {
      const { actor, database } = await access.page(c, CHANGE);
      const id = c.req.param('id');
      const from =
        change === 'resend' ? parse(resendBody, { from: numberOf((await readForm(c)).get('from') ?? '') }).from : null;
      await changeSubscription(deps, database, actor, id, change, from);
      return c.redirect(`${path}/${id}?done=${change}`, 303);
    });
  }

  app.post(`${PLACE}/:id/test`, async (c) => {
    const session = await access.page(c, CHANGE);
    const { actor, database } = session;
    const id = c.req.param('id');
    const test = await testSubscription(deps, notifications, database, actor, id);
    return show(session, await requireSubscription(database, actor.site, id), { test });
  });

  app.post(`${PLACE}/:id/delete`, async (c) => {
    const { actor, database } = await access.page(c, CHANGE);
    await removeSubscription(database, actor, c.req.param('id'));
    return c.redirect(`${path}?done=delete`, 303);
  });
}
