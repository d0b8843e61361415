/** `/admin/site`: staff with several sites choose the site of their session. */
import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Surface } from '../../http/surface.ts';
import { moveSession, sitesOfSession } from '../../store/console-session.ts';
import type { AdminDeps } from '../web/console.ts';
import { readForm } from '../web/form.ts';
import { CHOOSE_SITE_PATH, linkTo, respond } from '../web/layout.tsx';
import type { Access } from '../staff/access.ts';
import { knownPermissions } from '../../permissions.ts';
import { identityOf, type Sessions } from '../staff/session.ts';

export function addSiteChoice(app: Surface, { config }: AdminDeps, sessions: Sessions, access: Access): void {
  app.get(CHOOSE_SITE_PATH, async (c) => {
    const session = await access.page(c);
    const sites = await session.database.run(sitesOfSession(identityOf(session)));
    return respond(
      { title: 'Which site?', config, session },
      <p>You see one site at a time. Your OpenID provider sets your permissions for each site.</p>,
      <form method="post" action={linkTo(config, CHOOSE_SITE_PATH)} class="choices">
        {sites.map(({ site_id: site, name }) => (
          <p>
            <button name="site" value={site} class={site === session.actor.site ? '' : 'secondary'}>
              {name}
            </button>
            {site === session.actor.site ? ' (current site)' : null}
          </p>
        ))}
      </form>,
    );
  });

  app.post(CHOOSE_SITE_PATH, async (c) => {
    const session = await access.page(c);
    const site = (await readForm(c)).get('site') ?? '';
    if (!isUuid(site)) throw new Fault('malformed', 'site is missing: choose a site');
    const [moved] = await session.database.run(moveSession(identityOf(session), site, c.get('requestId')));
    if (moved === undefined)
      throw new Fault('forbidden', 'you do not have access to this site. If that is new, sign in again');
    const actor = { ...session.actor, site, permissions: knownPermissions(moved.permissions) };
    await sessions.keep(c, { ...session, actor, siteName: moved.site_name, timeZone: moved.time_zone });
    return c.redirect(linkTo(config, '/admin'), 303);
  });
}
