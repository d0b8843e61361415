/**
 * The public keys of a client: its inline JWKS, or what its JWKS URI holds, kept for as long as its `Cache-Control` says.
 * However many requests ask, one fetch runs at a time, and none within 30 s of the last that failed or was asked for
 * again; so nobody can make us flood a client's host.
 */
import { fetchJwks } from '../http/fetch-jwks.ts';
import type { GuardedFetching } from '../http/guarded-fetch.ts';
import { type CheckedJwks, readJwks } from '../../shared/oauth/jwks.ts';
import type { Deps } from '../deps.ts';
import type { ClientRow } from '../store/client.ts';

const COOLDOWN_MS = 30_000;
/** Longer than a fetch may take: another request's fetch can die with that request. */
const WAIT_FOR_OTHER_MS = 4_000;
/** Clients whose keys are kept; the one that was asked for longest ago goes first. */
const MAX_CLIENTS = 5_000;

export type ClientKeys = { readonly jwks: CheckedJwks } | { readonly reason: string };

export interface ClientKeyring {
  /** The keys as far as known; a JWKS URI is fetched when what is kept is too old. */
  readonly keysOf: (client: ClientRow) => Promise<ClientKeys>;
  /** The keys fetched anew, because the known ones did not do; a clause that says why not where that may not be done. */
  readonly refreshedKeysOf: (client: ClientRow) => Promise<ClientKeys | { readonly notNow: string }>;
}

interface Entry {
  /** The inline document or the URI; another one makes the entry worthless. */
  readonly source: string;
  keys: ClientKeys;
  freshUntil: number;
  lastAttempt: number;
  pending: Promise<ClientKeys> | undefined;
}

const usable = (jwks: CheckedJwks): ClientKeys => {
  const [problem] = jwks.problems;
  return problem === undefined ? { jwks } : { reason: `the JWKS cannot be used: ${problem}` };
};

export function createClientKeyring(deps: Pick<Deps, 'now' | 'background' | 'log'> & GuardedFetching): ClientKeyring {
  const entries = new Map<string, Entry>();

  const entryOf = (clientId: string, source: string, make: () => Entry): Entry => {
    const known = entries.get(clientId);
    const entry = known?.source === source ? known : make();
    // Put at the end: the first is then the one that was asked for longest ago.
    entries.delete(clientId);
    entries.set(clientId, entry);
    const [oldest] = entries.keys();
    if (entries.size > MAX_CLIENTS && oldest !== undefined) entries.delete(oldest);
    return entry;
  };

  const fetchInto = async (entry: Entry, clientId: string): Promise<ClientKeys> => {
    const fetched = await fetchJwks(deps, entry.source).finally(() => (entry.pending = undefined));
    if ('failed' in fetched) {
      entry.keys = { reason: `the JWKS URI cannot be used: ${fetched.reason}` };
      entry.freshUntil = entry.lastAttempt + COOLDOWN_MS;
      return entry.keys;
    }
    if (fetched.jwks.hasPrivateKey) deps.log({ level: 'error', event: 'jwks.private-key', clientId });
    entry.keys = usable(fetched.jwks);
    entry.freshUntil = entry.lastAttempt + ('reason' in entry.keys ? COOLDOWN_MS : fetched.maxAgeSeconds * 1000);
    return entry.keys;
  };

  /** Joins the fetch under way, or begins one that goes on when this request is gone. */
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
        resolve({ reason: 'the JWKS URI cannot be used: its host did not answer in time' });
      });
    });
    return Promise.race([pending, late]);
  };

  const inline = (client: ClientRow, document: string): ClientKeys =>
    entryOf(client.client_id, document, () => ({
      source: document,
      keys: usable(readJwks(document)),
      freshUntil: Infinity,
      lastAttempt: 0,
      pending: undefined,
    })).keys;

  const remote = (client: ClientRow, uri: string): Entry =>
    entryOf(client.client_id, uri, () => ({
      source: uri,
      keys: { reason: 'the JWKS URI was not fetched' },
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
      const [ago, again] = [Math.round(agoMs / 1000), COOLDOWN_MS / 1000];
      return { notNow: `; the JWKS was fetched ${ago} s ago and is fetched again for this after ${again} s` };
    },
  };
}
