/** `/admin/signed-out`: the page after signing out. */
import type { Config } from '../../config.ts';
import type { Surface } from '../../http/surface.ts';
import { linkTo, Page, respond } from '../web/layout.tsx';

export function addSignedOut(app: Surface, config: Config): void {
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
