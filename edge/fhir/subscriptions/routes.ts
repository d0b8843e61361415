/** The routes of Subscriptions, with FHIR_SUBSCRIPTIONS=on. */
import type { Handler } from 'hono';

import { Fault } from '../../../shared/fault.ts';
import type { GatewayEnv, Surface } from '../../http/surface.ts';
import type { Serve } from '../serve.ts';
import { ID_SEGMENT } from '../unsupported-address.ts';
import {
  prepareCreate,
  prepareDelete,
  prepareEvents,
  prepareList,
  prepareRead,
  prepareStatus,
  prepareUpdate,
} from './interactions.ts';

const LIST = '/fhir/Subscription';
const ONE = `${LIST}/:id{${ID_SEGMENT}}`;
/** The router reads a plain $ as an anchor. */
const STATUS = `${ONE}/:operation{\\$status}`;
const EVENTS = `${ONE}/:operation{\\$events}`;

export function addSubscriptions(app: Surface, serve: Serve, notAllowed: (allow: string) => Handler<GatewayEnv>): void {
  app.get(LIST, (c) => serve(c, prepareList));
  app.post(LIST, (c) => serve(c, prepareCreate));
  app.all(LIST, notAllowed('GET, HEAD, POST'));
  app.get(ONE, (c) => serve(c, prepareRead));
  app.put(ONE, (c) => serve(c, prepareUpdate));
  app.delete(ONE, (c) => serve(c, prepareDelete));
  app.all(ONE, notAllowed('GET, HEAD, PUT, DELETE'));
  for (const [path, prepare] of [
    [STATUS, prepareStatus],
    [EVENTS, prepareEvents],
  ] as const) {
    app.get(path, (c) => serve(c, prepare));
    app.post(path, (c) => serve(c, prepare));
    app.all(path, notAllowed('GET, HEAD, POST'));
  }
}

/** Without FHIR_SUBSCRIPTIONS=on. */
export function refuseSubscriptions(app: Surface): void {
  app.all(`${LIST}/*`, () => {
    const message = 'Subscription is off at this gateway: its operator can set FHIR_SUBSCRIPTIONS=on';
    throw new Fault('not-found', message, { code: 'not-supported' });
  });
}
