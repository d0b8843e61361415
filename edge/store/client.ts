/** API keys as the token endpoint sees them (edge/docs/behaviour.md, Administration): all it needs, in one statement. */
import type { Query } from '../deps.ts';
import { read } from './sql.ts';

export interface ClientRow {
  readonly site_id: string;
  readonly client_id: string;
  readonly status: 'active' | 'disabled';
  readonly jwks_uri: string | null;
  readonly jwks: string | null;
  readonly token_ttl_seconds: number;
  readonly allowed_scopes: readonly string[];
  readonly allowed_audiences: readonly string[];
  readonly protocols: readonly string[];
}

export function findClient(clientId: string): Query<ClientRow> {
  return read<ClientRow>`select site_id, client_id, status, jwks_uri, jwks, token_ttl_seconds, allowed_scopes,
      allowed_audiences, protocols
    from client_find(${clientId})`;
}
