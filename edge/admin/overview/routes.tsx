/** `/admin`: the overview, and where one comes after signing out. */
import { inSite } from '../../store/in-site.ts';
import { sidecarsSeen } from '../../store/sidecar.ts';
import { summariseSite } from '../../store/site.ts';
import { usageOf, type UsageSpan } from '../../store/usage.ts';
import type { Surface } from '../../http/surface.ts';
import { toCharts } from './charts.ts';
import { endpointsOf } from './endpoints.ts';
import type { Console } from '../web/console.ts';
import { linkTo, Page, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Overview } from './page.tsx';

export function addOverview(app: Surface, { deps, access }: Console): void {
  const { config } = deps;

  app.get('/admin', async (c) => {
    const session = await access.page(c);
    const { site, permissions } = session.actor;
    if (!permissions.has('site.endpoints.read')) {
      const page = (
        <Page title="Overview" config={config} session={session}>
          <p>
            {permissions.size === 0
              ? 'Your account has no permission here yet: ask whoever manages your OpenID provider.'
              : 'Choose above what you want to do.'}
          </p>
        </Page>
      );
      return respond(config, page);
    }
    const span: UsageSpan = c.req.query('span') === '30d' ? '30d' : '24h';
    const now = deps.now();
    const [[summary], usage, sidecars] = await inSite(session.database, site).batch([
      summariseSite(site),
      usageOf(site, span, now),
      sidecarsSeen(),
    ]);
    const page = (
      <Page
        title="Overview"
        config={config}
        session={session}
        place={PLACES.overview.path}
        scripts={['uplot.js']}
        styles={['uplot.css']}
      >
        <Overview
          endpoints={endpointsOf(config)}
          summary={summary ?? { active_keys: 0, disabled_keys: 0, messages_today: 0, refusals_today: 0 }}
          charts={toCharts(usage, span, now)}
          sidecars={sidecars}
          path={linkTo(config, '/admin')}
        />
      </Page>
    );
    return respond(config, page);
  });

  app.get('/admin/signed-out', () => {
    const page = (
      <Page title="You are signed out" config={config}>
        <p>
          <a class="button" href={linkTo(config, '/admin')}>
            Sign in again
          </a>
        </p>
      </Page>
    );
    return respond(config, page);
  });
}
