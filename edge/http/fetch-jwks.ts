/**
 * Fetches a client's JWKS from the URI its administrator registered, trusting neither: https to public hosts only, no
 * redirects, 3 s and 64 KiB in all. Caches nothing (edge/oauth/client-keys.ts does); says how long it may be kept.
 */
import { type CheckedJwks, readJwks } from '../../shared/oauth/jwks.ts';
import { type Deadline, deadline } from './deadline.ts';
import { type FailedFetch, guardedFetch, type GuardedFetching, unreachable } from './guarded-fetch.ts';

const DEADLINE_MS = 3_000;
const MAX_JWKS_BYTES = 64 * 1024;
const DEFAULT_MAX_AGE_SECONDS = 300;
/** However long the host allows: a key that was removed must stop working within the hour. */
const LONGEST_MAX_AGE_SECONDS = 3600;

export type FetchedJwks = { readonly jwks: CheckedJwks; readonly maxAgeSeconds: number } | FailedFetch;

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
  const body = await readText(response, within.passed);
  if ('failed' in body) return body;
  return { jwks: readJwks(body.text), maxAgeSeconds: maxAgeSeconds(response.headers) };
}

/** Fetches and looks at a JWKS. Nothing throws: whatever happens is an answer. */
export async function fetchJwks(deps: GuardedFetching, uri: string): Promise<FetchedJwks> {
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
