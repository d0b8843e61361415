/** The stored public keys of an API key, for a page. */
import { readJwks } from '../../../shared/oauth/jwks.ts';
import { fetchJwks } from '../../http/fetch-jwks.ts';
import type { GuardedFetching } from '../../http/guarded-fetch.ts';
import type { JwksFindings } from './rules.ts';
import type { KeyRow } from './statements.ts';

export interface StoredKeys {
  /** Null for a JWKS URI that was not fetched. */
  readonly findings: JwksFindings | null;
  readonly problems: readonly string[];
}

/** Reads the inline JWKS, or fetches the JWKS URI if `mayFetch`. */
export async function inspectStored(deps: GuardedFetching, key: KeyRow, mayFetch: boolean): Promise<StoredKeys> {
  if (key.jwks !== null) {
    const { keys, problems } = readJwks(key.jwks);
    return { findings: { keys }, problems };
  }
  if (key.jwks_uri === null || !mayFetch) return { findings: null, problems: [] };
  const fetched = await fetchJwks(deps, key.jwks_uri);
  if ('failed' in fetched) return { findings: { keys: [], unreachable: fetched.reason }, problems: [] };
  return { findings: { keys: fetched.jwks.keys }, problems: fetched.jwks.problems };
}
