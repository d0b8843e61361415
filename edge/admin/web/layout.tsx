/** The frame of every page: where one is, where one can go, and who one is. */
import { html } from 'hono/html';
import type { PropsWithChildren } from 'hono/jsx';

import type { Config } from '../../config.ts';
import { pathPrefix } from '../../http/surface.ts';
import { securityHeaders } from '../../http/security-headers.ts';
import type { Session } from '../staff/session.ts';
import { type PlacePath, PLACES } from './places.ts';

interface PageProps {
  readonly title: string;
  readonly config: Config;
  /** Undefined where nobody is signed in. */
  readonly session?: Session | undefined;
  /** Where this page belongs. */
  readonly place?: PlacePath;
  /** Charts need one script and one style sheet more. */
  readonly hasCharts?: boolean;
}

/** Paths of links: below the console's own path prefix. */
export const linkTo = (config: Config, path: string): string => `${pathPrefix(config.ADMIN_PUBLIC_BASE_URL)}${path}`;

/** Found by one's own name rather than in the row of places. */
export const SESSIONS_PATH = '/admin/sessions';
/** Of whoever may see several. */
export const CHOOSE_SITE_PATH = '/admin/site';

const Navigation = ({ config, session, place }: { config: Config; session: Session; place: PlacePath | undefined }) => (
  <header class="bar">
    <a class="brand" href={linkTo(config, '/admin')}>
      <img src={linkTo(config, '/admin/assets/icon.svg')} alt="" width="28" height="28" />
      <span>
        <strong>Integration gateway</strong>
        <small>{session.siteName}</small>
      </span>
    </a>
    <nav aria-label="Console">
      {Object.values(PLACES)
        .filter(({ permission }) => session.actor.permissions.has(permission))
        .map(({ path, title }) => (
          <a href={linkTo(config, path)} aria-current={path === place ? 'page' : undefined}>
            {title}
          </a>
        ))}
      {config.INTEGRATION_DOCS_URL === undefined ? null : <a href={config.INTEGRATION_DOCS_URL}>API reference</a>}
    </nav>
    <form class="who" method="post" action={linkTo(config, '/admin/sign-out')}>
      {session.hasOthers ? <a href={linkTo(config, CHOOSE_SITE_PATH)}>Another site</a> : null}
      {session.actor.permissions.has('site.sessions.end') ? (
        <a href={linkTo(config, SESSIONS_PATH)} title="Who is signed in">
          {session.actor.name}
        </a>
      ) : (
        <span>{session.actor.name}</span>
      )}
      <button class="small secondary">Sign out</button>
    </form>
  </header>
);

export const Page = ({ title, config, session, place, hasCharts = false, children }: PropsWithChildren<PageProps>) => {
  const asset = (name: string) => linkTo(config, `/admin/assets/${name}`);
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Integration gateway`}</title>
        <link rel="icon" href={asset('icon.svg')} type="image/svg+xml" />
        {hasCharts ? <link rel="stylesheet" href={asset('uplot.css')} /> : null}
        <link rel="stylesheet" href={asset('console.css')} />
        {hasCharts ? <script src={asset('uplot.js')} defer></script> : null}
        <script src={asset('console.js')} defer></script>
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        {session === undefined ? null : <Navigation {...{ config, session, place }} />}
        <main id="main">
          <h1>{title}</h1>
          {children}
        </main>
      </body>
    </html>
  );
};

/** Origins that a form may lead to: signing out ends at the provider. */
function formOrigins(config: Config): string[] {
  return config.ADMIN_OIDC_ISSUER === undefined ? [] : [new URL(config.ADMIN_OIDC_ISSUER).origin];
}

/** A page as a response. */
export async function respond(
  config: Config,
  page: unknown,
  status = 200,
  extra: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const text = await html`<!doctype html>${page}`;
  const headers = { ...securityHeaders({ formOrigins: formOrigins(config) }), ...extra };
  return new Response(String(text), { status, headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8' } });
}
