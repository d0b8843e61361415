/** The frame of the API reference's pages: where one is, what else there is, and the way back to the console. */
import { html } from 'hono/html';
import type { PropsWithChildren } from 'hono/jsx';

import type { Config } from '../../config.ts';
import { ERRORS_PATH, MLLP_PATH, REFERENCE_PATH } from '../../http/reference-address.ts';
import { pathPrefix } from '../../http/surface.ts';

/** The pages, as the navigation names them. */
export const PAGES = {
  api: { path: '', title: 'API' },
  mllp: { path: MLLP_PATH, title: 'HL7 over MLLP' },
  errors: { path: ERRORS_PATH, title: 'Errors' },
  changes: { path: '/changes', title: 'Versions' },
  admin: { path: '/admin', title: 'Administration' },
} as const;
type PageName = keyof typeof PAGES;

/** Where the reference is that answers, and what the deployment says of itself. */
export interface Site {
  readonly config: Config;
  /** The base URL below which it answers. */
  readonly baseUrl: string;
}

/** `/docs` below the path of the base URL. */
export const referencePath = ({ baseUrl }: Site): string => `${pathPrefix(baseUrl)}${REFERENCE_PATH}`;

/** The administration's page calls the console with the session that one has there, so it is read at its host. */
function linkTo(site: Site, name: PageName): string {
  const { path } = PAGES[name];
  const { ADMIN_PUBLIC_BASE_URL: admin } = site.config;
  return name === 'admin' && admin !== undefined ? `${admin}${REFERENCE_PATH}${path}` : `${referencePath(site)}${path}`;
}

interface FrameProps {
  readonly site: Site;
  readonly page: PageName;
  /** Names below `assets/`. */
  readonly styles: readonly string[];
  readonly scripts?: readonly string[];
}

export const Frame = ({ site, page, styles, scripts = [], children }: PropsWithChildren<FrameProps>) => {
  const asset = (name: string) => `${referencePath(site)}/assets/${name}`;
  const { ADMIN_PUBLIC_BASE_URL: admin } = site.config;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${PAGES[page].title} · API reference · Integration gateway`}</title>
        <link rel="icon" href={asset('icon.svg')} type="image/svg+xml" />
        {styles.map((name) => (
          <link rel="stylesheet" href={asset(name)} />
        ))}
        {scripts.map((name) => (
          <script src={asset(name)} defer></script>
        ))}
      </head>
      <body class="reference">
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="reference-bar">
          <a class="reference-brand" href={linkTo(site, 'api')}>
            <img src={asset('icon.svg')} alt="" width="28" height="28" />
            <span>
              <strong>Integration gateway</strong>
              <small>API reference</small>
            </span>
          </a>
          <nav aria-label="API reference">
            {(Object.keys(PAGES) as PageName[])
              .filter((name) => name !== 'admin' || admin !== undefined)
              .map((name) => (
                <a href={linkTo(site, name)} aria-current={name === page ? 'page' : undefined}>
                  {PAGES[name].title}
                </a>
              ))}
          </nav>
          {admin === undefined ? null : (
            <a class="reference-back" href={`${admin}/admin`}>
              Console
            </a>
          )}
        </header>
        {children}
      </body>
    </html>
  );
};

/** A page of text, in the console's own style. */
export const TextPage = ({
  site,
  page,
  heading,
  children,
}: PropsWithChildren<{ site: Site; page: PageName; heading: string }>) => (
  <Frame {...{ site, page }} styles={['reference.css']}>
    <main id="main" class="reference-text">
      <h1>{heading}</h1>
      {children}
    </main>
  </Frame>
);

/** A page as text. */
export const printed = async (page: unknown): Promise<string> => String(await html`<!doctype html>${page}`);
