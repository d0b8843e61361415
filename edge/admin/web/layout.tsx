/** The frame of every page: navigation, site, account, and the trail of pages above. */
import { html } from 'hono/html';
import type { Child, PropsWithChildren } from 'hono/jsx';

import type { Config } from '../../config.ts';
import { pathPrefix } from '../../http/surface.ts';
import { securityHeaders } from '../../http/security-headers.ts';
import type { Session } from '../staff/session.ts';
import { Head } from './head.tsx';
import { GROUPS, type PlacePath, PLACES } from './places.ts';
import { SiteId, TimeZone } from './ui.tsx';

/** A page above this one. */
interface Crumb {
  readonly title: string;
  /** Without the console's path prefix, as in `PLACES`. */
  readonly path: string;
}

interface PageProps {
  readonly title: string;
  readonly config: Config;
  /** Undefined before signing in. */
  readonly session?: Session | undefined;
  readonly place?: PlacePath;
  /** The pages above it, the highest first: `[PLACES.keys]`. */
  readonly trail?: readonly Crumb[];
  /** Files of `assets` that this page needs; they run in this order, before console.js. */
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  /** The text that the search box was sent with. */
  readonly searched?: string;
  /** The status of the response. Default: 200. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The path of a link, with the console's path prefix. */
export const linkTo = (config: Config, path: string): string => `${pathPrefix(config.ADMIN_PUBLIC_BASE_URL)}${path}`;

/** For accounts with several sites. */
export const CHOOSE_SITE_PATH = '/admin/site';

export const SEARCH_PATH = '/admin/search';

const Brand = ({ config, name }: { config: Config; name: string }) => (
  <a class="brand" href={linkTo(config, '/admin')}>
    <img src={linkTo(config, '/admin/assets/icon.svg')} alt="" width="28" height="28" />
    <span>
      <strong>{name}</strong>
      <small>Integration gateway</small>
    </span>
  </a>
);

const Group = ({ config, session, place, group }: NavigationProps & { group: (typeof GROUPS)[number] }) => {
  const isOn = ({ path }: { readonly path: PlacePath }): boolean =>
    config.FHIR_SUBSCRIPTIONS || path !== PLACES.subscriptions.path;
  const places = Object.values(PLACES).filter(
    (each) => each.group === group && isOn(each) && session.actor.permissions.has(each.permission),
  );
  const docs = group === 'Connect' ? config.INTEGRATION_DOCS_URL : undefined;
  if (places.length === 0 && docs === undefined) return null;
  return (
    <div class="group" role="group" aria-labelledby={`group-${group}`}>
      <span id={`group-${group}`} class="quiet">
        {group}
      </span>
      {places.map(({ path, title }) => (
        <a href={linkTo(config, path)} aria-current={path === place ? 'page' : undefined}>
          {title}
        </a>
      ))}
      {docs === undefined ? null : <a href={docs}>API reference</a>}
    </div>
  );
};

interface NavigationProps {
  readonly config: Config;
  readonly session: Session;
  readonly place: PlacePath | undefined;
  readonly searched: string | undefined;
}

/** It posts the text, which may be patient data. */
const SearchBox = ({ config, session, searched }: NavigationProps) => {
  const { permissions } = session.actor;
  if (!permissions.has('site.messages.read') && !permissions.has('site.api_keys.read')) return null;
  return (
    <form class="find" method="post" action={linkTo(config, SEARCH_PATH)} role="search" aria-label="Everything">
      <input
        type="search"
        name="text"
        value={searched}
        maxlength={200}
        required
        placeholder="Search"
        aria-label="Search by identifier, name, control id, request id, Client ID or resource id"
        title="Identifier, name, control id, request id, Client ID or resource id"
      />
    </form>
  );
};

/**
 * A column beside the page; in a narrow window a bar above it, with a button that opens the menu. The `popover` attribute
 * needs no script; a browser without it shows the menu all the time.
 */
const Navigation = (props: NavigationProps) => {
  const { config, session } = props;
  return (
    <header class="side">
      <Brand config={config} name={session.siteName} />
      <button type="button" class="secondary menu" popovertarget="menu">
        Menu
      </button>
      <SearchBox {...props} />
      <div id="menu" popover="auto">
        <button type="button" class="small close" popovertarget="menu" popovertargetaction="hide">
          Close
        </button>
        {session.hasOthers ? <a href={linkTo(config, CHOOSE_SITE_PATH)}>Another site</a> : null}
        <nav aria-label="Console">
          {GROUPS.map((group) => (
            <Group {...props} group={group} />
          ))}
        </nav>
        <form class="who" method="post" action={linkTo(config, '/admin/sign-out')}>
          <span>{session.actor.name}</span>
          <button class="small secondary">Sign out</button>
        </form>
      </div>
    </header>
  );
};

const Trail = ({ config, trail }: { config: Config; trail: readonly Crumb[] }) => (
  <nav class="trail quiet" aria-label="Pages above this one">
    {trail.map(({ path, title }) => (
      <>
        <a href={linkTo(config, path)}>{title}</a> <span aria-hidden="true">/</span>{' '}
      </>
    ))}
  </nav>
);

const Page = (props: PropsWithChildren<PageProps>) => {
  const { title, config, session, place, trail = [], scripts = [], styles = [], searched, children } = props;
  const asset = (name: string) => linkTo(config, `/admin/assets/${name}`);
  return (
    <html lang="en">
      <Head {...{ title, asset }} styles={[...styles, 'console.css']} scripts={[...scripts, 'console.js']} />
      <body class={session === undefined ? 'alone' : 'framed'} data-site={session?.actor.site}>
        <a class="skip" href="#main">
          Skip to content
        </a>
        {session === undefined ? (
          <header class="side">
            <Brand config={config} name="Integration gateway" />
          </header>
        ) : (
          <Navigation {...{ config, session, place, searched }} />
        )}
        <main id="main">
          {trail.length === 0 ? null : <Trail {...{ config, trail }} />}
          <h1>{title}</h1>
          <SiteId.Provider value={session?.actor.site ?? ''}>
            <TimeZone.Provider value={session?.timeZone ?? 'UTC'}>{children}</TimeZone.Provider>
          </SiteId.Provider>
        </main>
      </body>
    </html>
  );
};

/** The origins that a form may lead to: signing out ends at the provider. */
function formOrigins(config: Config): string[] {
  return config.ADMIN_OIDC_ISSUER === undefined ? [] : [new URL(config.ADMIN_OIDC_ISSUER).origin];
}

/** Renders a page as a response. */
export async function respond(props: PageProps, ...content: Child[]): Promise<Response> {
  const { config, status = 200, headers } = props;
  const text = await html`<!doctype html>${<Page {...props}>{content}</Page>}`;
  const policy = securityHeaders({ formOrigins: formOrigins(config) });
  return new Response(String(text), {
    status,
    headers: { ...policy, ...headers, 'Content-Type': 'text/html; charset=utf-8' },
  });
}
