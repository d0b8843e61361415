/** The public keys of an API key, looked at for a page. */
import { readJwks } from '../../../shared/oauth/jwks.ts';
import { fetchJwks } from '../../http/fetch-jwks.ts';
import type { GuardedFetching } from '../../http/guarded-fetch.ts';
import type { JwksFindings } from './rules.ts';
import type { KeyRow } from './statements.ts';

export interface Looked {
  readonly findings: JwksFindings | null;
  readonly problems: readonly string[];
}

/** The keys as far as they can be known without asking anyone, or, asked for, as the JWKS URI has them now. */
export async function lookAt(deps: GuardedFetching, key: KeyRow, isAsked: boolean): Promise<Looked> {
  if (key.jwks !== null) {
    const { keys, problems } = readJwks(key.jwks);
    return { findings: { keys }, problems };
  }
  if (key.jwks_uri === null || !isAsked) return { findings: null, problems: [] };
  const fetched = await fetchJwks(deps, key.jwks_uri);
  if ('failed' in fetched) return { findings: { keys: [], unreachable: fetched.reason }, problems: [] };
  return { findings: { keys: fetched.jwks.keys }, problems: fetched.jwks.problems };
}
