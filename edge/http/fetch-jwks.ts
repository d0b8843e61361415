/**
 * Fetches a client's JWKS from its registered URI: only https to public hosts, no redirects, 3 s and 64 KiB in total. It
 * returns how long the result may be cached; edge/oauth/client-keys.ts caches it.
 */
import { joined } from '../../shared/bytes.ts';
import { type CheckedJwks, readJwks } from '../../shared/oauth/jwks.ts';
import { type Deadline, deadline } from './deadline.ts';
import { type FailedFetch, guardedFetch, type GuardedFetching, unreachable } from './guarded-fetch.ts';

const DEADLINE_MS = 3_000;
const MAX_JWKS_BYTES = 64 * 1024;
const DEFAULT_MAX_AGE_SECONDS = 300;
/** The upper limit of caching: a removed key must stop working within the hour. */
const LONGEST_MAX_AGE_SECONDS = 3600;

export type FetchedJwks = { readonly jwks: CheckedJwks; readonly maxAgeSeconds: number } | FailedFetch;

/** The time that a response may be cached (RFC 9111 §5.2.2); 0 for `no-store` and `no-cache`. */
export function maxAgeSeconds(headers: Headers): number {
  const control = (headers.get('cache-control') ?? '').toLowerCase();
  if (/(?:^|[\s,])no-(?:store|cache)\b/.test(control)) return 0;
  const [, given] = /(?:^|[\s,])max-age="?(\d+)/.exec(control) ?? [];
  const age = /^\d+$/.test(headers.get('age') ?? '') ? Number(headers.get('age')) : 0;
  const maxAge = given === undefined ? DEFAULT_MAX_AGE_SECONDS : Number(given) - age;
  return Math.min(Math.max(maxAge, 0), LONGEST_MAX_AGE_SECONDS);
}

/** Reads the body up to the limit; returns the text without a byte order mark, or the failure. */
async function readText(response: Response, expired: Promise<never>): Promise<{ text: string } | FailedFetch> {
  if (response.body === null) return { text: '' };
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), expired]);
      if (done) break;
      length += value.byteLength;
      if (length > MAX_JWKS_BYTES) return unreachable(`it is larger than ${MAX_JWKS_BYTES} bytes`);
      chunks.push(value);
    }
  } finally {
    // The rest of an unread body must not keep arriving.
    reader.cancel().catch(() => undefined);
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(joined(chunks)) };
  } catch {
    return unreachable('it is not UTF-8');
  }
}

const HEADERS = { accept: 'application/jwk-set+json, application/json' } as const;

async function fetchWithin(deps: GuardedFetching, uri: string, within: Deadline): Promise<FetchedJwks> {
  const response = await guardedFetch(deps, uri, { method: 'GET', headers: HEADERS }, within);
  if ('failed' in response) return response;
  if (response.status !== 200) {
    await response.body?.cancel();
    const redirects = response.status >= 300 && response.status < 400 ? ', and redirects are not followed' : '';
    return unreachable(`its host answered ${response.status}${redirects}`);
  }
  if (/^text\/html\b/i.test(response.headers.get('content-type') ?? '')) {
    await response.body?.cancel();
    return unreachable('its host answered with a web page (text/html)');
  }
  const body = await readText(response, within.expired);
  if ('failed' in body) return body;
  return { jwks: readJwks(body.text), maxAgeSeconds: maxAgeSeconds(response.headers) };
}

/** Fetches and checks a JWKS. It never throws: every failure is a result. */
export async function fetchJwks(deps: GuardedFetching, uri: string): Promise<FetchedJwks> {
  const within = deadline(DEADLINE_MS);
  try {
    return await fetchWithin(deps, uri, within);
  } catch {
    if (within.signal.aborted) return unreachable(`its host did not answer completely within ${DEADLINE_MS / 1000} s`);
    return unreachable('its host cannot be reached (name, connection or certificate)');
  } finally {
    within.clear();
  }
}
