/** `/admin/signed-out`: the page after signing out. */
import type { Config } from '../../config.ts';
import type { Surface } from '../../http/surface.ts';
import { linkTo, respond } from '../web/layout.tsx';

export function addSignedOut(app: Surface, config: Config): void {
  app.get('/admin/signed-out', () => {
    return respond(
      { title: 'You are signed out', config },
      <p>
        <a class="button" href={linkTo(config, '/admin')}>
          Sign in again
        </a>
      </p>,
    );
  });
}
