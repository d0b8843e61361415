/** `/admin/traffic`: usage as charts or as a table. */
import type { Context } from 'hono';

import { inSite } from '../../store/in-site.ts';
import type { Surface } from '../../http/surface.ts';
import type { Visitor } from '../staff/access.ts';
import type { Console } from '../web/console.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { askTraffic } from './asked.ts';
import { linksOf } from './links.ts';
import { TrafficPage } from './page.tsx';
import { type Span, SPAN_NAMES } from './span.ts';
import { TrafficTable } from './table.tsx';

const { path: PLACE } = PLACES.traffic;

const spanOf = (asked: string | undefined): Span => SPAN_NAMES.find((name) => name === asked) ?? '24h';

export function addTraffic(app: Surface, { deps, access }: Console): void {
  const { config } = deps;

  app.get(PLACE, async (c) => show(c, await access.page(c, 'site.endpoints.read')));

  async function show(c: Context, session: Visitor): Promise<Response> {
    const { site, permissions } = session.actor;
    const span = spanOf(c.req.query('span'));
    const isTable = c.req.query('as') === 'table';
    const { queries, made } = askTraffic(site, span, deps.now(), session.timeZone);
    const [rows, compared, keys] = await inSite(session.database, site).batch(queries);
    const shown = { traffic: made(rows, compared), path: linkTo(config, PLACE), links: linksOf(config, permissions) };
    return respond(
      {
        title: 'Traffic',
        config,
        session,
        place: PLACE,
        ...(isTable ? {} : { scripts: ['uplot.js', 'traffic.js'], styles: ['uplot.css'] }),
      },
      isTable ? <TrafficTable {...shown} /> : <TrafficPage {...shown} {...{ keys }} timeZone={session.timeZone} />,
    );
  }
}
