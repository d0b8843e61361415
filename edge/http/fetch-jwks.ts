/**
 * Fetches a client's JWKS from the URI its administrator registered, trusting neither: https to public hosts only, no
 * redirects, 3 s and 64 KiB in all. Caches nothing (edge/oauth/client-keys.ts does); says how long it may be kept.
 */
import { type CheckedJwks, readJwks } from '../../shared/oauth/jwks.ts';
import { checkJwksUri } from '../../shared/oauth/jwks-uri.ts';
import { type Addresses, type Config, ownUrls } from '../config.ts';
import type { Deps } from '../deps.ts';
import { type Deadline, deadline } from './deadline.ts';
import { isPublicAddress } from './public-address.ts';

const DEADLINE_MS = 3_000;
const MAX_JWKS_BYTES = 64 * 1024;
const DEFAULT_MAX_AGE_SECONDS = 300;
/** However long the host allows: a key that was removed must stop working within the hour. */
const LONGEST_MAX_AGE_SECONDS = 3600;

export interface FailedFetch {
  /** `refused`: it may not be fetched, now or ever; `unreachable`: nothing came of it now, another time something may. */
  readonly failed: 'refused' | 'unreachable';
  /** A clause that goes on from "the JWKS URI cannot be used: …". */
  readonly reason: string;
}

export type FetchedJwks = { readonly jwks: CheckedJwks; readonly maxAgeSeconds: number } | FailedFetch;

const refused = (reason: string): FailedFetch => ({ failed: 'refused', reason });
const unreachable = (reason: string): FailedFetch => ({ failed: 'unreachable', reason });

/** How long a response may be kept (RFC 9111 §5.2.2): `no-store` and `no-cache` not at all. */
export function maxAgeSeconds(headers: Headers): number {
  const control = (headers.get('cache-control') ?? '').toLowerCase();
  if (/(?:^|[\s,])no-(?:store|cache)\b/.test(control)) return 0;
  const [, given] = /(?:^|[\s,])max-age="?(\d+)/.exec(control) ?? [];
  const age = /^\d+$/.test(headers.get('age') ?? '') ? Number(headers.get('age')) : 0;
  const maxAge = given === undefined ? DEFAULT_MAX_AGE_SECONDS : Number(given) - age;
  return Math.min(Math.max(maxAge, 0), LONGEST_MAX_AGE_SECONDS);
}

/** The body as text, or why not; never more of it than may be. */
async function readText(response: Response, passed: Promise<never>): Promise<{ text: string } | FailedFetch> {
  if (response.body === null) return { text: '' };
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), passed]);
      if (done) return { text: text + decoder.decode() };
      length += value.byteLength;
      if (length > MAX_JWKS_BYTES) return unreachable(`it has more than ${MAX_JWKS_BYTES} bytes`);
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    if (error instanceof TypeError) return unreachable('it is not UTF-8');
    throw error;
  } finally {
    // A body that is not read to its end must not go on arriving.
    reader.cancel().catch(() => undefined);
  }
}

/** What of a runtime fetching a JWKS needs: also a program without the rest. */
export type JwksFetching = Pick<Deps, 'fetch' | 'fetchAt' | 'resolveHost'> & {
  readonly config: Addresses & Pick<Config, 'JWKS_TRUSTED_HOSTS'>;
};

const HEADERS = { accept: 'application/jwk-set+json, application/json' } as const;

async function fetchWithin(deps: JwksFetching, uri: string, { signal, passed }: Deadline): Promise<FetchedJwks> {
  const { hostname } = new URL(uri);
  let request: Promise<Response> | undefined;
  if (!deps.config.JWKS_TRUSTED_HOSTS.includes(hostname)) {
    const addresses = await Promise.race([deps.resolveHost(hostname), passed]);
    if (addresses.length === 0) return unreachable('its host name has no address');
    if (!addresses.every(isPublicAddress)) return refused('its host name leads to a private address');
    // Where the runtime allows it, what was looked at is where it goes, whatever the name leads to a moment later.
    request = deps.fetchAt?.(addresses, uri, { headers: HEADERS, signal });
  }
  request ??= deps.fetch(uri, { redirect: 'manual', cache: 'no-store', headers: HEADERS, signal });
  const response = await Promise.race([request, passed]);
  if (response.status !== 200) {
    await response.body?.cancel();
    const redirects = response.status >= 300 && response.status < 400 ? ', and redirects are not followed' : '';
    return unreachable(`its host answered ${response.status}${redirects}`);
  }
  if (/^text\/html\b/i.test(response.headers.get('content-type') ?? '')) {
    await response.body?.cancel();
    return unreachable('its host answered with a web page (text/html)');
  }
  const body = await readText(response, passed);
  if ('failed' in body) return body;
  return { jwks: readJwks(body.text), maxAgeSeconds: maxAgeSeconds(response.headers) };
}

/** Fetches and looks at a JWKS. Nothing throws: whatever happens is an answer. */
export async function fetchJwks(deps: JwksFetching, uri: string): Promise<FetchedJwks> {
  const context = { ownUrls: ownUrls(deps.config), trustedHosts: deps.config.JWKS_TRUSTED_HOSTS };
  const problem = checkJwksUri(uri, context);
  if (problem !== undefined) return refused(problem);
  const within = deadline(DEADLINE_MS);
  try {
    return await fetchWithin(deps, uri, within);
  } catch {
    if (within.signal.aborted) return unreachable(`its host did not answer in full within ${DEADLINE_MS / 1000} s`);
    return unreachable('its host cannot be reached (name, connection or certificate)');
  } finally {
    within.clear();
  }
}
