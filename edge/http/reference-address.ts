/** The addresses of the API reference: where it is served, the links to it, and the origin that may call the surfaces. */
import { type Addresses, surfaceUrls } from '../config.ts';

export const REFERENCE_PATH = '/docs';

/** Pages below the reference. For errors, the anchor is a status or a code of an issue. */
export const MLLP_PATH = '/mllp';
export const ERRORS_PATH = '/errors';
export const TRY_PATH = '/try';
export const statusAnchor = (status: number | string): string => `status-${status}`;
export const issueAnchor = (code: string): string => `issue-${code}`;

/** The reference is always below the console's base URL, or else below that of the first configured surface. */
const ownBaseUrl = (config: Addresses): string | undefined => config.ADMIN_PUBLIC_BASE_URL ?? surfaceUrls(config)[0];

/** INTEGRATION_DOCS_URL without `/docs` at its end: only then can the gateway serve it. */
function namedBaseUrl({ INTEGRATION_DOCS_URL: docs }: Addresses): string | undefined {
  return docs?.endsWith(REFERENCE_PATH) === true ? docs.slice(0, -REFERENCE_PATH.length) : undefined;
}

/**
 * The base URLs below which the reference answers at `/docs`: the console's, and that of INTEGRATION_DOCS_URL if it ends with
 * `/docs`. A deployment may publish another reference elsewhere; the console's remains.
 */
export function referenceBaseUrls(config: Addresses): string[] {
  return [...new Set([namedBaseUrl(config), ownBaseUrl(config)])].filter((url) => url !== undefined);
}

/** The only origin whose pages may call the surfaces: INTEGRATION_DOCS_URL, or else the gateway's reference. */
export function referenceOrigin(config: Addresses): string | undefined {
  const url = config.INTEGRATION_DOCS_URL ?? ownBaseUrl(config);
  return url === undefined ? undefined : new URL(url).origin;
}

const originOf = (url: string): string => new URL(url).origin;

/** The addresses that the page for trying a link calls. */
export const calledByTrying = ({
  INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: hl7,
  INTEGRATION_OAUTH_PUBLIC_BASE_URL: oauth,
}: Addresses) => ({
  check: hl7 === undefined ? undefined : `${hl7}/hl7/check`,
  refusals: oauth === undefined ? undefined : `${oauth}/oauth2/refusals`,
});

/** The origins of URLs, once each. */
export const originsOf = (urls: readonly (string | undefined)[]): string[] => [
  ...new Set(urls.flatMap((url) => (url === undefined ? [] : [originOf(url)]))),
];

/**
 * The page on which an integrator uses a link. The secret is the fragment, which browsers send to no server.
 *
 * @returns undefined if no page of the gateway may call the surfaces, because INTEGRATION_DOCS_URL is another service
 */
export function tryPageOf(config: Addresses, secret: string): string | undefined {
  const { check, refusals } = calledByTrying(config);
  const called = originsOf([check, refusals]);
  const base = referenceBaseUrls(config).find(
    (url) => originOf(url) === referenceOrigin(config) || called.every((origin) => origin === originOf(url)),
  );
  return base === undefined ? undefined : `${base}${REFERENCE_PATH}${TRY_PATH}#${secret}`;
}
