/** The frame of the documentation and the API reference: the navigation, and the link to the console. */
import { html } from 'hono/html';
import type { PropsWithChildren } from 'hono/jsx';

import { Head } from '../../admin/web/head.tsx';
import type { Config } from '../../config.ts';
import { CHAPTERS } from '../../docs/contents.ts';
import { ERRORS_PATH, MLLP_PATH, REFERENCE_PATH, TRY_PATH } from '../../http/reference-address.ts';
import { pathPrefix } from '../../http/surface.ts';

/** The pages, as the navigation names them. */
export const PAGES = {
  docs: { path: `/${CHAPTERS[0]?.page ?? ''}`, title: 'Documentation' },
  api: { path: '', title: 'API' },
  try: { path: TRY_PATH, title: 'Check messages' },
  mllp: { path: MLLP_PATH, title: 'HL7 over MLLP' },
  errors: { path: ERRORS_PATH, title: 'Errors' },
  changes: { path: '/changes', title: 'Versions' },
  admin: { path: '/admin', title: 'Administration' },
} as const;
type PageName = keyof typeof PAGES;

/** The reference of a deployment. */
export interface Site {
  readonly config: Config;
  /** Its base URL. */
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
  /** Default: the page's own. */
  readonly title?: string;
  /** Names below `assets/`. */
  readonly styles: readonly string[];
  readonly scripts?: readonly string[];
}

export const Frame = ({ site, page, title, styles, scripts = [], children }: PropsWithChildren<FrameProps>) => {
  const asset = (name: string) => `${referencePath(site)}/assets/${name}`;
  const { ADMIN_PUBLIC_BASE_URL: admin } = site.config;
  return (
    <html lang="en">
      <Head {...{ asset, styles, scripts }} title={`${title ?? PAGES[page].title} · Documentation`} />
      <body class="reference">
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="side">
          <a class="brand" href={linkTo(site, 'api')}>
            <img src={asset('icon.svg')} alt="" width="28" height="28" />
            <span>
              <strong>Integration gateway</strong>
              <small>Documentation</small>
            </span>
          </a>
          <nav class="tabs" aria-label="Pages">
            {(Object.keys(PAGES) as PageName[])
              .filter((name) => name !== 'admin' || admin !== undefined)
              .map((name) => (
                <a href={linkTo(site, name)} aria-current={name === page ? 'page' : undefined}>
                  {PAGES[name].title}
                </a>
              ))}
          </nav>
          {admin === undefined ? null : (
            <a class="button secondary" href={`${admin}/admin`}>
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
