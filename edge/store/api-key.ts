/** API keys (edge/README.md, Administration): the statements that read them. */
import type { Query } from '../deps.ts';
import { read } from './sql.ts';

/** Who an access token speaks for, as far as the database needs to know. */
export interface CallerIdentity {
  readonly site: string;
  readonly clientId: string;
  /** The access token's `jti`. */
  readonly tokenId: string;
}

/**
 * The first statement of every batch made for a token: fails the batch (Fault `unauthenticated`, `invalid_token`) when
 * the key was disabled or the token revoked, so that neither needs a round trip of its own.
 */
export function assertCaller(caller: CallerIdentity): Query {
  const { site, clientId, tokenId } = caller;
  return { ...read`select assert_caller(${site}::uuid, ${clientId}, ${tokenId})`, site };
}
