/** Since when a key has signed, as the gateway has seen it (migrations/functions/alert_facts.sql notes it). */
import type { Query } from '../deps.ts';
import { instantOf, raw, read } from './sql.ts';

export interface SigningKeyRow {
  readonly kid: string;
  readonly first_seen: string;
}

export function signingKeysSeen(kids: readonly string[]): Query<SigningKeyRow> {
  return read<SigningKeyRow>`select kid, ${raw(instantOf('first_seen', 'second'))} as first_seen
    from signing_key_seen where kid = any (${kids}::text[])`;
}
