/**
 * The public keys of a client: its inline JWKS, or the content of its JWKS URI, cached as its `Cache-Control` allows. To
 * protect the client's host, only one fetch of a URI runs at a time. After a failed or repeated fetch, the next is
 * possible after 30 s.
 */
import { fetchJwks } from '../http/fetch-jwks.ts';
import type { GuardedFetching } from '../http/guarded-fetch.ts';
import { type CheckedJwks, readJwks } from '../../shared/oauth/jwks.ts';
import type { Deps } from '../deps.ts';
import type { Reason } from '../refusals.ts';
import type { ClientRow } from '../store/client.ts';

const COOLDOWN_MS = 30_000;
/** Longer than a fetch may take, since another request's fetch can end together with that request. */
const WAIT_FOR_OTHER_MS = 4_000;
/** Cached clients; the least recently used is dropped first. */
const MAX_CLIENTS = 5_000;

export type ClientKeys = { readonly jwks: CheckedJwks } | Reason;

export interface ClientKeyring {
  /** The cached keys; a JWKS URI is fetched if the cache is too old. */
  readonly keysOf: (client: ClientRow) => Promise<ClientKeys>;
  /** Fetches the keys again because the cached ones failed; returns a clause with the reason if that is not allowed yet. */
  readonly refreshedKeysOf: (client: ClientRow) => Promise<ClientKeys | { readonly notNow: string }>;
}

interface Entry {
  /** The inline document or the URI; a changed source invalidates the entry. */
  readonly source: string;
  keys: ClientKeys;
  freshUntil: number;
  lastAttempt: number;
  pending: Promise<ClientKeys> | undefined;
}

const usable = (jwks: CheckedJwks, code: 'jwks' | 'jwks_uri'): ClientKeys => {
  const [problem] = jwks.problems;
  return problem === undefined ? { jwks } : { code, reason: `the JWKS cannot be used: ${problem}` };
};

const uriFailed = (why: string): Reason => ({ code: 'jwks_uri', reason: `the JWKS URI cannot be used: ${why}` });

export function createClientKeyring(deps: Pick<Deps, 'now' | 'background' | 'log'> & GuardedFetching): ClientKeyring {
  const entries = new Map<string, Entry>();

  const entryOf = (clientId: string, source: string, make: () => Entry): Entry => {
    const known = entries.get(clientId);
    const entry = known?.source === source ? known : make();
    // Moved to the end, so that the first entry is the least recently used.
    entries.delete(clientId);
    entries.set(clientId, entry);
    const [oldest] = entries.keys();
    if (entries.size > MAX_CLIENTS && oldest !== undefined) entries.delete(oldest);
    return entry;
  };

  const fetchInto = async (entry: Entry, clientId: string): Promise<ClientKeys> => {
    const fetched = await fetchJwks(deps, entry.source).finally(() => (entry.pending = undefined));
    if ('failed' in fetched) {
      const failure = uriFailed(fetched.reason);
      // Any sender can cause a repeated fetch with a bad signature: a failed one must not discard keys that are fresh.
      if ('jwks' in entry.keys && deps.now() < entry.freshUntil) return failure;
      entry.keys = failure;
      entry.freshUntil = entry.lastAttempt + COOLDOWN_MS;
      return entry.keys;
    }
    if (fetched.jwks.hasPrivateKey) deps.log({ level: 'error', event: 'jwks.private-key', clientId });
    entry.keys = usable(fetched.jwks, 'jwks_uri');
    entry.freshUntil = entry.lastAttempt + ('reason' in entry.keys ? COOLDOWN_MS : fetched.maxAgeSeconds * 1000);
    return entry.keys;
  };

  /** Joins the fetch in progress, or starts a fetch that survives this request. */
  const fetchOnce = (entry: Entry, clientId: string): Promise<ClientKeys> => {
    if (entry.pending !== undefined) return orGiveUp(entry, entry.pending);
    entry.lastAttempt = deps.now();
    entry.pending = fetchInto(entry, clientId);
    deps.background(entry.pending);
    return entry.pending;
  };

  const orGiveUp = (entry: Entry, pending: Promise<ClientKeys>): Promise<ClientKeys> => {
    const signal = AbortSignal.timeout(WAIT_FOR_OTHER_MS);
    const late = new Promise<ClientKeys>((resolve) => {
      signal.addEventListener('abort', () => {
        if (entry.pending === pending) entry.pending = undefined;
        resolve(uriFailed('its host did not answer in time'));
      });
    });
    return Promise.race([pending, late]);
  };

  const inline = (client: ClientRow, document: string): ClientKeys =>
    entryOf(client.client_id, document, () => ({
      source: document,
      keys: usable(readJwks(document), 'jwks'),
      freshUntil: Infinity,
      lastAttempt: 0,
      pending: undefined,
    })).keys;

  const remote = (client: ClientRow, uri: string): Entry =>
    entryOf(client.client_id, uri, () => ({
      source: uri,
      keys: uriFailed('it was not fetched'),
      freshUntil: -Infinity,
      lastAttempt: -Infinity,
      pending: undefined,
    }));

  return {
    async keysOf(client) {
      if (client.jwks_uri === null) return inline(client, client.jwks ?? '');
      const entry = remote(client, client.jwks_uri);
      return deps.now() < entry.freshUntil ? entry.keys : fetchOnce(entry, client.client_id);
    },
    async refreshedKeysOf(client) {
      if (client.jwks_uri === null) return { notNow: '' };
      const entry = remote(client, client.jwks_uri);
      const agoMs = deps.now() - entry.lastAttempt;
      if (entry.pending !== undefined || agoMs >= COOLDOWN_MS) return fetchOnce(entry, client.client_id);
      const ago = Math.round(agoMs / 1000);
      const wait = COOLDOWN_MS / 1000 - ago;
      return { notNow: `; the JWKS was fetched ${ago} s ago, the next fetch is possible in ${wait} s` };
    },
  };
}
