/** Loads and shows the page of one API key. */
import type { Context } from 'hono';

import { viewCheckList } from '../../check-list.ts';
import { checkListOf } from '../../store/check-list.ts';
import { inSite } from '../../store/in-site.ts';
import { changesOf } from '../../store/admin-key.ts';
import { ANY_REFUSAL, findRefusals } from '../../store/admin-refusal.ts';
import { keyActivity, kidsOf } from '../../store/key-activity.ts';
import type { Console } from '../web/console.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { examplesFor } from './examples.ts';
import { noSuchKey } from './keys.ts';
import { inspectStored } from './stored-keys.ts';
import { KeyPage, sendsHl7 } from './page.tsx';
import { readKey } from './statements.ts';

const RECENT_REFUSALS = 5;
const RECENT_CHANGES = 50;

const SAVED: Readonly<Record<string, string>> = {
  created: 'The API key is created. Give its Client ID to the integrator.',
  changed: 'The change is saved.',
  active: 'The API key is enabled.',
  disabled: 'The API key is disabled. It gets no tokens, and its current tokens are rejected.',
};

export async function show({ deps, access }: Console, c: Context, clientId: string): Promise<Response> {
  const { config } = deps;
  const session = await access.page(c, 'site.api_keys.read');
  const { site, permissions } = session.actor;
  const [[key], refusals, changes, activity, kids, [seen]] = await inSite(session.database, site).batch([
    readKey(site, clientId),
    findRefusals(site, { ...ANY_REFUSAL, clientId }, null, RECENT_REFUSALS),
    changesOf(site, clientId, null, RECENT_CHANGES),
    keyActivity(site, clientId),
    kidsOf(site, clientId),
    checkListOf(site, clientId),
  ]);
  if (key === undefined) throw noSuchKey();
  const { findings, problems } = await inspectStored(deps, key, c.req.query('check') === '1');
  const saved = SAVED[c.req.query('saved') ?? ''];
  return respond(
    { title: key.name, config, session, place: PLACES.keys.path, trail: [PLACES.keys] },
    saved === undefined ? null : <Notice tone="good">{saved}</Notice>,
    <KeyPage
      keyRow={key}
      path={`${linkTo(config, PLACES.keys.path)}/${clientId}`}
      refusalsPath={linkTo(config, `${PLACES.requests.path}?clientId=${clientId}&range=`)}
      subscriptionsPath={
        key.subscription_hosts.length > 0 && permissions.has(PLACES.subscriptions.permission)
          ? linkTo(config, `${PLACES.subscriptions.path}?clientId=${clientId}`)
          : undefined
      }
      rulesPath={
        sendsHl7(key) && permissions.has('site.rules.read')
          ? `${linkTo(config, PLACES.keys.path)}/${clientId}/rules`
          : undefined
      }
      {...{ config, findings, problems, refusals, changes, activity, kids }}
      checkList={viewCheckList(seen)}
      nowMs={deps.now()}
      examples={examplesFor(key, findings?.keys ?? [], config)}
      may={{
        create: permissions.has('site.api_keys.create'),
        update: permissions.has('site.api_keys.update'),
        disable: permissions.has('site.api_keys.disable'),
      }}
    />,
  );
}
