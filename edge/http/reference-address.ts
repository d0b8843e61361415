/** Where the API reference is, for those who serve it, those who link to it, and those who let its page call them. */
import { type Addresses, surfaceUrls } from '../config.ts';

export const REFERENCE_PATH = '/docs';

/** Pages below the reference; of errors, what stands at a status, and at a code of an issue. */
export const MLLP_PATH = '/mllp';
export const ERRORS_PATH = '/errors';
export const statusAnchor = (status: number | string): string => `status-${status}`;
export const issueAnchor = (code: string): string => `issue-${code}`;

/** Where the reference always is: below the console's base URL, else below that of the first surface there is. */
const ownBaseUrl = (config: Addresses): string | undefined => config.ADMIN_PUBLIC_BASE_URL ?? surfaceUrls(config)[0];

/** INTEGRATION_DOCS_URL without `/docs`, where it ends so: then it can be the gateway that is asked there. */
function namedBaseUrl({ INTEGRATION_DOCS_URL: docs }: Addresses): string | undefined {
  return docs?.endsWith(REFERENCE_PATH) === true ? docs.slice(0, -REFERENCE_PATH.length) : undefined;
}

/**
 * The base URLs below which the reference answers at `/docs`: where INTEGRATION_DOCS_URL says, if that is a `…/docs`, and
 * beside the console. A deployment may publish a reference of its own elsewhere; ours is then still there.
 */
export function referenceBaseUrls(config: Addresses): string[] {
  return [...new Set([namedBaseUrl(config), ownBaseUrl(config)])].filter((url) => url !== undefined);
}

/** The one origin whose pages may call the surfaces: that of INTEGRATION_DOCS_URL, else that of our own reference. */
export function referenceOrigin(config: Addresses): string | undefined {
  const url = config.INTEGRATION_DOCS_URL ?? ownBaseUrl(config);
  return url === undefined ? undefined : new URL(url).origin;
}
